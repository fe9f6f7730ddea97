//! The scene document: plain values, RON in and out, validation, shapes, what a change means.
//! Must not know Bevy, devices or running state.

pub mod change;
pub mod mesh;
pub mod model;
pub mod problem;
pub mod read;
pub mod shape;
pub mod validate;
pub mod view;
pub mod write;

pub use change::{Impact, impact};
pub use mesh::TriangleMesh;
pub use model::*;
pub use problem::{Problem, SceneError};
pub use read::{load, parse};
pub use view::{Bookmark, Camera, KeyFrame, View};
pub use write::to_ron;
