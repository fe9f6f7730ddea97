//! Shapes become triangle meshes here: one file a shape.
//! Must not know gases, grids or devices.

use super::{Obstacle, TriangleMesh};
use std::path::Path;
use thiserror::Error;

/// Why a shape has no mesh.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{0}")]
pub struct MeshError(pub String);

/// The triangles of an obstacle in the scene's axes, m; `folder` is where triangle files are looked for.
pub fn mesh(obstacle: &Obstacle, folder: &Path) -> Result<TriangleMesh, MeshError> {
    let _ = folder;
    Err(MeshError(format!("{}: no shape yet", obstacle.name)))
}
