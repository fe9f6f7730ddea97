//! The cases of `knudsen verify` on formulas alone, without a device: emission, collisions, relaxation, Half-Split-Shuffle.
//! Must not know how a case computes its rows.

// Helpers of tests may fail the test.
#![allow(clippy::panic)]

use knudsen::scene::Scene;
use knudsen::verify::{Bed, Effort, On, Row, cases, suite};

/// Runs a case, prints its rows, and requires every verdict and the rule for families.
fn check(name: &str, rows_expected: usize) {
    let case = cases().into_iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}"));
    assert_eq!(case.on, On::Formulas, "{name} belongs to tests/devices.rs");
    let none = |_: &Scene| panic!("{name} needs a device");
    let rows: Vec<Row> = match (case.run)(Effort::Quick, &Bed::new(&none, 0)) {
        Ok(rows) => rows,
        Err(error) => panic!("{name}: {error}"),
    };
    for row in &rows {
        println!(
            "{:?} z {:6.2} {} {}: {:.6e} reference {:.6e} sigma {:.1e}",
            row.verdict(),
            row.z(),
            row.id,
            row.what,
            row.value,
            row.reference,
            row.sigma
        );
    }
    assert_eq!(rows.len(), rows_expected, "{name}: number of comparisons");
    if let Some(complaint) = suite::complaint(&rows) {
        panic!("{name}: {complaint}");
    }
}

#[test]
fn b1_emission() {
    check("emission", 116);
}

#[test]
fn c1_collision_counts() {
    check("collision-counts", 4 * 5);
}

#[test]
fn c2_equilibrium_speeds() {
    check("equilibrium-speeds", 2 * 9);
}

#[test]
fn c3_anisotropy() {
    check("anisotropy", (2 * 7 + 7 + 7) + (2 * 5 + 5 + 5));
}

#[test]
fn c5_bkw() {
    check("bkw", 30);
}

#[test]
fn h_count_var_overflow() {
    check("half-split-counts", 17 + 6 + 8);
}

#[test]
fn h_pairs() {
    check("half-split-pairs", 3 + 4);
}

#[test]
fn h_relaxation() {
    check("half-split-relaxation", 4 * (2 + 5) + 2 * 2);
}

#[test]
fn h_visc_couette() {
    check("couette", 3 + 3 + 2 * 2 + 2 * 3);
}
