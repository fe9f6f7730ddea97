//! The CPU device: the reference, and what runs where there is no NVIDIA GPU. Same bits for any number of threads.
//! Must not know the runner, the view or files.

mod block;
mod fill;
pub mod queue;
pub mod state;
mod step;

use crate::device::gas::{Averages, GasSetup, Record, body_totals};
use crate::device::observe;
use crate::physics::moments::CellSums;
use crate::physics::particle::Particle;
use crate::scene::{Impact, Scene, impact, to_ron};
use crate::sim::{Checkpoint, Request, SimError, Simulation, Snapshot};
use rayon::ThreadPool;
use rayon::prelude::*;
use state::Particles;
use std::sync::Arc;
use step::{PHASES, Stepper};

/// Kind of the checkpoints of this device.
pub const KIND: &str = "gas/cpu";

/// A gas simulation on the CPU.
#[derive(Debug)]
pub struct CpuGas {
    setup: GasSetup,
    pool: Arc<ThreadPool>,
    particles: Particles,
    majorants: Vec<f32>,
    record: Record,
    stepper: Stepper,
}

impl CpuGas {
    /// Builds the simulation of a validated scene on `threads` threads (0: one a core).
    pub fn new(scene: &Scene, threads: usize) -> Result<Self, SimError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|i| format!("knudsen-cpu-{i}"))
            .build()
            .map_err(|error| {
                SimError::Device(format!(
                    "cannot start {threads} threads ({error}); ask for fewer with --threads"
                ))
            })?;
        Ok(Self::start(prepare(scene)?, Arc::new(pool)))
    }

    fn start(setup: GasSetup, pool: Arc<ThreadPool>) -> Self {
        let particles = fill::fill(&setup, &pool);
        let majorants = vec![setup.majorant; setup.motion.grid.len()];
        let record = Record::new(&setup, 0);
        Self { setup, pool, particles, majorants, record, stepper: Stepper::default() }
    }

    /// The scene made ready.
    pub fn setup(&self) -> &GasSetup {
        &self.setup
    }

    /// The particles, sorted by cell.
    pub fn particles(&self) -> &[Particle] {
        &self.particles.list
    }

    /// Specific rotational energies of the particles, J/kg; empty if the gas has none.
    pub fn rotation(&self) -> &[f32] {
        &self.particles.rotation
    }

    /// First particle of each cell, and the number of particles at the end.
    pub fn offsets(&self) -> &[u32] {
        &self.particles.offsets
    }

    /// Puts particles in place of those there are; sorted by cell, `offsets` and rotation as this device tells them.
    pub(super) fn replace(&mut self, list: Vec<Particle>, rotation: Vec<f32>, offsets: Vec<u32>) {
        self.particles = Particles::restore(list, rotation, offsets);
    }

    /// Counters since the start.
    pub fn counters(&self) -> crate::sim::Counters {
        self.record.counters
    }

    /// Seconds spent in each phase of the steps since the start.
    pub fn timings(&self) -> Vec<(&'static str, f64)> {
        PHASES.iter().copied().zip(self.stepper.timings).collect()
    }

    /// Bytes of particles, sort and cells, without averages.
    pub fn state_bytes(&self) -> u64 {
        let cells = self.majorants.len() as u64 * 4 + self.setup.motion.walls.memory_bytes() as u64;
        self.particles.memory_bytes() + cells
    }

    fn one_step(&mut self) -> Result<(), SimError> {
        let Self { setup, pool, particles, majorants, record, stepper } = self;
        let sampled = record.begin_step(setup);
        let before = record.counters.collisions;
        let sums = record.averages.as_mut().filter(|_| sampled).map(|averages| averages.batch.as_mut_slice());
        stepper.step(setup, pool, particles, majorants, sums, record.step, &mut record.counters);
        let totals = body_totals(setup, stepper.hits());
        if let Some(tallies) = record.tallies.as_mut() {
            tallies.add(setup, stepper.hits(), &totals);
        }
        let energy = record.energy_due().then(|| kinetic_energy(pool, particles));
        if energy.is_some_and(|energy| !energy.is_finite()) {
            return Err(SimError::Numerical(format!(
                "step {}: the energy of the gas is not a number any more; this is a bug: please report the scene",
                record.step
            )));
        }
        let collisions = record.counters.collisions - before;
        pool.install(|| {
            record.end_step(setup, &totals, collisions, sampled, particles.list.len() as u64, energy);
        });
        Ok(())
    }

    /// The particles of a cell; `None` for none or if there is no such cell.
    fn members(&self, cell: Option<u32>) -> Option<&[Particle]> {
        let cell = cell? as usize;
        let (start, end) = (self.particles.offsets.get(cell)?, self.particles.offsets.get(cell + 1)?);
        self.particles.list.get(*start as usize..*end as usize)
    }

    /// Sums of the particles of every cell now.
    fn current_sums(&self) -> Vec<CellSums> {
        let (list, offsets, stream) =
            (&self.particles.list, &self.particles.offsets, self.setup.field_scale.stream);
        let of_cell = |cell: usize| {
            let mut sums = CellSums::default();
            sums.add(&list[offsets[cell] as usize..offsets[cell + 1] as usize], stream);
            sums
        };
        (0..self.majorants.len()).into_par_iter().map(of_cell).collect()
    }

    /// Bytes held, averages included.
    fn memory_bytes(&self) -> u64 {
        self.state_bytes() + self.record.averages.as_ref().map_or(0, Averages::memory_bytes)
    }
}

