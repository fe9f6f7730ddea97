//! What the gas does to the obstacles: tallies of each triangle, loads of each body, errors by batch means.
//! Knows nothing of how a device finds hits.

use super::body::Body;
use super::setup::GasSetup;
use crate::physics::geometry::Triangle;
use crate::physics::motion::WallHit;
use crate::physics::statistics::batch::BatchMeans;
use crate::sim::{Checkpoint, Column, Estimate, Loads, SimError, Surface};
use crate::units::Quantity;
use bytemuck::{Pod, Zeroable};

/// Totals of a body in one step: force (N), moment (N m), heat (W), hits (1/s).
pub type BodyTotals = [f64; 8];

/// Tallied quantities of a triangle, in the order of [`SurfaceSums::values`].
const COLUMNS: [Quantity; 6] = [
    Quantity::new("number_flux", "number flux", "N", "1/(m^2 s)"),
    Quantity::new("pressure", "normal pressure", "p", "Pa"),
    Quantity::new("shear_x", "shear stress along x", "tau_x", "Pa"),
    Quantity::new("shear_y", "shear stress along y", "tau_y", "Pa"),
    Quantity::new("shear_z", "shear stress along z", "tau_z", "Pa"),
    Quantity::new("heat_flux", "heat flux into the body", "q", "W/m^2"),
];

/// Sums over the hits of a triangle, per unit mass of a molecule.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct SurfaceSums {
    hits: f64,
    impulse: [f64; 3],
    energy: f64,
}

/// Spread of the batch values of a triangle (Welford 1962).
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct Spread {
    mean: [f64; 6],
    deviation: [f64; 6],
}

/// Tallies of all obstacles.
#[derive(Debug, Clone, Default)]
pub struct Tallies {
    batch: Vec<SurfaceSums>,
    total: Vec<SurfaceSums>,
    spread: Vec<Spread>,
    batch_steps: u64,
    steps: u64,
    batch_length: u64,
    batches: u32,
    bodies: Vec<Vec<BatchMeans>>,
}

impl Tallies {
    /// Empty tallies with batches of `batch_length` steps.
    pub fn new(setup: &GasSetup, batch_length: u64) -> Self {
        let triangles = setup.motion.walls.triangles().len();
        Self {
            batch: vec![SurfaceSums::default(); triangles],
            total: vec![SurfaceSums::default(); triangles],
            spread: vec![Spread::default(); triangles],
            batch_length: batch_length.max(1),
            bodies: setup.bodies.iter().map(|_| vec![BatchMeans::default(); 8]).collect(),
            ..Self::default()
        }
    }

