//! The gas on CUDA: a `Simulation` whose steps run on the card without the host.
//! Must not know the runner, the view or files.

mod abi;
mod advance;
mod buffers;
mod constants;
mod launch;
mod observe;
mod particles;
mod program;
mod subject;

pub use buffers::Array;
pub use program::{abi_checks, all_constants, specialise};

use crate::device::cuda::{Context, CudaError, Options, Watcher};
use crate::device::gas::{GasSetup, Record, gas_scene};
use crate::scene::{Impact, Scene, Start, impact, to_ron};
use crate::sim::{Checkpoint, Request, SimError, Simulation, Snapshot};
use abi::{Control, Gas, stall};
use buffers::{Buffers, Sizes};
use constants::Tables;
use launch::Kernels;
use observe::Observer;

/// Kind of the checkpoints of this device.
pub const KIND: &str = "gas/cuda";
/// Room beyond the particles of undisturbed gas at the start; more is taken when the flow needs it.
const SLACK: f64 = 1.04;

/// A gas simulation on a CUDA device.
#[derive(Debug)]
pub struct CudaGas {
    setup: GasSetup,
    context: Context,
    options: Options,
    watcher: Option<Watcher>,
    program: Vec<String>,
    kernels: Kernels,
    gas: Gas,
    tables: Tables,
    buffers: Buffers,
    record: Record,
    observer: Observer,
    particles: u64,
    /// An error after which the state on the card is not whole.
    broken: Option<String>,
}

impl CudaGas {
    /// Builds the simulation of a validated scene.
    pub fn new(scene: &Scene, options: &Options) -> Result<Self, SimError> {
        let context = Context::open(options.ordinal)?;
        Self::start(scene, context, options.clone())
    }

    fn start(scene: &Scene, context: Context, options: Options) -> Result<Self, SimError> {
        let cells = gas_scene(scene).domain.cells.iter().map(|&n| n as usize).product();
        check_room(&context, &sizes_for(cells, 0.0, None), gas_scene(scene).particles_per_cell, 0.0)?;
        let setup = GasSetup::new(scene)?;
        let expected = setup.expected_particles();
        let sizes = sizes_for(cells, expected, Some(&setup));
        check_room(&context, &sizes, setup.gas().particles_per_cell, expected)?;
        let program = specialise(&setup, sizes.wide);
        let kernels = program::build(&context, &options, &program, &setup)?;
        let (edges, cores) = constants::cell_kinds(&setup);
        let buffers = Buffers::new(&context.stream, sizes, &edges, &cores)?;
        let tables = Tables::new(&context.stream, &setup)?;
        let gas = constants::gas(&setup, &tables, &buffers);
        let record = Record::new(&setup, 0);
        let watcher = options.kernels.watcher();
        let observer = Observer::new(&context)?;
        let mut simulation = Self {
            setup,
            context,
            options,
            watcher,
            program,
            kernels,
            gas,
            tables,
            buffers,
            record,
            observer,
            particles: 0,
            broken: None,
        };
        simulation.fill()?;
        Ok(simulation)
    }

    /// The scene made ready.
    pub fn setup(&self) -> &GasSetup {
        &self.setup
    }

    /// The books.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Times each phase of the steps from now on; that costs some speed.
    pub fn time_phases(&mut self) {
        self.kernels.timed = true;
    }

    /// Puts the initial particles in place.
    fn fill(&mut self) -> Result<(), SimError> {
        let majorants = vec![self.setup.majorant; self.gas.cell_count as usize];
        self.buffers.majorants.write(0, &majorants)?;
        if self.setup.gas().start == Start::Empty {
            return Ok(());
        }
        loop {
            let to = self.buffers.present().view();
            // The plan looks at the room in the state that it writes: here the present one.
            let work = self.buffers.work(self.buffers.parity ^ 1);
            self.kernels.fill_plan(&self.gas, &to, &work)?;
            let control = self.control()?;
            if control.stalled == 0 {
                self.kernels.fill(&self.gas, &to, &work)?;
                self.context.stream.synchronize().map_err(CudaError::from)?;
                self.particles = u64::from(control.needed);
                return Ok(());
            }
            if control.stalled & stall::PARTICLES != 0 {
                self.buffers.parity ^= 1;
                let grown = self.grow(control.needed);
                self.buffers.parity ^= 1;
                grown?;
            }
            if control.stalled & stall::SCRATCH != 0 {
                self.buffers.grow_scratch(more(control.scratch))?;
            }
            if control.stalled & stall::BINS != 0 {
                self.widen()?;
            }
            self.go_on()?;
        }
    }

