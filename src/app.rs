//! Wires the picture to a simulation: starts the runner with the factory it is handed, and shows what it computes.
//! Must not know devices or physics.

use crate::runner::{Event, Runner, RunnerError, Settings, Status};
use crate::scene::Scene;
use crate::sim::{Factory, Request, SimError, Snapshot};
use crate::view::bench::{BenchError, bench as bench_view};
use crate::view::record::RecordError;
use crate::view::{record, window};
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

pub use crate::view::bench::BenchSettings;
pub use crate::view::camera::Viewpoint;
pub use crate::view::look::{Field, Look};
pub use crate::view::record::{Recording, Shot};
pub use crate::view::simulation::Factories;
pub use crate::view::window::WindowOptions;

/// Why nothing is shown.
#[derive(Debug, Error)]
pub enum AppError {
    /// The window.
    #[error(transparent)]
    Window(#[from] window::WindowError),
    /// The measurement.
    #[error(transparent)]
    Bench(#[from] BenchError),
}

/// Why a recording ended before its last frame.
#[derive(Debug, Error)]
#[error("{reason}{}", match kept {
    Some(path) => format!("; the frames before that are in {}", path.display()),
    None => String::new(),
})]
pub struct RecordFailure {
    /// The reason.
    pub reason: RecordReason,
    /// What was recorded by then.
    pub kept: Option<PathBuf>,
}

/// The reason of a [`RecordFailure`].
#[derive(Debug, Error)]
pub enum RecordReason {
    /// The thread of the simulation.
    #[error(transparent)]
    Runner(#[from] RunnerError),
    /// The simulation cannot be built.
    #[error("the scene cannot be simulated: {0}")]
    Build(SimError),
    /// The recording.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// Opens the window; returns when it is closed.
///
/// # Errors
/// There is no display, or no graphics driver.
pub fn open(
    scene: Option<(Scene, PathBuf)>,
    source: Factories,
    options: WindowOptions,
) -> Result<(), AppError> {
    Ok(window::run(scene, source, options)?)
}

/// Records a scene without a window; see [`record::studio::record`].
///
/// # Errors
/// The simulation cannot be built or fails, there is no graphics driver, or nothing can be written.
pub fn record(
    scene: &Scene,
    factory: Factory,
    look: &Look,
    recording: &Recording,
    output: &Path,
    progress: impl FnMut(u32, &Snapshot) -> bool,
) -> Result<Option<PathBuf>, RecordFailure> {
    let runner = build(scene, factory).map_err(|reason| RecordFailure { reason, kept: None })?;
    record::studio::record(scene, runner, look, recording, output, progress)
        .map_err(|(error, kept)| RecordFailure { reason: error.into(), kept })
}

/// A paused runner whose simulation has been built.
fn build(scene: &Scene, factory: Factory) -> Result<Runner, RecordReason> {
    let mut runner = Runner::start_with(scene.clone(), factory, Request::default(), Settings::default())?;
    while runner.state() == Status::Building {
        if let Event::Status(Status::Failed(error)) = runner.wait(Duration::from_millis(200)) {
            return Err(RecordReason::Build(error));
        }
    }
    match runner.state() {
        Status::Failed(error) => Err(RecordReason::Build(error)),
        _ => Ok(runner),
    }
}

/// Measures what the picture costs, and tells line by line; see [`crate::view::bench::bench`].
///
/// # Errors
/// The simulation cannot be built or fails, or there is no graphics driver.
pub fn bench(
    settings: &BenchSettings,
    scene: &Scene,
    factory: Factory,
    tell: &mut dyn FnMut(&str),
) -> Result<(), AppError> {
    Ok(bench_view(settings, scene, factory, tell)?)
}