    /// Adds a step's hits and the body totals made from them.
    pub fn add<'a>(
        &mut self,
        setup: &GasSetup,
        hits: impl Iterator<Item = &'a WallHit>,
        totals: &[BodyTotals],
    ) {
        for hit in hits {
            let sums = &mut self.batch[hit.triangle as usize];
            sums.hits += 1.0;
            for k in 0..3 {
                sums.impulse[k] += f64::from(hit.impulse[k]);
            }
            sums.energy += f64::from(hit.energy);
        }
        for (means, totals) in self.bodies.iter_mut().zip(totals) {
            for (mean, &total) in means.iter_mut().zip(totals) {
                mean.push(total);
            }
        }
        self.batch_steps += 1;
        if self.batch_steps == self.batch_length {
            self.close_batch(setup);
        }
    }

    /// Steps until the batch in progress is full.
    pub fn until_batch(&self) -> u64 {
        self.batch_length - self.batch_steps
    }

    /// Puts a device's own sums in place of those of the batch in progress: hits, impulse (m/s), energy (J/kg) of each
    /// triangle, per unit mass of a molecule.
    pub fn set_batch(&mut self, sums: impl Iterator<Item = [f64; 5]>) {
        for (batch, [hits, x, y, z, energy]) in self.batch.iter_mut().zip(sums) {
            *batch = SurfaceSums { hits, impulse: [x, y, z], energy };
        }
    }

    /// The sums of the batch in progress, as [`Tallies::set_batch`] takes them.
    pub fn batch(&self) -> impl Iterator<Item = [f64; 5]> {
        self.batch.iter().map(|s| [s.hits, s.impulse[0], s.impulse[1], s.impulse[2], s.energy])
    }

    fn close_batch(&mut self, setup: &GasSetup) {
        self.batches += 1;
        let count = f64::from(self.batches);
        for (triangle, batch) in self.batch.iter_mut().enumerate() {
            let values = batch.values(setup, triangle, self.batch_steps);
            let spread = &mut self.spread[triangle];
            for (q, value) in values.into_iter().enumerate() {
                let delta = value - spread.mean[q];
                spread.mean[q] += delta / count;
                spread.deviation[q] += delta * (value - spread.mean[q]);
            }
            self.total[triangle].merge(batch);
            *batch = SurfaceSums::default();
        }
        self.steps += self.batch_steps;
        self.batch_steps = 0;
    }

    /// The surfaces as they are shown.
    pub fn surfaces(&self, setup: &GasSetup) -> Vec<Surface> {
        let steps = self.steps + self.batch_steps;
        setup
            .bodies
            .iter()
            .enumerate()
            .map(|(index, body)| Surface {
                name: body.name.clone(),
                mesh: body.mesh.clone(),
                columns: if steps > 0 { self.columns(setup, body, steps) } else { Vec::new() },
                loads: self.bodies.get(index).filter(|_| steps > 0).map(|means| loads(setup, body, means)),
            })
            .collect()
    }

    fn columns(&self, setup: &GasSetup, body: &Body, steps: u64) -> Vec<Column> {
        let mut values = vec![Vec::new(); 6];
        let mut errors = vec![Vec::new(); 6];
        let (mut hits, mut shear, mut shear_error) = (Vec::new(), Vec::new(), Vec::new());
        let pairs = f64::from(self.batches) * (f64::from(self.batches) - 1.0);
        for triangle in body.triangles() {
            let mut sums = self.total[triangle];
            sums.merge(&self.batch[triangle]);
            let value = sums.values(setup, triangle, steps);
            let error: [f64; 6] = std::array::from_fn(|q| {
                if self.batches < 2 { f64::NAN } else { (self.spread[triangle].deviation[q] / pairs).sqrt() }
            });
            for q in 0..6 {
                values[q].push(value[q] as f32);
                errors[q].push(error[q] as f32);
            }
            let magnitude = value[2].hypot(value[3]).hypot(value[4]);
            let along = |q: usize| if magnitude > 0.0 { value[q] / magnitude * error[q] } else { error[q] };
            shear.push(magnitude as f32);
            shear_error.push(along(2).hypot(along(3)).hypot(along(4)) as f32);
            hits.push(sums.hits as f32);
        }
        let known = self.batches >= 2;
        let mut columns: Vec<Column> = COLUMNS
            .iter()
            .zip(values.into_iter().zip(errors))
            .map(|(quantity, (values, errors))| Column {
                quantity: quantity.clone(),
                values,
                errors: if known { errors } else { Vec::new() },
            })
            .collect();
        columns.insert(
            2,
            Column {
                quantity: Quantity::new("shear", "shear stress", "tau", "Pa"),
                values: shear,
                errors: if known { shear_error } else { Vec::new() },
            },
        );
        let quantity = Quantity::new("hits", "sampled hits", "N", "");
        columns.push(Column { quantity, values: hits, errors: Vec::new() });
        columns
    }

    /// Writes the tallies to a checkpoint.
    pub fn save(&self, state: &mut Checkpoint) -> Result<(), SimError> {
        let counts = [self.batch_steps, self.steps, self.batch_length, u64::from(self.batches)];
        state.put_pod("tallies.counts", &counts);
        state.put_pod("tallies.batch", &self.batch);
        state.put_pod("tallies.total", &self.total);
        state.put_pod("tallies.spread", &self.spread);
        state.put_value("tallies.bodies", &self.bodies)
    }

    /// Reads tallies from a checkpoint.
    pub fn load(state: &Checkpoint, setup: &GasSetup) -> Result<Self, SimError> {
        let counts: Vec<u64> = state.get_pod("tallies.counts")?;
        let count = |i: usize| counts.get(i).copied().unwrap_or(0);
        let tallies = Self {
            batch: state.get_pod("tallies.batch")?,
            total: state.get_pod("tallies.total")?,
            spread: state.get_pod("tallies.spread")?,
            batch_steps: count(0),
            steps: count(1),
            batch_length: count(2).max(1),
            batches: count(3) as u32,
            bodies: state.get_value("tallies.bodies")?,
        };
        let triangles = setup.motion.walls.triangles().len();
        if tallies.total.len() != triangles || tallies.bodies.len() != setup.bodies.len() {
            return Err(SimError::Checkpoint(format!(
                "this checkpoint has {} triangles, the scene {triangles}: resume with the scene that wrote it",
                tallies.total.len()
            )));
        }
        Ok(tallies)
    }
}

