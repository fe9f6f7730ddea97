//! A shape from a triangle file, in the axes of the file.
//! Must not know where it stands and what flows around it.

use super::{Body, MeshError};
use crate::scene::mesh::file::load;
use std::path::Path;

pub(super) fn body(file: &str, scale: f64, folder: &Path) -> Result<Body, MeshError> {
    let (mesh, report) = load(&folder.join(file), scale)?;
    Ok(Body::measured(mesh, vec![report]))
}
