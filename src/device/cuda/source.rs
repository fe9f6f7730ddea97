//! The sources of the kernels: embedded, or from a folder; one text of them with every line's origin.
//! Knows nothing of compilers.

use super::CudaError;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The files that are embedded.
const FILES: [(&str, &str); 13] = [
    ("common.cuh", include_str!("../../../kernels/common.cuh")),
    ("sample.cuh", include_str!("../../../kernels/sample.cuh")),
    ("collide.cuh", include_str!("../../../kernels/collide.cuh")),
    ("wall_law.cuh", include_str!("../../../kernels/wall_law.cuh")),
    ("predicates.cuh", include_str!("../../../kernels/predicates.cuh")),
    ("walls.cuh", include_str!("../../../kernels/walls.cuh")),
    ("gas.cuh", include_str!("../../../kernels/gas.cuh")),
    ("cell.cuh", include_str!("../../../kernels/cell.cuh")),
    ("motion.cuh", include_str!("../../../kernels/motion.cuh")),
    ("plan.cu", include_str!("../../../kernels/plan.cu")),
    ("step.cu", include_str!("../../../kernels/step.cu")),
    ("fill.cu", include_str!("../../../kernels/fill.cu")),
    ("observe.cu", include_str!("../../../kernels/observe.cu")),
];

/// The files that a gas program is made of; the others are included by them.
const GAS: [&str; 4] = ["plan.cu", "step.cu", "fill.cu", "observe.cu"];

/// Where kernels come from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum KernelSource {
    /// The program itself.
    #[default]
    Embedded,
    /// A folder, which may change while the program runs.
    Folder(PathBuf),
}

impl KernelSource {
    /// The whole source of a gas program, with checks at its end. `#include`s are expanded, each file once, and `#line`
    /// says where each line is from.
    pub fn assemble(&self, checks: &str) -> Result<String, CudaError> {
        let mut text = String::new();
        let mut done = HashSet::new();
        for name in GAS {
            self.append(name, &mut text, &mut done)?;
        }
        text += "#line 1 \"checks of shared structs\"\n";
        text += checks;
        Ok(text)
    }

    /// Appends a file and what it includes, unless it is there already. An `#include` must not stand inside `#if`.
    fn append(&self, name: &str, text: &mut String, done: &mut HashSet<String>) -> Result<(), CudaError> {
        if !done.insert(name.to_string()) {
            return Ok(());
        }
        let source = self.read(name)?;
        let shown = self.shown(name);
        let at =
            |line: usize| format!("#line {line} \"{}\"\n", shown.replace('\\', "\\\\").replace('"', "\\\""));
        *text += &at(1);
        for (index, line) in source.lines().enumerate() {
            if let Some(wanted) = included(line) {
                self.append(wanted, text, done).map_err(|error| match error {
                    CudaError::NoKernelFile(_) => {
                        CudaError::Include { file: shown.clone(), line: index + 1, name: wanted.to_string() }
                    }
                    other => other,
                })?;
                *text += &at(index + 2);
            } else {
                // Every file is there once anyhow; the compiler would warn of this in a main file.
                *text += if line.trim() == "#pragma once" { "" } else { line };
                text.push('\n');
            }
        }
        Ok(())
    }

    /// A file as the compiler's messages shall name it: so that an editor opens it.
    fn shown(&self, name: &str) -> String {
        match self {
            Self::Embedded => format!("kernels/{name}"),
            Self::Folder(folder) => folder.join(name).display().to_string(),
        }
    }

    fn read(&self, name: &str) -> Result<String, CudaError> {
        let missing = || CudaError::NoKernelFile(self.shown(name));
        match self {
            Self::Embedded => {
                let file = FILES.iter().find(|(file, _)| *file == name);
                file.map(|(_, text)| (*text).to_string()).ok_or_else(missing)
            }
            Self::Folder(folder) => {
                std::fs::read_to_string(folder.join(name)).map_err(|error| match error.kind() {
                    std::io::ErrorKind::NotFound => missing(),
                    _ => CudaError::Kernels { path: self.shown(name), cause: error.to_string() },
                })
            }
        }
    }

    /// What tells whether the files of the folder changed; `None` for embedded ones.
    pub fn watcher(&self) -> Option<Watcher> {
        match self {
            Self::Embedded => None,
            Self::Folder(folder) => {
                Some(Watcher { stamp: stamp(folder), folder: folder.clone(), looked: Instant::now() })
            }
        }
    }
}

/// The name in `#include "name"`.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    rest.strip_prefix('"')?.split_once('"').map(|(name, _)| name)
}

/// What changes when files are edited: names, lengths, times.
type Stamp = Vec<(PathBuf, u64, Option<SystemTime>)>;

/// Tells whether files of a folder of kernels have changed.
#[derive(Debug, Clone)]
pub struct Watcher {
    folder: PathBuf,
    stamp: Stamp,
    looked: Instant,
}

impl Watcher {
    /// True once after each change; looks at most four times a second.
    pub fn changed(&mut self) -> bool {
        const PAUSE: Duration = Duration::from_millis(250);
        self.looked.elapsed() >= PAUSE && self.changed_now()
    }

