//! One suite for each device: the self-test of `knudsen verify`, and bits that do not depend on how a run is cut. The CPU
//! always; CUDA where there is an NVIDIA GPU, else skipped, which is told. Must not know how a device computes.

// Helpers of tests may fail the test.
#![allow(clippy::unwrap_used, clippy::panic)]

use knudsen::device::{Choice, Chosen, choose};
use knudsen::scene::Scene;
use knudsen::verify::{Bed, Case, Effort, On, Row, cases, suite};

/// Threads of the CPU: as many as the machines that test this have.
const THREADS: usize = 2;

/// The device, or nothing if this machine has none.
fn device(choice: Choice) -> Option<Chosen> {
    match choose(choice, THREADS) {
        Ok(device) => Some(device),
        Err(error) => {
            // Once, and past the capture of the test's output, so that it is seen where tests pass too.
            use std::io::Write;
            static TOLD: std::sync::Once = std::sync::Once::new();
            TOLD.call_once(|| {
                let mut out = std::io::stderr();
                writeln!(out, "SKIPPED: the whole suite on {choice:?}: {error}").unwrap();
            });
            assert_ne!(choice, Choice::Cpu, "the CPU is always there: {error}");
            None
        }
    }
}

fn find(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).unwrap_or_else(|| panic!("no case {name}"))
}

/// Runs a case on a device and requires every comparison and the rule for all together to hold, and that there are as many
/// as there should be. On the CPU, whose bits are the same everywhere, without a second attempt.
fn check(choice: Choice, name: &str, rows_expected: usize) {
    let Some(device) = device(choice) else { return };
    let case = find(name);
    let cpu = choose(Choice::Cpu, THREADS).unwrap();
    let on_cpu = |scene: &Scene| cpu.make_subject(scene);
    let maker = |scene: &Scene| device.make_subject(scene);
    let bed = Bed::new(&maker, THREADS);
    let rows = if device.is_cpu() {
        (case.run)(Effort::Quick, &bed)
    } else {
        case.judge(Effort::Quick, &bed.against(&on_cpu, "the CPU")).map(|outcome| outcome.rows)
    };
    let rows: Vec<Row> = rows.unwrap_or_else(|error| panic!("{name} on {}: {error}", device.name));
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
        panic!("{name} on {}: {complaint}", device.name);
    }
}

/// A module of tests for a device, one a case, so that each is seen by name and they run side by side.
macro_rules! suite_on {
    ($device:ident, $choice:expr) => {
        mod $device {
            use super::*;

            #[test]
            fn the_same_bits_twice_in_any_portions_and_after_a_resume() {
                check($choice, "repeat", 6);
            }

            #[test]
            fn every_particle_is_accounted_for() {
                check($choice, "balance", 2 * 8);
            }

            #[test]
            fn no_leak() {
                check($choice, "leaks", 6 * 4);
            }

            #[test]
            fn inflow() {
                check($choice, "inflow", 97);
            }

            #[test]
            fn free_molecular_spheres() {
                check($choice, "free-molecular-sphere", 162);
            }

            #[test]
            fn collision_rate() {
                check($choice, "collision-rate", 4 * 2 + 7);
            }

            #[test]
            fn relaxation() {
                check($choice, "relaxation", 5 * 2);
            }

            #[test]
            fn equilibrium() {
                check($choice, "equilibrium", 57);
            }

            #[test]
            fn c6_conservation() {
                check($choice, "conservation", 2 * 4 + 2 * 10);
            }

            #[test]
            fn against_another_device() {
                check($choice, "versus", 13);
            }

            #[test]
            fn free_molecular_plates() {
                check($choice, "free-molecular-plate", 180);
            }

            #[test]
            fn free_molecular_boxes() {
                check($choice, "free-molecular-box", 112);
            }

            #[test]
            fn free_molecular_triangle_files() {
                check($choice, "free-molecular-mesh", 196);
            }

            #[test]
            fn sphere_with_collisions_agrees_with_sparta() {
                check($choice, "sparta-sphere", 5);
            }
        }
    };
}

suite_on!(cpu, Choice::Cpu);
suite_on!(cuda, Choice::Cuda(0));

/// No case of a device is left out of the suite above.
#[test]
fn every_case_of_a_device_is_tested() {
    let of_devices = cases().into_iter().filter(|case| case.on != On::Formulas);
    let source = include_str!("devices.rs");
    for case in of_devices {
        assert!(source.contains(&format!("check($choice, \"{}\"", case.name)), "{}", case.name);
    }
}
