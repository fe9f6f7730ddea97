//! Triangle files from disk: reads, scales, repairs, reports and judges them.
//! Must not know shapes, scenes or what meshes are used for.

use super::report::{MeshReport, examine};
use super::{MeshError, TriangleMesh, obj, repair, stl};
use std::path::Path;

/// Larger files are refused before they are read, bytes.
const LARGEST_FILE: u64 = 2 << 30;
/// Points farther from the origin are refused, m: squares and cubes of them must stay finite.
const FARTHEST_M: f64 = 1e12;

/// A closed mesh, fronts outside, from an STL (ASCII or binary) or OBJ file, in metres in the file's axes;
/// `scale` is metres per unit of the file.
///
/// # Errors
/// The file cannot be read, is damaged, or is no closed surface even after the repairs: the message names the file,
/// the line, byte or point, and what to do, and for a surface that is not closed holds the report.
pub fn load(path: &Path, scale: f64) -> Result<(TriangleMesh, MeshReport), MeshError> {
    let (mesh, report) = inspect(path, scale)?;
    match report.refusal() {
        Some(reason) => Err(MeshError(format!("{}: {reason}\n{report}", path.display()))),
        None => Ok((mesh, report)),
    }
}

/// As [`load`], but a mesh that is no closed surface is returned too (with `closed` false), for a look at its report.
///
/// # Errors
/// The file cannot be read or is damaged.
pub fn inspect(path: &Path, scale: f64) -> Result<(TriangleMesh, MeshReport), MeshError> {
    let fail = |message: String| MeshError(format!("{}: {message}", path.display()));
    if !(scale.is_finite() && scale > 0.0) {
        return Err(fail(format!(
            "scale is {scale}, but must be a positive number of metres per unit: 0.001 for a file in mm"
        )));
    }
    let (mut mesh, format) = read(path).map_err(|e| fail(e.0))?;
    for p in &mut mesh.vertices {
        *p = p.map(|x| x * scale);
        if let Some(far) = p.iter().find(|x| x.abs() > FARTHEST_M) {
            return Err(fail(format!(
                "a coordinate is {far:e} m, more than {FARTHEST_M:e} m: is the file damaged, or `scale` too large?"
            )));
        }
    }
    let moved = repair::weld(&mut mesh);
    let as_read = examine(&mesh);
    let mut repairs = repair::repair(&mut mesh);
    if moved > 0 {
        repairs.insert(
            0,
            format!("{moved} vertices were moved onto a neighbour within 1e-6 of the size of the body"),
        );
    }
    let result = examine(&mesh);
    let report = MeshReport { file: path.display().to_string(), format, as_read, repairs, result };
    mesh.closed = report.refusal().is_none();
    Ok((mesh, report))
}

fn read(path: &Path) -> Result<(TriangleMesh, String), MeshError> {
    let io = |e: std::io::Error| {
        MeshError(format!("cannot be read ({e}): check the path, which counts from the folder of the scene"))
    };
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let meta = std::fs::metadata(path).map_err(io)?;
    if !meta.is_file() {
        return Err(MeshError("not a file but a folder or a device: name an STL or OBJ file".into()));
    }
    if extension != "stl" && extension != "obj" {
        return Err(MeshError("not a kind of file known here: convert it to .stl or .obj".into()));
    }
    if meta.len() > LARGEST_FILE {
        return Err(MeshError(format!(
            "{} bytes are more than the 2 GiB that are read: simplify the mesh before export",
            meta.len()
        )));
    }
    let bytes = std::fs::read(path).map_err(io)?;
    parse(&bytes, &extension)
}

/// The triangles in `bytes`, unscaled and unrepaired, and the format; `extension` is "stl" or "obj".
///
/// # Errors
/// The bytes are no such file; the message names the line or byte and what to do.
pub fn parse(bytes: &[u8], extension: &str) -> Result<(TriangleMesh, String), MeshError> {
    if extension == "obj" {
        Ok((obj::parse(bytes)?, "OBJ".into()))
    } else {
        stl::parse(bytes).map(|(mesh, kind)| (mesh, format!("{kind} STL")))
    }
}
