//! `knudsen record`: a flow to an mp4 video or a sequence of PNG pictures, without a window.
//! Must not know formulas or Bevy.

use super::DeviceName;
use super::common::{open_device, open_scene, override_scene, planned_steps};
use crate::app::{RecordSettings, Viewpoint, record};
use crate::output::file::{check_folder, write_whole};
use crate::output::slice::Slice;
use crate::scene::{Model, Scene, to_ron};
use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
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
    /// Particles drawn, at most.
    #[arg(long, default_value_t = 300_000)]
    particles: usize,
    /// Field of the slice: number_density, temperature, mach, ...
    #[arg(long, default_value = "temperature")]
    field: String,
    /// Plane of the slice, such as z=0.5 [default: the middle across z]; "none" for none.
    #[arg(long)]
    slice: Option<String>,
    /// Camera: yaw, pitch (degrees) and distance (the longest edge of the domain is 2).
    #[arg(long, default_value = "-25,20,4", value_parser = parse_camera)]
    camera: Viewpoint,
    /// Degrees that the camera turns over the video.
    #[arg(long, default_value_t = 40.0, allow_negative_numbers = true)]
    turn: f32,
    /// Device.
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
    /// Threads of the CPU device; 0: one a core.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// Seed, instead of the scene's.
    #[arg(long)]
    seed: Option<u64>,
}

pub(super) fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let wrong = || format!("\"{text}\" is not a size: write it as 1280x720");
    let (width, height) = text.split_once('x').ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<u32>().ok().filter(|n| (16..=7680).contains(n)).ok_or_else(wrong);
    Ok([number(width)?, number(height)?])
}

fn parse_camera(text: &str) -> Result<Viewpoint, String> {
    let numbers: Vec<f32> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    match numbers[..] {
        [yaw_deg, pitch_deg, distance] if distance > 0.0 => {
            Ok(Viewpoint::orbit(yaw_deg, pitch_deg, distance))
        }
        _ => Err(format!("\"{text}\" is not a camera: write yaw,pitch,distance as -25,20,4")),
    }
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
    let end = args.from_step + u64::from(every) * u64::from(frames);
    override_scene(&mut scene, Some(end), args.seed);
    let output =
        args.output.clone().unwrap_or_else(|| PathBuf::from("out").join(format!("{}.mp4", scene.name)));
    if let Some(folder) = output.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        check_folder(folder)?;
        std::fs::create_dir_all(folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
    }
    let device = open_device(args.device, args.threads)?;
    let recording = RecordSettings {
        size: args.size,
        fps: args.fps,
        frames,
        from_step: args.from_step,
        every,
        particles: args.particles,
        slice: slice(args, &scene)?,
        viewpoint: args.camera,
        turn_deg: args.turn,
    };
    say!("{}: {} frames of {} steps on {}", scene.name, frames, every, device.name);
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).context("cannot listen for Ctrl-C")?;
    let bar = ProgressBar::new(u64::from(frames));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} frame {pos}/{len}  {msg}  {eta} left") {
        bar.set_style(style);
    }
    let told = |done: u32, snapshot: &crate::sim::Snapshot| {
        bar.set_position(u64::from(done));
        bar.set_message(format!("step {}", snapshot.step));
        if bar.is_hidden() && done.is_multiple_of((frames / 20).max(1)) {
            tell!("frame {done} of {frames}, step {}", snapshot.step);
        }
        !stop.load(Ordering::Relaxed)
    };
    let written = record(&scene, device.factory(), &recording, &output, told);
    bar.finish_and_clear();
    let written = written?;
    let sidecar = written.with_extension("txt");
    let text = format!(
        "knudsen {} record\ndevice: {}\n{recording:#?}\n\nscene:\n{}\n",
        env!("CARGO_PKG_VERSION"),
        device.name,
        to_ron(&scene)
    );
    write_whole(&sidecar, |to| to.write_all(text.as_bytes()))?;
    say!("written to {} (what was recorded: {})", written.display(), sidecar.display());
    Ok(if stop.load(Ordering::Relaxed) { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

fn slice(args: &RecordArgs, scene: &Scene) -> anyhow::Result<Option<(String, Slice)>> {
    let Model::Gas(gas) = &scene.model;
    let plane = match args.slice.as_deref() {
        Some("none") => return Ok(None),
        Some(text) => text.parse()?,
        None => Slice { axis: 2, position_m: gas.domain.corner_m[2] + 0.5 * gas.domain.size_m[2] },
    };
    Ok(Some((args.field.clone(), plane)))
}
