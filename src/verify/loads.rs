//! Loads of one body in a free-molecular stream: value and error of each from the scatter of batches.
//! Must not know what they are compared with.

use super::Bed;
use super::scenes::{FreeFlow, incident_gas};
use crate::physics::theory::free_molecular::{BodyLoad, IncidentGas};
use crate::scene::{TriangleMesh, Wall};
use crate::sim::{Request, SimError, Snapshot};
use std::sync::Arc;

/// What was measured of a body.
#[derive(Debug)]
pub struct Measured {
    /// Gas far away.
    pub incident: IncidentGas,
    /// Wall.
    pub wall: Wall,
    /// Triangles of the body.
    pub mesh: Arc<TriangleMesh>,
    /// Unit vectors of drag, lift and side force.
    pub axes: [[f64; 3]; 3],
    /// Sum of the moduli of the tangential forces on the triangles over that of their normal forces.
    pub shear_share: f64,
    /// Time of all batches, s.
    pub time_s: f64,
    /// Real molecules a particle.
    pub weight: f64,
    /// Means of the batches: force (N), moment (N m), heat (W), hits (1/s).
    totals: Vec<[f64; 8]>,
    /// Means of the batches over the first and the second half of the triangles.
    halves: Vec<[[f64; HALF]; 2]>,
}

/// Number of columns of a half.
const HALF: usize = 4;

/// Columns kept of each half of the triangles.
const COLUMNS: [&str; HALF] = ["number_flux", "pressure", "shear_x", "heat_flux"];

/// A mean over batches and its standard deviation.
pub type Estimate = (f64, f64);

impl Measured {
    /// Runs the flow.
    ///
    /// # Errors
    /// The scene cannot be made or computed.
    pub fn run(flow: &FreeFlow, bed: &Bed<'_>) -> Result<Self, SimError> {
        let scene = flow.scene()?;
        let mut gas = bed.make(&scene)?;
        let mut snapshot = Snapshot::default();
        let request = Request { surfaces: true, ..Request::default() };
        let (mut totals, mut halves) = (Vec::new(), Vec::new());
        let mut sum = [0.0; 8];
        let mut half_sum = [[0.0; HALF]; 2];
        // The device tells means since the start: their growth is the mean of the batch.
        for batch in 1..=flow.batches {
            gas.advance(flow.batch_steps)?;
            gas.observe(&request, &mut snapshot)?;
            let Some(loads) = snapshot.surfaces.first().and_then(|surface| surface.loads.as_ref()) else {
                return Err(SimError::Device(
                    "the device told no loads: this is a bug, please report it".into(),
                ));
            };
            let means: Vec<f64> = loads
                .force_n
                .iter()
                .chain(&loads.moment_n_m)
                .chain([&loads.heat_w, &loads.hits_per_s])
                .map(|estimate| estimate.value)
                .collect();
            let now: [f64; 8] = std::array::from_fn(|i| means[i] * f64::from(batch));
            totals.push(std::array::from_fn(|i| now[i] - sum[i]));
            sum = now;
            let now = half_means(&snapshot).map(|half| half.map(|mean| mean * f64::from(batch)));
            halves.push(std::array::from_fn(|h| std::array::from_fn(|q| now[h][q] - half_sum[h][q])));
            half_sum = now;
        }
        let counters = gas.counters()?;
        if counters.lost + counters.bounce_limit > 0 {
            return Err(SimError::Numerical(format!(
                "{} particles were lost and {} moves stopped in free-molecular flow around a convex body: this is a \
                 bug, please report it",
                counters.lost, counters.bounce_limit
            )));
        }
        let setup = gas.setup();
        let steps = f64::from(flow.batches) * f64::from(flow.batch_steps);
        Ok(Self {
            incident: incident_gas(setup.gas()),
            wall: flow.wall,
            mesh: setup.bodies[0].mesh.clone(),
            axes: [setup.stream.direction, setup.stream.lift_axis, setup.stream.side_axis],
            shear_share: shear_share(&snapshot),
            time_s: steps * setup.time_step_s,
            weight: setup.weight,
            totals,
            halves,
        })
    }

    /// Loads by theory on the triangles.
    pub fn theory(&self) -> BodyLoad {
        self.incident.body(&self.mesh, self.wall, [0.0; 3])
    }

    /// Dynamic pressure, Pa.
    pub fn dynamic_pressure(&self) -> f64 {
        self.incident.dynamic_pressure()
    }

