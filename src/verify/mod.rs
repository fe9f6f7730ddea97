//! The physics self-test: each case compares the solver with theory or an independent reference at a stated sigma.
//! One file a family of cases. Must not know the view or the command line.

pub mod row;

pub use row::{Row, Verdict};

use crate::sim::SimError;

/// How much computing a case may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Seconds a case: the test suite.
    Quick,
    /// Sample sizes that resolve what the acceptance table says: minutes a case.
    Full,
}

/// A case of the self-test.
pub struct Case {
    /// Name for `--only`: "free-molecular-sphere".
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// Computes its rows on `threads` threads of the CPU (0: one a core).
    pub run: fn(Effort, usize) -> Result<Vec<Row>, SimError>,
}

/// All cases, in the order in which they are run.
pub fn cases() -> Vec<Case> {
    vec![]
}
