//! The scene as entities: while the app runs they are the truth, and the `Scene` value is what is written, undone and
//! simulated. Must not know devices, physics or how anything is drawn.

pub mod components;
mod edit;
mod entities;
mod file;
mod gallery;
mod orders;
mod placement;
#[cfg(test)]
mod tests;
mod watch;

pub use components::{BodyIndex, BodyShape, BodyWall, FlowDomain, FlowStream, Placement, SceneSettings};
pub use entities::{collect, spawn};
pub use file::asset_plugin;
pub use gallery::{Shipped, shipped};
pub use placement::{degrees, transform};

use crate::scene::{Impact, Problem, Scene, Shape};
use crate::view::simulation::Handover;
use bevy::prelude::*;
use bevy::window::FileDragAndDrop;
use std::path::{Path, PathBuf};

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

impl Document {
    /// A scene that was just read from `path`, or was never saved.
    pub fn new(scene: Scene, path: Option<PathBuf>) -> Self {
        Self {
            path,
            saved: scene.clone(),
            scene,
            pending: None,
            problems: Vec::new(),
            messages: Vec::new(),
            undo: Vec::new(),
            redo: Vec::new(),
        }
    }

    /// Whether there are edits that no file has.
    pub fn dirty(&self) -> bool {
        self.scene != self.saved
    }
}

/// Holds the open scene, its entities, its edits and its file. `Document`, `Stage` and the entities are there as soon
/// as it is added.
#[derive(Debug, Clone)]
pub struct DocumentPlugin {
    /// The scene to begin with.
    pub scene: Scene,
    /// Its file, if it has one.
    pub path: Option<PathBuf>,
}

impl Plugin for DocumentPlugin {
    fn build(&self, app: &mut App) {
        file::plugin(app);
        app.init_resource::<Selection>()
            .init_resource::<Dragging>()
            .init_resource::<Handover>()
            .init_resource::<edit::Edits>()
            .init_resource::<edit::Held>()
            .init_resource::<orders::Arriving>()
            .add_message::<DocumentOrder>()
            .add_message::<FileDragAndDrop>()
            .add_systems(
                Update,
                (
                    edit::hold,
                    placement::write_back,
                    edit::notice,
                    edit::follow.run_if(edit::noticed),
                    orders::drop_files,
                    orders::obey.run_if(on_message::<DocumentOrder>),
                    orders::arrive,
                    file::look_after,
                    placement::show,
                )
                    .chain()
                    .in_set(DocumentSystems),
            )
            .add_systems(Last, file::keep_at_the_end.run_if(on_message::<AppExit>));
        let path = self.path.as_deref().map(file::absolute);
        let scene = Scene { folder: file::absolute(&self.scene.folder), ..self.scene.clone() };
        spawn(app.world_mut(), &scene);
        app.world_mut().resource_mut::<Handover>().start(scene.clone());
        file::watch(app.world_mut(), path.as_deref());
        app.insert_resource(Document::new(scene, path));
    }
}

/// Makes `scene` the open one; what was open is kept beside its file if it has unsaved edits.
pub fn open(world: &mut World, scene: Scene, path: Option<&Path>) {
    file::keep_unsaved(world);
    spawn(world, &scene);
    world.resource_mut::<Selection>().0 = None;
    world.resource_mut::<Handover>().start(scene.clone());
    *world.resource_mut::<edit::Edits>() = edit::Edits::default();
    file::watch(world, path);
    let mut document = world.resource_mut::<Document>();
    let messages = std::mem::take(&mut document.messages);
    *document = Document { messages, ..Document::new(scene, path.map(Path::to_path_buf)) };
}

/// Whether a slider or a field is being dragged or typed in: the edit is finished when this is false again. Panels set
/// it in every frame; the gizmo need not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Resource)]
pub struct Dragging(pub bool);

/// The systems of the document, in `Update`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SystemSet)]
pub struct DocumentSystems;

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
