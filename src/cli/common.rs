//! What several commands share: opening a scene, choosing a device.
//! Must not know formulas.

use super::DeviceName;
use crate::device::{Choice, Chosen, choose};
use crate::scene::{Model, Sampling, Scene, load};
use clap::builder::RangedU64ValueParser;
use std::path::Path;

/// Reads a number of threads; more than this only lose time, and far more bring the system down.
pub fn threads() -> RangedU64ValueParser<usize> {
    const MOST: u64 = 1024;
    RangedU64ValueParser::new().range(0..=MOST)
}

/// Threads of a simulation beside a window: as asked for, or one a core, but for those that the window needs: an eighth of
/// the cores, at least one. (A step is as fast as its slowest thread: one that shares its core with the window holds up all.)
#[cfg(feature = "view")]
pub fn beside_a_window(threads: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    if threads == 0 { cores.saturating_sub((cores / 8).max(1)).max(1) } else { threads }
}

/// Loads a scene; all of its problems are in the error.
pub fn open_scene(path: &Path) -> anyhow::Result<Scene> {
    load(path).map_err(|error| {
        let count = error.problems.len();
        let problems = if count == 1 { "a problem".to_string() } else { format!("{count} problems") };
        anyhow::anyhow!("{error}\n\n{} has {problems}; nothing was computed", path.display())
    })
}

/// Puts the overrides of the command line into a scene. A run that would end before the scene's averages begin takes
/// them over its second half, and says so.
pub fn override_scene(scene: &mut Scene, steps: Option<u64>, seed: Option<u64>) {
    let Model::Gas(gas) = &mut scene.model;
    gas.steps = steps.unwrap_or(gas.steps);
    scene.seed = seed.unwrap_or(scene.seed);
    if let Sampling::From { from, every } = &mut gas.sampling
        && *from >= gas.steps
    {
        let (wanted, half) = (*from, gas.steps / 2);
        *from = half;
        *every = (*every).min((gas.steps - half).max(1));
        tell!(
            "note: the scene takes averages from step {wanted}, after the end of this run of {} steps: they are taken from \
             step {half} instead; whether the flow is steady by then is told below",
            gas.steps
        );
    }
}

/// Steps that a scene asks for.
pub fn planned_steps(scene: &Scene) -> u64 {
    let Model::Gas(gas) = &scene.model;
    gas.steps
}

/// Chooses a device.
pub fn open_device(name: DeviceName, threads: usize) -> anyhow::Result<Chosen> {
    Ok(choose(Choice::from(name), threads)?)
}

/// The same, with the kernels of a folder on a GPU (`--kernels`).
pub fn open_device_with(name: DeviceName, threads: usize, kernels: Option<&Path>) -> anyhow::Result<Chosen> {
    Ok(choose(Choice::from(name), threads)?.with_kernels(kernels)?)
}
