//! Collects what is impossible, and keeps one mistake from causing a second message.
//! Must not know which fields there are.

use std::collections::{BTreeSet, HashSet};

/// A field with an impossible value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Path of the field: "model.obstacles[1].shape.radius_m".
    pub field: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// Collector of findings.
pub struct Checker {
    findings: Vec<Finding>,
    /// Fields already known to be wrong.
    bad: BTreeSet<String>,
}

impl Checker {
    /// A collector that keeps silent about `bad` fields, what is in them and what they are in.
    pub fn new(bad: HashSet<String>) -> Self {
        Self { findings: Vec::new(), bad: bad.into_iter().collect() }
    }

    /// What was found, in the order in which it was looked for.
    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// Whether nothing wrong is known of any of these fields, of what is in them, or of what they are in.
    pub fn clean(&self, fields: &[&str]) -> bool {
        fields.iter().all(|field| !self.bad_around(field) && !self.bad_inside(field))
    }

    /// Whether a field, or something that it is in, is bad.
    fn bad_around(&self, field: &str) -> bool {
        let steps = field.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(i, _)| i);
        steps.chain([0, field.len()]).any(|end| self.bad.contains(&field[..end]))
    }

    /// Whether something in a field is bad.
    fn bad_inside(&self, field: &str) -> bool {
        // Sorted, what is in a field comes right after the field and its separator.
        [".", "["].iter().any(|separator| {
            let start = format!("{field}{separator}");
            self.bad.range(start.clone()..).next().is_some_and(|bad| bad.starts_with(&start))
        })
    }

    /// Reports a field, unless something wrong is known of it.
    pub fn fail(&mut self, field: impl Into<String>, message: impl Into<String>) {
        let field = field.into();
        if self.clean(&[&field]) {
            self.also(field, message);
        }
    }

    /// Reports a field even if something else is wrong with it.
    pub fn also(&mut self, field: impl Into<String>, message: impl Into<String>) {
        let field = field.into();
        self.bad.insert(field.clone());
        self.findings.push(Finding { field, message: message.into() });
    }

    /// Demands a finite number.
    pub fn finite(&mut self, field: impl Into<String>, value: f64) {
        if !value.is_finite() {
            self.fail(field, format!("must be a finite number, not {value}"));
        }
    }

    /// Demands a finite number greater than 0.
    pub fn positive(&mut self, field: impl Into<String>, value: f64, unit: &str) {
        if !(value.is_finite() && value > 0.0) {
            self.fail(field, format!("must be a finite number greater than 0 {unit}, not {value}"));
        }
    }

    /// Demands a finite number that is 0 or more.
    pub fn not_negative(&mut self, field: impl Into<String>, value: f64, what: &str) {
        if !(value.is_finite() && value >= 0.0) {
            let turn = "the stream is turned by incidence_deg and sideslip_deg";
            self.fail(field, format!("a {what} must be finite and not less than 0, not {value}; {turn}"));
        }
    }

    /// Demands a number in a closed range.
    pub fn between(&mut self, field: impl Into<String>, value: f64, low: f64, high: f64, why: &str) {
        if !(low..=high).contains(&value) {
            self.fail(field, format!("must be from {low} to {high}, not {value}: {why}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mistake_one_message() {
        let mut check = Checker::new(["a.b".to_string()].into());
        check.positive("a.b", -1.0, "m");
        check.positive("a.b[1]", -1.0, "m");
        check.positive("a", -1.0, "m");
        check.positive("a.bc", -1.0, "m");
        check.fail("a.bc", "again");
        let fields: Vec<String> = check.into_findings().into_iter().map(|f| f.field).collect();
        assert_eq!(fields, ["a.bc"]);
    }

    #[test]
    fn a_bad_root_silences_all() {
        let check = Checker::new([String::new()].into());
        assert!(!check.clean(&["a.b"]));
    }

    #[test]
    fn numbers_that_are_none() {
        let mut check = Checker::new(HashSet::new());
        for (i, value) in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].into_iter().enumerate() {
            check.finite(format!("a{i}"), value);
            check.positive(format!("b{i}"), value, "m");
            check.not_negative(format!("c{i}"), value, "speed");
            check.between(format!("d{i}"), value, 0.0, 1.0, "");
        }
        assert_eq!(check.into_findings().len(), 12);
    }
}
