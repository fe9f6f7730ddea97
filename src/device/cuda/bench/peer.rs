//! A peer of the step: buffers and launches of one variant of `variants.cu`.
//! Must not know what is compared with what.

#![allow(unsafe_code)]

mod apart;

use super::card::{Card, Kernels, Mark, Memory, launch};
use super::layout::{Buffers, Case, Overflow, Setup, Stats};
use super::variants::{Placement, Variant};
use crate::sim::SimError;
use bytemuck::Zeroable;

/// Particles of a cell that the first and the second fused kernel hold in shared memory.
const WARP_MOST: u32 = 184;
const BLOCK_MOST: u32 = 512;
/// Bytes of shared memory of a fused kernel, a particle and a team.
const HELD_BYTES: u32 = 28;
const TEAM_BYTES: u32 = 256;

/// Counters that each step begins with at 0: 256 classes, 256 cursors, cells listed, head of the queue.
const COUNTERS: u64 = 514;

/// Kernels of a layout that keeps the position relative to the corner of the domain.
pub(super) const APART: &[&str] = &["move_slots", "place_particles"];
/// Kernels of every layout.
pub(super) const ALL: &[&str] = &[
    "scan_blocks",
    "scan_sums",
    "scan_add",
    "prepare",
    "heaviest_first",
    "collide_threads",
    "collide_queue",
    "place_indices",
    "set_slots",
    "inflow",
    "fused_32",
    "fused_64",
    "fused_128",
    "fused_256",
    "fill_cells",
    "check_cells",
];

/// A running peer.
pub(super) struct Peer<'a> {
    card: &'a Card,
    kernels: &'a Kernels,
    variant: Variant,
    memory: Memory,
    setup: Setup,
    inflow: (f64, f64),
    buffers: Buffers,
    list: u64,
    counters: u64,
    sums: u64,
    order: u64,
    multiprocessors: u32,
    /// Particles that the last fused kernel holds.
    most: u32,
    profile: Option<Vec<(&'static str, Mark, Mark)>>,
}

/// Threads a block in most kernels.
const BLOCK: u32 = 256;

impl<'a> Peer<'a> {
    /// Takes the memory and fills the cells.
    pub fn new(card: &'a Card, kernels: &'a Kernels, case: Case, variant: Variant) -> Result<Self, SimError> {
        let fused = variant.placement == Placement::Fused;
        let mut setup = case.setup();
        let inflow = case.inflow();
        let cells = u64::from(case.cells());
        let per_cell = f64::from(case.per_cell);
        // As `room` of the kernels; the sphere's shock holds a quarter more than the undisturbed gas, rooms 15 %.
        let room = per_cell + (6.0 * per_cell.sqrt() + 8.0).max(per_cell / 4.0) + 7.0;
        let growth = if case.open { 1.25 } else { 1.0 };
        let slack = if fused { 1.15 * room / per_cell } else { 1.0 };
        let entering = (inflow.0 + 4.0 * inflow.1) * f64::from(variant.sort_every + 2) * 1.1;
        let capacity = (cells as f64 * per_cell * growth * slack + entering + 65536.0) as u64;
        setup.capacity = u32::try_from(capacity).map_err(|_| {
            SimError::Scene("peers number their particles in 32 bits: measure fewer particles".into())
        })?;
        setup.heavy_from = variant.heavy_from;
        setup.overflow_most = if fused { 1 << 20 } else { 0 };
        let mut memory = Memory::default();
        let mut take = |bytes: u64| memory.take(card, bytes);
        let particle = variant.layout.bytes();
        let mut list = || -> Result<Overflow, SimError> {
            if !fused {
                return Ok(Overflow::default());
            }
            let most = u64::from(setup.overflow_most);
            Ok(Overflow {
                values: take(24 * most)?,
                next: take(4 * most)?,
                head: take(4 * cells)?,
                count: take(4)?,
            })
        };
        let (overflow, next_overflow) = (list()?, list()?);
        let one_a_slot = if fused { 0 } else { 4 * capacity };
        let buffers = Buffers {
            from: take(particle * capacity)?,
            to: take(particle * capacity)?,
            start: take(4 * (cells + 1))?,
            count: take(4 * (cells + 1))?,
            next_start: take(4 * (cells + 1))?,
            next_count: take(4 * (cells + 1))?,
            key: take(one_a_slot)?,
            rank: take(one_a_slot)?,
            order: 0,
            slots: take(4)?,
            overflow,
            next_overflow,
            stats: take(size_of::<Stats>() as u64)?,
            moments: take(40 * cells)?,
        };
        let order = if variant.sort_every > 1 { take(one_a_slot)? } else { 0 };
        let (list, counters) = (take(4 * cells)?, take(4 * COUNTERS)?);
        let sums = take(4 * (cells / 1024 + 2))?;
        let shared = card.shared_bytes()?;
        let most = (shared.saturating_sub(TEAM_BYTES) / HELD_BYTES).min(4096);
        kernels.allow_shared("fused_256", TEAM_BYTES + HELD_BYTES * most)?;
        let mut peer = Self {
            card,
            kernels,
            variant,
            memory,
            setup,
            inflow,
            buffers,
            list,
            counters,
            sums,
            order,
            multiprocessors: card.multiprocessors()?,
            most,
            profile: None,
        };
        if variant.placement == Placement::Fused && variant.threads == 32 {
            // 8 warps a block.
            peer.kernels.allow_shared("fused_32", 8 * (TEAM_BYTES + HELD_BYTES * WARP_MOST))?;
        }
        peer.fill()?;
        Ok(peer)
    }

