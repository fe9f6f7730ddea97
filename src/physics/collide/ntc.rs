//! No-Time-Counter pair selection (Bird 1994, section 11.1) in one cell.
//! Knows nothing of grids, walls or threads.

use super::{CollisionCounts, PairTable, try_pair};
use crate::physics::particle::Particle;
use crate::physics::rng::Stream;

/// Collides the particles of a cell over one step.
///
/// `exposure` is F_N dt / V_gas, s/m^3, and `majorant` the cell's bound of sigma c_r, m^3/s: N (N - 1) / 2 times their
/// product pairs are tried, each colliding with probability sigma c_r / majorant. N is the number now, so that the
/// rate is unbiased for a fluctuating N. A pair above the majorant raises it and is counted.
pub fn no_time_counter(
    particles: &mut [Particle],
    pairs: &PairTable,
    exposure: f64,
    majorant: &mut f32,
    rng: &mut Stream,
    counts: &mut CollisionCounts,
) {
    let n = particles.len();
    if n < 2 {
        return;
    }
    let bound = *majorant;
    let candidates = rng.round(0.5 * n as f64 * (n - 1) as f64 * exposure * f64::from(bound));
    counts.candidates += u64::from(candidates);
    for _ in 0..candidates {
        let i = rng.below(n as u32) as usize;
        let j = rng.below(n as u32 - 1) as usize;
        let j = j + usize::from(j >= i);
        try_pair(particles, [i, j], pairs, majorant, rng, counts, |rate, rng, _| rng.unit() * bound < rate);
    }
}
