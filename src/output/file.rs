//! Files that are either complete or not there: written beside their target, synced, then renamed.
//! Must not know what is in them.

use super::error::OutputError;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// A complete, synced file that still has a temporary name; removed again if it is dropped.
#[derive(Debug)]
pub struct Staged {
    temporary: NamedTempFile,
    target: PathBuf,
}

impl Staged {
    /// Writes a temporary file in the folder of `target` and syncs it to the disk.
    ///
    /// Errors: [`OutputError::Write`]; nothing stays behind and `target` is untouched.
    pub fn new(
        target: &Path,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Self, OutputError> {
        let failed = |source| OutputError::write(target, source);
        // A rename onto a folder fails only at the end: say it before the work.
        if target.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let mut builder = Builder::new();
        builder.prefix(".knudsen-").suffix(".part");
        #[cfg(unix)]
        {
            // A temporary file is private by default; this one becomes a result, under the user's umask.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let temporary = builder.tempfile_in(folder_of(target)).map_err(failed)?;
        let mut writer = BufWriter::with_capacity(1 << 18, temporary.as_file());
        fill(&mut writer).and_then(|()| writer.flush()).map_err(failed)?;
        drop(writer);
        temporary.as_file().sync_all().map_err(failed)?;
        Ok(Self { temporary, target: target.to_owned() })
    }

    /// Gives the file its name, replacing what had it.
    pub fn commit(self) -> Result<PathBuf, OutputError> {
        match self.temporary.persist(&self.target) {
            Ok(_) => Ok(self.target),
            Err(failure) => Err(OutputError::write(&self.target, failure.error)),
        }
    }
}

/// Writes a file as a whole: afterwards it is complete, or as it was before.
///
/// Errors: [`OutputError::Write`].
pub fn write_whole(
    target: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<PathBuf, OutputError> {
    Staged::new(target, fill)?.commit()
}

/// Creates a folder and those above it.
pub fn create_folder(folder: &Path) -> Result<(), OutputError> {
    fs::create_dir_all(folder).map_err(|source| OutputError::write(folder, source))
}

/// Tries whether files can be written in a folder, or whether it can be created, without leaving a trace: better said
/// before hours of computing than after.
///
/// Errors: [`OutputError::Write`].
pub fn check_folder(folder: &Path) -> Result<(), OutputError> {
    // The lowest folder that there is already; a path without any part is the current folder.
    let there = folder.ancestors().find(|part| part.as_os_str().is_empty() || part.exists());
    let there = there.filter(|part| !part.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let tried = match there.is_dir() {
        true => Builder::new().prefix(".knudsen-").tempfile_in(there).map(drop),
        false => Err(io::ErrorKind::NotADirectory.into()),
    };
    tried.map_err(|source| OutputError::write(folder, source))
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.txt");
        write_whole(&target, |w| w.write_all(b"old")).unwrap();
        let error = write_whole(&target, |w| {
            w.write_all(b"half of the new")?;
            Err(io::ErrorKind::StorageFull.into())
        })
        .unwrap_err();
        let text = error.to_string();
        assert!(text.contains("a.txt") && text.contains("free some space"), "{text}");
        assert_eq!(fs::read(&target).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn a_dropped_stage_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(Staged::new(&folder.path().join("a"), |w| w.write_all(b"x")).unwrap());
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_folder_of_that_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("fields.vti");
        fs::create_dir(&target).unwrap();
        let text = write_whole(&target, |w| w.write_all(b"x")).unwrap_err().to_string();
        assert!(text.contains("there is a folder of this name"), "{text}");
        assert_eq!(names(folder.path()), ["fields.vti"]);
    }

    #[test]
    fn a_missing_folder_and_a_file_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let text = write_whole(&folder.path().join("no/x"), |_| Ok(())).unwrap_err().to_string();
        assert!(text.contains("create its folder first"), "{text}");
        fs::write(folder.path().join("f"), "").unwrap();
        let text = write_whole(&folder.path().join("f/x"), |_| Ok(())).unwrap_err().to_string();
        assert!(text.contains("is a file, not a folder"), "{text}");
        let text = create_folder(&folder.path().join("f/g")).unwrap_err().to_string();
        assert!(text.contains("is a file, not a folder"), "{text}");
    }

    #[test]
    fn a_folder_is_tried_without_being_created() {
        let folder = tempfile::tempdir().unwrap();
        check_folder(&folder.path().join("not/yet/there")).unwrap();
        check_folder(Path::new("not/there/either")).unwrap();
        assert!(names(folder.path()).is_empty() && !Path::new("not").exists());
        fs::write(folder.path().join("f"), "").unwrap();
        for path in ["f", "f/g", "f/g/h"] {
            let text = check_folder(&folder.path().join(path)).unwrap_err().to_string();
            assert!(text.contains(path) && text.contains("is a file, not a folder"), "{text}");
        }
        assert_eq!(names(folder.path()), ["f"]);
    }

    #[cfg(unix)]
    #[test]
    fn results_are_as_readable_as_the_umask_says() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let ours = folder.path().join("ours");
        let plain = folder.path().join("plain");
        write_whole(&ours, |w| w.write_all(b"x")).unwrap();
        fs::write(&plain, "x").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&plain));
    }
}