    /// Bytes of all buffers.
    pub fn bytes(&self) -> u64 {
        self.memory.bytes()
    }

    fn cells(&self) -> u32 {
        self.setup.cell_count as u32
    }

    /// Blocks with a thread a cell.
    fn cell_blocks(&self) -> u32 {
        self.cells().div_ceil(BLOCK)
    }

    fn fused(&self) -> bool {
        self.variant.placement == Placement::Fused
    }

    fn fill(&mut self) -> Result<(), SimError> {
        let cells = u64::from(self.cells());
        let (kernels, stores) = (self.kernels, Buffers { to: self.buffers.from, ..self.buffers });
        // SAFETY: arguments as in the kernels; `Peer::new` took buffers of the sizes that `Setup` names.
        unsafe { launch!(self.card, kernels, "fill_cells", self.cells(), 64, 0, self.setup, stores, 0_i32) }?;
        self.scan(self.buffers.next_count, self.buffers.next_start)?;
        self.card.set(self.buffers.next_count, 0, 4 * cells)?;
        // SAFETY: as above.
        unsafe { launch!(self.card, kernels, "fill_cells", self.cells(), 64, 0, self.setup, stores, 1_i32) }?;
        // What was filled in `from` is now counted and begun by `count` and `start`.
        self.swap_cells();
        for list in [self.buffers.overflow, self.buffers.next_overflow] {
            if list.head != 0 {
                self.card.set(list.head, 0xff, 4 * cells)?;
            }
        }
        self.set_slots(self.buffers.start + 4 * cells, 0)?;
        self.card.wait()
    }

    fn swap_cells(&mut self) {
        let buffers = &mut self.buffers;
        std::mem::swap(&mut buffers.start, &mut buffers.next_start);
        std::mem::swap(&mut buffers.count, &mut buffers.next_count);
        std::mem::swap(&mut buffers.overflow, &mut buffers.next_overflow);
    }

    fn swap_particles(&mut self) {
        std::mem::swap(&mut self.buffers.from, &mut self.buffers.to);
    }

    fn set_slots(&self, from: u64, more: u32) -> Result<(), SimError> {
        // SAFETY: arguments as in the kernel; both addresses hold a number.
        unsafe {
            launch!(self.card, self.kernels, "set_slots", 1, 1, 0, self.setup, self.buffers.slots, from, more)
        }
    }

    /// Begins of regions from numbers of particles.
    fn scan(&self, count: u64, start: u64) -> Result<(), SimError> {
        let (cells, slack) = (self.setup.cell_count, i32::from(self.fused()));
        let blocks = (self.cells() + 1).div_ceil(1024);
        let (count_of_blocks, sums) = (blocks as i32, self.sums);
        // SAFETY: arguments as in the kernels: `start` holds one number more than there are cells, `sums` one a block.
        unsafe {
            launch!(
                self.card,
                self.kernels,
                "scan_blocks",
                blocks,
                1024,
                4096,
                count,
                start,
                sums,
                cells,
                slack
            )?;
            launch!(self.card, self.kernels, "scan_sums", 1, 1024, 4096, sums, count_of_blocks)?;
            launch!(self.card, self.kernels, "scan_add", blocks, 1024, 0, start, sums, cells)
        }
    }

    /// Times a phase, if the step is profiled.
    fn phase(
        &mut self,
        name: &'static str,
        work: impl FnOnce(&mut Self) -> Result<(), SimError>,
    ) -> Result<(), SimError> {
        if self.profile.is_none() {
            return work(self);
        }
        let begin = self.card.mark()?;
        work(self)?;
        let end = self.card.mark()?;
        if let Some(profile) = &mut self.profile {
            profile.push((name, begin, end));
        }
        Ok(())
    }

    /// Particles to let in now: through the front, and through each face along the stream.
    fn entering(&self) -> (u32, u32) {
        let now = f64::from(self.setup.step);
        let whole = |rate: f64| ((rate * (now + 1.0)).floor() - (rate * now).floor()) as u32;
        (whole(self.inflow.0), whole(self.inflow.1))
    }

