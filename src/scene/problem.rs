//! What is wrong with a scene, with file, line, column and field.
//! Must not know how it was found.

use thiserror::Error;

/// One thing that is wrong with a scene file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// File, as it was named.
    pub file: String,
    /// Line, from 1; 0 where there is no place in a file.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// Path of the field: "obstacles[1].shape.radius_m".
    pub field: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// All that is wrong with a scene.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", .problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct SceneError {
    /// In the order of the file.
    pub problems: Vec<Problem>,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}: {}: {}", self.file, self.line, self.column, self.field, self.message)
    }
}