impl Simulation for CpuGas {
    fn advance(&mut self, steps: u32) -> Result<(), SimError> {
        (0..steps).try_for_each(|_| self.one_step())
    }

    fn adopt(&mut self, scene: &Scene) -> Result<Impact, SimError> {
        let impact = impact(&self.setup.scene, scene);
        match impact {
            Impact::Nothing => self.setup.scene = scene.clone(),
            // Reference area and length, and names, are written in the bodies.
            Impact::Live => self.setup = self.setup.revise(scene)?,
            Impact::AveragesReset => {
                self.setup = self.setup.revise(scene)?;
                let raised = self.setup.majorant;
                self.majorants.iter_mut().for_each(|majorant| *majorant = majorant.max(raised));
                self.record.reset_averages(&self.setup, "the scene was changed");
            }
            Impact::Restart => {
                *self = Self::start(prepare(scene)?, self.pool.clone());
            }
        }
        Ok(impact)
    }

    fn observe(&mut self, request: &Request, into: &mut Snapshot) -> Result<(), SimError> {
        observe::fill(&self.setup, &self.record, request, into);
        into.particles = self.particles.list.len() as u64;
        into.memory_bytes = self.memory_bytes();
        into.timings = self.timings();
        observe::probe(&self.setup, request, self.members(request.probe_cell), into);
        let instantaneous = self.record.averages.is_none() && request.fields;
        self.pool.install(|| {
            let now = instantaneous.then(|| self.current_sums());
            observe::fields(&self.setup, &self.record, request, now.as_deref(), into);
            observe::draw(&self.setup, &self.particles.list, request, into);
        });
        Ok(())
    }

    fn save(&mut self) -> Result<Checkpoint, SimError> {
        let mut state = Checkpoint::new(KIND, to_ron(&self.setup.scene), self.record.step);
        state.put_pod("particles", &self.particles.list);
        state.put_pod("rotation", &self.particles.rotation);
        state.put_pod("offsets", &self.particles.offsets);
        state.put_pod("majorants", &self.majorants);
        state.put_pod("weight", &[self.setup.weight]);
        state.put_pod("triangles", &[self.setup.triangles_checksum()]);
        self.record.save(&mut state)?;
        Ok(state)
    }

    fn load(&mut self, state: &Checkpoint) -> Result<(), SimError> {
        state.check_kind(KIND)?;
        let cells = self.majorants.len();
        let offsets: Vec<u32> = state.get_pod("offsets")?;
        let list: Vec<Particle> = state.get_pod("particles")?;
        let rotation: Vec<f32> = state.get_pod("rotation")?;
        let majorants: Vec<f32> = state.get_pod("majorants")?;
        let weight: Vec<f64> = state.get_pod("weight")?;
        let fits = offsets.len() == cells + 1
            && majorants.len() == cells
            && offsets.windows(2).all(|pair| pair[0] <= pair[1])
            && offsets.last().is_some_and(|&last| last as usize == list.len())
            && rotation.len() == if self.setup.rotational { list.len() } else { 0 }
            && weight.first().is_some_and(|&weight| weight > 0.0);
        if !fits {
            return Err(SimError::Checkpoint(format!(
                "this checkpoint is for {} cells, the scene has {cells}, or their gases differ: resume with the scene \
                 that wrote it",
                offsets.len().saturating_sub(1)
            )));
        }
        if state.get_pod::<u32>("triangles")? != [self.setup.triangles_checksum()] {
            return Err(SimError::Checkpoint(
                "the triangles of the obstacles are not those of this checkpoint: put the triangle files back as they \
                 were, or start from the beginning"
                    .to_string(),
            ));
        }
        let setup = self.setup.with_weight(weight[0])?;
        let record = Record::load(state, &setup)?;
        self.setup = setup;
        self.record = record;
        self.majorants = majorants;
        self.particles = Particles::restore(list, rotation, offsets);
        Ok(())
    }
}

/// Makes a scene ready, unless it does not fit into memory.
fn prepare(scene: &Scene) -> Result<GasSetup, SimError> {
    super::memory::check_cells(scene)?;
    let setup = GasSetup::new(scene)?;
    super::memory::check(&setup)?;
    Ok(setup)
}

/// Kinetic energy of all particles per unit mass of a molecule, J/kg; summed in fixed chunks, so that it does not
/// depend on the number of threads.
fn kinetic_energy(pool: &ThreadPool, particles: &Particles) -> f64 {
    let chunk = |particles: &[Particle]| {
        particles.iter().flat_map(|p| p.velocity).map(|v| f64::from(v) * f64::from(v)).sum::<f64>()
    };
    let parts: Vec<f64> = pool.install(|| particles.list.par_chunks(16_384).map(chunk).collect());
    0.5 * parts.iter().sum::<f64>()
}
