//! Reference tables of the self-test: comma-separated text, read by column name.
//! Must not know what the columns mean.

use crate::sim::SimError;
use std::collections::HashMap;

/// A line of a table.
#[derive(Debug, Clone)]
pub struct Line(HashMap<String, String>);

/// Reads a table whose first line names the columns.
///
/// # Errors
/// The text is no such table.
pub fn read(text: &str) -> Result<Vec<Line>, SimError> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(|line| line.map(Line).map_err(|error| broken(&error.to_string()))).collect()
}

impl Line {
    /// The text of a column; empty if there is no such column.
    pub fn text(&self, column: &str) -> &str {
        self.0.get(column).map_or("", String::as_str)
    }

    /// The number of a column; `None` if it is empty.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }

    /// The number of a column.
    ///
    /// # Errors
    /// There is none.
    pub fn get(&self, column: &str) -> Result<f64, SimError> {
        self.number(column).ok_or_else(|| broken(&format!("column {column} has no number in {:?}", self.0)))
    }
}

fn broken(what: &str) -> SimError {
    SimError::Scene(format!(
        "a reference table of this program is damaged ({what}): build it anew from its sources"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_by_name() {
        let lines = read("a,b,c\n1.5,x,\n2,y,7\n").unwrap();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].get("a").unwrap(), 1.5);
        assert_eq!((lines[0].text("b"), lines[0].number("c")), ("x", None));
        assert!(lines[0].get("c").unwrap_err().to_string().contains("column c"));
        assert!(read("a,b\n1\n").is_err());
    }
}
