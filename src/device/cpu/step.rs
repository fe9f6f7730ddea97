//! One step of the CPU device: blocks of cells from a work queue, inflow, sort.
//! Knows nothing of averages beyond the sums it adds to, nor of what is observed.

use super::block::{self, BlockOutcome, BlockTask, StepContext};
use super::queue;
use super::state::{GONE, Particles, Run};
use crate::device::gas::GasSetup;
use crate::physics::inflow::Entered;
use crate::physics::moments::CellSums;
use crate::physics::motion::{MotionLog, WallHit};
use crate::sim::Counters;
use rayon::ThreadPool;
use std::time::{Duration, Instant};

/// Cells of a block. Fixed, so that what a block does is the same for any number of threads.
const BLOCK_CELLS: usize = 192;

/// Buffers and clocks that live from step to step.
#[derive(Debug, Default)]
pub struct Stepper {
    blocks: Vec<BlockOutcome>,
    rows: Vec<RowOutcome>,
    runs: Vec<Run>,
    /// Seconds in collide, sample, move, inflow, sort since the start.
    pub timings: [f64; 5],
}

/// Names of [`Stepper::timings`].
pub const PHASES: [&str; 5] = ["collide", "sample", "move", "inflow", "sort"];

#[derive(Debug, Default)]
struct RowOutcome {
    entered: Vec<Entered>,
    log: MotionLog,
    crossed: u64,
}

impl Stepper {
    /// Advances the particles by one step and adds to `counters`; `sums` is given if the step is sampled.
    pub fn step(
        &mut self,
        setup: &GasSetup,
        pool: &ThreadPool,
        particles: &mut Particles,
        majorants: &mut [f32],
        sums: Option<&mut [CellSums]>,
        step: u64,
        counters: &mut Counters,
    ) {
        let started = Instant::now();
        particles.keys.resize(particles.list.len(), GONE);
        counters.particle_steps += particles.list.len() as u64;
        self.run_blocks(setup, pool, particles, majorants, sums, step);
        let moved = Instant::now();
        self.share_out(moved - started);
        for out in &self.blocks {
            counters.collisions += out.collisions.collisions;
            counters.collision_candidates += out.collisions.candidates;
            counters.majorant_exceeded += out.collisions.exceeded;
            counters.probability_clipped += out.collisions.clipped;
            add_log(counters, &out.log);
        }

        self.run_inflow(setup, pool, particles, step);
        for row in &self.rows {
            counters.entered += row.crossed;
            add_log(counters, &row.log);
        }
        let entered = Instant::now();
        self.timings[3] += (entered - moved).as_secs_f64();

        particles.sort(pool, &self.runs);
        self.timings[4] += entered.elapsed().as_secs_f64();
    }

    /// Hits on obstacles of the last step, in an order that does not depend on the number of threads.
    pub fn hits(&self) -> impl Iterator<Item = &WallHit> {
        let of_blocks = self.blocks.iter().flat_map(|out| &out.log.hits);
        of_blocks.chain(self.rows.iter().flat_map(|row| &row.log.hits))
    }

