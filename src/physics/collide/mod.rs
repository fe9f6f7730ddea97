//! Binary collisions: what a pair does, and the two schemes that choose the pairs of a cell.
//! Knows nothing of grids, walls or threads.

pub mod half_split;
pub mod ntc;
pub mod pair;

pub use half_split::half_split_shuffle;
pub use ntc::no_time_counter;
pub use pair::{PairModel, PairTable};

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
