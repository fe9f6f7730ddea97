//! What the picture costs: the app's CPU time a frame, GPU buffers, and the steps that a watched simulation loses.
//! Must not know devices, physics or the command line. Measures and tells; judges nothing.

mod count;

use super::camera::Viewpoint;
use super::draw::domain::DomainPlugin;
use super::draw::particles::{ParticleCloud, ParticlePaint, ParticlePlugin, uploads};
use super::flow::{Flow, Stamp};
use super::headless::{Headless, RenderError};
use super::simulation::Wanted;
use super::stage::{Stage, spawn_camera};
use crate::runner::{Order, Pace, Runner, RunnerError, Settings, Status};
use crate::scene::{Domain, Model, Scene};
use crate::sim::{DrawnParticle, Factory, Request, SimError, Snapshot};
use bevy::prelude::*;
use bevy::render::render_resource::PollType;
use bevy::render::renderer::{RenderAdapterInfo, RenderDevice};
use count::Tally;
use std::time::{Duration, Instant};
use thiserror::Error;
use wgpu::DeviceType;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BenchSettings {
    /// Drawn particles.
    pub particles: usize,
    /// Frames of each case.
    pub frames: u32,
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// Length of each stretch of the simulation, watched or not.
    pub stretch: Duration,
    /// Number of watched stretches; an unwatched one before each, and one at the end.
    pub repeats: u32,
}

/// Why there are no figures.
#[derive(Debug, Error)]
pub enum BenchError {
    /// The graphics.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// The thread of the simulation.
    #[error(transparent)]
    Runner(#[from] RunnerError),
    /// The simulation.
    #[error("the scene cannot be simulated: {0}")]
    Simulation(SimError),
    /// No step.
    #[error("the simulation did no step in {0:.0} s: take a smaller scene, or fewer --particles")]
    TooSlow(f64),
}

/// Frames before each measurement.
const WARM_UP: u32 = 5;
/// Frames of each case in which allocations are counted.
const COUNTED: u32 = 20;
/// Turns that the cases take, so that a drift of the machine hits all of them.
const ROUNDS: u32 = 5;
/// Longest wait for a step.
const PATIENCE: Duration = Duration::from_secs(120);
/// Frames a second that a watched simulation is drawn at, where the machine can.
const WATCH_FPS: u32 = 60;

/// Measures, and tells line by line what it finds.
///
/// # Errors
/// There is no graphics driver, or the scene cannot be simulated.
pub fn bench(
    settings: &BenchSettings,
    scene: &Scene,
    factory: Factory,
    tell: &mut dyn FnMut(&str),
) -> Result<(), BenchError> {
    let Model::Gas(gas) = &scene.model;
    let mut bench = Bench::new(settings, &gas.domain)?;
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    tell(&format!("graphics  {}", bench.adapter()));
    if bench
        .app
        .world()
        .get_resource::<RenderAdapterInfo>()
        .is_some_and(|info| info.device_type == DeviceType::Cpu)
    {
        tell(
            "note: this driver draws with the CPU, within the app's time: figures of a frame are not the app's own cost",
        );
    }
    tell(&format!("CPU       {}, {cores} threads", cpu_name()));
    let [width, height] = settings.size;
    tell(&format!("picture   {width} x {height}, {} particles of 16 bytes", settings.particles));
    bench.cost(settings, &gas.domain, tell);
    bench.watch(settings, scene, factory, tell)
}

struct Bench {
    app: Headless,
}

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Nothing,
    Still,
    Anew,
}

const CASES: [(Case, &str); 3] = [
    (Case::Nothing, "no particles"),
    (Case::Still, "particles, standing still"),
    (Case::Anew, "particles, uploaded in every frame"),
];

impl Bench {
    fn new(settings: &BenchSettings, domain: &Domain) -> Result<Self, BenchError> {
        let mut app = Headless::new(settings.size, (ParticlePlugin, DomainPlugin), |world, target| {
            spawn_camera(world, &Viewpoint::default(), target);
        })?;
        app.world().insert_resource(Stage::of(domain));
        app.world().init_resource::<Wanted>();
        count::install(app.app());
        Ok(Self { app })
    }

    fn adapter(&mut self) -> String {
        let info = self.app.world().get_resource::<RenderAdapterInfo>();
        info.map_or_else(String::new, |info| {
            format!("{} ({} {}, {:?})", info.name, info.driver, info.driver_info, info.backend)
        })
    }

    fn frame(&mut self) -> Duration {
        frame(self.app.app())
    }

