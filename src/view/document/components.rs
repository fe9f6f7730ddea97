//! The components that hold a scene without loss: f64, metres and degrees, as in the file.
//! Must not know how they are edited or drawn.

use crate::scene::{
    Collisions, Domain, Faces, Gas, Reference, Sampling, Shape, Start, Stream, TimeStep, View, Wall,
};
use bevy::prelude::*;
use std::path::PathBuf;

/// Where a body stands. Its `Transform` is made from this, and changes this only when a gizmo moved it.
#[derive(Debug, Clone, Copy, PartialEq, Component)]
pub struct Placement {
    /// Where the origin of the shape lies, m.
    pub position_m: [f64; 3],
    /// Rotation about x, then y, then z (fixed axes), degrees.
    pub rotation_deg: [f64; 3],
}

/// Shape of a body; its name is in Bevy's `Name`.
#[derive(Debug, Clone, PartialEq, Component)]
pub struct BodyShape(pub Shape);

/// What the surface of a body does with molecules.
#[derive(Debug, Clone, Copy, PartialEq, Component)]
pub struct BodyWall(pub Wall);

/// Place of a body among the obstacles of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Component)]
pub struct BodyIndex(pub usize);

/// The domain and its faces, on one entity.
#[derive(Debug, Clone, PartialEq, Component)]
pub struct FlowDomain {
    /// The box and its cells.
    pub domain: Domain,
    /// What its faces do.
    pub faces: Faces,
}

/// The undisturbed gas, on one entity.
#[derive(Debug, Clone, PartialEq, Component)]
pub struct FlowStream(pub Stream);

/// All else of a scene, on one entity.
#[derive(Debug, Clone, PartialEq, Component)]
pub struct SceneSettings {
    /// Name of the scene.
    pub name: String,
    /// What it shows.
    pub about: String,
    /// Seed.
    pub seed: u64,
    /// The molecules.
    pub gas: Gas,
    /// Particles in a cell of undisturbed gas.
    pub particles_per_cell: f64,
    /// Time step.
    pub time_step: TimeStep,
    /// Steps of a run.
    pub steps: u64,
    /// When averages are taken.
    pub sampling: Sampling,
    /// How molecules collide.
    pub collisions: Collisions,
    /// Whether the domain starts full.
    pub start: Start,
    /// Reference area and length.
    pub reference: Reference,
    /// Cameras kept with it: bookmarks and the path of a video.
    pub view: View,
    /// Folder of its triangle files.
    pub folder: PathBuf,
}
