//! Averages of the cells over samples, with errors by batch means.
//! Knows nothing of how a device sums its particles, nor of when a sample is due.

use crate::physics::moments::{CellFields, CellSums, FieldScale};
use crate::sim::{Column, Fields, SimError};
use crate::units::Quantity;
use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use super::setup::GasSetup;
use crate::sim::Checkpoint;

/// Number of averaged quantities.
const QUANTITIES: usize = 12;

/// The averaged quantities, in the order of [`values`].
static COLUMNS: [Quantity; QUANTITIES] = [
    Quantity::new("number_density", "number density", "n", "1/m^3"),
    Quantity::new("density", "density", "rho", "kg/m^3"),
    Quantity::new("velocity_x", "velocity along x", "u", "m/s"),
    Quantity::new("velocity_y", "velocity along y", "v", "m/s"),
    Quantity::new("velocity_z", "velocity along z", "w", "m/s"),
    Quantity::new("temperature", "temperature", "T", "K"),
    Quantity::new("temperature_x", "temperature along x", "T_x", "K"),
    Quantity::new("temperature_y", "temperature along y", "T_y", "K"),
    Quantity::new("temperature_z", "temperature along z", "T_z", "K"),
    Quantity::new("pressure", "pressure", "p", "Pa"),
    Quantity::new("mach", "Mach number", "M", ""),
    Quantity::new("knudsen", "local Knudsen number (VHS mean free path / reference length)", "Kn", ""),
];

static SAMPLE_COUNT: Quantity = Quantity::new("sample_count", "sampled particles", "N", "");

/// Spread of the batch values of a cell: running mean and sum of squared deviations (Welford 1962). The number density
/// is in units of the stream's, whose square would overflow an f32.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Spread {
    mean: [f32; QUANTITIES],
    deviation: [f32; QUANTITIES],
    /// Batches in which the cell had a density.
    batches: u32,
    /// Batches in which it had a temperature too.
    full: u32,
}

/// Averages of all cells.
#[derive(Debug, Clone, Default)]
pub struct Averages {
    /// Sums of the batch in progress; the device adds to them.
    pub batch: Vec<CellSums>,
    total: Vec<CellSums>,
    spread: Vec<Spread>,
    batch_samples: u64,
    samples: u64,
    batch_length: u64,
    batches: u32,
}

impl Averages {
    /// Empty averages of `cells` cells with batches of `batch_length` samples.
    pub fn new(cells: usize, batch_length: u64) -> Self {
        Self {
            batch: vec![CellSums::default(); cells],
            total: vec![CellSums::default(); cells],
            spread: vec![Spread::default(); cells],
            batch_length: batch_length.max(1),
            ..Self::default()
        }
    }

    /// Samples so far.
    pub fn samples(&self) -> u64 {
        self.samples + self.batch_samples
    }

