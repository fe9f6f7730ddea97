//! A group: several shapes as one obstacle, each placed in the axes of the group.
//! Must not know what flows around it.
//!
//! Parts are numbered in `part`, those of nested groups on their own. Closed bodies and plates may be mixed; the
//! mesh counts as closed if any part is, and the triangles of plates stay opposite pairs. Parts may overlap: see the
//! notes of [`TriangleMesh`].

use super::{Body, MeshError, TriangleMesh, body as body_of, finite};
use crate::scene::Part;
use crate::scene::mesh::transform;
use std::path::Path;

pub(super) fn body(parts: &[Part], folder: &Path) -> Result<Body, MeshError> {
    if parts.is_empty() {
        return Err(MeshError("the group has no parts: give it at least one".into()));
    }
    let mut mesh = TriangleMesh::default();
    let mut reports = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        let named = |e: MeshError| MeshError(format!("parts[{i}]: {e}"));
        let mut member = body_of(&part.shape, folder).map_err(named)?;
        finite("rotation_deg", &part.rotation_deg).map_err(named)?;
        finite("position_m", &part.position_m).map_err(named)?;
        transform::place(&mut member.mesh, part.rotation_deg, part.position_m);
        mesh.append(&member.mesh);
        reports.append(&mut member.reports);
    }
    Ok(Body::measured(mesh, reports))
}