    fn run_blocks(
        &mut self,
        setup: &GasSetup,
        pool: &ThreadPool,
        particles: &mut Particles,
        majorants: &mut [f32],
        sums: Option<&mut [CellSums]>,
        step: u64,
    ) {
        let cells = majorants.len();
        self.blocks.resize_with(cells.div_ceil(BLOCK_CELLS), BlockOutcome::default);
        let Particles { list, rotation, keys, offsets, .. } = particles;
        let context = StepContext {
            motion: &setup.motion,
            pairs: &setup.pairs,
            majorant_ratio: setup.majorant_ratio,
            heavy_from: setup.heavy_from,
            exposure: setup.exposure,
            time_step_s: setup.time_step_s as f32,
            stream: setup.field_scale.stream,
            seed: setup.scene.seed,
            step,
            offsets,
        };
        let mut rest = (list.as_mut_slice(), rotation.as_mut_slice(), keys.as_mut_slice());
        let mut rest_sums = sums;
        let mut tasks = Vec::with_capacity(self.blocks.len());
        for ((i, out), majorants) in self.blocks.iter_mut().enumerate().zip(majorants.chunks_mut(BLOCK_CELLS))
        {
            let first_cell = i * BLOCK_CELLS;
            let length =
                (context.offsets[first_cell + majorants.len()] - context.offsets[first_cell]) as usize;
            let (particles, tail) = rest.0.split_at_mut(length);
            let (rotation, tail_rotation) = rest.1.split_at_mut(length.min(rest.1.len()));
            let (keys, tail_keys) = rest.2.split_at_mut(length);
            rest = (tail, tail_rotation, tail_keys);
            let sums = match rest_sums.take() {
                Some(all) => {
                    let (part, tail) = all.split_at_mut(majorants.len());
                    rest_sums = Some(tail);
                    Some(part)
                }
                None => None,
            };
            tasks.push(BlockTask { first_cell, particles, rotation, keys, majorants, sums, out });
        }
        if pool.current_num_threads() > 1 {
            // Heaviest first: a dense shock layer must not be what everybody waits for at the end. The particles of a
            // block measure it well, since dense blocks have more collisions too.
            tasks.sort_by_key(|task| std::cmp::Reverse(task.particles.len()));
        }
        queue::run(pool, tasks, |task| block::step(&context, task));

        self.runs.clear();
        let mut start = 0;
        for (i, out) in self.blocks.iter().enumerate() {
            let last_cell = ((i + 1) * BLOCK_CELLS).min(cells);
            let end = offsets[last_cell] as usize;
            self.runs.push(Run { start, end, lowest: out.lowest, highest: out.highest });
            start = end;
        }
    }

    fn run_inflow(&mut self, setup: &GasSetup, pool: &ThreadPool, particles: &mut Particles, step: u64) {
        let rows: usize = setup.inflow.faces.iter().map(|face| face.rows as usize).sum();
        self.rows.resize_with(rows, RowOutcome::default);
        let mut tasks = Vec::with_capacity(rows);
        let mut outcomes = self.rows.iter_mut();
        for (which, face) in setup.inflow.faces.iter().enumerate() {
            for (row, outcome) in (0..face.rows).zip(&mut outcomes) {
                tasks.push((which, row, outcome));
            }
        }
        let time_step_s = setup.time_step_s as f32;
        queue::run(pool, tasks, |(which, row, outcome): (usize, u32, &mut RowOutcome)| {
            outcome.entered.clear();
            outcome.log = MotionLog::default();
            let RowOutcome { entered, log, crossed } = outcome;
            let seed = setup.scene.seed;
            *crossed =
                setup.inflow.emit_row(&setup.motion, which, row, time_step_s, seed, step, entered, log);
        });

        let start = particles.list.len();
        let total: usize = self.rows.iter().map(|row| row.entered.len()).sum();
        particles.reserve(total, setup.rotational);
        let (mut lowest, mut highest) = (GONE, 0);
        for &(particle, rotation, key) in self.rows.iter().flat_map(|row| &row.entered) {
            (lowest, highest) = (lowest.min(key), highest.max(key));
            particles.list.push(particle);
            particles.keys.push(key);
            if setup.rotational {
                particles.rotation.push(rotation);
            }
        }
        self.runs.push(Run { start, end: particles.list.len(), lowest, highest });
    }

    /// Shares the wall-clock time of the blocks out among their phases.
    fn share_out(&mut self, wall: Duration) {
        let mut sums = [0.0; 3];
        for out in &self.blocks {
            for (sum, elapsed) in sums.iter_mut().zip(out.elapsed) {
                *sum += elapsed.as_secs_f64();
            }
        }
        let total: f64 = sums.iter().sum();
        for (timing, sum) in self.timings.iter_mut().zip(sums) {
            *timing += if total > 0.0 { wall.as_secs_f64() * sum / total } else { 0.0 };
        }
    }
}

fn add_log(counters: &mut Counters, log: &MotionLog) {
    counters.left += log.left;
    counters.wall_hits += log.hits.len() as u64;
    counters.bounce_limit += log.bounce_limit;
    counters.put_back += log.put_back;
    counters.lost += log.lost;
}
