//! Many steps without the host: chunks of steps, their logs, and the books that follow.
//! Knows nothing of what the kernels do.

use super::abi::{Orders, count, stall};
use super::buffers::LOG_SLOTS;
use super::constants::tally_values;
use super::launch::Kernels;
use super::{CudaGas, more};
use crate::device::cuda::CudaError;
use crate::device::gas::BodyTotals;
use crate::physics::moments::CellSums;
use crate::sim::SimError;

impl CudaGas {
    /// Runs steps, in chunks at whose ends the host has something to do.
    pub(super) fn run(&mut self, steps: u32) -> Result<(), SimError> {
        let mut rest = steps;
        while rest > 0 {
            // Averages begin with a step: what is due at its beginning is known before the chunk is planned.
            self.record.begin_step(&self.setup);
            let chunk = self.record.horizon(rest.min(LOG_SLOTS));
            let done = self.chunk(chunk)?;
            rest -= done;
        }
        Ok(())
    }

    /// Launches `steps` steps and takes their logs; returns how many were done before room was short.
    fn chunk(&mut self, steps: u32) -> Result<u32, SimError> {
        let first = self.record.step;
        let tally = u32::from(self.record.tallies.is_some());
        for slot in 0..steps {
            let parity = self.buffers.parity ^ (slot as usize & 1);
            let [from, to] = [parity, parity ^ 1].map(|p| self.buffers.states[p].view());
            let step = first + u64::from(slot);
            let orders = Orders {
                slot,
                sample: u32::from(self.record.samples(step)),
                energy: u32::from(self.record.energy_due_after(step)),
                tally,
            };
            let work = self.buffers.work(parity);
            self.kernels.step(&self.gas, &from, &to, &work, &orders)?;
        }
        let control = self.control()?;
        let done = (control.step - first) as u32;
        let width = Kernels::log_width(self.setup.bodies.len());
        let log: Vec<i64> = self.buffers.log.read(0, done as usize * width)?;
        self.kernels.settle_timings()?;
        if control.stalled & stall::LOST != 0 {
            return Err(SimError::Device(format!(
                "step {}: more than {} molecules flew farther than a neighbouring cell in one step, more than there is \
                 room for: take a shorter time_step (Auto does), or larger cells; the last checkpoint is whole",
                control.step, self.buffers.sizes.far
            )));
        }
        self.buffers.parity ^= done as usize & 1;
        for row in log.chunks(width) {
            self.end_step(row)?;
        }
        if control.stalled != 0 {
            self.make_room(control.stalled, control.needed, control.scratch)?;
        }
        Ok(done)
    }

    fn make_room(&mut self, why: u32, needed: u32, scratch: u32) -> Result<(), SimError> {
        if why & stall::PARTICLES != 0 {
            self.grow(needed)?;
        }
        if why & stall::FAR != 0 {
            let far = self.buffers.sizes.far;
            self.buffers.grow_far(far.saturating_mul(2).saturating_add(65_536))?;
        }
        if why & stall::SCRATCH != 0 {
            self.buffers.grow_scratch(more(scratch))?;
        }
        if why & stall::BINS != 0 {
            self.widen()?;
        }
        self.go_on()
    }