    fn let_in(&mut self, direct: bool) -> Result<(), SimError> {
        let (front, side) = self.entering();
        let all = front + 4 * side;
        if all == 0 {
            return Ok(());
        }
        let blocks = all.div_ceil(BLOCK);
        self.phase("inflow", |peer| {
            let into = i32::from(direct);
            // SAFETY: arguments as in the kernel; it writes within the capacity only.
            unsafe {
                launch!(
                    peer.card,
                    peer.kernels,
                    "inflow",
                    blocks,
                    BLOCK,
                    0,
                    peer.setup,
                    peer.buffers,
                    front,
                    side,
                    into
                )?;
            }
            if direct { Ok(()) } else { peer.set_slots(peer.buffers.slots, all) }
        })
    }

    /// One step.
    pub fn step(&mut self) -> Result<(), SimError> {
        self.setup.step += 1;
        self.setup.sample = i32::from(self.setup.step.is_multiple_of(10));
        self.card.set(self.counters, 0, 4 * COUNTERS)?;
        if self.fused() { self.step_fused() } else { self.step_apart() }
    }

    /// Launches `prepare`: the addresses are 0 where the variant wants no classes, or no list.
    fn prepare(&mut self, classes: u64, list: u64, above: u32) -> Result<(), SimError> {
        self.phase("prepare", |peer| {
            let (blocks, listed) = (peer.cell_blocks(), peer.listed());
            // SAFETY: arguments as in the kernel; there is a place in the list for each cell.
            unsafe {
                launch!(
                    peer.card,
                    peer.kernels,
                    "prepare",
                    blocks,
                    BLOCK,
                    0,
                    peer.setup,
                    peer.buffers,
                    classes,
                    list,
                    listed,
                    above
                )
            }
        })
    }

    /// Address of the number of listed cells; the head of the queue is behind it.
    fn listed(&self) -> u64 {
        self.counters + 4 * 512
    }

    fn step_fused(&mut self) -> Result<(), SimError> {
        let (name, team, first_most) = match self.variant.threads {
            32 => ("fused_32", 32, WARP_MOST),
            64 => ("fused_64", 64, BLOCK_MOST),
            128 => ("fused_128", 128, BLOCK_MOST),
            _ => ("fused_256", 256, BLOCK_MOST),
        };
        self.prepare(0, self.list, first_most)?;
        self.phase("scan", |peer| peer.scan(peer.buffers.count, peer.buffers.next_start))?;
        self.let_in(true)?;
        let (cells, list, last_most) = (self.cells(), self.list, self.most);
        // Eight warps a block, each with a cell.
        let teams = if team == 32 { 8 } else { 1 };
        self.phase("cells", |peer| {
            peer.launch_fused(name, cells.div_ceil(teams), team * teams, teams, 0, 0, first_most)
        })?;
        let blocks = 8 * self.multiprocessors;
        self.phase("heavy cells", |peer| {
            if team == 32 {
                peer.launch_fused("fused_128", blocks, 128, 1, list, WARP_MOST, BLOCK_MOST)?;
            }
            peer.launch_fused("fused_256", blocks, 256, 1, list, BLOCK_MOST, last_most)
        })?;
        self.swap_cells();
        self.swap_particles();
        Ok(())
    }

    #[expect(clippy::too_many_arguments)]
    fn launch_fused(
        &self,
        name: &str,
        blocks: u32,
        threads: u32,
        teams: u32,
        list: u64,
        above: u32,
        most: u32,
    ) -> Result<(), SimError> {
        let (shared, listed) = (teams * (TEAM_BYTES + HELD_BYTES * most), self.listed());
        // SAFETY: arguments as in the kernels; the shared memory is what `fused` divides among its teams.
        unsafe {
            launch!(
                self.card,
                self.kernels,
                name,
                blocks,
                threads,
                shared,
                self.setup,
                self.buffers,
                list,
                listed,
                above,
                most
            )
        }
    }

    /// Sums over all particles now, and what was counted so far.
    pub fn check(&mut self) -> Result<Stats, SimError> {
        let sums = std::mem::offset_of!(Stats, particles) as u64;
        // Up to `errors`, which are counted since the start.
        let sums_end = std::mem::offset_of!(Stats, errors) as u64;
        self.card.set(self.buffers.stats + sums, 0, sums_end - sums)?;
        // SAFETY: arguments as in the kernel.
        unsafe {
            launch!(self.card, self.kernels, "check_cells", self.cells(), 64, 0, self.setup, self.buffers)
        }?;
        let mut stats = Stats::zeroed();
        self.card.read(self.buffers.stats, bytemuck::bytes_of_mut(&mut stats))?;
        Ok(stats)
    }

    /// Times of the phases over some steps: (name, s a step).
    pub fn profile(&mut self, steps: u32) -> Result<Vec<(&'static str, f64)>, SimError> {
        self.profile = Some(vec![]);
        for _ in 0..steps {
            self.step()?;
        }
        self.card.wait()?;
        let mut times: Vec<(&'static str, f64)> = vec![];
        for (name, begin, end) in self.profile.take().unwrap_or_default() {
            let time = begin.until(&end)? / f64::from(steps.max(1));
            match times.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += time,
                None => times.push((name, time)),
            }
        }
        Ok(times)
    }
}
