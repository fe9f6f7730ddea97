//! A simulation without physics, for tests of everything that handles simulations: deterministic, and failing on demand.
//! Must not know devices.

use knudsen::scene::{
    Density, Domain, Gas, GasScene, Impact, Model, Sampling, Scene, Start, Stream, TimeStep, Velocity,
};
use knudsen::sim::{Checkpoint, DrawnParticle, Factory, Request, SimError, Simulation, Snapshot};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

pub const TIME_STEP_S: f64 = 1e-6;

/// Strings that tests pull on, and what they watch. A step number of `u64::MAX` means never.
#[derive(Debug)]
pub struct Controls {
    pub fail_at: AtomicU64,
    pub panic_at: AtomicU64,
    pub step_micros: AtomicU64,
    pub build_millis: AtomicU64,
    pub build_fails: AtomicBool,
    pub observe_fails: AtomicBool,
    pub observe_millis: AtomicU64,
    pub alive: AtomicU64,
    pub built: AtomicU64,
    pub adoptions: AtomicU64,
    pub longest_slice: AtomicU64,
    pub foreign_thread: AtomicBool,
}

impl Controls {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            fail_at: AtomicU64::new(u64::MAX),
            panic_at: AtomicU64::new(u64::MAX),
            step_micros: AtomicU64::new(0),
            build_millis: AtomicU64::new(0),
            build_fails: AtomicBool::new(false),
            observe_fails: AtomicBool::new(false),
            observe_millis: AtomicU64::new(0),
            alive: AtomicU64::new(0),
            built: AtomicU64::new(0),
            adoptions: AtomicU64::new(0),
            longest_slice: AtomicU64::new(0),
            foreign_thread: AtomicBool::new(false),
        })
    }

    /// Builds fakes that hang on these strings.
    pub fn factory(self: &Arc<Self>) -> Factory {
        let controls = Arc::clone(self);
        Box::new(move |scene| {
            std::thread::sleep(Duration::from_millis(controls.build_millis.load(SeqCst)));
            if controls.build_fails.load(SeqCst) {
                return Err(SimError::Scene("the fake cannot be built: let it".into()));
            }
            controls.alive.fetch_add(1, SeqCst);
            controls.built.fetch_add(1, SeqCst);
            Ok(Box::new(Fake {
                controls: Arc::clone(&controls),
                scene: scene.clone(),
                step: 0,
                state: scene.seed,
            }))
        })
    }
}

/// A linear congruential generator that is stepped.
struct Fake {
    controls: Arc<Controls>,
    scene: Scene,
    step: u64,
    state: u64,
}

/// The state after `steps` steps.
pub fn expected_state(seed: u64, steps: u64) -> u64 {
    (0..steps).fold(seed, |state, _| next(state))
}

fn next(state: u64) -> u64 {
    state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

impl Fake {
    fn check_thread(&self) {
        if std::thread::current().name() != Some("knudsen-simulation") {
            self.controls.foreign_thread.store(true, SeqCst);
        }
    }
}

impl Simulation for Fake {
    fn advance(&mut self, steps: u32) -> Result<(), SimError> {
        self.check_thread();
        self.controls.longest_slice.fetch_max(u64::from(steps), SeqCst);
        for _ in 0..steps {
            if self.step == self.controls.fail_at.load(SeqCst) {
                return Err(SimError::Numerical(format!(
                    "the fake failed at step {}: restart it",
                    self.step
                )));
            }
            if self.step == self.controls.panic_at.load(SeqCst) {
                panic!("the fake fell over");
            }
            let micros = self.controls.step_micros.load(SeqCst);
            if micros > 0 {
                std::thread::sleep(Duration::from_micros(micros));
            }
            self.state = next(self.state);
            self.step += 1;
        }
        Ok(())
    }

    /// Another seed restarts, another number of particles resets averages, all else is live; the name "bad" is refused,
    /// and "trap" panics.
    fn adopt(&mut self, scene: &Scene) -> Result<Impact, SimError> {
        self.check_thread();
        self.controls.adoptions.fetch_add(1, SeqCst);
        match scene.name.as_str() {
            "bad" => return Err(SimError::Scene("the fake wants no scene called bad: rename it".into())),
            "trap" => panic!("the fake fell into a trap"),
            _ => {}
        }
        let impact = if *scene == self.scene {
            Impact::Nothing
        } else if scene.seed != self.scene.seed {
            (self.step, self.state) = (0, scene.seed);
            Impact::Restart
        } else if particles(scene) != particles(&self.scene) {
            Impact::AveragesReset
        } else {
            Impact::Live
        };
        self.scene = scene.clone();
        Ok(impact)
    }

    fn observe(&mut self, request: &Request, into: &mut Snapshot) -> Result<(), SimError> {
        self.check_thread();
        if self.controls.observe_fails.load(SeqCst) {
            return Err(SimError::Device("the fake cannot be observed: let it".into()));
        }
        std::thread::sleep(Duration::from_millis(self.controls.observe_millis.load(SeqCst)));
        into.step = self.step;
        into.time_s = self.step as f64 * TIME_STEP_S;
        into.time_step_s = TIME_STEP_S;
        into.particles = self.state;
        // Every number of a snapshot tells the same step, so that a torn one would show.
        into.drawn.clear();
        let drawn = DrawnParticle { position: [self.step as f32; 3], value: self.step as f32 };
        into.drawn.resize(request.particles, drawn);
        into.notes.clear();
        into.notes.push(format!("{} at step {}", self.scene.name, self.step));
        Ok(())
    }

    fn save(&mut self) -> Result<Checkpoint, SimError> {
        let mut checkpoint = Checkpoint::new("fake", self.scene.name.as_str(), self.step);
        checkpoint.put_pod("state", &[self.state]);
        Ok(checkpoint)
    }

    fn load(&mut self, checkpoint: &Checkpoint) -> Result<(), SimError> {
        checkpoint.check_kind("fake")?;
        let state = checkpoint.get_pod_of::<u64>("state", 1)?;
        (self.step, self.state) = (checkpoint.step, state[0]);
        Ok(())
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.check_thread();
        self.controls.alive.fetch_sub(1, SeqCst);
    }
}

fn particles(scene: &Scene) -> f64 {
    let Model::Gas(gas) = &scene.model;
    gas.particles_per_cell
}

/// A scene for fakes.
pub fn scene(name: &str, seed: u64) -> Scene {
    Scene {
        name: name.into(),
        about: String::new(),
        seed,
        view: Default::default(),
        folder: std::path::PathBuf::new(),
        model: Model::Gas(GasScene {
            gas: Gas { species: vec![] },
            stream: Stream {
                velocity: Velocity::Mach(5.0),
                density: Density::PressurePa(1.0),
                temperature_k: 300.0,
                incidence_deg: 0.0,
                sideslip_deg: 0.0,
            },
            domain: Domain { corner_m: [0.0; 3], size_m: [1.0; 3], cells: [1; 3] },
            particles_per_cell: 10.0,
            time_step: TimeStep::Seconds(TIME_STEP_S),
            steps: 100,
            sampling: Sampling::Auto,
            collisions: Default::default(),
            start: Start::Filled,
            faces: Default::default(),
            reference: Default::default(),
            obstacles: vec![],
        }),
    }
}
