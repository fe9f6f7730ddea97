//! What several commands share: opening a scene, choosing a device.
//! Must not know formulas.

use super::DeviceName;
use crate::device::{Choice, Chosen, choose};
use crate::scene::{Model, Scene, load};
use std::path::Path;

/// Loads a scene; all of its problems are in the error.
pub fn open_scene(path: &Path) -> anyhow::Result<Scene> {
    load(path).map_err(|error| {
        let count = error.problems.len();
        let problems = if count == 1 { "a problem".to_string() } else { format!("{count} problems") };
        anyhow::anyhow!("{error}\n\n{} has {problems}; nothing was computed", path.display())
    })
}

/// Puts the overrides of the command line into a scene.
pub fn override_scene(scene: &mut Scene, steps: Option<u64>, seed: Option<u64>) {
    let Model::Gas(gas) = &mut scene.model;
    gas.steps = steps.unwrap_or(gas.steps);
    scene.seed = seed.unwrap_or(scene.seed);
}

/// Steps that a scene asks for.
pub fn planned_steps(scene: &Scene) -> u64 {
    let Model::Gas(gas) = &scene.model;
    gas.steps
}

/// Chooses a device and tells what there is to tell about the choice.
pub fn open_device(name: DeviceName, threads: usize) -> anyhow::Result<Chosen> {
    let chosen = choose(Choice::from(name), threads)?;
    if !chosen.remark.is_empty() {
        eprintln!("note: {}", chosen.remark);
    }
    Ok(chosen)
}
