//! The physics self-test: each case compares the solver with theory or an independent reference at a stated sigma.
//! One file a family of cases. Must not know the view or the command line.

mod cells;
mod collisions;
mod conservation;
pub mod flat_plate;
pub mod free_molecular;
mod half_split;
pub mod inflow;
pub mod leaks;
pub mod loads;
mod relaxation;
pub mod row;
pub mod scenes;
pub mod sparta_sphere;
pub mod table;
mod viscosity;

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
        Case {
            name: "collision-counts",
            about: "C1: collisions a step in frozen cells and a moving gas, for every model, scheme and majorant",
            run: collisions::run,
        },
        Case {
            name: "equilibrium-speeds",
            about: "C2: equal speeds become the Maxwell distribution",
            run: relaxation::speeds,
        },
        Case {
            name: "anisotropy",
            about: "C3: T_x = 2 T decays at the right rate",
            run: relaxation::anisotropy,
        },
        Case { name: "bkw", about: "C5: the exact BKW solution of Maxwell molecules", run: relaxation::bkw },
        Case {
            name: "conservation",
            about: "C6: energy, momentum and particles of closed boxes stay",
            run: conservation::run,
        },
        Case {
            name: "half-split-counts",
            about: "H: Half-Split-Shuffle makes the right number of collisions, with the right scatter",
            run: half_split::counts,
        },
        Case {
            name: "half-split-pairs",
            about: "H: every pair is equally likely, and independent of the step before",
            run: half_split::pairs,
        },
        Case {
            name: "half-split-relaxation",
            about: "H: relaxation follows the exact factor of the scheme; unshuffled pairs would not",
            run: half_split::relaxation,
        },
        Case {
            name: "couette",
            about: "H-visc, D4: shear stress between moving walls does not depend on scheme and time step",
            run: viscosity::run,
        },
    ]
}