impl SurfaceSums {
    fn merge(&mut self, other: &Self) {
        self.hits += other.hits;
        self.energy += other.energy;
        for k in 0..3 {
            self.impulse[k] += other.impulse[k];
        }
    }

    /// Number flux, pressure, shear components, heat flux of a triangle over `steps` steps.
    fn values(&self, setup: &GasSetup, triangle: usize, steps: u64) -> [f64; 6] {
        let Triangle { normal, area, .. } = setup.motion.walls.triangles()[triangle];
        let per_area = setup.weight / (steps as f64 * setup.time_step_s * area);
        let traction = self.impulse.map(|j| j * setup.mass_kg * per_area);
        // The gas pushes against the normal, which points into it.
        let pressure = -(0..3).map(|k| traction[k] * normal[k]).sum::<f64>();
        let shear: [f64; 3] = std::array::from_fn(|k| traction[k] + pressure * normal[k]);
        [self.hits * per_area, pressure, shear[0], shear[1], shear[2], self.energy * setup.mass_kg * per_area]
    }
}

/// Totals of each body from the hits of one step.
pub fn body_totals<'a>(setup: &GasSetup, hits: impl Iterator<Item = &'a WallHit>) -> Vec<BodyTotals> {
    let mut totals = vec![[0.0; 8]; setup.bodies.len()];
    for hit in hits {
        let index = setup.motion.walls.triangles()[hit.triangle as usize].obstacle as usize;
        let (total, body) = (&mut totals[index], &setup.bodies[index]);
        let j = hit.impulse.map(f64::from);
        let r: [f64; 3] = std::array::from_fn(|k| f64::from(hit.position[k]) - body.origin[k]);
        for k in 0..3 {
            let (a, b) = ((k + 1) % 3, (k + 2) % 3);
            total[k] += j[k];
            total[3 + k] += r[a] * j[b] - r[b] * j[a];
        }
        total[6] += f64::from(hit.energy);
        total[7] += 1.0;
    }
    let per_second = setup.weight / setup.time_step_s;
    for total in &mut totals {
        for value in &mut total[..7] {
            *value *= setup.mass_kg * per_second;
        }
        total[7] *= per_second;
    }
    totals
}

fn loads(setup: &GasSetup, body: &Body, means: &[BatchMeans]) -> Loads {
    let estimate = |i: usize| {
        let mean = means[i].mean();
        Estimate { value: mean.value, error: mean.error, batches: mean.batches }
    };
    let stream = &setup.stream;
    let scale = stream.dynamic_pressure * body.reference_area_m2;
    let along = |axis: [f64; 3]| {
        (scale > 0.0).then(|| {
            let mean = BatchMeans::combine(&means[..3], &axis.map(|a| a / scale));
            Estimate { value: mean.value, error: mean.error, batches: mean.batches }
        })
    };
    Loads {
        force_n: [estimate(0), estimate(1), estimate(2)],
        moment_n_m: [estimate(3), estimate(4), estimate(5)],
        heat_w: estimate(6),
        hits_per_s: estimate(7),
        drag_coefficient: along(stream.direction),
        lift_coefficient: along(stream.lift_axis),
        side_coefficient: along(stream.side_axis),
        free_molecular_drag_coefficient: body.free_molecular_drag,
        reference_area_m2: body.reference_area_m2,
        reference_length_m: body.reference_length_m,
    }
}
