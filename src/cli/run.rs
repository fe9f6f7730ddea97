//! `knudsen run`: a scene to the end, with outputs, checkpoints, and a clean end at Ctrl-C.
//! Must not know formulas; drives the simulation through the runner.

use super::DeviceName;
use super::common::{open_device_with, open_scene, override_scene, planned_steps};
use super::progress::Progress;
use super::report;
use crate::output;
use crate::runner::{Event, Order, Pace, Runner, Settings, Status};
use crate::scene::{Impact, Scene, impact, parse};
use crate::sim::{Checkpoint, Request};
use anyhow::Context;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Arguments of `knudsen run`.
#[derive(Args)]
pub struct RunArgs {
    /// Scene file (RON).
    scene: PathBuf,
    /// Folder for the results [default: out/NAME of the scene].
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Steps, instead of the scene's; counted from the beginning, also after --resume.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Device.
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
    /// Compile the GPU's kernels from the files in DIR, and again whenever they change; for those who write kernels.
    #[arg(long, value_name = "DIR")]
    kernels: Option<PathBuf>,
    /// Threads of the CPU device; 0: one a core. The results do not depend on it.
    #[arg(long, default_value_t = 0, value_parser = super::common::threads())]
    threads: usize,
    /// Seed, instead of the scene's.
    #[arg(long)]
    seed: Option<u64>,
    /// Continue from a checkpoint.
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Write a checkpoint every N steps, and at the end.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_every: Option<u64>,
    /// Particles in particles.vtp, at most.
    #[arg(long, default_value_t = 100_000)]
    particles: usize,
}

/// Longest wait for the complete state or the last snapshot; writing waits for the steps in hand, no longer.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Runs a scene.
pub fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    let mut scene = open_scene(&args.scene)?;
    override_scene(&mut scene, args.steps, args.seed);
    let folder = args.output.clone().unwrap_or_else(|| Path::new("out").join(&scene.name));
    // Before hours of computing, not after; but nothing is created for a run that does not begin.
    output::file::check_folder(&folder)?;
    let resumed = args.resume.as_deref().map(|path| read_checkpoint(path, &scene)).transpose()?;
    let device = open_device_with(args.device, args.threads, args.kernels.as_deref())?;
    let interrupts = count_interrupts()?;

    let start_scene = resumed.as_ref().map_or_else(|| scene.clone(), |(_, old)| old.clone());
    let settings = Settings { publish_interval: Duration::from_millis(500), ..Settings::default() };
    let watch = Request { surfaces: true, ..Request::default() };
    let remark = if device.remark.is_empty() { String::new() } else { format!(" ({})", device.remark) };
    say!("{}: {}{remark}", scene.name, device.name);
    let mut runner = Runner::start_with(start_scene, device.factory(), watch, settings)?;
    until_built(&mut runner, &args.scene)?;
    if let Some((state, old)) = resumed {
        // Each is waited for: a change of the scene that is accepted would hide that the checkpoint was refused.
        let changed = impact(&old, &scene) > Impact::Nothing;
        let adopt = changed.then(|| Order::Adopt(Box::new(scene.clone())));
        let mut step = 0;
        for order in [Some(Order::Load(Box::new(state))), adopt].into_iter().flatten() {
            runner.order(order)?;
            step = runner.frame(0, PATIENCE)?.step;
            if let Some(refusal) = runner.refusal() {
                return Err(refusal).context("the checkpoint cannot be continued");
            }
        }
        say!("continuing from step {step}");
        if step >= planned_steps(&scene) {
            tell!(
                "note: that is no earlier than the planned end: nothing is left to compute; ask for more with --steps"
            );
        }
    }
    output::file::create_folder(&folder)?;
    output::file::check_folder(&folder)?;

    let end = planned_steps(&scene);
    let (first, started) = (runner.step(), Instant::now());
    let interrupted = drive(&mut runner, args, &folder, end, &interrupts)?;
    let steps = runner.step().saturating_sub(first) as f64;
    let speed = steps / started.elapsed().as_secs_f64();
    finish(&mut runner, args, &scene, &device.name, &folder, interrupted, speed)
}