    fn cost(&mut self, settings: &BenchSettings, domain: &Domain, tell: &mut dyn FnMut(&str)) {
        // Two snapshots that take turns: each is new to the picture, and nothing is cloned.
        let mut spare = Flow::still(made_up(settings.particles, domain, 1));
        self.app.world().insert_resource(Flow::still(made_up(settings.particles, domain, 2)));
        let cloud = ParticleCloud { most: settings.particles, ..ParticleCloud::default() };
        let entity = self.app.world().spawn(cloud).id();
        let (mut times, mut handovers): ([Vec<f64>; 3], [Vec<f64>; 3]) = Default::default();
        let mut taken = [0; 3];
        let mut census: [Tally; 3] = Default::default();
        for round in 1..=ROUNDS {
            for (i, &(case, _)) in CASES.iter().enumerate() {
                if let Some(mut cloud) = self.app.world().get_mut::<ParticleCloud>(entity) {
                    cloud.visible = case != Case::Nothing;
                }
                for frame in 0..WARM_UP + settings.frames.div_ceil(ROUNDS) {
                    if case == Case::Anew {
                        std::mem::swap(&mut *self.app.world().resource_mut::<Flow>(), &mut spare);
                    }
                    let before = uploads(self.app.app());
                    let time = self.frame();
                    taken[i] += if frame >= WARM_UP { uploads(self.app.app()) - before } else { 0 };
                    if frame >= WARM_UP {
                        times[i].push(1e3 * time.as_secs_f64());
                        handovers[i].push(1e3 * count::handover(self.app.app()).as_secs_f64());
                    }
                }
                // Counted after the clock has stopped: asking for all allocations costs time.
                for _ in 0..if round == ROUNDS { COUNTED } else { 0 } {
                    if case == Case::Anew {
                        std::mem::swap(&mut *self.app.world().resource_mut::<Flow>(), &mut spare);
                    }
                    census[i].frame(&mut self.app);
                }
            }
        }
        self.app.world().despawn(entity);
        tell(&format!(
            "\nthe app's own time of a frame, ms ({} frames each; no capture, no wait for the GPU)",
            times[0].len()
        ));
        let base = percentiles(&mut times[0]);
        for (i, (case, name)) in CASES.into_iter().enumerate() {
            let (times, handovers, taken) = (&mut times[i], &mut handovers[i], taken[i]);
            let [median, most] = percentiles(times);
            let [handover, _] = percentiles(handovers);
            let above = median - base[0];
            let above =
                if case == Case::Nothing { String::new() } else { format!("   {above:+.2} above none") };
            tell(&format!(
                "  {name:<36} median {median:7.2}   95 % {most:7.2}   of it handing over {handover:7.2}   {taken} uploads{above}"
            ));
        }
        tell(&format!("\nGPU buffers and images ({} frames each)", census[0].frames));
        for (tally, (_, name)) in census.iter().zip(CASES) {
            tell(&format!("  {name:<36} {}", tally.text()));
        }
    }

