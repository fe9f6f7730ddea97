//! Helpers: calls the program, and looks at what it left.
//! Must not assert anything about physics.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_knudsen");
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// What the program did.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// A temporary folder in which the program is run.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    /// Puts a small scene here under its own name.
    pub fn scene(&self, name: &str) -> PathBuf {
        self.write(name, small(name))
    }

    /// Puts a small scene here in which some texts, each there exactly once, are replaced.
    pub fn changed_scene(&self, name: &str, changes: &[(&str, &str)]) -> PathBuf {
        self.write(name, changed(&small(name), changes))
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    /// Runs the program with these arguments, here, to its end.
    pub fn call(&self, args: &[&str]) -> Done {
        done(self.command(args).output().unwrap())
    }

    /// The same, and fails unless it went well.
    #[track_caller]
    pub fn works(&self, args: &[&str]) -> Done {
        let done = self.call(args);
        assert_eq!(done.code, Some(0), "{args:?}: {done:#?}");
        done
    }

    /// The same, and fails unless the program refuses with exit code 1 and a message with all of these texts, without
    /// a fault of its own.
    #[track_caller]
    pub fn refuses(&self, args: &[&str], texts: &[&str]) -> Done {
        let done = self.call(args);
        assert_eq!(done.code, Some(1), "{args:?}: {done:#?}");
        assert!(done.err.starts_with("error: ") || done.err.contains("\nerror: "), "{done:#?}");
        assert!(!done.err.contains("panicked") && !done.err.contains("fault inside"), "{done:#?}");
        for text in texts {
            assert!(done.err.contains(text), "{text:?} is not in the message of {args:?}: {}", done.err);
        }
        done
    }

    pub fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Names of what is in a folder here, hidden ones too.
    pub fn names(&self, folder: &str) -> Vec<String> {
        names(&self.path(folder))
    }

    /// All files of a folder here with their bytes.
    pub fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let read = |name: String| (name.clone(), fs::read(self.path(folder).join(&name)).unwrap());
        self.names(folder).into_iter().map(read).collect()
    }

    pub fn summary(&self, folder: &str) -> serde_json::Value {
        serde_json::from_slice(&fs::read(self.path(folder).join("summary.json")).unwrap()).unwrap()
    }
}

pub fn done(output: Output) -> Done {
    Done {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Text of a small scene.
pub fn small(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join("tests/data/scenes/small").join(name)).unwrap()
}

/// Bytes of a triangle file among the test data.
pub fn mesh(name: &str) -> Vec<u8> {
    fs::read(Path::new(ROOT).join("tests/data/meshes").join(name)).unwrap()
}

#[track_caller]
pub fn changed(text: &str, changes: &[(&str, &str)]) -> String {
    let change = |text: String, (old, new): &(&str, &str)| {
        assert_eq!(text.matches(old).count(), 1, "{old:?} must be there once");
        text.replace(old, new)
    };
    changes.iter().fold(text.to_owned(), change)
}

pub fn names(folder: &Path) -> Vec<String> {
    let name =
        |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

/// Waits until that holds; a loaded machine may take long.
#[track_caller]
pub fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The summary without what the clock, memory and the number of threads put into it.
pub fn timeless(mut summary: serde_json::Value) -> serde_json::Value {
    for key in ["timings", "device", "memory_bytes"] {
        assert!(summary.as_object_mut().unwrap().remove(key).is_some(), "{key} is in a summary");
    }
    summary
}

/// Sends a signal by its name.
pub fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status().unwrap();
    assert!(status.success());
}

/// A small file system of its own, taken away again at the end.
pub struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    pub fn mount(at: std::path::PathBuf, bytes: u64) -> Option<Self> {
        fs::create_dir(&at).unwrap();
        let size = format!("size={bytes}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&at).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(at)),
            _ => None,
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
