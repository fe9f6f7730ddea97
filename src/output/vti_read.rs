//! Reads back the `fields.vti` that this program writes.
//! Must not know simulations; foreign files are declined in plain words.

use super::error::OutputError;
use super::vtk_xml::{self, Element, Parsed};
use crate::scene::TriangleMesh;
use crate::sim::{Column, Fields};
use crate::units::Quantity;
use std::fs;
use std::path::Path;

/// The fields in a `.vti` file of this program, with their labels and errors.
///
/// Errors: [`OutputError::Read`]; [`OutputError::Format`] for a damaged file, or one of another program.
pub fn read_fields(path: &Path) -> Result<Fields, OutputError> {
    let bytes = fs::read(path).map_err(|source| OutputError::read(path, source))?;
    let parsed = vtk_xml::parse(&bytes, "ImageData").map_err(|problem| OutputError::format(path, problem))?;
    fields(&parsed).map_err(|problem| OutputError::format(path, problem))
}

/// The triangles in a `surface.vtp` of this program, all obstacles as one mesh.
///
/// Errors: as [`read_fields`].
pub fn read_surface(path: &Path) -> Result<TriangleMesh, OutputError> {
    let bytes = fs::read(path).map_err(|source| OutputError::read(path, source))?;
    let parsed = vtk_xml::parse(&bytes, "PolyData").map_err(|problem| OutputError::format(path, problem))?;
    surface(&parsed).map_err(|problem| OutputError::format(path, problem))
}

fn fields(parsed: &Parsed<'_>) -> Result<Fields, String> {
    let image = parsed.elements.iter().find(|e| e.tag == "ImageData").ok_or("has no ImageData element")?;
    let geometry = "its WholeExtent, Origin or Spacing makes no sense; write the file again";
    let extent: [u32; 6] = image.numbers("WholeExtent").ok_or(geometry)?;
    let corner_m: [f64; 3] = image.numbers("Origin").ok_or(geometry)?;
    let spacing: [f64; 3] = image.numbers("Spacing").ok_or(geometry)?;
    let cells = [extent[1], extent[3], extent[5]];
    let sound = [extent[0], extent[2], extent[4]] == [0; 3]
        && cells.iter().all(|&n| n > 0)
        && spacing.iter().all(|d| d.is_finite() && *d > 0.0)
        && corner_m.iter().all(|x| x.is_finite());
    let count = cells.iter().try_fold(1_usize, |product, &n| product.checked_mul(n as usize));
    let (true, Some(count)) = (sound, count) else { return Err(geometry.to_owned()) };
    let size_m = std::array::from_fn(|a| spacing[a] * f64::from(cells[a]));
    let mut columns: Vec<Column> = Vec::new();
    for element in arrays(parsed, "CellData") {
        if element.get("NumberOfComponents").is_some_and(|n| n != "1") {
            continue; // vectors repeat the scalar columns
        }
        let values = parsed.values(element, "Float32", f32::from_le_bytes)?;
        let quantity = quantity(element)?;
        if values.len() != count {
            let (key, found) = (&quantity.key, values.len());
            return Err(format!("array {key} has {found} values for {count} cells; write the file again"));
        }
        let of = quantity.key.strip_suffix("_error");
        match columns.iter_mut().find(|column| Some(column.quantity.key.as_ref()) == of) {
            Some(column) => column.errors = values,
            None => columns.push(Column { quantity, values, errors: Vec::new() }),
        }
    }
    let whole = |name: &str| -> Option<u64> {
        let element = arrays(parsed, "FieldData").find(|e| e.get("Name") == Some(name))?;
        let values = parsed.values(element, "Int64", i64::from_le_bytes).ok()?;
        values.first().and_then(|&n| u64::try_from(n).ok())
    };
    let batches = whole("batches").and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
    Ok(Fields { cells, corner_m, size_m, samples: whole("samples").unwrap_or(0), batches, columns })
}

fn surface(parsed: &Parsed<'_>) -> Result<TriangleMesh, String> {
    let points = parsed.values(array(parsed, "Points", "Points")?, "Float64", f64::from_le_bytes)?;
    let corners = parsed.values(array(parsed, "Polys", "connectivity")?, "Int64", i64::from_le_bytes)?;
    let vertices = points.as_chunks::<3>().0.to_vec();
    let known = |&corner: &i64| u32::try_from(corner).ok().filter(|&c| (c as usize) < vertices.len());
    let corners: Option<Vec<u32>> = corners.iter().map(known).collect();
    let corners = corners.ok_or("a triangle has a corner that does not exist")?;
    let triangles = corners.as_chunks::<3>().0.to_vec();
    Ok(TriangleMesh { part: vec![0; triangles.len()], vertices, triangles, closed: false })
}

fn arrays<'a>(parsed: &'a Parsed<'_>, parent: &'a str) -> impl Iterator<Item = &'a Element> {
    parsed.elements.iter().filter(move |e| e.tag == "DataArray" && e.parent == parent)
}

fn array<'a>(parsed: &'a Parsed<'_>, parent: &'a str, name: &str) -> Result<&'a Element, String> {
    let mut all = arrays(parsed, parent);
    all.find(|e| e.get("Name") == Some(name)).ok_or(format!("has no array {name} in {parent}"))
}

fn quantity(element: &Element) -> Result<Quantity, String> {
    let key = element.get("Name").ok_or("has an array without a name")?.to_owned();
    let text = |name: &str| element.get(name).unwrap_or_default().to_owned().into();
    let name = element.get("label").map_or_else(|| key.replace('_', " "), str::to_owned);
    Ok(Quantity { key: key.into(), name: name.into(), symbol: text("symbol"), unit: text("unit") })
}
