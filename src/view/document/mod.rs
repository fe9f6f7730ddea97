//! The scene as entities: while the app runs they are the truth, and the `Scene` value is what is written, undone and
//! simulated. Must not know devices, physics or how anything is drawn.

pub mod components;

pub use components::{BodyIndex, BodyShape, BodyWall, FlowDomain, FlowStream, Placement, SceneSettings};

use crate::scene::{Impact, Problem, Scene, Shape};
use bevy::prelude::*;
use std::path::PathBuf;

/// The open document.
#[derive(Debug, Resource)]
pub struct Document {
    /// Its file; `None` for one that was never saved.
    pub path: Option<PathBuf>,
    /// The scene that was last handed to the simulation.
    pub scene: Scene,
    /// The scene as it is in the file.
    pub saved: Scene,
    /// What the edit in progress will cost, while it is not finished.
    pub pending: Option<Impact>,
    /// What is wrong with the entities as they stand, or with the file; the simulation keeps the last good scene.
    pub problems: Vec<Problem>,
    /// What else went wrong (a file that cannot be read or written), newest last.
    pub messages: Vec<String>,
    /// Scenes to go back to, newest last.
    pub undo: Vec<Scene>,
    /// Scenes to go forward to, newest last.
    pub redo: Vec<Scene>,
}

/// The body that is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Resource)]
pub struct Selection(pub Option<Entity>);

/// What panels and keys order of the document.
#[derive(Debug, Clone, PartialEq, Message)]
pub enum DocumentOrder {
    /// Opens a scene file, or, if it is a triangle file (STL, OBJ), adds it to the scene.
    Open(PathBuf),
    /// Opens a shipped scene by its name.
    OpenShipped(String),
    /// Writes the scene to its file.
    Save,
    /// Writes the scene to this file from now on.
    SaveAs(PathBuf),
    /// Takes the last edit back.
    Undo,
    /// Makes the last edit taken back again.
    Redo,
    /// A second body like this, beside it.
    Duplicate(Entity),
    /// Takes the body away.
    Delete(Entity),
    /// Adds a body of this shape in the middle of the domain.
    Add(Shape),
}
