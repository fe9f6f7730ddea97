//! The cross-section and the scattering of a pair: variable hard spheres of one or several species.
//! Knows nothing of cells or schemes.

use crate::physics::constants::BOLTZMANN;
use crate::physics::particle::Particle;
use crate::physics::rng::Stream;
use crate::physics::sample::direction;
use crate::scene::Species;

/// How sigma c_r depends on c_r^2 for a pair of species: sigma c_r = `coefficient` (c_r^2)^(1 - omega), with
/// coefficient = pi d^2 (2 k T_ref / m_r)^(omega - 1/2) / Gamma(5/2 - omega) (Bird 1994, eqs. 4.60 to 4.63).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairModel {
    /// SI units, see above.
    pub coefficient: f32,
    /// 1 - omega.
    pub exponent: f32,
    /// Share of the relative velocity that the first of the pair carries: m_2 / (m_1 + m_2).
    pub first_share: f32,
}

impl PairModel {
    /// The model of a pair; unlike species take the mean diameter, omega and reference temperature.
    pub fn new(a: &Species, b: &Species) -> Self {
        let diameter = 0.5 * (a.diameter_m + b.diameter_m);
        let omega = 0.5 * (a.omega + b.omega);
        let temperature = 0.5 * (a.reference_temperature_k + b.reference_temperature_k);
        let reduced_mass = a.mass_kg * b.mass_kg / (a.mass_kg + b.mass_kg);
        let coefficient = std::f64::consts::PI
            * diameter.powi(2)
            * (2.0 * BOLTZMANN * temperature / reduced_mass).powf(omega - 0.5)
            / libm::tgamma(2.5 - omega);
        Self {
            coefficient: coefficient as f32,
            exponent: (1.0 - omega) as f32,
            first_share: (b.mass_kg / (a.mass_kg + b.mass_kg)) as f32,
        }
    }

    /// sigma c_r of a pair with this square of the relative speed, m^3/s.
    #[inline]
    pub fn rate(&self, relative_speed_squared: f32) -> f32 {
        let power = if self.exponent == 0.5 {
            relative_speed_squared.sqrt()
        } else if self.exponent == 0.25 {
            relative_speed_squared.sqrt().sqrt()
        } else if self.exponent == 0.0 {
            1.0
        } else {
            relative_speed_squared.powf(self.exponent)
        };
        self.coefficient * power
    }
}

/// The models of all pairs of species.
#[derive(Debug, Clone, PartialEq)]
pub struct PairTable {
    species: usize,
    models: Vec<PairModel>,
}

impl PairTable {
    /// All pairs of these species.
    pub fn new(species: &[Species]) -> Self {
        let models = species.iter().flat_map(|a| species.iter().map(|b| PairModel::new(a, b))).collect();
        Self { species: species.len(), models }
    }

    /// The model of a pair of particles.
    #[inline]
    pub fn of(&self, a: &Particle, b: &Particle) -> &PairModel {
        // One species is the common case: the index is then known without the tags.
        if self.models.len() == 1 {
            &self.models[0]
        } else {
            &self.models[a.species() * self.species + b.species()]
        }
    }

    /// A bound of sigma c_r that molecules at this temperature exceed about once in 10^9 pairs: the rate at four times
    /// the mean relative speed (for hard spheres the loss is 7e-10 of the collisions).
    pub fn majorant(&self, species: &[Species], temperature_k: f64) -> f32 {
        let mut bound = 0.0_f32;
        for (i, a) in species.iter().enumerate() {
            for (j, b) in species.iter().enumerate() {
                let reduced_mass = a.mass_kg * b.mass_kg / (a.mass_kg + b.mass_kg);
                let mean_square = 8.0 * BOLTZMANN * temperature_k / (std::f64::consts::PI * reduced_mass);
                bound = bound.max(self.models[i * self.species + j].rate((16.0 * mean_square) as f32));
            }
        }
        bound
    }

    /// Largest ratio of [`PairTable::majorant`] to the mean of sigma c_r: 4 for hard spheres, 1 for Maxwell molecules.
    pub fn majorant_ratio(&self) -> f32 {
        self.models.iter().map(|model| 4.0_f32.powf(2.0 * model.exponent)).fold(1.0, f32::max)
    }
}

/// Square of the relative speed of a pair, m^2/s^2.
#[inline]
pub fn relative_speed_squared(a: &Particle, b: &Particle) -> f32 {
    let d: [f32; 3] = std::array::from_fn(|k| a.velocity[k] - b.velocity[k]);
    d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
}

/// Isotropic elastic scattering in the centre-of-mass frame (VHS; Bird 1994, eq. 2.22).
#[inline]
pub fn scatter(
    model: &PairModel,
    relative_speed_squared: f32,
    a: &mut Particle,
    b: &mut Particle,
    rng: &mut Stream,
) {
    let speed = relative_speed_squared.sqrt();
    let towards = direction(rng);
    let (share_a, share_b) = (model.first_share, 1.0 - model.first_share);
    for k in 0..3 {
        // The centre of mass moves with the mean weighted by mass: each carries the other's share.
        let mean = share_b * a.velocity[k] + share_a * b.velocity[k];
        let relative = speed * towards[k];
        a.velocity[k] = mean + share_a * relative;
        b.velocity[k] = mean - share_b * relative;
    }
}
