//! The cross-section and the scattering of a pair: variable hard spheres of one or several species.
//! Knows nothing of cells or schemes.

use crate::physics::constants::BOLTZMANN;
use crate::physics::particle::Particle;
use crate::physics::rng::Stream;
use crate::physics::sample::direction;
use crate::physics::species::CollisionPair;
use crate::physics::wall::tangents;
use crate::scene::Species;

/// How sigma c_r depends on c_r^2 for a pair of species: sigma c_r = `coefficient` (c_r^2)^(1 - omega), with
/// coefficient = pi d^2 (2 k T_ref / m_r)^(omega - 1/2) / Gamma(5/2 - omega) (Bird 1994, eqs. 4.60 to 4.63).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairModel {
    /// SI units, see above.
    pub coefficient: f32,
    /// 1 - omega.
    pub exponent: f32,
    /// 1 / alpha of the scattering law: cos(chi) = 2 u^(1/alpha) - 1 with u uniform; 1 is isotropic.
    pub inverse_alpha: f32,
    /// Share of the relative velocity that the first of the pair carries: m_2 / (m_1 + m_2).
    pub first_share: f32,
}

impl PairModel {
    /// The model of a pair; unlike species take the mean diameter, omega and reference temperature.
    pub fn new(a: &Species, b: &Species) -> Self {
        // sigma c_r = coefficient c_r^power.
        let (coefficient, power) = CollisionPair::new(a, b).sigma_c_power_law();
        Self {
            coefficient: coefficient as f32,
            exponent: (0.5 * power) as f32,
            inverse_alpha: (2.0 / (a.alpha + b.alpha)) as f32,
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

    /// The model of the first species with itself.
    pub fn single(&self) -> PairModel {
        self.models[0]
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

/// Elastic scattering in the centre-of-mass frame: isotropic (VHS), or by the VSS law cos(chi) = 2 u^(1/alpha) - 1 about
/// the relative velocity (Bird 1994, eqs. 2.36 and 11.8).
#[inline]
pub fn scatter(
    model: &PairModel,
    relative_speed_squared: f32,
    a: &mut Particle,
    b: &mut Particle,
    rng: &mut Stream,
) {
    let speed = relative_speed_squared.sqrt();
    let towards = if model.inverse_alpha == 1.0 { direction(rng) } else { deflect(model, a, b, rng) };
    let (share_a, share_b) = (model.first_share, 1.0 - model.first_share);
    for k in 0..3 {
        // The centre of mass moves with the mean weighted by mass: each carries the other's share.
        let mean = share_b * a.velocity[k] + share_a * b.velocity[k];
        let relative = speed * towards[k];
        a.velocity[k] = mean + share_a * relative;
        b.velocity[k] = mean - share_b * relative;
    }
}

/// Direction of the relative velocity after a soft-sphere collision. In f64, so that its length has no trend.
fn deflect(model: &PairModel, a: &Particle, b: &Particle, rng: &mut Stream) -> [f32; 3] {
    let before: [f64; 3] = std::array::from_fn(|k| f64::from(a.velocity[k]) - f64::from(b.velocity[k]));
    let speed = before.iter().map(|c| c * c).sum::<f64>().sqrt();
    if speed <= 0.0 {
        return direction(rng);
    }
    let along = before.map(|c| c / speed);
    let [t1, t2] = tangents(along);
    let cos = 2.0 * f64::from(rng.unit()).powf(f64::from(model.inverse_alpha)) - 1.0;
    let sin = (1.0 - cos * cos).sqrt();
    let (y, x) = (std::f64::consts::TAU * rng.unit_f64()).sin_cos();
    std::array::from_fn(|k| (cos * along[k] + sin * (x * t1[k] + y * t2[k])) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::rng::Purpose;

    fn species(alpha: f64) -> Species {
        Species {
            name: "Ar".into(),
            mass_kg: 6.63e-26,
            diameter_m: 4.11e-10,
            omega: 0.81,
            reference_temperature_k: 273.15,
            alpha,
            rotational_dof: 0,
            fraction: 1.0,
        }
    }

    /// The mean of 1 - cos(chi) and 1 - cos^2(chi) weigh diffusion and viscosity: 2/(alpha + 1) and
    /// 4 alpha/((alpha + 1)(alpha + 2)) of the total cross-section (Bird 1994, eqs. 2.37 and 2.40, with VHS at alpha 1).
    #[test]
    fn deflections_have_the_moments_of_the_soft_sphere() {
        for alpha in [1.0, 1.4, 2.0] {
            let model = PairModel::new(&species(alpha), &species(alpha));
            let mut rng = Stream::new(5, 0, Purpose::Test, 0);
            let n = 400_000;
            let (mut first, mut second) = ((0.0, 0.0), (0.0, 0.0));
            for _ in 0..n {
                let mut a = Particle { velocity: [300.0, -200.0, 100.0], ..Particle::default() };
                let mut b = Particle { velocity: [-100.0, 50.0, 400.0], ..Particle::default() };
                let relative = |a: &Particle, b: &Particle| -> [f64; 3] {
                    std::array::from_fn(|k| f64::from(a.velocity[k] - b.velocity[k]))
                };
                let dot = |p: [f64; 3], q: [f64; 3]| p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
                let before = relative(&a, &b);
                let square = relative_speed_squared(&a, &b);
                scatter(&model, square, &mut a, &mut b, &mut rng);
                let after = relative(&a, &b);
                assert!((dot(after, after) / dot(before, before) - 1.0).abs() < 1e-5);
                let cos = dot(before, after) / dot(before, before);
                for (sum, x) in [(&mut first, 1.0 - cos), (&mut second, 1.0 - cos * cos)] {
                    sum.0 += x;
                    sum.1 += x * x;
                }
            }
            let n = f64::from(n);
            for (sum, want) in
                [(first, 2.0 / (alpha + 1.0)), (second, 4.0 * alpha / ((alpha + 1.0) * (alpha + 2.0)))]
            {
                let mean = sum.0 / n;
                let sigma = ((sum.1 / n - mean * mean) / n).sqrt();
                assert!((mean - want).abs() < 4.0 * sigma, "alpha {alpha}: {mean} is not {want} +- {sigma}");
            }
        }
    }
}
