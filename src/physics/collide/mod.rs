//! Binary collisions: what a pair does, and the two schemes that choose the pairs of a cell.
//! Knows nothing of grids, walls or threads.

pub mod half_split;
pub mod ntc;
pub mod pair;

pub use half_split::half_split_shuffle;
pub use ntc::no_time_counter;
pub use pair::{PairModel, PairTable};

use crate::physics::particle::Particle;
use crate::physics::rng::Stream;
use pair::{relative_speed_squared, scatter};

/// What the collisions of some cells did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CollisionCounts {
    /// Pairs that were tried.
    pub candidates: u64,
    /// Pairs that collided.
    pub collisions: u64,
    /// Pairs whose sigma c_r exceeded the cell's majorant; the majorant was raised.
    pub exceeded: u64,
    /// Half-Split-Shuffle pairs whose probability exceeded 1.
    pub clipped: u64,
}

impl std::ops::AddAssign for CollisionCounts {
    fn add_assign(&mut self, other: Self) {
        self.candidates += other.candidates;
        self.collisions += other.collisions;
        self.exceeded += other.exceeded;
        self.clipped += other.clipped;
    }
}

/// How far above the pair that exceeded it a majorant is raised.
const RAISE: f32 = 1.1;

/// Tries a pair: raises the majorant if sigma c_r exceeds it, and scatters the pair if `accept` says so of sigma c_r.
#[inline]
fn try_pair(
    particles: &mut [Particle],
    [i, j]: [usize; 2],
    pairs: &PairTable,
    majorant: &mut f32,
    rng: &mut Stream,
    counts: &mut CollisionCounts,
    accept: impl FnOnce(f32, &mut Stream, &mut CollisionCounts) -> bool,
) {
    let (mut a, mut b) = (particles[i], particles[j]);
    let model = pairs.of(&a, &b);
    let square = relative_speed_squared(&a, &b);
    let rate = model.rate(square);
    if rate > *majorant {
        *majorant = RAISE * rate;
        counts.exceeded += 1;
    }
    if accept(rate, rng, counts) {
        scatter(model, square, &mut a, &mut b, rng);
        particles[i] = a;
        particles[j] = b;
        counts.collisions += 1;
    }
}