    /// Samples until the batch in progress is full.
    pub fn until_batch(&self) -> u64 {
        self.batch_length - self.batch_samples
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> u64 {
        (self.batch.len() * (2 * size_of::<CellSums>() + size_of::<Spread>())) as u64
    }

    /// Says that the device has added one sample to every cell of `batch`.
    pub fn sampled(&mut self, setup: &GasSetup) {
        self.batch_samples += 1;
        if self.batch_samples < self.batch_length {
            return;
        }
        let samples = self.batch_samples as f64;
        let volume = setup.motion.grid.cell_volume();
        let walls = &setup.motion.walls;
        (&mut self.batch, &mut self.total, &mut self.spread).into_par_iter().enumerate().for_each(
            |(cell, (batch, total, spread))| {
                let fields = CellFields::new(
                    batch,
                    samples,
                    volume * f64::from(walls.gas_fraction(cell)),
                    &setup.field_scale,
                );
                let mut values = values(&fields, setup);
                values[0] /= setup.stream.number_density;
                spread.push(&values);
                total.merge(batch);
                *batch = CellSums::default();
            },
        );
        self.samples += self.batch_samples;
        self.batch_samples = 0;
        self.batches += 1;
    }

    /// The fields: averages where there are samples, else of the one sample in `now`.
    pub fn fields(&self, setup: &GasSetup, now: Option<&[CellSums]>) -> Fields {
        let grid = &setup.motion.grid;
        let samples = if now.is_some() { 1 } else { self.samples() };
        let columns: Vec<(Vec<f32>, Vec<f32>)> = {
            let cells: Vec<([f64; QUANTITIES], f64)> = (0..grid.len())
                .into_par_iter()
                .map(|cell| {
                    let sums = match now {
                        Some(now) => now[cell],
                        None => {
                            let mut sums = self.total[cell];
                            sums.merge(&self.batch[cell]);
                            sums
                        }
                    };
                    let volume = grid.cell_volume() * f64::from(setup.motion.walls.gas_fraction(cell));
                    let fields = CellFields::new(&sums, samples as f64, volume, &setup.field_scale);
                    (values(&fields, setup), sums.count)
                })
                .collect();
            let errors = now.is_none() && self.batches >= 2;
            (0..=QUANTITIES)
                .into_par_iter()
                .map(|q| {
                    if q == QUANTITIES {
                        return (cells.iter().map(|c| c.1 as f32).collect(), Vec::new());
                    }
                    let unit = if q == 0 { setup.stream.number_density as f32 } else { 1.0 };
                    let values = cells.iter().map(|c| c.0[q] as f32).collect();
                    let errors = if errors {
                        self.spread.iter().map(|s| s.error(q) * unit).collect()
                    } else {
                        Vec::new()
                    };
                    (values, errors)
                })
                .collect()
        };
        let quantities = COLUMNS.iter().chain([&SAMPLE_COUNT]);
        Fields {
            cells: grid.cells,
            corner_m: grid.corner,
            size_m: grid.size,
            samples,
            batches: if now.is_some() { 0 } else { self.batches },
            columns: quantities
                .zip(columns)
                .map(|(quantity, (values, errors))| Column { quantity: quantity.clone(), values, errors })
                .collect(),
        }
    }

    /// Writes the averages to a checkpoint.
    pub fn save(&self, state: &mut Checkpoint) -> Result<(), SimError> {
        let counts = [self.batch_samples, self.samples, self.batch_length, u64::from(self.batches)];
        state.put_pod("averages.counts", &counts);
        state.put_pod("averages.batch", &self.batch);
        state.put_pod("averages.total", &self.total);
        state.put_pod("averages.spread", &self.spread);
        Ok(())
    }

    /// Reads the averages of `cells` cells from a checkpoint.
    pub fn load(state: &Checkpoint, cells: usize) -> Result<Self, SimError> {
        let counts: Vec<u64> = state.get_pod("averages.counts")?;
        let averages = Self {
            batch: state.get_pod("averages.batch")?,
            total: state.get_pod("averages.total")?,
            spread: state.get_pod("averages.spread")?,
            batch_samples: counts.first().copied().unwrap_or(0),
            samples: counts.get(1).copied().unwrap_or(0),
            batch_length: counts.get(2).copied().unwrap_or(1).max(1),
            batches: counts.get(3).copied().unwrap_or(0) as u32,
        };
        let lengths = [averages.batch.len(), averages.total.len(), averages.spread.len()];
        if lengths.iter().any(|&length| length != cells) {
            return Err(SimError::Checkpoint(format!(
                "the averages of this checkpoint are for {lengths:?} cells, the scene has {cells}: resume with the \
                 scene that wrote it"
            )));
        }
        Ok(averages)
    }
}

impl Spread {
    fn push(&mut self, values: &[f64; QUANTITIES]) {
        if !values[0].is_finite() {
            return;
        }
        self.batches += 1;
        let full = values.iter().all(|v| v.is_finite());
        self.full += u32::from(full);
        for (q, &value) in values.iter().enumerate() {
            let count = if q < 2 {
                self.batches
            } else if full {
                self.full
            } else {
                continue;
            };
            let value = value as f32;
            let delta = value - self.mean[q];
            self.mean[q] += delta / count as f32;
            self.deviation[q] += delta * (value - self.mean[q]);
        }
    }

    /// Standard deviation of the mean of a quantity; NaN with fewer than two batches.
    fn error(&self, q: usize) -> f32 {
        let count = if q < 2 { self.batches } else { self.full };
        if count < 2 {
            return f32::NAN;
        }
        (f64::from(self.deviation[q]) / (f64::from(count) * f64::from(count - 1))).sqrt() as f32
    }
}

/// The averaged quantities of a cell, in the order of [`COLUMNS`].
fn values(fields: &CellFields, setup: &GasSetup) -> [f64; QUANTITIES] {
    let scale: &FieldScale = &setup.field_scale;
    let n = fields.number_density;
    let temperature = fields.translational_temperature();
    let [u, v, w] = fields.velocity;
    let [tx, ty, tz] = fields.temperature;
    let gas = &setup.gas().gas;
    let knudsen = gas.mean_free_path(n, temperature) / setup.reference_length();
    [
        n,
        n * scale.mass_kg,
        u,
        v,
        w,
        temperature,
        tx,
        ty,
        tz,
        crate::physics::species::pressure(n, temperature),
        fields.mach(scale),
        knudsen,
    ]
}
