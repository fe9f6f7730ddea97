//! Molecules of a drifting Maxwellian gas that cross a plane: how many, how fast.
//! Knows nothing of faces, particles or of how they are sampled.

use libm::erfc;
use std::f64::consts::PI;

/// exp(-s^2) + sqrt(pi) s (1 + erf s): 2 sqrt(pi) times the flux in n c_mp, s the speed ratio of the drift through
/// the plane.
pub fn chi(s: f64) -> f64 {
    // 1 + erf(s) as erfc(-s) keeps its digits for a receding gas.
    (-s * s).exp() + PI.sqrt() * s * erfc(-s)
}

/// What crosses a plane from a gas that drifts through it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrossingMolecules {
    /// Flux over n c_mp (Bird 1994, eq. 4.22), c_mp the most probable speed.
    pub flux: f64,
    /// Mean normal speed of those that cross, in c_mp.
    pub mean_normal_speed: f64,
    /// Mean square of it, in c_mp^2.
    pub mean_square_normal_speed: f64,
    /// Variance of it, in c_mp^2.
    pub variance: f64,
    /// Mean translational energy of a molecule that crosses, in kT, without the drift along the plane (add its
    /// speed ratio squared). Rotation adds zeta/2.
    pub mean_energy: f64,
}

/// The molecules crossing a plane in the direction of its normal; `s` is the normal drift in most probable speeds,
/// positive along the normal.
///
/// With J_k the integral of v^k exp(-(v - s)^2) over v > 0, all follow from J_(k+1) = s J_k + (k/2) J_(k-1).
pub fn crossing_molecules(s: f64) -> CrossingMolecules {
    let (mean, third_over_second) = if s < -1.0 {
        // Ratios r_k = J_k/J_(k-1) downwards from r = 0: upwards the recurrence cancels for a receding gas.
        let mut ratio = 0.0;
        let mut ratios = [0.0; 4];
        for k in (1..=400).rev() {
            ratio = 0.5 * f64::from(k) / (ratio - s);
            if let Some(kept) = ratios.get_mut(k as usize) {
                *kept = ratio;
            }
        }
        (ratios[2], ratios[3])
    } else {
        let first = 0.5 * chi(s);
        let second = s * first + 0.25 * PI.sqrt() * erfc(-s);
        (second / first, s + first / second)
    };
    let square = mean * third_over_second;
    CrossingMolecules {
        flux: chi(s) / (2.0 * PI.sqrt()),
        mean_normal_speed: mean,
        mean_square_normal_speed: square,
        variance: mean * (third_over_second - mean),
        mean_energy: square + 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receding_gas_has_the_limit_of_a_half_range_gamma_distribution() {
        // Far out the density of crossing speeds is v exp(-2 |s| v): mean 1/|s|, mean square 1.5/s^2, within O(s^-2).
        let far = crossing_molecules(-100.0);
        assert!((far.mean_normal_speed * 100.0 - 1.0).abs() < 1e-3);
        assert!((far.mean_square_normal_speed * 1e4 - 1.5).abs() < 1e-3);
        assert!((far.variance * 1e4 - 0.5).abs() < 1e-3);
    }

    #[test]
    fn both_branches_agree_where_they_meet() {
        let (below, above) = (crossing_molecules(-1.0 - 1e-9), crossing_molecules(-1.0));
        assert!((below.mean_normal_speed - above.mean_normal_speed).abs() < 2e-9);
        assert!((below.variance - above.variance).abs() < 2e-9);
    }
}
