//! The distribution of molecular velocities in a cell: gathered over snapshots, as a histogram, beside the Maxwellian.
//! Must not know devices, colours or how it is drawn.

use crate::sim::Probe;
use std::f64::consts::PI;

/// Boltzmann constant k, J/K (exact, SI 2019).
const BOLTZMANN: f64 = 1.380_649e-23;

/// What of the velocity is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Of {
    /// Velocity along x.
    #[default]
    X,
    /// Velocity along y.
    Y,
    /// Velocity along z.
    Z,
    /// Speed.
    Speed,
}

impl Of {
    /// All, in the order of a menu.
    pub const ALL: [Self; 4] = [Self::X, Self::Y, Self::Z, Self::Speed];

    /// The counted number of a velocity, m/s.
    pub fn value(self, velocity: [f32; 3]) -> f64 {
        let [x, y, z] = velocity.map(f64::from);
        match self {
            Self::X => x,
            Self::Y => y,
            Self::Z => z,
            Self::Speed => (x * x + y * y + z * z).sqrt(),
        }
    }
}

/// Velocities of the particles of one cell, gathered over snapshots; of more than fit the newest are kept.
///
/// Snapshots that are closer than the time in which a molecule crosses the cell hold partly the same molecules: the
/// error bars are too small then.
#[derive(Debug, Clone, Default)]
pub struct Gathered {
    cell: u32,
    mass_kg: f64,
    step: Option<u64>,
    snapshots: u64,
    velocities: Vec<[f32; 3]>,
    oldest: usize,
}

impl Gathered {
    /// Velocities kept at most: 3 MB, and errors of a percent in each of 40 bins.
    pub const MOST: usize = 1 << 18;

    /// Adds what the probe holds at that step; true if that was new. The same step counts once; another cell, another
    /// gas or an earlier step (the run was started again) begins anew.
    pub fn add(&mut self, probe: &Probe, step: u64) -> bool {
        let same = self.cell == probe.cell && self.mass_kg == probe.mass_kg;
        match self.step {
            Some(last) if same && step == last => return false,
            Some(last) if same && step > last => {}
            _ => self.clear(),
        }
        (self.cell, self.mass_kg, self.step) = (probe.cell, probe.mass_kg, Some(step));
        self.snapshots += 1;
        for &velocity in &probe.velocities {
            if self.velocities.len() < Self::MOST {
                self.velocities.push(velocity);
            } else {
                self.velocities[self.oldest] = velocity;
                self.oldest = (self.oldest + 1) % Self::MOST;
            }
        }
        true
    }

    /// Forgets all: after a change of the flow.
    pub fn clear(&mut self) {
        self.velocities.clear();
        (self.step, self.snapshots, self.oldest) = (None, 0, 0);
    }

    /// Snapshots since it began anew.
    pub fn snapshots(&self) -> u64 {
        self.snapshots
    }

    /// The velocities kept, m/s, in no particular order.
    pub fn velocities(&self) -> &[[f32; 3]] {
        &self.velocities
    }

    /// The Maxwellian of the same mean velocity and temperature; `None` with less than two different velocities.
    pub fn maxwellian(&self) -> Option<Maxwellian> {
        Maxwellian::of(&self.velocities, self.mass_kg)
    }
}

/// Counts in bins of equal width.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// Lower end of the first bin, m/s.
    pub low: f64,
    /// Width of a bin, m/s.
    pub width: f64,
    /// Particles in each bin.
    pub counts: Vec<u64>,
    /// All particles, those outside the bins too.
    pub total: u64,
}

/// A bin of a histogram as a density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Its middle, m/s.
    pub middle: f64,
    /// Probability density, s/m.
    pub density: f64,
    /// One standard deviation of the density by Poisson statistics, sqrt(count); an empty bin has that of one particle.
    pub error: f64,
}