    fn changed_now(&mut self) -> bool {
        self.looked = Instant::now();
        let now = stamp(&self.folder);
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
    kernel_files(folder).into_iter().map(describe).collect()
}

/// The CUDA sources in a folder, by name; none if it cannot be read.
fn kernel_files(folder: &Path) -> Vec<PathBuf> {
    let is_kernel = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "cu" || ending == "cuh");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_kernel).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn each_file_comes_once_and_lines_say_where_they_are_from() {
        let text = KernelSource::Embedded.assemble("// checks\n").unwrap();
        assert!(!text.contains("#include") && !text.contains("#pragma once"));
        for name in ["common.cuh", "gas.cuh", "plan.cu", "step.cu", "observe.cu"] {
            assert_eq!(text.matches(&format!("#line 1 \"kernels/{name}\"\n")).count(), 1, "{name}");
        }
        // A line deep in a file that includes others: the last #line before it and the count from there name it.
        let (mut file, mut line) = (String::new(), 0);
        let mut found = false;
        for row in text.lines() {
            if let Some(rest) = row.strip_prefix("#line ") {
                let (number, name) = rest.split_once(' ').unwrap();
                (line, file) = (number.parse::<usize>().unwrap(), name.trim_matches('"').to_string());
                file = file.strip_prefix("kernels/").unwrap_or(&file).to_string();
                continue;
            }
            if row.contains("plan_scan(") {
                let source = KernelSource::Embedded.read(&file).unwrap();
                assert!(source.lines().nth(line - 1).unwrap().contains("plan_scan("), "{file}:{line}");
                found = true;
            }
            line += 1;
        }
        assert!(found);
    }

    /// A folder with the four files of a gas program and one more.
    fn folder(step: &str) -> (tempfile::TempDir, KernelSource) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in
            [("plan.cu", "int p;\n"), ("step.cu", step), ("fill.cu", ""), ("observe.cu", "int o;")]
        {
            fs::write(folder.path().join(name), text).unwrap();
        }
        fs::write(folder.path().join("a.cuh"), "#pragma once\n#include <x>\nint a;\n").unwrap();
        let source = KernelSource::Folder(folder.path().to_path_buf());
        (folder, source)
    }

    #[test]
    fn includes_are_expanded_with_the_lines_and_paths_of_the_files() {
        let step = "int s;\n  # include \"a.cuh\" // all\nint t;\n#include \"a.cuh\"\n#include \"step.cu\"\nint u;\n";
        let (folder, source) = folder(step);
        let root = folder.path().display();
        let wanted = format!(
            "#line 1 \"{root}/plan.cu\"\nint p;\n#line 1 \"{root}/step.cu\"\nint s;\n\
             #line 1 \"{root}/a.cuh\"\n\n#include <x>\nint a;\n#line 3 \"{root}/step.cu\"\nint t;\n\
             #line 5 \"{root}/step.cu\"\n#line 6 \"{root}/step.cu\"\nint u;\n\
             #line 1 \"{root}/fill.cu\"\n#line 1 \"{root}/observe.cu\"\nint o;\n\
             #line 1 \"checks of shared structs\"\nchecks\n"
        );
        assert_eq!(source.assemble("checks\n").unwrap(), wanted);
    }

    #[test]
    fn what_is_not_there_is_told_by_name_and_place() {
        let (folder, source) = folder("\n#include \"b.cuh\"\n");
        let told = source.assemble("").unwrap_err().to_string();
        assert!(told.contains("step.cu:2: there is no b.cuh"), "{told}");
        fs::remove_file(folder.path().join("plan.cu")).unwrap();
        let told = source.assemble("").unwrap_err().to_string();
        assert!(told.contains("plan.cu is not there") && told.contains("--kernels takes"), "{told}");
        fs::create_dir(folder.path().join("plan.cu")).unwrap();
        assert!(source.assemble("").unwrap_err().to_string().contains("plan.cu: "));
    }

    #[test]
    fn every_file_of_the_folder_is_in_the_program() {
        let files = kernel_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels"));
        let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        let mut embedded: Vec<String> = FILES.iter().map(|(name, _)| (*name).to_string()).collect();
        embedded.sort();
        assert_eq!(files.iter().map(name).collect::<Vec<_>>(), embedded);
    }

    #[test]
    fn changes_are_told_once() {
        let (folder, source) = folder("");
        let mut watcher = source.watcher().unwrap();
        assert!(!watcher.changed_now());
        fs::write(folder.path().join("step.cu"), "int s;").unwrap();
        assert!(!watcher.changed(), "it was asked a moment ago");
        assert!(watcher.changed_now() && !watcher.changed_now());
        fs::write(folder.path().join("b.cuh"), "").unwrap();
        assert!(watcher.changed_now());
        fs::remove_file(folder.path().join("b.cuh")).unwrap();
        assert!(watcher.changed_now());
        fs::write(folder.path().join("notes.txt"), "no kernel").unwrap();
        assert!(!watcher.changed_now());
        assert!(KernelSource::Embedded.watcher().is_none());
    }
}
