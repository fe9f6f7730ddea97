//! The kernels' sources: those in the program, or a folder that is watched; one NVRTC program made of all files.
//! Must not know what the kernels compute.

use super::error::CudaError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The files of `kernels/` as they were when the program was built.
macro_rules! embed {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/", $name)))),*]
    };
}
const EMBEDDED: &[(&str, &str)] = embed![];

/// Where the kernels come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum KernelSource {
    /// From the program itself.
    #[default]
    Embedded,
    /// From a folder with the files of `kernels/`; `--kernels`.
    Folder(PathBuf),
}

impl KernelSource {
    /// From `--kernels`.
    pub fn of(folder: Option<&Path>) -> Self {
        folder.map_or(Self::Embedded, |folder| Self::Folder(folder.to_path_buf()))
    }

    /// Reads all files.
    pub fn read(&self) -> Result<Sources, CudaError> {
        match self {
            Self::Embedded => Ok(Sources::new("kernels", EMBEDDED)),
            Self::Folder(folder) => read_folder(folder),
        }
    }
}

/// Files of kernels: names without folders, and texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// What stands before the names in the compiler's messages.
    root: String,
    files: BTreeMap<String, String>,
}

impl Sources {
    /// From names and texts.
    pub fn new(root: &str, files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
        Self { root: root.to_string(), files }
    }

    /// Names of all files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}

/// True for the names of CUDA sources.
fn is_kernel(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "cu" || ending == "cuh")
}

fn kernel_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = vec![];
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if is_kernel(&path) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read_folder(folder: &Path) -> Result<Sources, CudaError> {
    let fails = |path: &Path, cause: String| CudaError::Kernels { path: path.display().to_string(), cause };
    let paths = kernel_files(folder).map_err(|error| fails(folder, format!("cannot be read ({error})")))?;
    let mut files = BTreeMap::new();
    for path in paths {
        let text = std::fs::read_to_string(&path)
            .map_err(|error| fails(&path, format!("cannot be read ({error})")))?;
        files.insert(path.file_name().unwrap_or_default().to_string_lossy().into_owned(), text);
    }
    if !files.keys().any(|name| name.ends_with(".cu")) {
        return Err(fails(folder, "has no file *.cu".to_string()));
    }
    Ok(Sources { root: folder.display().to_string(), files })
}

/// Makes one program: `prelude` (definitions of this compilation), all `.cu` files by name, each file that they include
/// where it is first included and only there, then `checks` (the static asserts of [`super::abi`], which need the structs).
/// `#line` directives make the compiler name the right files and lines. An `#include` must not stand inside `#if`.
pub fn assemble(sources: &Sources, prelude: &str, checks: &str) -> Result<String, CudaError> {
    let mut program = String::new();
    let own = |program: &mut String, name: &str, text: &str| {
        if !text.is_empty() {
            program.push_str(&format!("#line 1 \"{name}\"\n{text}\n"));
        }
    };
    own(&mut program, "prelude of knudsen", prelude);
    let mut done = BTreeSet::new();
    for name in sources.names().filter(|name| name.ends_with(".cu")) {
        expand(sources, name, &mut done, &mut program)?;
    }
    own(&mut program, "layout checks of knudsen", checks);
    Ok(program)
}

/// Appends a file and what it includes, unless it is there already.
fn expand<'a>(
    sources: &'a Sources,
    name: &'a str,
    done: &mut BTreeSet<&'a str>,
    program: &mut String,
) -> Result<(), CudaError> {
    if !done.insert(name) {
        return Ok(());
    }
    let shown = Path::new(&sources.root).join(name).display().to_string();
    let at = |line: usize| format!("#line {line} \"{}\"\n", shown.replace('\\', "\\\\").replace('"', "\\\""));
    program.push_str(&at(1));
    let text = sources.files.get(name).map_or("", String::as_str);
    for (index, line) in text.lines().enumerate() {
        if let Some(wanted) = included(line) {
            let Some((known, _)) = sources.files.get_key_value(wanted) else {
                return Err(CudaError::Include { file: shown, line: index + 1, name: wanted.to_string() });
            };
            expand(sources, known, done, program)?;
            program.push_str(&at(index + 2));
        } else {
            // Every file is there once anyhow; NVRTC would warn of this in a main file.
            let line = if line.trim() == "#pragma once" { "" } else { line };
            program.push_str(line);
            program.push('\n');
        }
    }
    Ok(())
}

/// The name in `#include "name"`.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    rest.strip_prefix('"')?.split_once('"').map(|(name, _)| name)
}

/// What changes when files are edited: names, lengths, times.
type Stamp = Vec<(PathBuf, u64, Option<SystemTime>)>;

/// Says that files of a folder of kernels changed. Costs nothing for embedded kernels.
#[derive(Debug)]
pub struct Watcher {
    folder: Option<PathBuf>,
    stamp: Stamp,
    asked: Instant,
}

impl Watcher {
    /// The files are looked at no more often than this.
    const INTERVAL: Duration = Duration::from_millis(250);

