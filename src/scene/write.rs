//! Writing a scene as RON that reads back as the same scene.
//! Must not know devices or running state.

use super::Scene;

/// The scene as RON.
pub fn to_ron(scene: &Scene) -> String {
    format!("{scene:?}")
}
