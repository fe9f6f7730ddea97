//! The history as CSV: one column a quantity with its unit in the header, one line a row.
//! Must not know fields or pictures.

use super::error::OutputError;
use crate::sim::History;
use crate::units::Quantity;
use std::io::{self, Write};
use std::path::Path;

/// Writes the header `key [unit]` (`key` alone for a pure number) and the rows; numbers are printed so that they
/// are read back as the same bits.
pub fn write_history(history: &History, to: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(to);
    if history.columns.is_empty() {
        return Ok(());
    }
    writer.write_record(history.columns.iter().map(heading))?;
    for row in history.values.chunks_exact(history.columns.len()) {
        writer.write_record(row.iter().map(f64::to_string))?;
    }
    writer.flush()
}

/// The table that [`write_history`] writes, as text: for a clipboard.
pub fn history_csv(history: &History) -> String {
    let mut bytes = Vec::new();
    match write_history(history, &mut bytes) {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        // Nothing is written but memory, which has no way to fail.
        Err(_) => String::new(),
    }
}

/// Reads a table that [`write_history`] wrote.
///
/// Errors: [`OutputError::Read`], and [`OutputError::Format`] with the line that is not numbers.
pub fn read_history(path: &Path) -> Result<History, OutputError> {
    let text = std::fs::read_to_string(path).map_err(|source| OutputError::read(path, source))?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let wrong =
        |error: csv::Error| OutputError::format(path, format!("{error}; give a history.csv of a run"));
    let columns = reader.headers().map_err(wrong)?.iter().map(quantity).collect();
    let mut history = History { columns, ..History::default() };
    for record in reader.records() {
        let record = record.map_err(wrong)?;
        for field in &record {
            history.values.push(field.trim().parse().map_err(|_| {
                let line = record.position().map_or(0, csv::Position::line);
                OutputError::format(
                    path,
                    format!("line {line}: \"{field}\" is no number; give a history.csv of a run"),
                )
            })?);
        }
    }
    Ok(history)
}

fn heading(quantity: &Quantity) -> String {
    if quantity.unit.is_empty() {
        quantity.key.to_string()
    } else {
        format!("{} [{}]", quantity.key, quantity.unit)
    }
}

fn quantity(heading: &str) -> Quantity {
    let (key, unit) = heading.strip_suffix(']').and_then(|h| h.split_once(" [")).unwrap_or((heading, ""));
    let (key, unit) = (key.to_owned(), unit.to_owned());
    Quantity { name: key.replace('_', " ").into(), symbol: "".into(), key: key.into(), unit: unit.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_comes_back_bit_for_bit() {
        let history = History {
            columns: vec![
                Quantity::new("time", "time", "t", "s"),
                Quantity::new("drag_coefficient", "drag coefficient", "C_D", ""),
            ],
            first_row: 0,
            values: vec![1e-5, f64::NAN, 2e-5, 0.1 + 0.2],
        };
        let mut bytes = Vec::new();
        write_history(&history, &mut bytes).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert_eq!(history_csv(&history), text);
        assert_eq!(history_csv(&History::default()), "");
        assert_eq!(text.lines().next().unwrap(), "time [s],drag_coefficient");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.csv");
        std::fs::write(&path, &bytes).unwrap();
        let back = read_history(&path).unwrap();
        assert_eq!(back.columns[0].unit, "s");
        assert_eq!(back.columns[1].key, "drag_coefficient");
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back.values), bits(&history.values));

        std::fs::write(&path, "a,b\n1,2\n3,x\n").unwrap();
        let error = read_history(&path).unwrap_err().to_string();
        assert!(error.contains("line 3: \"x\" is no number"), "{error}");
    }
}
