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
    ("motion.cuh", include_str!("../../../kernels/motion.cuh")),
    ("plan.cu", include_str!("../../../kernels/plan.cu")),
    ("step.cu", include_str!("../../../kernels/step.cu")),
    ("fill.cu", include_str!("../../../kernels/fill.cu")),
    ("observe.cu", include_str!("../../../kernels/observe.cu")),
    ("abi", ""),
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

    fn append(&self, name: &str, text: &mut String, done: &mut HashSet<String>) -> Result<(), CudaError> {
        if !done.insert(name.to_string()) {
            return Ok(());
        }
        let source = self.read(name)?;
        *text += &format!("#line 1 \"{name}\"\n");
        for (number, line) in source.lines().enumerate() {
            let included =
                line.trim().strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"'));
            if let Some(included) = included {
                self.append(included, text, done)?;
                *text += &format!("#line {} \"{name}\"\n", number + 2);
            } else if line.trim() == "#pragma once" {
                text.push('\n');
            } else {
                *text += line;
                text.push('\n');
            }
        }
        Ok(())
    }

    fn read(&self, name: &str) -> Result<String, CudaError> {
        match self {
            Self::Embedded => FILES
                .iter()
                .find(|(file, _)| *file == name)
                .map(|(_, text)| (*text).to_string())
                .ok_or_else(|| CudaError::Source(format!("{name} is not embedded"))),
            Self::Folder(folder) => {
                let path = folder.join(name);
                std::fs::read_to_string(&path).map_err(|error| {
                    CudaError::Source(format!(
                        "{}: {error}; --kernels takes a copy of the folder `kernels` of the sources",
                        path.display()
                    ))
                })
            }
        }
    }

    /// What tells whether the files of the folder changed; `None` for embedded ones.
    pub fn watcher(&self) -> Option<Watcher> {
        match self {
            Self::Embedded => None,
            Self::Folder(folder) => Some(Watcher {
                newest: newest(folder),
                folder: folder.clone(),
                looked: Instant::now(),
            }),
        }
    }
}

/// Tells whether files of a folder of kernels have changed.
#[derive(Debug, Clone)]
pub struct Watcher {
    folder: PathBuf,
    newest: Option<SystemTime>,
    looked: Instant,
}

impl Watcher {
    /// Whether a file is newer than when this was last asked; looks at most four times a second.
    pub fn changed(&mut self) -> bool {
        const PAUSE: Duration = Duration::from_millis(250);
        if self.looked.elapsed() < PAUSE {
            return false;
        }
        self.looked = Instant::now();
        let newest = newest(&self.folder);
        let changed = newest != self.newest;
        self.newest = newest;
        changed
    }
}

/// When the newest file of a folder was written.
fn newest(folder: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(folder).ok()?;
    entries.filter_map(|entry| entry.ok()?.metadata().ok()?.modified().ok()).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_comes_once_and_lines_say_where_they_are_from() {
        let text = KernelSource::Embedded.assemble("// checks\n").unwrap();
        assert!(!text.contains("#include") && !text.contains("#pragma once"));
        for name in ["common.cuh", "gas.cuh", "plan.cu", "step.cu", "observe.cu"] {
            assert_eq!(text.matches(&format!("#line 1 \"{name}\"\n")).count(), 1, "{name}");
        }
        // A line deep in a file that includes others: the last #line before it and the count from there name it.
        let (mut file, mut line) = (String::new(), 0);
        let mut found = false;
        for row in text.lines() {
            if let Some(rest) = row.strip_prefix("#line ") {
                let (number, name) = rest.split_once(' ').unwrap();
                (line, file) = (number.parse::<usize>().unwrap(), name.trim_matches('"').to_string());
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

    #[test]
    fn a_folder_without_the_files_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let error = KernelSource::Folder(folder.path().to_path_buf()).assemble("").unwrap_err();
        assert!(error.to_string().contains("plan.cu"), "{error}");
    }
}