impl Histogram {
    /// Counts velocities into `bins` bins from `low` to `high`, m/s. Values outside count only in the total.
    pub fn new(velocities: &[[f32; 3]], of: Of, [low, high]: [f64; 2], bins: usize) -> Self {
        let width = (high - low) / bins.max(1) as f64;
        let mut counts = vec![0; bins];
        for &velocity in velocities {
            let bin = ((of.value(velocity) - low) / width).floor();
            // NaN and what lies below are no index; a cast would make them 0.
            if bin >= 0.0
                && let Some(count) = counts.get_mut(bin as usize)
            {
                *count += 1;
            }
        }
        Self { low, width, counts, total: velocities.len() as u64 }
    }

    /// The bins as densities; their sum times the width is the share of the particles that is in the bins.
    pub fn bins(&self) -> impl Iterator<Item = Bin> {
        let scale = 1.0 / (self.total.max(1) as f64 * self.width);
        self.counts.iter().enumerate().map(move |(i, &count)| Bin {
            middle: self.low + (i as f64 + 0.5) * self.width,
            density: count as f64 * scale,
            error: (count.max(1) as f64).sqrt() * scale,
        })
    }
}

/// A gas in equilibrium that drifts: f(c) = (m/(2 pi k T))^(3/2) exp(-m (c - u)^2/(2 k T)) (Bird 1994, section 3.1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Maxwellian {
    /// Mean velocity u, m/s.
    pub mean: [f64; 3],
    /// Translational temperature T, K.
    pub temperature_k: f64,
    /// Mass of a molecule m, kg.
    pub mass_kg: f64,
}

impl Maxwellian {
    /// That of the mean velocity and the temperature of a sample; `None` with less than two different velocities.
    pub fn of(velocities: &[[f32; 3]], mass_kg: f64) -> Option<Self> {
        let count = velocities.len() as f64;
        let sum = |value: &dyn Fn([f64; 3]) -> f64| -> f64 {
            velocities.iter().map(|velocity| value(velocity.map(f64::from))).sum()
        };
        let mean: [f64; 3] = std::array::from_fn(|a| sum(&|v| v[a]) / count);
        let squares = sum(&|v| (0..3).map(|a| (v[a] - mean[a]).powi(2)).sum());
        // Less one, for the mean is that of the sample itself.
        let temperature_k = mass_kg * squares / (3.0 * (count - 1.0) * BOLTZMANN);
        (temperature_k > 0.0 && temperature_k.is_finite()).then_some(Self { mean, temperature_k, mass_kg })
    }

    /// Probability density at `c` m/s, s/m.
    pub fn density(&self, of: Of, c: f64) -> f64 {
        // Half the inverse square of the thermal speed, s^2/m^2.
        let b = self.mass_kg / (2.0 * BOLTZMANN * self.temperature_k);
        let along = |mean: f64| (b / PI).sqrt() * (-b * (c - mean).powi(2)).exp();
        match of {
            Of::X => along(self.mean[0]),
            Of::Y => along(self.mean[1]),
            Of::Z => along(self.mean[2]),
            Of::Speed if c <= 0.0 => 0.0,
            // The directions integrated: 4 c^2 b^(3/2)/sqrt(pi) exp(-b (c^2 + u^2)) sinh(x)/x with x = 2 b c u, written
            // so that neither a fast stream nor a gas at rest loses digits.
            Of::Speed => {
                let u = self.speed();
                let twice = 4.0 * b * c * u;
                let factor = if twice > 0.0 { -(-twice).exp_m1() / twice } else { 1.0 };
                4.0 * c * c * b.powf(1.5) / PI.sqrt() * (-b * (c - u).powi(2)).exp() * factor
            }
        }
    }

    /// Five thermal speeds about the mean, m/s: all but two in a hundred thousand molecules.
    pub fn range(&self, of: Of) -> [f64; 2] {
        let reach = 5.0 * (BOLTZMANN * self.temperature_k / self.mass_kg).sqrt();
        let about = |mean: f64| [mean - reach, mean + reach];
        match of {
            Of::X => about(self.mean[0]),
            Of::Y => about(self.mean[1]),
            Of::Z => about(self.mean[2]),
            Of::Speed => about(self.speed()).map(|c| c.max(0.0)),
        }
    }

    /// Speed of the mean velocity, m/s.
    pub fn speed(&self) -> f64 {
        self.mean.iter().map(|u| u * u).sum::<f64>().sqrt()
    }
}
