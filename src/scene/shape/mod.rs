//! Shapes become triangle meshes here: one file a shape.
//! Must not know gases, grids or devices.
//!
//! A new shape is a variant of [`Shape`], a file here with a function that returns a [`Body`], and one arm of [`body`].
//!
//! A faceted body cannot have the area, the volume and the outline of a round one at once. Rounded shapes are made
//! slightly larger than inscribed ones, such that the *area of the surface* is exact. By Cauchy's theorem (1841) the
//! projected area of a convex body, averaged over all directions, is a quarter of its surface: it is exact too.

mod box_;
mod capsule;
mod cone;
mod cylinder;
mod file;
mod group;
mod plate;
mod revolve;
mod sphere;

pub use super::mesh::MeshError;
use super::mesh::{MeshReport, transform};
use super::{Obstacle, Shape, TriangleMesh};
use std::path::Path;

/// A shape as triangles.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Body {
    /// The triangles, m.
    pub mesh: TriangleMesh,
    /// Reference length, m: the extent along x of the shape in its own axes (a sphere's diameter, a plate's chord),
    /// or its largest extent if it has none along x.
    pub length_m: f64,
    /// A report for each triangle file in it.
    pub reports: Vec<MeshReport>,
}

impl Body {
    /// A body whose reference length follows from its bounding box.
    fn measured(mesh: TriangleMesh, reports: Vec<MeshReport>) -> Self {
        let [lo, hi] = mesh.bounds().unwrap_or_default();
        let extent: [f64; 3] = std::array::from_fn(|k| hi[k] - lo[k]);
        let length_m = if extent[0] > 0.0 { extent[0] } else { extent[1].max(extent[2]) };
        Self { mesh, length_m, reports }
    }
}

/// The triangles of an obstacle in the scene's axes, m; `folder` is where triangle files are looked for.
///
/// # Errors
/// A measure is not positive, a group is empty, or a triangle file cannot be used; the message names the obstacle.
pub fn mesh(obstacle: &Obstacle, folder: &Path) -> Result<TriangleMesh, MeshError> {
    Ok(placed(obstacle, folder)?.mesh)
}

/// As [`mesh`], with the reference length and the reports of triangle files.
///
/// # Errors
/// As [`mesh`].
pub fn placed(obstacle: &Obstacle, folder: &Path) -> Result<Body, MeshError> {
    let named = |e: MeshError| MeshError(format!("obstacle \"{}\": {e}", obstacle.name));
    let mut body = body(&obstacle.shape, folder).map_err(named)?;
    finite("rotation_deg", &obstacle.rotation_deg).map_err(named)?;
    finite("position_m", &obstacle.position_m).map_err(named)?;
    transform::place(&mut body.mesh, obstacle.rotation_deg, obstacle.position_m);
    Ok(body)
}

/// A shape in its own axes.
///
/// # Errors
/// As [`mesh`].
pub fn body(shape: &Shape, folder: &Path) -> Result<Body, MeshError> {
    match shape {
        Shape::Sphere { radius_m } => sphere::body(*radius_m),
        Shape::Plate { chord_m, span_m } => plate::body(*chord_m, *span_m),
        Shape::Box { size_m } => box_::body(*size_m),
        Shape::Cylinder { radius_m, height_m } => cylinder::body(*radius_m, *height_m),
        Shape::Capsule { radius_m, length_m } => capsule::body(*radius_m, *length_m),
        Shape::Cone { radius_m, height_m } => cone::body(*radius_m, *height_m),
        Shape::Group { parts } => group::body(parts, folder),
        Shape::Mesh { file, scale } => file::body(file, *scale, folder),
    }
}

/// Refuses measures of which no body can be made. Scenes are validated before; this guards other callers.
fn positive(name: &str, value: f64) -> Result<(), MeshError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(MeshError(format!("{name} is {value}, but must be a positive number of metres")))
    }
}

fn finite(name: &str, values: &[f64; 3]) -> Result<(), MeshError> {
    if values.iter().all(|v| v.is_finite()) {
        Ok(())
    } else {
        Err(MeshError(format!("{name} is {values:?}, but must be three finite numbers")))
    }
}

#[cfg(test)]
mod tests;
