//! The physics self-test: each case compares the solver with theory or an independent reference at a stated sigma.
//! One file a family of cases. Must not know the view or the command line.

pub mod flat_plate;
pub mod free_molecular;
pub mod inflow;
pub mod leaks;
pub mod loads;
pub mod row;
pub mod scenes;
pub mod sparta_sphere;
pub mod table;

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
    vec![
        Case { name: "inflow", about: "an empty box in a stream", run: inflow::empty_boxes },
        Case {
            name: "free-molecular-sphere",
            about: "drag, hits and heat of spheres",
            run: free_molecular::spheres,
        },
        Case { name: "free-molecular-plate", about: "both sides of a thin plate", run: flat_plate::plates },
        Case { name: "free-molecular-box", about: "boxes at yaw", run: free_molecular::boxes },
        Case { name: "free-molecular-mesh", about: "bodies from files", run: free_molecular::polyhedra },
        Case { name: "leaks", about: "no particle passes a wall", run: leaks::closed_boxes },
        Case { name: "sparta-sphere", about: "totals of SPARTA's SPHERE", run: sparta_sphere::totals },
    ]
}