    /// Speed of the stream, m/s.
    pub fn speed(&self) -> f64 {
        self.incident.velocity.iter().map(|v| v * v).sum::<f64>().sqrt()
    }

    /// n U, 1/(m^2 s): hits over this are an area.
    pub fn hit_scale(&self) -> f64 {
        self.incident.number_density * self.speed()
    }

    /// A component of the force, N.
    pub fn force(&self, axis: [f64; 3]) -> Estimate {
        estimate(self.totals.iter().map(|t| (0..3).map(|k| t[k] * axis[k]).sum()))
    }

    /// Component `k` of the moment about the origin, N m.
    pub fn moment(&self, k: usize) -> Estimate {
        estimate(self.totals.iter().map(|t| t[3 + k]))
    }

    /// Heat into the body, W.
    pub fn heat(&self) -> Estimate {
        estimate(self.totals.iter().map(|t| t[6]))
    }

    /// Molecules that hit, 1/s.
    pub fn hits(&self) -> Estimate {
        estimate(self.totals.iter().map(|t| t[7]))
    }

    /// A component of the force over the hits, N s.
    pub fn force_a_hit(&self, axis: [f64; 3]) -> Estimate {
        self.a_hit(|t| (0..3).map(|k| t[k] * axis[k]).sum())
    }

    /// Heat into the body over the hits, J.
    pub fn heat_a_hit(&self) -> Estimate {
        self.a_hit(|t| t[6])
    }

    fn a_hit(&self, of: impl Fn(&[f64; 8]) -> f64) -> Estimate {
        ratio(self.totals.iter().map(|t| (of(t), t[7])))
    }

    /// Number flux (1/(m^2 s)) on the first (0) or second (1) half of the triangles, which are equally large: the upper
    /// and lower side of a plate.
    pub fn half_flux(&self, half: usize) -> Estimate {
        estimate(self.halves.iter().map(|h| h[half][0]))
    }

    /// Pressure (Pa), shear along x (Pa) and heat flux (W/m^2) of a half over its number flux.
    pub fn half_a_hit(&self, half: usize) -> [Estimate; HALF - 1] {
        std::array::from_fn(|q| ratio(self.halves.iter().map(|h| (h[half][q + 1], h[half][0]))))
    }

    /// Particles that a number flux (1/(m^2 s)) on an area (m^2) makes in the whole run.
    pub fn particles(&self, number_flux: f64, area_m2: f64) -> f64 {
        number_flux * area_m2 * self.time_s / self.weight
    }
}

/// Mean and its standard deviation of independent values.
pub fn estimate(values: impl ExactSizeIterator<Item = f64> + Clone) -> Estimate {
    let count = values.len() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let scatter: f64 = values.map(|v| (v - mean).powi(2)).sum();
    (mean, (scatter / (count - 1.0) / count).sqrt())
}

/// Ratio of two sums over independent batches and its standard deviation (Cochran 1977, section 6.3). What a hit brings
/// does not depend on how many there are, so that this is independent of the number of hits.
fn ratio(pairs: impl ExactSizeIterator<Item = (f64, f64)> + Clone) -> Estimate {
    let (above, below) = pairs.clone().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let ratio = above / below;
    let mean = below / pairs.len() as f64;
    let (_, sigma) = estimate(pairs.map(|(x, y)| (x - ratio * y) / mean));
    (ratio, sigma)
}

/// Means of [`COLUMNS`] over each half of the triangles.
fn half_means(snapshot: &Snapshot) -> [[f64; HALF]; 2] {
    let column = |key: &str| -> &[f32] {
        let columns = &snapshot.surfaces[0].columns;
        columns.iter().find(|column| column.quantity.key == key).map_or(&[], |column| &column.values)
    };
    std::array::from_fn(|half| {
        COLUMNS.map(|key| {
            let values = column(key);
            let (first, second) = values.split_at(values.len() / 2);
            let values = if half == 0 { first } else { second };
            values.iter().map(|&v| f64::from(v)).sum::<f64>() / values.len() as f64
        })
    })
}

fn shear_share(snapshot: &Snapshot) -> f64 {
    let surface = &snapshot.surfaces[0];
    let total = |key: &str| -> f64 {
        let column = surface.columns.iter().find(|column| column.quantity.key == key);
        column.map_or(f64::NAN, |column| {
            let forces = column.values.iter().enumerate();
            forces.map(|(i, &v)| surface.mesh.triangle_area(i) * f64::from(v).abs()).sum()
        })
    };
    total("shear") / total("pressure")
}
