//! One step of the cells of a block: collide, sample, move, while their particles are in the cache.
//! Knows nothing of threads, inflow or sorting.

use super::state::GONE;
use crate::physics::collide::{CollisionCounts, PairTable, half_split_shuffle, no_time_counter};
use crate::physics::moments::CellSums;
use crate::physics::motion::{Motion, MotionLog};
use crate::physics::particle::Particle;
use crate::physics::rng::{Purpose, Stream};
use std::time::{Duration, Instant};

/// What all blocks of a step share.
#[derive(Debug)]
pub struct StepContext<'a> {
    /// Walls, faces, grid.
    pub motion: &'a Motion,
    /// Cross-sections.
    pub pairs: &'a PairTable,
    /// How far majorants are above the mean of sigma c_r.
    pub majorant_ratio: f32,
    /// Particles in a cell from which on it uses Half-Split-Shuffle; `None` without collisions.
    pub heavy_from: Option<usize>,
    /// F_N dt / V of a whole cell, s/m^3.
    pub exposure: f64,
    /// Time step, s.
    pub time_step_s: f32,
    /// Velocity that sums are relative to, m/s.
    pub stream: [f32; 3],
    /// Seed.
    pub seed: u64,
    /// Step.
    pub step: u64,
    /// First particle of each cell.
    pub offsets: &'a [u32],
}

/// What a block of cells works on. Slices begin with the block's first particle or cell.
#[derive(Debug)]
pub struct BlockTask<'a> {
    /// First cell.
    pub first_cell: usize,
    /// Particles of the block.
    pub particles: &'a mut [Particle],
    /// Their rotational energies; empty if the gas has none.
    pub rotation: &'a mut [f32],
    /// Where their new cells go.
    pub keys: &'a mut [u32],
    /// Majorants of the cells, m^3/s.
    pub majorants: &'a mut [f32],
    /// Sums of the cells, if this step is sampled.
    pub sums: Option<&'a mut [CellSums]>,
    /// What happened.
    pub out: &'a mut BlockOutcome,
}

/// What happened in a block during a step.
#[derive(Debug, Default)]
pub struct BlockOutcome {
    /// Collisions.
    pub collisions: CollisionCounts,
    /// Walls and faces.
    pub log: MotionLog,
    /// Lowest new cell.
    pub lowest: u32,
    /// Highest new cell.
    pub highest: u32,
    /// Time in collide, sample, move.
    pub elapsed: [Duration; 3],
    order: Vec<u32>,
}

impl BlockOutcome {
    fn reset(&mut self) {
        let hits = std::mem::take(&mut self.log.hits);
        self.log = MotionLog { hits, ..MotionLog::default() };
        self.log.hits.clear();
    }
}

/// Advances the cells of a block by one step.
pub fn step(context: &StepContext<'_>, task: BlockTask<'_>) {
    let BlockTask { first_cell, particles, rotation, keys, majorants, sums, out } = task;
    out.reset();
    let cells = first_cell..first_cell + majorants.len();
    let first = context.offsets[first_cell];
    let range =
        |cell: usize| (context.offsets[cell] - first) as usize..(context.offsets[cell + 1] - first) as usize;

    // Counted in locals: the outcomes of neighbouring blocks share cache lines that two threads would fight for.
    let mut counts = CollisionCounts::default();
    let (mut lowest, mut highest) = (GONE, 0);
    let start = Instant::now();
    if let Some(heavy_from) = context.heavy_from {
        for cell in cells.clone() {
            let members = &mut particles[range(cell)];
            if members.len() > 1 {
                let majorant = &mut majorants[cell - first_cell];
                collide(context, cell, members, majorant, heavy_from, &mut out.order, &mut counts);
            }
        }
    }
    let collided = Instant::now();
    if let Some(sums) = sums {
        for cell in cells.clone() {
            sums[cell - first_cell].add(&particles[range(cell)], context.stream);
        }
    }
    let sampled = Instant::now();
    for cell in cells {
        let at = context.motion.grid.unravel(cell);
        for i in range(cell) {
            let particle = &mut particles[i];
            let key = context.motion.fly_free(particle, at, cell, context.time_step_s).unwrap_or_else(|| {
                let mut none = 0.0;
                let rotation = rotation.get_mut(i).unwrap_or(&mut none);
                let mut rng = Stream::new(context.seed, context.step, Purpose::Wall, first + i as u32);
                context
                    .motion
                    .fly(particle, rotation, context.time_step_s, &mut rng, &mut out.log)
                    .unwrap_or(GONE)
            });
            keys[i] = key;
            if key != GONE {
                lowest = lowest.min(key);
                highest = highest.max(key);
            }
        }
    }
    out.collisions = counts;
    (out.lowest, out.highest) = (lowest, highest);
    out.elapsed = [collided - start, sampled - collided, sampled.elapsed()];
}

fn collide(
    context: &StepContext<'_>,
    cell: usize,
    members: &mut [Particle],
    majorant: &mut f32,
    heavy_from: usize,
    order: &mut Vec<u32>,
    counts: &mut CollisionCounts,
) {
    // Molecules in a sliver of gas, or by rounding in a cell without any, would have almost as many candidates as the
    // sliver is thin.
    const THINNEST: f32 = 1e-4;
    let exposure = context.exposure / f64::from(context.motion.walls.gas_fraction(cell).max(THINNEST));
    let mut rng = Stream::new(context.seed, context.step, Purpose::Collide, cell as u32);
    if members.len() < heavy_from {
        no_time_counter(members, context.pairs, exposure, majorant, &mut rng, counts);
    } else {
        let ratio = context.majorant_ratio;
        half_split_shuffle(members, context.pairs, exposure, majorant, ratio, order, &mut rng, counts);
    }
}
