//! The launches: one function a phase of the step, with its grid and its arguments.
//! Knows nothing of when a step is due or what is read back.

#![allow(unsafe_code)]

use super::abi::{COUNTS, Gas, Limits, Orders, State, Work};
use super::buffers::PLAN_THREADS;
use crate::device::cuda::{Context, CudaError, Module};
use cudarc::driver::{CudaEvent, CudaFunction, CudaStream, LaunchConfig, PushKernelArg, sys};
use std::sync::Arc;

/// Threads of the kernels of the size classes, and cells a block.
const CLASSES: [(u32, u32); 4] = [(32, 8), (64, 1), (128, 1), (512, 1)];
/// Names of the phases, in the order of [`Kernels::timings`].
pub const PHASES: [&str; 4] = ["plan", "far flights", "cells", "close"];

/// Steps of which one is timed, for all of them.
const TIMED_EVERY: u32 = 16;

/// The size classes of cells on a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classes {
    /// Most particles of each class that block memory holds.
    pub limits: [u32; 4],
    /// The class whose kernel goes over all cells; the others work off lists.
    pub direct: u32,
}

/// Bytes of what a group has beside its slots: `Board` of kernels/step.cu.
fn board_bytes(threads: u32) -> u32 {
    4 * threads + 48 * (threads / 32) + 40
}

impl Classes {
    /// Classes for a card with so much shared memory a block (bytes), slots of so many words, and cells that usually
    /// hold `usual` particles. Limits leave several blocks on a multiprocessor.
    pub fn new(shared_bytes: u32, slot_words: u32, usual: f64) -> Self {
        let most = |threads: u32, groups: u32, bytes: u32| {
            let boards = groups * board_bytes(threads);
            (bytes.min(shared_bytes).saturating_sub(boards + 1024) / (4 * groups * slot_words)) & !7
        };
        let limits =
            [most(32, 8, 45_000).max(32), most(64, 1, 16_000), most(128, 1, 42_000), most(512, 1, 220_000)];
        // A cell fluctuates, and gas is compressed: a class is the usual one if it holds a fifth more and five sigma.
        let needs = 1.2 * usual + 5.0 * usual.sqrt();
        let direct = limits.iter().position(|&limit| needs <= f64::from(limit)).unwrap_or(3) as u32;
        Self { limits, direct }
    }
}

/// The functions of a compiled program.
#[derive(Debug)]
pub struct Kernels {
    stream: Arc<CudaStream>,
    plan_count: CudaFunction,
    plan_scan: CudaFunction,
    plan_offset: CudaFunction,
    far_place: CudaFunction,
    close_step: CudaFunction,
    /// Kernels of the size classes: the whole step of usual cells, the first and the last part of those at edges.
    classes: [[CudaFunction; 4]; 3],
    fly_cells: CudaFunction,
    fly_queue: CudaFunction,
    /// Cells at edges are done beside the others.
    beside: Arc<CudaStream>,
    giants: [CudaFunction; 2],
    fill_count: CudaFunction,
    fill_cells: CudaFunction,
    mark_far: CudaFunction,
    draw_count: CudaFunction,
    draw_scan: CudaFunction,
    draw_pack: CudaFunction,
    sum_cells: CudaFunction,
    members_of: CudaFunction,
    multiprocessors: u32,
    /// Blocks of each kernel of `classes` that the card holds at a time.
    resident: [u32; 12],
    sizes: Classes,
    slot_words: u32,
    cells: u32,
    /// Seconds in each phase since the start, from the steps that were timed.
    pub timings: [f64; 4],
    /// Whether the phases of every step are timed; that costs some speed. Else those of every [`TIMED_EVERY`]th are.
    pub timed: bool,
    /// Steps launched.
    steps: u64,
    /// How many steps the step at hand stands for, if it is timed.
    stands_for: Option<u32>,
    marks: Vec<(usize, f64, CudaEvent, CudaEvent)>,
}

fn config(blocks: u32, threads: u32, shared: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks.max(1), 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: shared }
}

