//! Everything that a run leaves behind, from one snapshot, all files or none.
//! Must not know devices, the runner or the command line.

use super::canvas::Canvas;
use super::error::OutputError;
use super::file::{Staged, create_folder};
use super::slice::{AXES, Layer, Slice};
use super::slice_plot::{Range, Style};
use super::summary::Summary;
use super::{line_plot, seed, slice_plot, table, vtk};
use crate::scene::{Scene, TriangleMesh};
use crate::sim::{Fields, Phase, Snapshot};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Fields of which slices are drawn, where a snapshot has them.
const SLICES: [&str; 4] = ["number_density", "temperature", "mach", "velocity_x"];

/// Writes all files of the module's table into `folder`, which is created if need be; returns their paths.
///
/// What the snapshot does not hold is left out: without fields no `fields.vti`, `fields_avg.dat` and slices, without
/// surfaces no `surface.vtp`, without rows no `history.csv`. All files are written and synced under temporary names
/// before the first gets its own, so a full disk leaves the results of an earlier run whole.
///
/// Errors: [`OutputError::Write`]; [`OutputError::Data`] for columns of a wrong length.
pub fn write_run(
    folder: &Path,
    scene: &Scene,
    device: &str,
    snapshot: &Snapshot,
) -> Result<Vec<PathBuf>, OutputError> {
    create_folder(folder)?;
    let mut staged = Vec::new();
    let mut stage = |name: &str, fill: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>| {
        staged.push(Staged::new(&folder.join(name), |to| fill(to))?);
        Ok::<(), OutputError>(())
    };
    if let Some(fields) = &snapshot.fields {
        let mut document = Some(vtk::fields_document(fields, snapshot)?);
        stage("fields.vti", &mut |to| document.take().map_or(Ok(()), |d| d.write(to)))?;
        stage("fields_avg.dat", &mut |to| seed::write_table(fields, to))?;
        for (name, picture) in slices(fields, scene, snapshot)? {
            stage(&name, &mut |to| picture.write_png(to))?;
        }
    }
    if !snapshot.surfaces.is_empty() {
        let mut document = Some(vtk::surface_document(&snapshot.surfaces, snapshot)?);
        stage("surface.vtp", &mut |to| document.take().map_or(Ok(()), |d| d.write(to)))?;
    }
    let mut document = Some(vtk::particles_document(&snapshot.drawn, snapshot));
    stage("particles.vtp", &mut |to| document.take().map_or(Ok(()), |d| d.write(to)))?;
    if !snapshot.history.columns.is_empty() {
        stage("history.csv", &mut |to| table::write_history(&snapshot.history, to))?;
        for column in &snapshot.history.columns {
            let drag = column.key.starts_with("drag_coefficient") && !column.key.ends_with("_error");
            // A column that has no number yet has no picture yet.
            if drag
                && let Ok(picture) =
                    line_plot::draw(&snapshot.history, &column.key, Range::Full, 1000, &scene.name)
            {
                stage(&format!("history_{}.png", file_name(&column.key)), &mut |to| picture.write_png(to))?;
            }
        }
    }
    let summary = Summary::from_snapshot(scene, device, snapshot);
    stage("summary.json", &mut |to| {
        serde_json::to_writer_pretty(&mut *to, &summary)?;
        to.write_all(b"\n")
    })?;
    staged.into_iter().map(Staged::commit).collect()
}

/// Slices across z, through the middle of the first obstacle or of the domain.
fn slices(fields: &Fields, scene: &Scene, snapshot: &Snapshot) -> Result<Vec<(String, Canvas)>, OutputError> {
    const AXIS: usize = 2;
    let (corner, size) = (fields.corner_m[AXIS], fields.size_m[AXIS]);
    let first = snapshot.surfaces.first().and_then(|surface| middle(&surface.mesh, AXIS));
    let position_m = first.unwrap_or(corner + 0.5 * size).clamp(corner, corner + size);
    let average = match snapshot.phase {
        Phase::Sampling { samples, .. } => format!("mean of {samples} samples"),
        Phase::Transient => "still transient: no averages yet".to_owned(),
    };
    let subtitle = format!("{}, step {}, {average}", scene.name, snapshot.step);
    let mut pictures = Vec::new();
    for key in SLICES {
        let Some(column) = fields.column(key) else { continue };
        let layer = Layer::new(fields, key, Slice { axis: AXIS, position_m })?;
        let outlines: Vec<_> = snapshot.surfaces.iter().flat_map(|s| layer.cut(&s.mesh)).collect();
        let style = Style { subtitle: subtitle.clone(), ..Style::default() };
        let picture = slice_plot::draw(&layer, &column.quantity, &outlines, &style)?;
        pictures.push((format!("slice_{key}_{}.png", AXES[AXIS]), picture));
    }
    Ok(pictures)
}

/// Middle of a mesh along an axis, m.
fn middle(mesh: &TriangleMesh, axis: usize) -> Option<f64> {
    let ends = mesh.vertices.iter().map(|vertex| vertex[axis]);
    let (low, high) = (ends.clone().reduce(f64::min)?, ends.reduce(f64::max)?);
    Some(0.5 * (low + high))
}

/// A key as a part of a file name: what could be a path is replaced.
fn file_name(key: &str) -> String {
    key.chars().map(|c| if c.is_alphanumeric() || "_-.".contains(c) { c } else { '_' }).collect()
}
