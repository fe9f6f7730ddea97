//! Half-Split-Shuffle pair selection in one cell: disjoint pairs of a random permutation, the same on a GPU.
//! Knows nothing of grids, walls or threads.

use super::{CollisionCounts, PairTable, try_pair};
use crate::physics::particle::Particle;
use crate::physics::rng::Stream;

/// Largest expected number of collisions of a particle in one pass. All pairs of a pass are formed from the velocities
/// before it, which makes stresses relax too fast by a quarter of this (forward Euler): 1.3 % at 0.05.
const COLLISIONS_PER_PASS: f64 = 0.05;

/// Collides the particles of a cell over one step.
///
/// `exposure` is F_N dt / V_gas, s/m^3; `majorant` the cell's bound of sigma c_r, m^3/s, which exceeds the mean by
/// `majorant_ratio`, so that the number of passes follows from it; `order` is scratch. In each of the n_b passes the N
/// particles are permuted, paired across the halves, and each of the N/2 disjoint pairs collides with
/// P = N_x exposure sigma c_r / n_b, N_x = N - 1 for even N and N for odd: the expected count is N (N - 1) / 2 times
/// exposure times the mean of sigma c_r for every N.
pub fn half_split_shuffle(
    particles: &mut [Particle],
    pairs: &PairTable,
    exposure: f64,
    majorant: &mut f32,
    majorant_ratio: f32,
    order: &mut Vec<u32>,
    rng: &mut Stream,
    counts: &mut CollisionCounts,
) {
    let n = particles.len();
    if n < 2 {
        return;
    }
    let factor = (n - 1 + n % 2) as f64;
    let expected_at_majorant = factor * exposure * f64::from(*majorant);
    let passes = (expected_at_majorant / (COLLISIONS_PER_PASS * f64::from(majorant_ratio))).ceil().max(1.0);
    let scale = (factor * exposure / passes) as f32;
    order.clear();
    order.extend(0..n as u32);
    for _ in 0..passes as u32 {
        shuffle(order, rng);
        let (front, back) = order.split_at(n / 2);
        counts.candidates += front.len() as u64;
        for (&i, &j) in front.iter().zip(back) {
            let pair = [i as usize, j as usize];
            try_pair(particles, pair, pairs, majorant, rng, counts, |rate, rng, counts| {
                let probability = scale * rate;
                counts.clipped += u64::from(probability > 1.0);
                rng.unit() < probability
            });
        }
    }
}

/// A uniformly random permutation (Fisher & Yates, as in Durstenfeld 1964); `zip` then leaves out the last of the
/// shuffled order when their number is odd.
pub fn shuffle(order: &mut [u32], rng: &mut Stream) {
    for last in (1..order.len()).rev() {
        order.swap(last, rng.below(last as u32 + 1) as usize);
    }
}