    fn watch(
        &mut self,
        settings: &BenchSettings,
        scene: &Scene,
        factory: Factory,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), BenchError> {
        let pace = Settings { pace: Pace::Free, ..Settings::default() };
        let runner = Runner::start_with(scene.clone(), factory, Request::default(), pace)?;
        while runner.step() < 2 {
            if let Status::Failed(error) = runner.state() {
                return Err(BenchError::Simulation(error));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.app.world().insert_resource(Flow::new(runner));
        let paint = ParticlePaint::Field("temperature".into());
        let cloud = ParticleCloud { most: settings.particles, paint, ..ParticleCloud::default() };
        self.app.world().spawn(cloud);
        tell(&format!(
            "\nsteps/s of {:?}, unwatched and watched in turn, {:.1} s each\n  {:>9}  {:>9}  {:>7}  {:>8}  {:>11}  {:>9}",
            scene.name,
            settings.stretch.as_secs_f64(),
            "unwatched",
            "watched",
            "loss %",
            "frames/s",
            "snapshots/s",
            "particles"
        ));
        // The pictures are made once before, so that the first stretch has nothing to build.
        self.stretch(settings.stretch / 2, true)?;
        let mut before = self.stretch(settings.stretch, false)?;
        let mut losses = Vec::new();
        for _ in 0..settings.repeats {
            let seen = self.stretch(settings.stretch, true)?;
            let after = self.stretch(settings.stretch, false)?;
            let alone = 0.5 * (before.steps_per_s + after.steps_per_s);
            let loss = 100.0 * (1.0 - seen.steps_per_s / alone);
            let drawn = self.app.world().resource::<Flow>().read(|snapshot| snapshot.particles).unwrap_or(0);
            tell(&format!(
                "  {alone:9.2}  {:9.2}  {loss:7.2}  {:8.1}  {:11.1}  {drawn:9}",
                seen.steps_per_s, seen.frames_per_s, seen.snapshots_per_s
            ));
            losses.push(loss);
            before = after;
        }
        losses.sort_by(f64::total_cmp);
        let middle = losses.get(losses.len() / 2).copied().unwrap_or(f64::NAN);
        let [least, most] = [losses.first(), losses.last()].map(|loss| loss.copied().unwrap_or(f64::NAN));
        tell(&format!("  watching costs {middle:.2} % (median; from {least:.2} to {most:.2})"));
        Ok(())
    }

    /// Lets the simulation run for some time, watched or not.
    fn stretch(&mut self, length: Duration, watched: bool) -> Result<Stretch, BenchError> {
        let request = if watched {
            // One frame tells what the picture needs.
            self.frame();
            self.app.world().resource::<Wanted>().0
        } else {
            Request::default()
        };
        self.app
            .world()
            .resource::<Flow>()
            .with(|runner| runner.order(Order::Observe(request)))
            .transpose()?;
        // What was under way ends first.
        let settle = Instant::now() + Duration::from_millis(300).min(length);
        while Instant::now() < settle {
            self.pass(watched);
        }
        let first = self.edge()?;
        let (mut frames, mut snapshots, mut seen) = (0, 0, Stamp::default());
        while first.1.elapsed() < length {
            self.pass(watched);
            frames += 1;
            let flow = self.app.world().resource::<Flow>();
            snapshots += u32::from(watched && flow.read_new(&mut seen, |_| ()).is_some());
        }
        let seconds = first.1.elapsed().as_secs_f64();
        let last = self.edge()?;
        Ok(Stretch {
            steps_per_s: (last.0 - first.0) as f64 / (last.1 - first.1).as_secs_f64(),
            frames_per_s: if watched { f64::from(frames) / seconds } else { 0.0 },
            snapshots_per_s: f64::from(snapshots) / seconds,
        })
    }

    fn pass(&mut self, watched: bool) {
        if watched {
            self.paced_frame();
        } else {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for the end of a step, so that whole steps are counted however slow steps or frames are.
    fn edge(&mut self) -> Result<(u64, Instant), BenchError> {
        let (start, mut known) = (Instant::now(), None);
        while start.elapsed() < PATIENCE {
            let flow = self.app.world().resource::<Flow>();
            let Some((step, status)) = flow.with(|runner| (runner.step(), runner.state())) else { break };
            if let Status::Failed(error) = status {
                return Err(BenchError::Simulation(error));
            }
            if *known.get_or_insert(step) != step {
                return Ok((step, Instant::now()));
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        Err(BenchError::TooSlow(start.elapsed().as_secs_f64()))
    }

    fn paced_frame(&mut self) {
        let start = Instant::now();
        self.frame();
        let left = (Duration::from_secs(1) / WATCH_FPS).saturating_sub(start.elapsed());
        std::thread::sleep(left);
    }
}

struct Stretch {
    steps_per_s: f64,
    frames_per_s: f64,
    snapshots_per_s: f64,
}

/// Draws a frame and returns the time of the app's own work. The driver is waited for outside of it.
fn frame(app: &mut App) -> Duration {
    let start = Instant::now();
    app.update();
    let time = start.elapsed();
    // An error means a lost device, and the next frame says so.
    let _ = app.world().resource::<RenderDevice>().poll(PollType::wait_indefinitely());
    time
}

/// Median and 95th percentile.
fn percentiles(values: &mut [f64]) -> [f64; 2] {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    [0.5, 0.95].map(|share| values.get((share * last as f64).round() as usize).copied().unwrap_or(f64::NAN))
}

/// Particles spread evenly over the domain, their values from 0 to 1.
fn made_up(count: usize, domain: &Domain, seed: u64) -> Snapshot {
    // Steps of an additive recurrence (Roberts 2018) fill a box evenly.
    const STEPS: [f64; 3] = [0.819_172_513_396, 0.671_043_606_704, 0.549_700_477_902];
    let one = |i: usize| {
        let at = (i as f64) + 0.37 * seed as f64;
        let position =
            std::array::from_fn(|a| (domain.corner_m[a] + (at * STEPS[a]).fract() * domain.size_m[a]) as f32);
        DrawnParticle { position, value: (at * 0.618_033_988_75).fract() as f32 }
    };
    Snapshot {
        generation: seed,
        particles: count as u64,
        drawn: (0..count).map(one).collect(),
        ..Snapshot::default()
    }
}

fn cpu_name() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| std::env::consts::ARCH.to_string(), |(_, name)| name.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_and_made_up_particles() {
        let mut values: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        assert_eq!(percentiles(&mut values), [50.0, 95.0]);
        let domain = Domain { corner_m: [1.0, 2.0, 3.0], size_m: [1.0, 0.5, 0.25], cells: [4; 3] };
        let snapshot = made_up(8000, &domain, 2);
        // As many in each eighth of the domain.
        let mut eighths = [0; 8];
        for particle in &snapshot.drawn {
            let [x, y, z]: [usize; 3] = std::array::from_fn(|a| {
                let share = (f64::from(particle.position[a]) - domain.corner_m[a]) / domain.size_m[a];
                assert!((0.0..=1.0).contains(&share));
                usize::from(share > 0.5)
            });
            eighths[4 * x + 2 * y + z] += 1;
        }
        assert!(eighths.iter().all(|&count: &i32| (count - 1000).abs() < 30), "{eighths:?}");
    }
}