/// Steps to the end or the first interrupt; true if interrupted.
fn drive(
    runner: &mut Runner,
    args: &RunArgs,
    folder: &Path,
    end: u64,
    interrupts: &AtomicU32,
) -> anyhow::Result<bool> {
    let mut progress = Progress::new(runner.step(), end);
    let mut notes = 0;
    let every = args.checkpoint_every;
    // Checkpoints lie on multiples of N, so that the run pauses there for a moment.
    let goal = |step: u64| every.map_or(end, |n| end.min((step / n + 1) * n));
    let mut until = goal(runner.step());
    runner.order(Order::SetPace(Pace::Until(until)))?;
    loop {
        let event = runner.wait(Duration::from_millis(200));
        let (step, speed) = (runner.step(), runner.steps_per_s());
        let snapshot = runner.snapshot();
        if let Some(snapshot) = snapshot {
            // While the steady-state detector is undecided, its state is the last note: not news.
            let news =
                snapshot.notes.iter().take_while(|note| !note.starts_with("not steady yet")).skip(notes);
            for note in news {
                progress.say(note);
                notes += 1;
            }
        }
        progress.show(step, speed, snapshot);
        match event {
            Event::Status(Status::Failed(error)) => {
                progress.done();
                return Err(error).with_context(|| format!("the simulation failed at step {step}"));
            }
            Event::Status(Status::Finished(done)) if done >= until => {
                if until >= end {
                    progress.done();
                    return Ok(false);
                }
                write_checkpoint(runner, folder)?;
                until = goal(until);
                runner.order(Order::SetPace(Pace::Until(until)))?;
            }
            _ => {}
        }
        if interrupts.load(Ordering::Relaxed) > 0 {
            progress.done();
            tell!("interrupted: writing results and a checkpoint (again: stop at once)");
            runner.order(Order::SetPace(Pace::Paused))?;
            return Ok(true);
        }
    }
}

fn finish(
    runner: &mut Runner,
    args: &RunArgs,
    scene: &Scene,
    device: &str,
    folder: &Path,
    interrupted: bool,
    steps_per_s: f64,
) -> anyhow::Result<ExitCode> {
    let all = Request {
        particles: args.particles,
        fields: true,
        surfaces: true,
        history_from: Some(0),
        ..Request::default()
    };
    runner.order(Order::Observe(all))?;
    let snapshot = runner.frame(0, PATIENCE)?.clone();
    let files = output::write_run(folder, scene, device, &snapshot)?;
    report::print(scene, device, &snapshot, steps_per_s);
    say!("\nwritten to {}:", folder.display());
    for file in files {
        say!("  {}", file.file_name().unwrap_or_default().to_string_lossy());
    }
    if interrupted || args.checkpoint_every.is_some() {
        let path = write_checkpoint(runner, folder)?;
        say!("  {}   (continue with --resume {0})", path.display());
    }
    Ok(if interrupted { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

fn until_built(runner: &mut Runner, file: &Path) -> anyhow::Result<()> {
    loop {
        match runner.state() {
            Status::Building => {
                runner.wait(Duration::from_millis(200));
            }
            Status::Failed(error) => {
                return Err(error).with_context(|| format!("{}: cannot be simulated", file.display()));
            }
            _ => return Ok(()),
        }
    }
}

fn write_checkpoint(runner: &Runner, folder: &Path) -> anyhow::Result<PathBuf> {
    let state = runner.save(PATIENCE)?;
    let path = folder.join("checkpoint.ckpt");
    output::file::write_whole(&path, |mut to| state.write_to(&mut to))?;
    Ok(path)
}

/// Reads a checkpoint and the scene in it, and refuses it if the scene file has changed so much that it cannot go on.
fn read_checkpoint(path: &Path, scene: &Scene) -> anyhow::Result<(Checkpoint, Scene)> {
    anyhow::ensure!(
        !path.is_dir(),
        "{}: a folder, not a checkpoint; name the file in it, such as {}",
        path.display(),
        path.join("checkpoint.ckpt").display()
    );
    let file = std::fs::File::open(path).with_context(|| {
        format!("{}: cannot be opened; name a checkpoint that `knudsen run` wrote", path.display())
    })?;
    let state = Checkpoint::read_from(&mut std::io::BufReader::new(file))
        .with_context(|| format!("{}: not a usable checkpoint", path.display()))?;
    let old = parse(&state.scene, "scene of the checkpoint", &scene.folder)
        .with_context(|| format!("{}: the scene in it cannot be read by this version", path.display()))?;
    anyhow::ensure!(
        impact(&old, scene) < Impact::Restart,
        "{}: the scene file has changed in a way that needs a start from the beginning (domain, gas, particles, seed, \
         start, kind of faces, or shape and place of obstacles); resume with the scene that wrote it, or leave out --resume",
        path.display()
    );
    Ok((state, old))
}

/// Counts Ctrl-C; the second one ends the program at once.
fn count_interrupts() -> anyhow::Result<Arc<AtomicU32>> {
    let count = Arc::new(AtomicU32::new(0));
    let seen = count.clone();
    ctrlc::set_handler(move || {
        if seen.fetch_add(1, Ordering::Relaxed) > 0 {
            std::process::exit(130);
        }
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(count)
}
