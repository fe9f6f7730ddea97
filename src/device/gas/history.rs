//! Scalars against time: particles, energy, collisions, loads of each body.
//! Knows nothing of how a device computes them.

use super::setup::GasSetup;
use super::tallies::BodyTotals;
use crate::sim::{Checkpoint, History, SimError};
use crate::units::Quantity;
use serde::{Deserialize, Serialize};

/// Rows after which every second one is dropped and the interval doubles, so that a long run stays small.
const MOST_ROWS: usize = 8192;

/// The history of a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct HistoryLog {
    interval: u64,
    columns: usize,
    values: Vec<f64>,
    /// Counts how often rows were dropped, so that a reader knows to start anew.
    thinned: u32,
    /// Body totals and collisions summed since the last row.
    pending: Vec<f64>,
    pending_collisions: u64,
    pending_steps: u64,
}

impl HistoryLog {
    /// An empty history with a row every `interval` steps.
    pub fn new(setup: &GasSetup, interval: u64) -> Self {
        Self {
            interval: interval.max(1),
            columns: columns(setup).len(),
            pending: vec![0.0; 4 * setup.bodies.len()],
            ..Self::default()
        }
    }

    /// Whether a row is due after step `step`.
    pub fn due(&self, step: u64) -> bool {
        step.is_multiple_of(self.interval)
    }

    /// Steps from `step` to the end of the next row.
    pub fn until_due(&self, step: u64) -> u64 {
        self.interval - step % self.interval
    }

    /// Takes what happened in a step.
    pub fn add_step(&mut self, totals: &[BodyTotals], collisions: u64) {
        for (pending, total) in self.pending.chunks_mut(4).zip(totals) {
            for (sum, value) in pending.iter_mut().zip([total[0], total[1], total[2], total[6]]) {
                *sum += value;
            }
        }
        self.pending_collisions += collisions;
        self.pending_steps += 1;
    }

    /// Closes a row after step `step`; `energy` is the kinetic energy of the particles per unit mass of a molecule.
    /// Returns what the steady-state detector watches: particles, energy, drag of each body.
    pub fn close_row(&mut self, setup: &GasSetup, step: u64, particles: u64, energy: f64) -> Vec<f64> {
        let steps = self.pending_steps.max(1) as f64;
        let energy_j = energy * setup.mass_kg * setup.weight;
        let collisions = self.pending_collisions as f64 * setup.weight / (steps * setup.time_step_s);
        let stream = &setup.stream;
        let mut row =
            vec![step as f64, step as f64 * setup.time_step_s, particles as f64, energy_j, collisions];
        let mut watched = vec![particles as f64, energy_j];
        for (body, pending) in setup.bodies.iter().zip(self.pending.chunks(4)) {
            let scale = steps * stream.dynamic_pressure * body.reference_area_m2;
            let along = |axis: [f64; 3]| {
                let force = axis[0] * pending[0] + axis[1] * pending[1] + axis[2] * pending[2];
                // A gas at rest has no drag coefficient.
                if scale > 0.0 { force / scale } else { f64::NAN }
            };
            let drag = along(stream.direction);
            row.extend([drag, along(stream.lift_axis), pending[3] / steps]);
            watched.push(drag);
        }
        self.values.extend(row);
        self.pending.fill(0.0);
        (self.pending_collisions, self.pending_steps) = (0, 0);
        if self.values.len() > MOST_ROWS * self.columns {
            self.thin();
        }
        watched
    }

    fn thin(&mut self) {
        let columns = self.columns;
        let kept = self.values.chunks(columns).skip(1).step_by(2).flatten().copied().collect();
        self.values = kept;
        self.interval *= 2;
        self.thinned += 1;
    }

    /// Rows from `first` on; all of them if rows were dropped since the caller last looked.
    pub fn rows(&self, setup: &GasSetup, first: usize) -> History {
        let rows = self.values.len() / self.columns.max(1);
        let first_row = if first > rows { 0 } else { first };
        History {
            columns: columns(setup),
            first_row,
            values: self.values[first_row * self.columns..].to_vec(),
        }
    }

    /// Writes the history to a checkpoint.
    pub fn save(&self, state: &mut Checkpoint) -> Result<(), SimError> {
        let light = Self { values: Vec::new(), ..self.clone() };
        state.put_pod("history.values", &self.values);
        state.put_value("history.state", &light)
    }

    /// Reads the history from a checkpoint.
    pub fn load(state: &Checkpoint) -> Result<Self, SimError> {
        let mut history: Self = state.get_value("history.state")?;
        history.values = state.get_pod("history.values")?;
        Ok(history)
    }
}

/// What each number of a row is.
pub fn columns(setup: &GasSetup) -> Vec<Quantity> {
    let mut columns = vec![
        Quantity::new("step", "step", "", ""),
        Quantity::new("time", "time", "t", "s"),
        Quantity::new("particles", "simulated particles", "N", ""),
        Quantity::new("energy", "kinetic energy of the gas", "E", "J"),
        Quantity::new("collision_rate", "collisions in the domain", "N_c", "1/s"),
    ];
    for body in &setup.bodies {
        let of = |key: &str, name: &str, symbol: &'static str, unit: &'static str| Quantity {
            key: format!("{key}_{}", body.name).into(),
            name: format!("{name} of {}", body.name).into(),
            symbol: symbol.into(),
            unit: unit.into(),
        };
        columns.push(of("drag_coefficient", "drag coefficient", "C_D", ""));
        columns.push(of("lift_coefficient", "lift coefficient", "C_L", ""));
        columns.push(of("heat", "heat into", "Q", "W"));
    }
    columns
}
