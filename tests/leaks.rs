//! No particle passes a wall: the leak case of the self-test at two million particle-steps.
//! Must not know how walls are found or hit.

// Helpers of tests may fail the test.
#![allow(clippy::unwrap_used)]

use knudsen::verify::{Effort, Verdict, cases};

#[test]
fn no_leak() {
    let case = cases().into_iter().find(|case| case.name == "leaks").unwrap();
    let rows = (case.run)(Effort::Quick, 2).unwrap();
    assert_eq!(rows.len(), 24);
    for row in &rows {
        assert_eq!(row.verdict(), Verdict::Pass, "{row:?}");
    }
}
