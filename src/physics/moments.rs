//! Velocity moments of cells: sums of particles, and the fields that follow from them.
//! Knows nothing of grids, threads or how samples are scheduled.

use super::constants::BOLTZMANN;
use super::particle::Particle;

/// Sums over the particles of a cell, one species. Velocities relative to the stream, so that the temperature is not
/// the difference of two large numbers; f64, so that sums over steps keep their digits.
#[derive(Debug, Clone, Copy, PartialEq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct CellSums {
    /// Particles.
    pub count: f64,
    /// Sum of the velocities, m/s.
    pub velocity: [f64; 3],
    /// Sum of the squares of the velocity components, m^2/s^2.
    pub square: [f64; 3],
}

impl CellSums {
    /// Adds the particles of a cell; `stream` is the velocity of the undisturbed gas, m/s.
    #[inline]
    pub fn add(&mut self, particles: &[Particle], stream: [f32; 3]) {
        // A few independent f32 sums a call would lose digits in heavy cells; f64 costs the same here.
        let mut velocity = [0.0_f64; 3];
        let mut square = [0.0_f64; 3];
        for particle in particles {
            for k in 0..3 {
                let v = f64::from(particle.velocity[k] - stream[k]);
                velocity[k] += v;
                square[k] += v * v;
            }
        }
        self.count += particles.len() as f64;
        for k in 0..3 {
            self.velocity[k] += velocity[k];
            self.square[k] += square[k];
        }
    }

    /// Adds the sums of other samples.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        for k in 0..3 {
            self.velocity[k] += other.velocity[k];
            self.square[k] += other.square[k];
        }
    }
}

/// What turns sums into fields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldScale {
    /// Velocity of the undisturbed gas as it was subtracted, m/s.
    pub stream: [f32; 3],
    /// Real molecules a particle.
    pub weight: f64,
    /// Mass of a molecule, kg.
    pub mass_kg: f64,
    /// Ratio of specific heats.
    pub heat_ratio: f64,
}

/// The fields of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellFields {
    /// Number density, 1/m^3.
    pub number_density: f64,
    /// Mean velocity, m/s; NaN without particles.
    pub velocity: [f64; 3],
    /// Translational temperature of each direction, K; NaN with fewer than two particles.
    pub temperature: [f64; 3],
}

impl CellFields {
    /// Fields from the sums of `samples` samples in a gas volume of `volume_m3`.
    ///
    /// k T_i / m is the variance of the velocity component, sum of squares over N less the square of the mean, times
    /// N / (N - 1) so that few particles do not bias it (N: all particles of all samples).
    pub fn new(sums: &CellSums, samples: f64, volume_m3: f64, scale: &FieldScale) -> Self {
        let n = sums.count;
        let number_density = if volume_m3 > 0.0 && samples > 0.0 {
            n * scale.weight / (samples * volume_m3)
        } else {
            f64::NAN
        };
        let mean: [f64; 3] = std::array::from_fn(|k| if n > 0.0 { sums.velocity[k] / n } else { f64::NAN });
        let temperature = std::array::from_fn(|k| {
            if n < 2.0 {
                return f64::NAN;
            }
            let variance = (sums.square[k] / n - mean[k] * mean[k]) * n / (n - 1.0);
            variance.max(0.0) * scale.mass_kg / BOLTZMANN
        });
        Self {
            number_density,
            velocity: std::array::from_fn(|k| mean[k] + f64::from(scale.stream[k])),
            temperature,
        }
    }

    /// Translational temperature, K.
    pub fn translational_temperature(&self) -> f64 {
        (self.temperature[0] + self.temperature[1] + self.temperature[2]) / 3.0
    }

    /// Speed of the mean motion, m/s.
    pub fn speed(&self) -> f64 {
        self.velocity.iter().map(|v| v * v).sum::<f64>().sqrt()
    }

    /// Mach number of the mean motion.
    pub fn mach(&self, scale: &FieldScale) -> f64 {
        let sound = (scale.heat_ratio * BOLTZMANN * self.translational_temperature() / scale.mass_kg).sqrt();
        self.speed() / sound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::rng::{Purpose, Stream};
    use crate::physics::sample::gauss_triple;

    /// A drifting Maxwellian gives back its density, drift and temperatures, cold and fast as it may be.
    #[test]
    fn fields_of_a_drifting_maxwellian() {
        let (mass, temperature, samples, per_sample) = (6.63e-26_f64, 200.0, 500, 40);
        let thermal = (1.380649e-23 * temperature / mass).sqrt();
        let drift = [7000.0_f32, -300.0, 20.0];
        let scale =
            FieldScale { stream: [6990.0, -290.0, 0.0], weight: 1e12, mass_kg: mass, heat_ratio: 5.0 / 3.0 };
        let mut sums = CellSums::default();
        let mut rng = Stream::new(3, 0, Purpose::Test, 0);
        for _ in 0..samples {
            let particles: Vec<Particle> = (0..per_sample)
                .map(|_| {
                    let g = gauss_triple(&mut rng);
                    let velocity = std::array::from_fn(|k| drift[k] + g[k] * thermal as f32);
                    Particle { position: [0.0; 3], velocity, tag: 0 }
                })
                .collect();
            sums.add(&particles, scale.stream);
        }
        let n = f64::from(samples * per_sample);
        let fields = CellFields::new(&sums, f64::from(samples), 1e-6, &scale);
        assert!((fields.number_density / (40.0 * 1e12 / 1e-6) - 1.0).abs() < 1e-12);
        for k in 0..3 {
            assert!((fields.velocity[k] - f64::from(drift[k])).abs() < 4.0 * thermal / n.sqrt());
            assert!((fields.temperature[k] / temperature - 1.0).abs() < 4.0 * (2.0 / n).sqrt());
        }
        let mach = fields.mach(&scale);
        let want = fields.speed()
            / (5.0 / 3.0 * thermal * thermal * fields.translational_temperature() / temperature).sqrt();
        assert!((mach / want - 1.0).abs() < 1e-12);
    }

    #[test]
    fn few_particles_do_not_bias_the_temperature() {
        let scale =
            FieldScale { stream: [0.0; 3], weight: 1.0, mass_kg: 1.380649e-23, heat_ratio: 5.0 / 3.0 };
        let mut rng = Stream::new(4, 0, Purpose::Test, 0);
        let trials = 100_000;
        let mut sum = 0.0;
        for _ in 0..trials {
            let mut sums = CellSums::default();
            for _ in 0..2 {
                let p = Particle { velocity: gauss_triple(&mut rng), ..Default::default() };
                sums.add(&[p], [0.0; 3]);
            }
            sum += CellFields::new(&sums, 1.0, 1.0, &scale).translational_temperature();
        }
        // Variance of one estimate: 2/(N-1) a direction, over three directions.
        let sigma = (2.0 / 3.0 / f64::from(trials)).sqrt();
        assert!((sum / f64::from(trials) - 1.0).abs() < 4.0 * sigma);
    }
}
