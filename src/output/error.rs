//! What can go wrong with files and pictures, each with the path, the cause and what to do next.
//! Must not know simulations or devices.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An error of reading, drawing or writing a result. Every message says what to do next.
#[derive(Debug, Error)]
pub enum OutputError {
    /// A file or folder could not be written; what was there before is untouched.
    #[error("cannot write {}: {source}; {advice}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
        /// What to do.
        advice: &'static str,
    },
    /// A file could not be opened or read.
    #[error("cannot read {}: {source}; {advice}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
        /// What to do.
        advice: &'static str,
    },
    /// A file is not what it should be.
    #[error("{}: {problem}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        problem: String,
    },
    /// What was asked for does not exist or makes no sense.
    #[error("{0}")]
    Request(String),
    /// The values to be written contradict each other: a fault of the program.
    #[error("{0}; this is a fault of knudsen: please report it with the scene")]
    Data(String),
}

impl OutputError {
    /// A failed write, with advice that fits its cause.
    pub fn write(path: &Path, source: io::Error) -> Self {
        let advice = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "free some space, or choose another folder"
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "choose a folder in which you may write"
            }
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                "a part of this path is a file, not a folder: choose another folder, or move that file away"
            }
            io::ErrorKind::IsADirectory | io::ErrorKind::DirectoryNotEmpty => {
                "there is a folder of this name: choose another name, or move the folder away"
            }
            io::ErrorKind::NotFound => "create its folder first, or choose another one",
            _ => "choose another folder, or look after the disk",
        };
        Self::Write { path: path.to_owned(), source, advice }
    }

    /// A failed read, with advice that fits its cause.
    pub fn read(path: &Path, source: io::Error) -> Self {
        let advice = match source.kind() {
            io::ErrorKind::NotFound => "check the path; `knudsen run SCENE -o DIR` writes DIR/fields.vti",
            io::ErrorKind::IsADirectory => "name a file in that folder, such as fields.vti",
            io::ErrorKind::PermissionDenied => "ask its owner for the right to read it",
            io::ErrorKind::InvalidData => {
                "it is no text: give a fields.vti, a fields_avg.dat or a history.csv of a run"
            }
            _ => "check the path and the disk",
        };
        Self::Read { path: path.to_owned(), source, advice }
    }

    /// A file that is not what it should be.
    pub fn format(path: &Path, problem: impl Into<String>) -> Self {
        Self::Format { path: path.to_owned(), problem: problem.into() }
    }
}