    /// Takes a finished step into the books.
    fn end_step(&mut self, row: &[i64]) -> Result<(), SimError> {
        let Self { setup, record, buffers, .. } = self;
        let sampled = record.begin_step(setup);
        let of = |which: usize| row[which] as u64;
        let counters = &mut record.counters;
        counters.particle_steps += of(count::PARTICLES);
        counters.collision_candidates += of(count::CANDIDATES);
        counters.collisions += of(count::COLLISIONS);
        counters.majorant_exceeded += of(count::EXCEEDED);
        counters.probability_clipped += of(count::CLIPPED);
        counters.left += of(count::LEFT);
        counters.entered += of(count::ENTERED);
        counters.wall_hits += of(count::WALL_HITS);
        counters.bounce_limit += of(count::BOUNCE_LIMIT);
        counters.put_back += of(count::PUT_BACK);
        counters.lost += of(count::LOST);
        // Who entered, left or was lost changes the number that the next step begins with.
        let particles = of(count::KEPT);
        let scales = super::constants::scales(setup);
        let energy = record.energy_due().then(|| row[count::ENERGY] as f64 / scales[3]);
        let totals: Vec<BodyTotals> =
            row[super::abi::COUNTS..].chunks(8).map(|sums| body_totals(sums, scales, setup)).collect();
        let closes = sampled && record.averages.as_ref().is_some_and(|averages| averages.until_batch() == 1);
        if closes {
            fetch_averages(record.averages.as_mut(), &buffers.sums)?;
            buffers.sums.clear()?;
        }
        if let Some(tallies) = record.tallies.as_mut() {
            if tallies.until_batch() == 1 {
                let sums: Vec<[i64; 5]> = buffers.tallies.read(0, setup.motion.walls.triangles().len())?;
                tallies.set_batch(sums.iter().map(|sums| tally_values(setup, sums)));
                buffers.tallies.clear()?;
            }
            tallies.add(setup, std::iter::empty(), &totals);
        }
        record.end_step(setup, &totals, of(count::COLLISIONS), sampled, particles, energy);
        self.particles = particles;
        Ok(())
    }

    /// Brings the sums of the batch in progress from the card into the books.
    pub(super) fn fetch_sums(&mut self) -> Result<(), SimError> {
        let Self { setup, record, buffers, .. } = self;
        fetch_averages(record.averages.as_mut(), &buffers.sums)?;
        if let Some(tallies) = record.tallies.as_mut() {
            let sums: Vec<[i64; 5]> = buffers.tallies.read(0, setup.motion.walls.triangles().len())?;
            tallies.set_batch(sums.iter().map(|sums| tally_values(setup, sums)));
        }
        Ok(())
    }

    /// Brings the sums of the batch in progress from the books to the card.
    pub(super) fn push_sums(&mut self) -> Result<(), SimError> {
        let Self { setup, record, buffers, .. } = self;
        buffers.sums.clear()?;
        buffers.tallies.clear()?;
        if let Some(averages) = &record.averages {
            buffers.sums.write(0, &averages.batch)?;
        }
        if let Some(tallies) = &record.tallies {
            let [impulse, _, energy, _] = super::constants::scales(setup);
            let scale = [1.0, impulse, impulse, impulse, energy];
            let sums: Vec<[i64; 5]> = tallies
                .batch()
                .map(|values| std::array::from_fn(|k| (values[k] * scale[k]).round() as i64))
                .collect();
            buffers.tallies.write(0, &sums)?;
        }
        Ok(())
    }

    /// Forgets the sums of the batch in progress.
    pub(super) fn clear_sums(&mut self) -> Result<(), CudaError> {
        self.buffers.sums.clear()?;
        self.buffers.tallies.clear()
    }
}

fn fetch_averages(
    averages: Option<&mut crate::device::gas::Averages>,
    sums: &super::buffers::Array,
) -> Result<(), CudaError> {
    averages.map_or(Ok(()), |averages| {
        let batch: &mut [CellSums] = &mut averages.batch;
        sums.read_into(0, batch)
    })
}

/// Force, moment, heat and hits of a body in a step, from sums in fixed point.
fn body_totals(sums: &[i64], scales: [f64; 4], setup: &crate::device::gas::GasSetup) -> BodyTotals {
    let per_second = setup.weight / setup.time_step_s;
    let [impulse, moment, energy, _] = scales;
    std::array::from_fn(|k| match k {
        0..=2 => sums[k] as f64 / impulse * setup.mass_kg * per_second,
        3..=5 => sums[k] as f64 / moment * setup.mass_kg * per_second,
        6 => sums[k] as f64 / energy * setup.mass_kg * per_second,
        _ => sums[k] as f64 * per_second,
    })
}