    fn control(&self) -> Result<Control, SimError> {
        let control: Vec<Control> = self.buffers.control.read(0, 1)?;
        Ok(control[0])
    }

    /// Clears the flag of a stall.
    fn go_on(&mut self) -> Result<(), SimError> {
        let mut control = self.control()?;
        control.stalled = 0;
        Ok(self.buffers.control.write(0, &[control])?)
    }

    /// Makes room for particles in the spare state.
    fn grow(&mut self, needed: u32) -> Result<(), SimError> {
        let room = more(needed);
        let more_bytes = u64::from(room) * self.buffers.sizes.particle_bytes() as u64;
        let held = u64::from(self.buffers.sizes.particles) * self.buffers.sizes.particle_bytes() as u64;
        let free = self.context.free_bytes()?;
        if needed == u32::MAX || more_bytes > free + held {
            return Err(SimError::Memory {
                needed_bytes: more_bytes,
                available_bytes: free + held,
                suggestion: format!(
                    "the flow has grown to more than {} particles at step {}: save it, and go on with fewer \
                     particles_per_cell, or on a card with more memory",
                    self.particles, self.record.step
                ),
            });
        }
        self.buffers.grow_spare(room)?;
        // The present state follows when it is the spare one.
        Ok(())
    }

    /// Goes over to wide tables, for cells with more than 65,535 particles.
    fn widen(&mut self) -> Result<(), SimError> {
        let state = self.particles_now()?;
        self.buffers.sizes.wide = true;
        self.program = specialise(&self.setup, true);
        self.kernels = program::build(&self.context, &self.options, &self.program, &self.setup)?;
        let cells = self.buffers.sizes.cells;
        for arrays in &mut self.buffers.states {
            arrays.ends = Array::zeros(&self.context.stream, abi::BINS * cells, 4)?;
        }
        self.put_particles(&state)
    }

    /// Looks whether kernels from a folder have changed, and takes them if they compile.
    fn reload(&mut self) {
        if self.watcher.as_mut().is_some_and(Watcher::changed) {
            let note = match program::build(&self.context, &self.options, &self.program, &self.setup) {
                Ok(kernels) => {
                    self.kernels = kernels;
                    format!("step {}: the changed kernels are in use", self.record.step)
                }
                Err(error) => format!("step {}: the old kernels stay: {error}", self.record.step),
            };
            self.record.notes.push(note);
        }
    }

    fn is_whole(&self) -> Result<(), SimError> {
        self.broken.as_ref().map_or(Ok(()), |why| Err(SimError::Device(why.clone())))
    }

    /// Takes a setup that differs in what does not need a restart.
    fn revise(&mut self, setup: GasSetup) -> Result<(), SimError> {
        let program = specialise(&setup, self.buffers.sizes.wide);
        if program != self.program {
            self.kernels = program::build(&self.context, &self.options, &program, &setup)?;
            self.program = program;
        }
        self.setup = setup;
        self.tables = Tables::new(&self.context.stream, &self.setup)?;
        self.gas = constants::gas(&self.setup, &self.tables, &self.buffers);
        Ok(())
    }
}

impl Simulation for CudaGas {
    fn advance(&mut self, steps: u32) -> Result<(), SimError> {
        self.is_whole()?;
        self.reload();
        let result = self.run(steps);
        if let Err(SimError::Device(why)) = &result {
            self.broken = Some(why.clone());
        }
        result
    }

    fn adopt(&mut self, scene: &Scene) -> Result<Impact, SimError> {
        self.is_whole()?;
        let impact = impact(&self.setup.scene, scene);
        match impact {
            Impact::Nothing => self.setup.scene = scene.clone(),
            Impact::Live => {
                let setup = self.setup.revise(scene)?;
                self.revise(setup)?;
            }
            Impact::AveragesReset => {
                let setup = self.setup.revise(scene)?;
                let raised = setup.majorant;
                self.revise(setup)?;
                let mut majorants: Vec<f32> = self.buffers.majorants.read(0, self.gas.cell_count as usize)?;
                majorants.iter_mut().for_each(|majorant| *majorant = majorant.max(raised));
                self.buffers.majorants.write(0, &majorants)?;
                self.clear_sums()?;
                self.record.reset_averages(&self.setup, "the scene was changed");
            }
            Impact::Restart => {
                *self = Self::start(scene, self.context.clone(), self.options.clone())?;
            }
        }
        Ok(impact)
    }

    fn observe(&mut self, request: &Request, into: &mut Snapshot) -> Result<(), SimError> {
        self.is_whole()?;
        self.look(request, into)
    }