    /// Watches from now on; make it before the files are read, so that no change is missed.
    pub fn new(source: &KernelSource) -> Self {
        let folder = match source {
            KernelSource::Embedded => None,
            KernelSource::Folder(folder) => Some(folder.clone()),
        };
        let stamp = folder.as_deref().map_or_else(Vec::new, stamp);
        Self { folder, stamp, asked: Instant::now() }
    }

    /// True once after each change. Looks at the disk at most four times a second.
    pub fn changed(&mut self) -> bool {
        self.folder.is_some() && self.asked.elapsed() >= Self::INTERVAL && self.changed_now()
    }

    fn changed_now(&mut self) -> bool {
        self.asked = Instant::now();
        let Some(folder) = &self.folder else { return false };
        let now = stamp(folder);
        let changed = now != self.stamp;
        self.stamp = now;
        changed
    }
}

fn stamp(folder: &Path) -> Stamp {
    let describe = |path: PathBuf| {
        let known = std::fs::metadata(&path).ok();
        let time = known.as_ref().and_then(|known| known.modified().ok());
        (path, known.map_or(0, |known| known.len()), time)
    };
    kernel_files(folder).unwrap_or_default().into_iter().map(describe).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    fn sources(files: &[(&str, &str)]) -> Sources {
        Sources::new("kernels", files)
    }

    #[test]
    fn files_are_expanded_once_with_their_lines() {
        let files = sources(&[
            ("a.cu", "#include \"c.cuh\"\nint a;\n  # include \"d.cuh\" // both\nint b;"),
            ("b.cu", "#include \"d.cuh\"\nint e;"),
            ("c.cuh", "#pragma once\n#include <cuda_fp16.h>\n#include \"d.cuh\"\nint c;"),
            ("d.cuh", "int d;"),
        ]);
        let wanted = [
            "#line 1 \"prelude of knudsen\"\n#define N 3\n",
            "#line 1 \"kernels/a.cu\"",
            "#line 1 \"kernels/c.cuh\"\n\n#include <cuda_fp16.h>",
            "#line 1 \"kernels/d.cuh\"\nint d;",
            "#line 4 \"kernels/c.cuh\"\nint c;",
            "#line 2 \"kernels/a.cu\"\nint a;",
            "#line 4 \"kernels/a.cu\"\nint b;",
            "#line 1 \"kernels/b.cu\"",
            "#line 2 \"kernels/b.cu\"\nint e;",
            "#line 1 \"layout checks of knudsen\"\nstatic_assert(true, \"\");\n\n",
        ];
        assert_eq!(
            assemble(&files, "#define N 3", "static_assert(true, \"\");\n").unwrap(),
            wanted.join("\n")
        );
    }

    #[test]
    fn an_unknown_include_names_file_and_line() {
        let error = assemble(&sources(&[("a.cu", "\n#include \"nowhere.cuh\"")]), "", "").unwrap_err();
        let told = error.to_string();
        assert!(told.starts_with("kernels/a.cu:2: there is no nowhere.cuh"), "{told}");
    }

    #[test]
    fn includes_in_a_circle_end() {
        let files = sources(&[("a.cu", "#include \"b.cuh\""), ("b.cuh", "#include \"a.cu\"\nint b;")]);
        assert_eq!(assemble(&files, "", "").unwrap().matches("int b;").count(), 1);
    }

    #[test]
    fn every_file_of_the_folder_is_in_the_program() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
        let on_disk: Vec<String> = kernel_files(&folder)
            .unwrap_or_default()
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        let embedded = KernelSource::Embedded.read().unwrap();
        assert_eq!(embedded.names().collect::<Vec<_>>(), on_disk);
    }

    #[test]
    fn folders_are_read_and_unfit_ones_refused() {
        let folder = tempfile::tempdir().unwrap();
        let source = KernelSource::of(Some(folder.path()));
        let told = source.read().unwrap_err().to_string();
        assert!(told.contains("has no file *.cu") && told.contains("--kernels takes"), "{told}");
        fs::write(folder.path().join("a.cu"), "int a;").unwrap();
        fs::write(folder.path().join("notes.txt"), "not a kernel").unwrap();
        let files = source.read().unwrap();
        assert_eq!(files.names().collect::<Vec<_>>(), ["a.cu"]);
        let line = format!("#line 1 \"{}\"", folder.path().join("a.cu").display());
        assert!(assemble(&files, "", "").unwrap().contains(&line), "the path can be opened by an editor");
        let missing = KernelSource::Folder(folder.path().join("nowhere"));
        assert!(missing.read().unwrap_err().to_string().contains("cannot be read"));
    }

    #[test]
    fn changes_are_told_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.cu"), "int a;").unwrap();
        let mut watcher = Watcher::new(&KernelSource::of(Some(folder.path())));
        assert!(!watcher.changed_now());
        fs::write(folder.path().join("a.cu"), "int a; int b;").unwrap();
        assert!(!watcher.changed(), "it was asked a moment ago");
        assert!(watcher.changed_now());
        assert!(!watcher.changed_now());
        fs::write(folder.path().join("b.cuh"), "").unwrap();
        assert!(watcher.changed_now());
        fs::remove_file(folder.path().join("b.cuh")).unwrap();
        assert!(watcher.changed_now());
        assert!(!Watcher::new(&KernelSource::Embedded).changed_now());
    }
}
