//! How many collisions a step must make, and how many a clipped probability loses.
//! Knows nothing of how a scheme chooses its pairs.

use super::special::gamma_q;
use libm::tgamma;

/// Cells of a homogeneous gas and the step, for the expected number of collisions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellsOfGas {
    /// Number of cells.
    pub cells: f64,
    /// Simulated particles a cell, or their mean.
    pub particles_per_cell: f64,
    /// Molecules a simulated particle stands for.
    pub weight: f64,
    /// Volume of a cell, m^3.
    pub cell_volume: f64,
    /// Mean of cross-section times relative speed, m^3/s.
    pub mean_sigma_c: f64,
    /// Time step, s.
    pub time_step: f64,
}

impl CellsOfGas {
    /// Probability that a given pair in a cell collides in the step: F_N <sigma c_r> dt/V.
    pub fn pair_probability(&self) -> f64 {
        self.weight * self.mean_sigma_c * self.time_step / self.cell_volume
    }

    /// Collisions a step with exactly N particles in each cell: N(N - 1)/2 pairs each (Bird 1994, section 11.1).
    pub fn fixed(&self) -> f64 {
        let n = self.particles_per_cell;
        self.cells * 0.5 * n * (n - 1.0) * self.pair_probability()
    }

    /// With a fixed total number of particles placed anywhere: N_total (N_total - 1)/(2 cells) pairs.
    pub fn uniform(&self) -> f64 {
        let total = self.cells * self.particles_per_cell;
        0.5 * total * (total - 1.0) / self.cells * self.pair_probability()
    }

    /// With a Poisson number in each cell, as in an open flow: the mean of N(N - 1) is the square of the mean.
    pub fn poisson(&self) -> f64 {
        self.cells * 0.5 * self.particles_per_cell.powi(2) * self.pair_probability()
    }
}

/// Factor by which a scheme that tests N/2 disjoint pairs of N raises the probability of each, so that N(N - 1)/2
/// pairs are represented: N - 1 for even N, N for odd N. 0 for N < 2, which has no pair.
pub fn half_split_factor(particles: u32) -> u32 {
    if particles < 2 { 0 } else { 2 * particles.div_ceil(2) - 1 }
}

/// Fraction of the collisions that is lost in equilibrium when probabilities with the mean `mean_probability` are
/// clipped at 1; `omega` is the viscosity exponent. A No-Time-Counter majorant of m times the mean of sigma c_r loses
/// that of `1/m`.
///
/// Of pairs in equilibrium, m_r c_r^2/(2 k T) has a gamma distribution of shape 3/2, and P goes with its
/// (1 - omega)th power; so the loss is Q(5/2 - omega, u) - Q(3/2, u)/mean at the u where P is 1.
pub fn clipped_fraction(omega: f64, mean_probability: f64) -> f64 {
    let power = 1.0 - omega;
    if power.abs() < 1e-12 {
        // Maxwell molecules: all probabilities are equal.
        return (1.0 - 1.0 / mean_probability).max(0.0);
    }
    let mean_power = tgamma(2.5 - omega) / tgamma(1.5);
    let threshold = (mean_power / mean_probability).powf(1.0 / power);
    gamma_q(2.5 - omega, threshold) - gamma_q(1.5, threshold) / mean_probability
}