    fn save(&mut self) -> Result<Checkpoint, SimError> {
        self.is_whole()?;
        self.fetch_sums()?;
        let state = self.particles_now()?;
        let mut checkpoint = Checkpoint::new(KIND, to_ron(&self.setup.scene), self.record.step);
        state.save(&mut checkpoint);
        let majorants: Vec<f32> = self.buffers.majorants.read(0, self.gas.cell_count as usize)?;
        checkpoint.put_pod("majorants", &majorants);
        checkpoint.put_pod("weight", &[self.setup.weight]);
        checkpoint.put_pod("triangles", &[self.setup.triangles_checksum()]);
        self.record.save(&mut checkpoint)?;
        Ok(checkpoint)
    }

    fn load(&mut self, checkpoint: &Checkpoint) -> Result<(), SimError> {
        checkpoint.check_kind(KIND)?;
        let cells = self.gas.cell_count as usize;
        let state = particles::Sorted::load(checkpoint, cells, self.setup.rotational)?;
        let majorants: Vec<f32> = checkpoint.get_pod("majorants")?;
        let weight: Vec<f64> = checkpoint.get_pod("weight")?;
        if majorants.len() != cells || weight.first().is_none_or(|&weight| weight.is_nan() || weight <= 0.0) {
            return Err(SimError::Checkpoint(
                "this checkpoint does not fit the scene: resume with the scene that wrote it".to_string(),
            ));
        }
        if checkpoint.get_pod::<u32>("triangles")? != [self.setup.triangles_checksum()] {
            return Err(SimError::Checkpoint(
                "the triangles of the obstacles are not those of this checkpoint: put the triangle files back as they \
                 were, or start from the beginning"
                    .to_string(),
            ));
        }
        let setup = self.setup.with_weight(weight[0])?;
        let record = Record::load(checkpoint, &setup)?;
        self.revise(setup)?;
        self.record = record;
        self.buffers.majorants.write(0, &majorants)?;
        self.put_particles(&state)?;
        self.broken = None;
        self.push_sums()
    }
}

/// Room for so many particles and a little more, so that growth is rare.
fn more(needed: u32) -> u32 {
    (f64::from(needed) * 1.1 + 65_536.0).min(f64::from(u32::MAX)) as u32
}

/// Sizes of the arrays for a scene; without a setup of what is known before walls are cut.
fn sizes_for(cells: usize, particles: f64, setup: Option<&GasSetup>) -> Sizes {
    let room = (particles * SLACK + 8.0 * particles.sqrt() + 65_536.0).min(f64::from(u32::MAX)) as u32;
    let crossing = setup.map_or(0.0, |setup| {
        let size = setup.motion.grid.cell_size().into_iter().fold(f64::INFINITY, f64::min);
        (setup.stream.speed + setup.stream.most_probable_speed) * setup.time_step_s / size
    });
    let per_cell = particles / cells.max(1) as f64;
    Sizes {
        cells,
        particles: room,
        far: Sizes::far_for(room, crossing > 0.8),
        scratch: if per_cell > 4000.0 { more(room) } else { 4096 },
        sites: setup.map_or(0, constants::site_count),
        bodies: setup.map_or(0, |setup| setup.bodies.len()),
        triangles: setup.map_or(0, |setup| setup.motion.walls.triangles().len()),
        rotational: setup.is_some_and(|setup| setup.rotational),
        wide: per_cell > 4000.0,
    }
}

/// Refuses what does not fit into the card's memory, with what would.
fn check_room(context: &Context, sizes: &Sizes, per_cell: f64, particles: f64) -> Result<(), SimError> {
    let (needed_bytes, available_bytes) = (sizes.bytes(), context.free_bytes()?);
    let too_many = particles * SLACK > f64::from(u32::MAX) - 131_072.0;
    if needed_bytes <= available_bytes && !too_many {
        return Ok(());
    }
    let of_particles = particles * SLACK * (2 * sizes.particle_bytes() + 3) as f64;
    let fixed = needed_bytes as f64 - of_particles;
    let fitting = ((available_bytes as f64 - fixed) / of_particles).min(4.1e9 / (particles * SLACK));
    let suggestion = if particles > 0.0 && fitting > 0.0 {
        format!("particles_per_cell: {:.1} would fit with these cells; --device cpu uses the other memory", {
            (per_cell * fitting * 0.98 * 10.0).floor() / 10.0
        })
    } else {
        format!("already the {} cells are too many: take fewer", sizes.cells)
    };
    Err(SimError::Memory { needed_bytes, available_bytes, suggestion })
}
