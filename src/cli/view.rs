//! `knudsen view`: opens the window on a scene.
//! Must not know formulas or Bevy.

use super::DeviceName;
use super::common::{beside_a_window, open_device_with, open_scene, threads};
use crate::app::{WindowOptions, open};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `knudsen view`.
#[derive(Args, Default)]
pub struct ViewArgs {
    /// Scene file (RON) [default: the shipped sphere; the window has a gallery of the others].
    scene: Option<PathBuf>,
    /// Device.
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
    /// Compile the GPU's kernels from the files in DIR, and again whenever they change; for those who write kernels.
    #[arg(long, value_name = "DIR")]
    kernels: Option<PathBuf>,
    /// Threads of the CPU device; 0: one a core, but for an eighth, which the window needs.
    #[arg(long, default_value_t = 0, value_parser = threads())]
    threads: usize,
    /// Width and height of the window, pixels.
    #[arg(long, default_value = "1280x800", value_parser = super::record::parse_size)]
    size: [u32; 2],
    /// Begins to compute at once.
    #[arg(long)]
    play: bool,
}

/// Opens the window; returns when it is closed.
pub fn run(args: &ViewArgs) -> anyhow::Result<ExitCode> {
    // A scene that cannot be read is told before a window opens; the path is kept for saving and reloading.
    let scene = args.scene.as_ref().map(|path| anyhow::Ok((open_scene(path)?, path.clone()))).transpose()?;
    let device = open_device_with(args.device, beside_a_window(args.threads), args.kernels.as_deref())?;
    if !device.remark.is_empty() {
        tell!("note: {}", device.remark);
    }
    let options = WindowOptions { size: args.size, play: args.play, device: device.name.clone() };
    open(scene, std::sync::Arc::new(move || device.factory()), options)?;
    Ok(ExitCode::SUCCESS)
}
