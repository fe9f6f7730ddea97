//! `knudsen bench view`: what the picture costs the app, the graphics driver and the simulation.
//! Must not know formulas or Bevy.

use super::scenes::argon_sphere;
use crate::app::{BenchSettings, bench};
use crate::cli::DeviceName;
use crate::cli::common::{beside_a_window, open_device, open_scene, threads};
use crate::cli::record::parse_size;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `knudsen bench view`.
#[derive(Args)]
pub struct ViewArgs {
    /// Scene that is watched [default: argon past a sphere, with as many particles as are drawn].
    scene: Option<PathBuf>,
    /// Drawn particles.
    #[arg(long, default_value_t = 2_000_000, value_parser = clap::value_parser!(u64).range(1000..=100_000_000))]
    particles: u64,
    /// Frames of each case.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    frames: u32,
    /// Width and height, pixels.
    #[arg(long, default_value = "1280x720", value_parser = parse_size)]
    size: [u32; 2],
    /// Seconds of each stretch of the simulation, watched or not.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// Watched stretches.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeats: u32,
    /// Device.
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
    /// Threads of the CPU device; 0: as in the window, one a core but for an eighth.
    #[arg(long, default_value_t = 0, value_parser = threads())]
    threads: usize,
}

/// Measures.
pub fn run(args: &ViewArgs) -> anyhow::Result<()> {
    let scene = match &args.scene {
        Some(path) => open_scene(path)?,
        None => argon_sphere(args.particles),
    };
    let device = open_device(args.device, beside_a_window(args.threads))?;
    say!("gas       {}, version {}", device.name, env!("CARGO_PKG_VERSION"));
    let settings = BenchSettings {
        particles: usize::try_from(args.particles)?,
        frames: args.frames,
        size: args.size,
        stretch: Duration::from_secs(args.seconds.into()),
        repeats: args.repeats,
    };
    bench(&settings, &scene, device.factory(), &mut |line| say!("{line}"))?;
    Ok(())
}