impl Kernels {
    /// Looks the functions up.
    pub fn new(
        context: &Context,
        module: &Module,
        sizes: Classes,
        rotational: bool,
        cells: u32,
    ) -> Result<Self, CudaError> {
        let function = |name: &str| module.function(name);
        let of = |part: &str| -> Result<[CudaFunction; 4], CudaError> {
            let one = |threads: u32| function(&format!("{part}_{threads}"));
            Ok([one(32)?, one(64)?, one(128)?, one(512)?])
        };
        let classes = [of("core")?, of("begin")?, of("finish")?];
        let slot_words = if rotational { 8 } else { 7 };
        let mut kernels = Self {
            stream: context.stream.clone(),
            plan_count: function("plan_count")?,
            plan_scan: function("plan_scan")?,
            plan_offset: function("plan_offset")?,
            far_place: function("far_place")?,
            close_step: function("close_step")?,
            classes,
            fly_cells: function("fly_cells")?,
            fly_queue: function("fly_queue")?,
            beside: context.driver().new_stream()?,
            giants: [function("begin_giant")?, function("finish_giant")?],
            fill_count: function("fill_count")?,
            fill_cells: function("fill_cells")?,
            mark_far: function("mark_far")?,
            draw_count: function("draw_count")?,
            draw_scan: function("draw_scan")?,
            draw_pack: function("draw_pack")?,
            sum_cells: function("sum_cells")?,
            members_of: function("members_of")?,
            multiprocessors: context.gpu.multiprocessors,
            resident: [0; 12],
            sizes,
            slot_words,
            cells,
            timings: [0.0; 4],
            timed: false,
            steps: 0,
            stands_for: None,
            marks: Vec::new(),
        };
        for (which, function) in kernels.classes.iter().flatten().enumerate() {
            let shared = kernels.shared_bytes(which % 4);
            function.set_attribute(
                sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                shared as i32,
            )?;
            let (threads, groups) = CLASSES[which % 4];
            let threads = threads * groups;
            let each =
                function.occupancy_max_active_blocks_per_multiprocessor(threads, shared as usize, None)?;
            kernels.resident[which] = each * kernels.multiprocessors;
        }
        Ok(kernels)
    }

    /// Dynamic shared memory of a block of a size class, bytes.
    fn shared_bytes(&self, class: usize) -> u32 {
        let (threads, groups) = CLASSES[class];
        groups * (4 * self.slot_words * self.sizes.limits[class] + board_bytes(threads))
    }

    fn plan_blocks(&self) -> u32 {
        self.cells.div_ceil(PLAN_THREADS)
    }

    /// One step from one state to the other.
    pub fn step(
        &mut self,
        gas: &Gas,
        from: &State,
        to: &State,
        work: &Work,
        orders: &Orders,
    ) -> Result<(), CudaError> {
        self.stands_for = match self.timed {
            true => Some(1),
            false => self.steps.is_multiple_of(u64::from(TIMED_EVERY)).then_some(TIMED_EVERY),
        };
        self.steps += 1;
        self.phase(0, |kernels| {
            kernels.plan(gas, from, to, work)?;
            kernels.offsets(gas, from, to, work)
        })?;
        self.phase(1, |kernels| {
            let mut launch = kernels.stream.launch_builder(&kernels.far_place);
            launch.arg(gas).arg(work);
            // SAFETY: the kernel's parameters are these; all addresses are of arrays that live in `Buffers`.
            unsafe { launch.launch(config(4 * kernels.multiprocessors, 256, 0)) }?;
            Ok(())
        })?;
        self.phase(2, |kernels| kernels.cells(gas, from, to, work, orders))?;
        self.phase(3, |kernels| {
            let mut launch = kernels.stream.launch_builder(&kernels.close_step);
            launch.arg(gas).arg(work).arg(orders);
            // SAFETY: as above.
            unsafe { launch.launch(config(1, 256, 0)) }?;
            Ok(())
        })
    }

    /// Sizes of the regions, and whether there is room.
    fn plan(&self, gas: &Gas, from: &State, to: &State, work: &Work) -> Result<(), CudaError> {
        let mut launch = self.stream.launch_builder(&self.plan_count);
        launch.arg(gas).arg(from).arg(to).arg(work);
        // SAFETY: the kernel's parameters are these; all addresses are of arrays that live in `Buffers`.
        unsafe { launch.launch(config(self.plan_blocks(), PLAN_THREADS, 0)) }?;
        Ok(())
    }

