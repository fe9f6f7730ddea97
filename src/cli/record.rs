//! `knudsen record`: a flow to an mp4 video or a sequence of PNG pictures, without a window.
//! Must not know formulas or Bevy.

use super::DeviceName;
use super::common::{open_device_with, open_scene, override_scene, planned_steps, threads};
use super::record_look::{CameraArgs, LookArgs};
use crate::app::{Recording, record};
use crate::output::file::{check_folder, write_whole};
use crate::scene::to_ron;
use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Arguments of `knudsen record`.
#[derive(Args)]
pub struct RecordArgs {
    /// Scene file (RON).
    scene: PathBuf,
    /// Video (a name that ends in .mp4), or folder of PNG pictures [default: out/NAME of the scene.mp4].
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Width and height, pixels; both even for a video.
    #[arg(long, default_value = "1280x720", value_parser = parse_size)]
    size: [u32; 2],
    /// Draw frames so many times larger each way and average: smooth edges.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4))]
    supersampling: u32,
    /// Frames a second.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=120))]
    fps: u32,
    /// Length of the video, seconds.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Step of the first frame.
    #[arg(long, default_value_t = 0)]
    from_step: u64,
    /// Steps from frame to frame [default: so that the scene's steps fill the video].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    every: Option<u32>,
    /// No title, time and colour bars over the picture.
    #[arg(long)]
    no_legend: bool,
    #[command(flatten)]
    look: LookArgs,
    #[command(flatten)]
    camera: CameraArgs,
    /// Device.
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
    /// Compile the GPU's kernels from the files in DIR, and again whenever they change; for those who write kernels.
    #[arg(long, value_name = "DIR")]
    kernels: Option<PathBuf>,
    /// Threads of the CPU device; 0: one a core.
    #[arg(long, default_value_t = 0, value_parser = threads())]
    threads: usize,
    /// Seed, instead of the scene's.
    #[arg(long)]
    seed: Option<u64>,
}

/// Reads a size in pixels.
pub fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let wrong = || format!("\"{text}\" is not a size: write it as 1280x720, 16 to 7680 each");
    let (width, height) = text.split_once('x').ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<u32>().ok().filter(|n| (16..=7680).contains(n)).ok_or_else(wrong);
    Ok([number(width)?, number(height)?])
}

/// Records a scene.
pub fn run(args: &RecordArgs) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        args.seconds > 0.0 && args.seconds <= 3600.0,
        "--seconds {} must be from 0 to 3600",
        args.seconds
    );
    let mut scene = open_scene(&args.scene)?;
    let frames = (args.seconds * f64::from(args.fps)).round().max(1.0) as u32;
    let planned = planned_steps(&scene).saturating_sub(args.from_step);
    let every =
        args.every.unwrap_or_else(|| u32::try_from(planned / u64::from(frames)).unwrap_or(u32::MAX).max(1));
    // The first frame shows the first step's state, so there is one interval less than frames.
    let end = args.from_step + u64::from(every) * u64::from(frames - 1);
    override_scene(&mut scene, Some(end.max(1)), args.seed);
    let output = args.output.clone().unwrap_or_else(|| Path::new("out").join(format!("{}.mp4", scene.name)));
    let is_video = output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("mp4"));
    check_folder(if is_video { output.parent().unwrap_or(Path::new("")) } else { &output })?;
    let device = open_device_with(args.device, args.threads, args.kernels.as_deref())?;
    if !device.remark.is_empty() {
        tell!("note: {}", device.remark);
    }
    let recording = Recording {
        size: args.size,
        supersampling: args.supersampling,
        fps: args.fps,
        frames,
        from_step: args.from_step,
        every,
        shot: args.camera.shot(&scene, args.size)?,
        legend: !args.no_legend,
    };
    let look = args.look.of(&scene)?;
    say!("{}: {frames} frames, {every} steps from frame to frame, on {}", scene.name, device.name);
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).context("cannot listen for Ctrl-C")?;
    let bar = ProgressBar::new(u64::from(frames));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} frame {pos}/{len}  {msg}  {eta} left") {
        bar.set_style(style);
    }
    let began = std::time::Instant::now();
    let (mut done, mut last_told) = (0, began);
    let told = |frame: u32, snapshot: &crate::sim::Snapshot| {
        done = frame;
        bar.set_position(u64::from(frame));
        bar.set_message(format!("step {}", snapshot.step));
        if frame == 0 {
            // On the way to the first frame.
            if bar.is_hidden() && last_told.elapsed().as_secs() >= 10 {
                last_told = std::time::Instant::now();
                tell!("step {} of {} before the first frame", snapshot.step, args.from_step);
            }
        } else if bar.is_hidden() && (frame.is_multiple_of((frames / 20).max(1)) || frame == frames) {
            let left = began.elapsed().as_secs_f64() / f64::from(frame) * f64::from(frames - frame);
            tell!("frame {frame} of {frames}, step {}, {left:.0} s left", snapshot.step);
        }
        !stop.load(Ordering::Relaxed)
    };
    let outcome = record(&scene, device.factory(), &look, &recording, &output, told);
    bar.finish_and_clear();
    let interrupted = stop.load(Ordering::Relaxed);
    let (written, failed) = match outcome {
        Ok(written) => (written, None),
        Err(failure) => (failure.kept.clone(), Some(failure)),
    };
    if let Some(written) = &written {
        let sidecar = written.with_extension("txt");
        let command = std::env::args().collect::<Vec<_>>().join(" ");
        let text = format!(
            "knudsen {}\ncommand: {command}\ndevice: {}\nseed: {}\nframes: {done} of {frames}\n\n{recording:#?}\n\n\
             {look:#?}\n\nscene:\n{}\n",
            env!("CARGO_PKG_VERSION"),
            device.name,
            scene.seed,
            to_ron(&scene)
        );
        let saved = write_whole(&sidecar, |to| to.write_all(text.as_bytes()));
        // A full disk has been told already.
        if failed.is_none() {
            saved?;
        }
        say!("{done} frames in {} (how: {})", written.display(), sidecar.display());
    }
    match failed {
        Some(failure) => Err(failure.into()),
        None if interrupted => Ok(ExitCode::from(130)),
        None => Ok(ExitCode::SUCCESS),
    }
}
