//! What comes back from a simulation: plain values, SI units.
//! Must not know devices, files or colours.

use super::Paint;
use crate::scene::TriangleMesh;
use crate::units::Quantity;
use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a snapshot shall hold beside the status, which is always there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request {
    /// At most so many particles, a stable subset.
    pub particles: usize,
    /// What the particles' values shall be.
    pub paint: Paint,
    /// Cell of which the velocities are asked for, by its index as in [`Fields`].
    pub probe_cell: Option<u32>,
    /// Cell-averaged fields.
    pub fields: bool,
    /// Surface tallies and loads of the obstacles.
    pub surfaces: bool,
    /// History rows from this index on; `None` for none.
    pub history_from: Option<usize>,
}

/// The state of a simulation as it is shown.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Counts the snapshots published by a runner.
    pub generation: u64,
    /// Steps done.
    pub step: u64,
    /// Simulated time, s.
    pub time_s: f64,
    /// Time step, s.
    pub time_step_s: f64,
    /// Transient or sampling.
    pub phase: Phase,
    /// Simulated particles now.
    pub particles: u64,
    /// Real molecules a simulated particle stands for.
    pub weight: f64,
    /// A stable subset of the particles.
    pub drawn: Vec<DrawnParticle>,
    /// What the values of `drawn` are. A request that is younger than this snapshot may have asked for something else.
    pub paint: Paint,
    /// The cell asked for; `None` if none was, or there is no such cell.
    pub probe: Option<Probe>,
    /// Cell-averaged fields; `None` if not asked for.
    pub fields: Option<Fields>,
    /// One entry an obstacle; empty if not asked for.
    pub surfaces: Vec<Surface>,
    /// Rows of the history asked for.
    pub history: History,
    /// What was clipped, exceeded or lost since the start.
    pub counters: Counters,
    /// Judgement of cells and time step; `None` before the first average.
    pub resolution: Option<Resolution>,
    /// Wall-clock share of each phase of a step since the start: (name, seconds).
    pub timings: Vec<(&'static str, f64)>,
    /// Bytes held by the simulation.
    pub memory_bytes: u64,
    /// What was decided on the way ("steady since step 812: ..."), oldest first.
    pub notes: Vec<String>,
}

/// Whether averages are being taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Phase {
    /// Not yet.
    #[default]
    Transient,
    /// Since step `since`, `samples` samples so far.
    Sampling {
        /// First sampled step.
        since: u64,
        /// Samples so far.
        samples: u64,
    },
}

/// A particle as it is drawn, 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct DrawnParticle {
    /// Position, m.
    pub position: [f32; 3],
    /// What [`Snapshot::paint`] says.
    pub value: f32,
}

/// The particles of one cell at one instant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Probe {
    /// The cell, by its index as in [`Fields`].
    pub cell: u32,
    /// Velocities of all its particles, m/s; each stands for [`Snapshot::weight`] molecules.
    pub velocities: Vec<[f32; 3]>,
    /// Mass of a molecule, kg.
    pub mass_kg: f64,
}

/// Cell-averaged fields on the uniform grid; cell (i, j, k) is at `(k * ny + j) * nx + i`, x running fastest.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fields {
    /// Cells along each axis.
    pub cells: [u32; 3],
    /// Lower corner, m.
    pub corner_m: [f64; 3],
    /// Edge lengths of the domain, m.
    pub size_m: [f64; 3],
    /// Samples behind the averages; 1 if this is an instantaneous field of a transient.
    pub samples: u64,
    /// Batches behind the errors.
    pub batches: u32,
    /// One column a quantity.
    pub columns: Vec<Column>,
}

/// Values of a quantity, one a cell or a triangle, with the statistical error of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// What it is.
    pub quantity: Quantity,
    /// Values; NaN where there is none (no molecule was ever there).
    pub values: Vec<f32>,
    /// One standard deviation of the value, by batch means; empty where it is not known yet.
    pub errors: Vec<f32>,
}

impl Fields {
    /// The column of that key.
    pub fn column(&self, key: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.quantity.key == key)
    }
}

/// A mean with its statistical error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Mean.
    pub value: f64,
    /// One standard deviation of the mean, by batch means; NaN with fewer than two batches.
    pub error: f64,
    /// Batches behind the error; below 20 the error itself is uncertain by more than 16 %.
    pub batches: u32,
}

/// Surface of an obstacle: tallies per triangle, and their sums.
#[derive(Debug, Clone)]
pub struct Surface {
    /// Name of the obstacle.
    pub name: String,
    /// Its triangles, m.
    pub mesh: Arc<TriangleMesh>,
    /// One column a quantity, one value a triangle.
    pub columns: Vec<Column>,
    /// Sums over the triangles; `None` before the first sample.
    pub loads: Option<Loads>,
}

/// Loads on an obstacle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loads {
    /// Force of the gas on the body, N.
    pub force_n: [Estimate; 3],
    /// Moment about the obstacle's own origin, N m.
    pub moment_n_m: [Estimate; 3],
    /// Heat into the body, W.
    pub heat_w: Estimate,
    /// Molecules that hit the body, 1/s.
    pub hits_per_s: Estimate,
    /// Drag coefficient, along the stream; `None` for a gas at rest.
    pub drag_coefficient: Option<Estimate>,
    /// Lift coefficient, across the stream in the x-y plane towards +y.
    pub lift_coefficient: Option<Estimate>,
    /// Side-force coefficient, along stream x lift.
    pub side_coefficient: Option<Estimate>,
    /// Drag coefficient of the same triangles without any collision between molecules and without shadowing, where
    /// theory gives it (convex bodies and plates).
    pub free_molecular_drag_coefficient: Option<f64>,
    /// Area of the coefficients, m^2.
    pub reference_area_m2: f64,
    /// Length of the moment coefficients, m.
    pub reference_length_m: f64,
}

/// Scalars against time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct History {
    /// What each number of a row is.
    pub columns: Vec<Quantity>,
    /// Index of the first row here among all rows.
    pub first_row: usize,
    /// Rows, `columns.len()` numbers each, one after the other.
    pub values: Vec<f64>,
}

/// Counts since the start. All but `collisions` and the first group should stay 0 in a sound run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Pairs that collided.
    pub collisions: u64,
    /// Pairs that were tried.
    pub collision_candidates: u64,
    /// Particles that entered through the faces.
    pub entered: u64,
    /// Particles that left through the faces.
    pub left: u64,
    /// Hits on obstacles.
    pub wall_hits: u64,
    /// Particle moves.
    pub particle_steps: u64,
    /// Pairs whose probability exceeded the cell's majorant (the majorant was raised).
    pub majorant_exceeded: u64,
    /// Half-Split-Shuffle pairs whose probability was clipped to 1.
    pub probability_clipped: u64,
    /// Moves stopped because of too many wall hits in one step.
    pub bounce_limit: u64,
    /// Hits whose particle had to be put back to where its step began, since rounding left no place on its side.
    pub put_back: u64,
    /// Particles that were lost (non-finite, or found inside a body) and removed.
    pub lost: u64,
}

/// Judgement of one resolution criterion over the cells with gas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// "cell size / mean free path".
    pub name: String,
    /// Worst cell.
    pub worst: f64,
    /// Median cell.
    pub median: f64,
    /// The limit.
    pub limit: f64,
    /// Whether the limit is an upper one (else lower).
    pub upper: bool,
    /// Fraction of cells that miss the limit.
    pub missed: f64,
}

/// Judgement of cells, time step and particles a cell.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Resolution {
    /// One entry a criterion.
    pub criteria: Vec<Criterion>,
}
