//! What a change of a scene means for a running simulation.
//! Must not know how a simulation carries it out.

use super::Scene;

/// What it costs to go from one scene to another, cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Impact {
    /// Nothing that the simulation sees has changed.
    Nothing,
    /// Takes effect at once; averages go on.
    Live,
    /// Takes effect at once; averages start anew.
    AveragesReset,
    /// The simulation starts from the beginning.
    Restart,
}

/// What it costs to go from `old` to `new`.
pub fn impact(old: &Scene, new: &Scene) -> Impact {
    if old == new { Impact::Nothing } else { Impact::Restart }
}