    /// Offsets of the regions and lists of the size classes.
    fn offsets(&self, gas: &Gas, from: &State, to: &State, work: &Work) -> Result<(), CudaError> {
        let blocks = self.plan_blocks();
        let mut launch = self.stream.launch_builder(&self.plan_scan);
        launch.arg(gas).arg(from).arg(to).arg(work).arg(&blocks);
        // SAFETY: as in `plan`.
        unsafe { launch.launch(config(1, 1024, 0)) }?;
        let limits = Limits(self.sizes.limits);
        let mut launch = self.stream.launch_builder(&self.plan_offset);
        launch.arg(gas).arg(from).arg(to).arg(work).arg(&self.sizes.direct).arg(&limits);
        // SAFETY: as in `plan`.
        unsafe { launch.launch(config(blocks, PLAN_THREADS, 0)) }?;
        Ok(())
    }

    /// All cells: the usual ones on one stream; beside them those at edges and those of other size classes, in parts.
    fn cells(
        &self,
        gas: &Gas,
        from: &State,
        to: &State,
        work: &Work,
        orders: &Orders,
    ) -> Result<(), CudaError> {
        const CORES: u32 = 0;
        const EDGES: u32 = 1;
        const LIST: u32 = 2;
        let direct = self.sizes.direct as usize;
        let class = |stream: &Arc<CudaStream>, part: usize, class: usize, over: u32| {
            let (threads, groups) = CLASSES[class];
            let low = if class == 0 { 0 } else { self.sizes.limits[class - 1] + 1 };
            // Each kernel has a counter of its own: lists 0 to 3 of the two parts, edges of the two parts, cores.
            let counter = match over {
                LIST => 4 * (part as u32 - 1) + class as u32,
                EDGES => 7 + part as u32,
                _ => 10,
            };
            let number = class as u32;
            let mut launch = stream.launch_builder(&self.classes[part][class]);
            launch.arg(gas).arg(from).arg(to).arg(work).arg(orders);
            launch.arg(&number).arg(&over).arg(&low).arg(&counter);
            let shared = self.shared_bytes(class);
            // SAFETY: as in `plan`; the slots of all groups of a block fit into its dynamic shared memory.
            unsafe { launch.launch(config(self.resident[4 * part + class], threads * groups, shared)) }?;
            Ok::<(), CudaError>(())
        };
        let part = |part: usize| {
            let mut launch = self.beside.launch_builder(&self.giants[part - 1]);
            launch.arg(gas).arg(from).arg(to).arg(work).arg(orders);
            // SAFETY: as in `plan`.
            unsafe { launch.launch(config(self.multiprocessors, 512, 0)) }?;
            for number in (0..4).rev().filter(|&number| number != direct) {
                class(&self.beside, part, number, LIST)?;
            }
            class(&self.beside, part, direct, EDGES)
        };
        self.beside.wait(&self.stream.record_event(None)?)?;
        part(1)?;
        class(&self.stream, 0, direct, CORES)?;
        let mut launch = self.beside.launch_builder(&self.fly_cells);
        launch.arg(gas).arg(to).arg(work).arg(orders).arg(&self.sizes.direct);
        let grid_dim = ((work.edge_count + 1024).min(64 * self.multiprocessors), 4, 1);
        let grid = LaunchConfig { grid_dim, block_dim: (128, 1, 1), shared_mem_bytes: 0 };
        // SAFETY: as in `plan`.
        unsafe { launch.launch(grid) }?;
        let mut launch = self.beside.launch_builder(&self.fly_queue);
        launch.arg(gas).arg(to).arg(work).arg(orders);
        // SAFETY: as in `plan`.
        unsafe { launch.launch(config(32 * self.multiprocessors, 128, 0)) }?;
        part(2)?;
        self.stream.wait(&self.beside.record_event(None)?)?;
        Ok(())
    }

    /// The initial particles into `to`: `plan` tells the offsets, as for a step.
    pub fn fill_plan(&self, gas: &Gas, to: &State, work: &Work) -> Result<(), CudaError> {
        let mut launch = self.stream.launch_builder(&self.fill_count);
        launch.arg(gas).arg(to).arg(work);
        // SAFETY: as in `plan`.
        unsafe { launch.launch(config(self.plan_blocks(), PLAN_THREADS, 0)) }?;
        self.offsets(gas, to, to, work)
    }

    /// Writes the initial particles.
    pub fn fill(&self, gas: &Gas, to: &State, work: &Work) -> Result<(), CudaError> {
        let mut launch = self.stream.launch_builder(&self.fill_cells);
        launch.arg(gas).arg(to).arg(work);
        // SAFETY: as in `plan`.
        unsafe { launch.launch(config((16 * self.multiprocessors).min(self.cells.div_ceil(8)), 256, 0)) }?;
        Ok(())
    }

