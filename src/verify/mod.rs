//! The physics self-test: each case compares the solver with theory or an independent reference at a stated sigma.
//! One file a family of cases. Must not know the view or the command line.

mod balance;
pub mod bed;
mod cells;
mod collisions;
mod conservation;
mod equilibrium;
pub mod flat_plate;
mod flight;
mod flow;
pub mod free_molecular;
mod half_split;
pub mod inflow;
pub mod leaks;
pub mod loads;
mod relaxation;
mod repeat;
pub mod row;
pub mod scenes;
pub mod sparta_sphere;
pub mod suite;
pub mod table;
mod versus;
mod viscosity;

pub use bed::Bed;
pub use row::{Row, Verdict};
pub use suite::{Case, On, Outcome, cases};

/// How much computing a case may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Seconds a case: the self-test, and the test suite.
    Quick,
    /// Sample sizes that resolve what the acceptance table says: minutes a case.
    Full,
}
