//! Snapshots: packed on the card, copied on a second stream, completed from the books.
//! Knows nothing of steps.

use super::CudaGas;
use super::buffers::Array;
use super::launch::PHASES;
use crate::device::cuda::{Context, CudaError};
use crate::device::observe;
use crate::physics::moments::CellSums;
use crate::physics::particle::Particle;
use crate::sim::{DrawnParticle, Paint, Request, SimError, Snapshot};

/// What observing needs beside the run.
#[derive(Debug)]
pub struct Observer {
    /// Drawn particles in a region, then where they go.
    counts: Option<Array>,
    /// Packed particles.
    drawn: Option<Array>,
    /// Sums of the cells now.
    sums: Option<Array>,
    /// Members of a cell.
    members: Option<Array>,
}

/// Most members of a cell that a probe shows.
const MOST_MEMBERS: usize = 1 << 20;

impl Observer {
    /// Nothing is taken before it is asked for.
    pub fn new(_context: &Context) -> Result<Self, CudaError> {
        Ok(Self { counts: None, drawn: None, sums: None, members: None })
    }

    /// Bytes held on the card.
    pub fn bytes(&self) -> u64 {
        [&self.counts, &self.drawn, &self.sums, &self.members]
            .into_iter()
            .flatten()
            .map(|a| a.bytes() as u64)
            .sum()
    }
}

impl CudaGas {
    /// Fills a snapshot.
    pub(super) fn look(&mut self, request: &Request, into: &mut Snapshot) -> Result<(), SimError> {
        if request.fields || request.surfaces {
            self.fetch_sums()?;
        }
        observe::fill(&self.setup, &self.record, request, into);
        into.particles = self.particles;
        into.memory_bytes = self.buffers.sizes.bytes() + self.observer.bytes();
        into.timings = PHASES.iter().copied().zip(self.kernels.timings).collect();
        let parity = self.buffers.parity;
        let work = self.buffers.work(parity);
        let spare = self.buffers.states[parity ^ 1].view();
        if request.particles > 0 || request.fields {
            self.kernels.mark_far(&work, &spare)?;
        }
        let members = request.probe_cell.map(|cell| self.members(cell)).transpose()?.flatten();
        observe::probe(&self.setup, request, members.as_deref(), into);
        let now = (self.record.averages.is_none() && request.fields).then(|| self.sums_now()).transpose()?;
        observe::fields(&self.setup, &self.record, request, now.as_deref(), into);
        self.draw(request, into)
    }

    /// Packs and fetches a stable subset of the particles.
    fn draw(&mut self, request: &Request, into: &mut Snapshot) -> Result<(), SimError> {
        into.paint = request.paint;
        let most = request.particles.min(self.particles as usize);
        if most == 0 {
            into.drawn.clear();
            return Ok(());
        }
        let below = observe::drawn_tags(self.particles as usize, request.particles);
        let cells = self.buffers.sizes.cells;
        let stream = &self.context.stream;
        if self.observer.counts.is_none() {
            self.observer.counts = Some(Array::new(stream, cells + 1, 4)?);
        }
        if self.observer.drawn.as_ref().is_none_or(|drawn| drawn.bytes() < most * 16) {
            self.observer.drawn = None;
            self.observer.drawn = Some(Array::new(stream, most + most / 8, 16)?);
        }
        let (Some(counts), Some(drawn)) = (&self.observer.counts, &self.observer.drawn) else {
            return Ok(());
        };
        let parity = self.buffers.parity;
        let [state, spare] = [parity, parity ^ 1].map(|p| self.buffers.states[p].view());
        let paint = match request.paint {
            Paint::Speed => 0,
            Paint::VelocityX => 1,
            Paint::VelocityY => 2,
            Paint::VelocityZ => 3,
            Paint::Species => 4,
            Paint::Origin => 5,
        };
        let corner = self.setup.motion.grid.corner;
        let addresses = (counts.address(), drawn.address());
        self.kernels.draw(
            &self.gas,
            &state,
            &spare,
            addresses.0,
            addresses.1,
            most as u32,
            below,
            paint,
            corner,
        )?;
        let count: Vec<u32> = counts.read(cells * 4, 1)?;
        let count = (count[0] as usize).min(most);
        into.drawn.resize(count, DrawnParticle::default());
        drawn.read_into(0, &mut into.drawn)?;
        Ok(())
    }

    /// Sums of the particles of every cell now.
    fn sums_now(&mut self) -> Result<Vec<CellSums>, SimError> {
        let cells = self.buffers.sizes.cells;
        let mut sums = match self.observer.sums.take() {
            Some(sums) => sums,
            None => Array::new(&self.context.stream, 7 * cells, 8)?,
        };
        sums.clear()?;
        let scales = super::constants::scales(&self.setup);
        // Speeds to 2^-20 of the scale, so that 2^32 particles fit.
        let fixed = [scales[0] / 1024.0, scales[3]];
        let parity = self.buffers.parity;
        let [state, spare] = [parity, parity ^ 1].map(|p| self.buffers.states[p].view());
        self.kernels.sum_cells(&self.gas, &state, &spare, sums.address(), fixed)?;
        let raw: Vec<[i64; 7]> = sums.read(0, cells)?;
        self.observer.sums = Some(sums);
        let cell = |raw: &[i64; 7]| CellSums {
            count: raw[0] as f64,
            velocity: std::array::from_fn(|a| raw[1 + a] as f64 / fixed[0]),
            square: std::array::from_fn(|a| raw[4 + a] as f64 / fixed[1]),
        };
        Ok(raw.iter().map(cell).collect())
    }

    /// The particles of a cell, in any order; `None` if there is no such cell.
    fn members(&mut self, cell: u32) -> Result<Option<Vec<Particle>>, SimError> {
        if cell >= self.gas.cell_count {
            return Ok(None);
        }
        let stream = &self.context.stream;
        if self.observer.members.is_none() {
            self.observer.members = Some(Array::new(stream, MOST_MEMBERS + 1, 4)?);
        }
        let Some(list) = &self.observer.members else { return Ok(None) };
        let parity = self.buffers.parity;
        let (state, work) = (self.buffers.states[parity].view(), self.buffers.work(parity));
        self.kernels.members(&self.gas, &state, &work, cell, list.address(), MOST_MEMBERS as u32)?;
        let count: Vec<u32> = list.read(0, 1)?;
        let mut indices: Vec<u32> = list.read(4, (count[0] as usize).min(MOST_MEMBERS))?;
        indices.sort_unstable();
        // Runs of neighbours are read together.
        let mut members = Vec::with_capacity(indices.len());
        for run in indices.chunk_by(|a, b| a + 1 == *b) {
            let values: Vec<[f32; 4]> =
                self.buffers.states[parity].velocity.read(run[0] as usize * 16, run.len())?;
            members.extend(values.iter().map(|&[u, v, w, tag]| Particle {
                position: [0.0; 3],
                velocity: [u, v, w],
                tag: tag.to_bits(),
            }));
        }
        Ok(Some(members))
    }
}
