//! Wires the picture to a simulation: starts the runner with the factory it is handed, and shows what it computes.
//! Must not know devices or physics.

use crate::runner::{Event, Runner, RunnerError, Settings, Status};
use crate::scene::Scene;
use crate::sim::{Factory, Request, SimError, Snapshot};
use crate::view::bench::{BenchError, bench as bench_view};
use crate::view::record::{RecordError, Recording, record as record_flow};
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

pub use crate::view::bench::BenchSettings;
pub use crate::view::camera::Viewpoint;
pub use crate::view::record::Recording as RecordSettings;

/// Why nothing is shown.
#[derive(Debug, Error)]
pub enum AppError {
    /// The thread of the simulation.
    #[error(transparent)]
    Runner(#[from] RunnerError),
    /// The simulation cannot be built.
    #[error("the scene cannot be simulated: {0}")]
    Build(SimError),
    /// The recording.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The measurement.
    #[error(transparent)]
    Bench(#[from] BenchError),
}

/// Records a scene without a window; see [`crate::view::record::record`].
///
/// # Errors
/// The simulation cannot be built or fails, there is no graphics driver, or nothing can be written.
pub fn record(
    scene: &Scene,
    factory: Factory,
    recording: &Recording,
    output: &Path,
    progress: impl FnMut(u32, &Snapshot) -> bool,
) -> Result<PathBuf, AppError> {
    let mut runner = Runner::start_with(scene.clone(), factory, Request::default(), Settings::default())?;
    while runner.state() == Status::Building {
        if let Event::Status(Status::Failed(error)) = runner.wait(Duration::from_millis(200)) {
            return Err(AppError::Build(error));
        }
    }
    Ok(record_flow(scene, runner, recording, output, progress)?)
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