    /// Writes the cells of far flights into the spare state, for the functions below.
    pub fn mark_far(&self, work: &Work, spare: &State) -> Result<(), CudaError> {
        let mut launch = self.stream.launch_builder(&self.mark_far);
        launch.arg(work).arg(spare);
        // SAFETY: as in `plan`.
        unsafe { launch.launch(config(4 * self.multiprocessors, 256, 0)) }?;
        Ok(())
    }

    /// Packs drawn particles into `out`, at most `most`; the number ends up at the end of `counts` ([cells + 1]).
    #[allow(clippy::too_many_arguments)]
    pub fn draw(
        &self,
        gas: &Gas,
        state: &State,
        spare: &State,
        counts: u64,
        out: u64,
        most: u32,
        below: u32,
        paint: u32,
        corner: [f64; 3],
    ) -> Result<(), CudaError> {
        let blocks = (16 * self.multiprocessors).min(self.cells.div_ceil(8));
        let mut launch = self.stream.launch_builder(&self.draw_count);
        launch.arg(gas).arg(state).arg(&counts).arg(&below);
        // SAFETY: as in `plan`; `counts` has a word a cell and one more.
        unsafe { launch.launch(config(blocks, 256, 0)) }?;
        let mut launch = self.stream.launch_builder(&self.draw_scan);
        launch.arg(&self.cells).arg(&counts);
        // SAFETY: as above.
        unsafe { launch.launch(config(1, 1024, 0)) }?;
        let mut launch = self.stream.launch_builder(&self.draw_pack);
        launch.arg(gas).arg(state).arg(spare).arg(&counts).arg(&out).arg(&most).arg(&below).arg(&paint);
        launch.arg(&corner[0]).arg(&corner[1]).arg(&corner[2]);
        // SAFETY: as above; `out` has room for `most` particles of 16 bytes.
        unsafe { launch.launch(config(blocks, 256, 0)) }?;
        Ok(())
    }

    /// Adds all particles to `sums`, seven i64 a cell in fixed point.
    pub fn sum_cells(
        &self,
        gas: &Gas,
        state: &State,
        spare: &State,
        sums: u64,
        scales: [f64; 2],
    ) -> Result<(), CudaError> {
        let mut launch = self.stream.launch_builder(&self.sum_cells);
        launch.arg(gas).arg(state).arg(spare).arg(&sums).arg(&scales[0]).arg(&scales[1]);
        // SAFETY: as in `plan`; `sums` has seven i64 a cell.
        unsafe { launch.launch(config((16 * self.multiprocessors).min(self.cells.div_ceil(8)), 256, 0)) }?;
        Ok(())
    }

    /// Writes the number of particles of a cell to `out`, and the indices of at most `most` of them.
    pub fn members(
        &self,
        gas: &Gas,
        state: &State,
        work: &Work,
        cell: u32,
        out: u64,
        most: u32,
    ) -> Result<(), CudaError> {
        let mut launch = self.stream.launch_builder(&self.members_of);
        launch.arg(gas).arg(state).arg(work).arg(&cell).arg(&out).arg(&most);
        // SAFETY: as in `plan`; `out` has `most` words and one more.
        unsafe { launch.launch(config(1, 256, 0)) }?;
        Ok(())
    }

    /// Launches a phase, between two marks if steps are timed.
    fn phase(
        &mut self,
        which: usize,
        launch: impl FnOnce(&Self) -> Result<(), CudaError>,
    ) -> Result<(), CudaError> {
        let Some(stands_for) = self.stands_for else { return launch(self) };
        let timing = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        let begin = self.stream.record_event(timing)?;
        launch(self)?;
        let end = self.stream.record_event(timing)?;
        self.marks.push((which, f64::from(stands_for), begin, end));
        Ok(())
    }

    /// Adds up the times of the steps that have finished.
    pub fn settle_timings(&mut self) -> Result<(), CudaError> {
        for (which, stands_for, begin, end) in self.marks.drain(..) {
            self.timings[which] += stands_for * f64::from(begin.elapsed_ms(&end)?) / 1e3;
        }
        Ok(())
    }

    /// Words of the log of a step.
    pub fn log_width(bodies: usize) -> usize {
        COUNTS + 8 * bodies
    }
}
