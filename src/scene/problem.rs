//! What is wrong with a scene, with file, line, column and field.
//! Must not know how it was found.

use std::fmt;
use thiserror::Error;

/// Problems printed at most; a file with more is beyond reading them all.
const PRINTED: usize = 100;
/// Characters of a source line printed at most, so that a caret stays in sight in a file that is one long line.
const WINDOW: usize = 100;

/// One thing that is wrong with a scene file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// File, as it was named.
    pub file: String,
    /// Line, from 1; 0 where there is no place in a file.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Path of the field: "model.obstacles[1].shape.radius_m"; "syntax" where the text is no RON, "scene" for all of
    /// it, "file" where it could not be read.
    pub field: String,
    /// What is wrong, and what would be right.
    pub message: String,
    /// The line of the file, empty where there is none.
    pub source_line: String,
}

impl Problem {
    /// A problem without a place in a file: a scene made in memory, or a file that cannot be read.
    pub fn unplaced(file: impl Into<String>, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: 0,
            column: 0,
            field: field.into(),
            message: message.into(),
            source_line: String::new(),
        }
    }

    /// The source line with a caret under the column, or nothing where there is no place.
    fn excerpt(&self) -> String {
        let length = self.source_line.chars().count();
        if self.line == 0 || self.source_line.trim().is_empty() || self.column > length + 1 {
            return String::new();
        }
        let first = self.column.saturating_sub(1).saturating_sub(WINDOW / 2);
        let first = if length <= WINDOW { 0 } else { first };
        let shown: String = self.source_line.chars().skip(first).take(WINDOW).map(printable).collect();
        let caret = self.column.saturating_sub(1).saturating_sub(first);
        format!("\n{:>6} | {}\n{:>6} | {:caret$}^", self.line, shown.trim_end(), "", "")
    }
}

/// One column for one character: tabs and control characters would move the caret.
fn printable(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

/// All that is wrong with a scene.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct SceneError {
    /// In the order of the file.
    pub problems: Vec<Problem>,
}

impl From<Problem> for SceneError {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

impl fmt::Display for Problem {
    /// One line: `file:line:column: field: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}: {}", self.file, self.field, self.message)
        } else {
            write!(f, "{}:{}:{}: {}: {}", self.file, self.line, self.column, self.field, self.message)
        }
    }
}

impl fmt::Display for SceneError {
    /// Each problem on its line, followed by the source line with a caret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().take(PRINTED).enumerate() {
            let separator = if i == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}{}", problem.excerpt())?;
        }
        match self.problems.len().saturating_sub(PRINTED) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more: mend these first"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem() -> Problem {
        Problem {
            file: "a.ron".into(),
            line: 12,
            column: 5,
            field: "name".into(),
            message: "must not be empty".into(),
            source_line: "\tab cd".into(),
        }
    }

    #[test]
    fn one_line_and_a_caret() {
        assert_eq!(problem().to_string(), "a.ron:12:5: name: must not be empty");
        let shown = SceneError::from(problem()).to_string();
        assert_eq!(shown, "a.ron:12:5: name: must not be empty\n    12 |  ab cd\n       |     ^");
        let unplaced = Problem::unplaced("a.ron", "file", "is a folder");
        assert_eq!(SceneError::from(unplaced).to_string(), "a.ron: file: is a folder");
    }

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let long = Problem { column: 5001, source_line: format!("{}X", "-".repeat(5000)), ..problem() };
        let shown = SceneError::from(long).to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines.iter().all(|l| l.len() < 130), "{shown}");
        assert_eq!(lines[1].find('X'), lines[2].find('^'));
    }

    #[test]
    fn too_many_are_counted() {
        let error = SceneError { problems: vec![problem(); 150] };
        assert!(error.to_string().ends_with("and 50 more: mend these first"));
    }
}
