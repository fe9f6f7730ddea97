//! ParaView files: fields as `.vti`, surfaces and particles as `.vtp`.
//! Must not know devices, folders or colours.

use super::error::OutputError;
use super::vtk_xml::{Array, Document, Values, triple};
use crate::sim::{Column, DrawnParticle, Fields, Snapshot, Surface};
use crate::units::Quantity;
use std::borrow::Cow;

/// Cell-averaged fields as ImageData: one Float32 array a quantity, `<key>_error` (one standard deviation) where it
/// is known, and the columns `<key>_x`, `<key>_y`, `<key>_z` joined to a vector `<key>` where no column has that name.
pub fn fields_document<'a>(fields: &'a Fields, snapshot: &Snapshot) -> Result<Document<'a>, OutputError> {
    let extent = fields.cells.map(|n| format!("0 {n}")).join(" ");
    let spacing = std::array::from_fn(|a| fields.size_m[a] / f64::from(fields.cells[a].max(1)));
    let image = [
        ("WholeExtent", extent.clone()),
        ("Origin", triple(fields.corner_m)),
        ("Spacing", triple(spacing)),
        ("Direction", "1 0 0 0 1 0 0 0 1".to_owned()),
    ];
    let mut document = Document::new("ImageData", &image);
    document.open("FieldData", &[]);
    field_time(&mut document, snapshot);
    document.field_array(Array::new("samples", 1, Values::I64(vec![signed(fields.samples)])));
    document.field_array(Array::new("batches", 1, Values::I64(vec![fields.batches.into()])));
    document.close();
    document.open("Piece", &[("Extent", extent)]);
    document.open("PointData", &[]);
    document.close();
    let first = fields.columns.first().map_or(String::new(), |c| c.quantity.key.to_string());
    document.open("CellData", &[("Scalars", first)]);
    let cells = fields.cells.iter().map(|&n| n as usize).product();
    columns(&mut document, &fields.columns, cells)?;
    Ok(document)
}

/// The triangles of all obstacles as PolyData: their columns, and of which obstacle (its index; names in the field
/// data) and part each is. A quantity that an obstacle does not have is NaN there.
pub fn surface_document(surfaces: &[Surface], snapshot: &Snapshot) -> Result<Document<'static>, OutputError> {
    let (mut points, mut corners, mut obstacle, mut part) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut joined: Vec<Column> = Vec::new();
    for (index, surface) in surfaces.iter().enumerate() {
        let mesh = &surface.mesh;
        let first = (points.len() / 3) as i64;
        let before = part.len();
        let count = mesh.triangles.len();
        points.extend(mesh.vertices.iter().flatten());
        corners.extend(mesh.triangles.iter().flatten().map(|&corner| first + i64::from(corner)));
        obstacle.extend(std::iter::repeat_n(i32::try_from(index).unwrap_or(i32::MAX), count));
        part.extend(
            (0..count).map(|t| mesh.part.get(t).map_or(0, |&p| i32::try_from(p).unwrap_or(i32::MAX))),
        );
        for column in &surface.columns {
            check_length(column, count)?;
            let at = joined.iter().position(|c| c.quantity.key == column.quantity.key).unwrap_or_else(|| {
                joined.push(Column {
                    quantity: column.quantity.clone(),
                    values: vec![f32::NAN; before],
                    errors: Vec::new(),
                });
                joined.len() - 1
            });
            if let Some(joined) = joined.get_mut(at) {
                joined.values.extend_from_slice(&column.values);
                if !column.errors.is_empty() {
                    joined.errors.resize(before, f32::NAN);
                    joined.errors.extend_from_slice(&column.errors);
                }
            }
        }
        for column in &mut joined {
            column.values.resize(part.len(), f32::NAN);
            if !column.errors.is_empty() {
                column.errors.resize(part.len(), f32::NAN);
            }
        }
    }
    let triangles = part.len();
    let mut document = Document::new("PolyData", &[]);
    document.open("FieldData", &[]);
    field_time(&mut document, snapshot);
    let names: Vec<&str> = surfaces.iter().map(|surface| surface.name.as_str()).collect();
    document.field_strings("obstacle_names", &names);
    document.close();
    document.open("Piece", &piece(points.len() / 3, 0, triangles));
    document.open("CellData", &[]);
    document.array(Array::new("obstacle", 1, Values::I32(obstacle)));
    document.array(Array::new("part", 1, Values::I32(part)));
    columns_owned(&mut document, joined, triangles)?;
    document.close();
    document.open("Points", &[]);
    document.array(Array::new("Points", 3, Values::F64(points)));
    document.close();
    document.open("Polys", &[]);
    document.array(Array::new("connectivity", 1, Values::I64(corners)));
    document.array(Array::new("offsets", 1, Values::I64((1..=triangles as i64).map(|t| 3 * t).collect())));
    Ok(document)
}

/// Particles as PolyData: one vertex each, with its value under the key of [`Snapshot::paint`].
pub fn particles_document(drawn: &[DrawnParticle], snapshot: &Snapshot) -> Document<'static> {
    let count = drawn.len() as i64;
    let mut document = Document::new("PolyData", &[]);
    document.open("FieldData", &[]);
    field_time(&mut document, snapshot);
    document.close();
    document.open("Piece", &piece(drawn.len(), drawn.len(), 0));
    let quantity = snapshot.paint.quantity();
    document.open("PointData", &[("Scalars", quantity.key.to_string())]);
    let values: Vec<f32> = drawn.iter().map(|particle| particle.value).collect();
    let key = quantity.key.clone();
    document.array(Array::new(&key, 1, Values::F32(values.into())).with_quantity(quantity));
    document.close();
    document.open("Points", &[]);
    let points: Vec<f32> = drawn.iter().flat_map(|particle| particle.position).collect();
    document.array(Array::new("Points", 3, Values::F32(points.into())));
    document.close();
    document.open("Verts", &[]);
    document.array(Array::new("connectivity", 1, Values::I64((0..count).collect())));
    document.array(Array::new("offsets", 1, Values::I64((1..=count).collect())));
    document
}

fn piece(points: usize, vertices: usize, polygons: usize) -> [(&'static str, String); 5] {
    [
        ("NumberOfPoints", points.to_string()),
        ("NumberOfVerts", vertices.to_string()),
        ("NumberOfLines", "0".to_owned()),
        ("NumberOfStrips", "0".to_owned()),
        ("NumberOfPolys", polygons.to_string()),
    ]
}

/// `TimeValue` is the name by which ParaView knows the time of a file.
fn field_time(document: &mut Document<'_>, snapshot: &Snapshot) {
    document.field_array(Array::new("TimeValue", 1, Values::F64(vec![snapshot.time_s])));
    document.field_array(Array::new("step", 1, Values::I64(vec![signed(snapshot.step)])));
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn columns<'a>(document: &mut Document<'a>, columns: &'a [Column], length: usize) -> Result<(), OutputError> {
    for column in columns {
        check_length(column, length)?;
        scalars(document, &column.quantity, Cow::Borrowed(&column.values), Cow::Borrowed(&column.errors));
    }
    for vector in vectors(columns) {
        document.array(vector);
    }
    Ok(())
}

fn columns_owned(
    document: &mut Document<'static>,
    columns: Vec<Column>,
    length: usize,
) -> Result<(), OutputError> {
    let vectors = vectors(&columns);
    for column in columns {
        check_length(&column, length)?;
        scalars(document, &column.quantity, Cow::Owned(column.values), Cow::Owned(column.errors));
    }
    for vector in vectors {
        document.array(vector);
    }
    Ok(())
}

fn scalars<'a>(
    document: &mut Document<'a>,
    quantity: &Quantity,
    values: Cow<'a, [f32]>,
    errors: Cow<'a, [f32]>,
) {
    document.array(Array::new(&quantity.key, 1, Values::F32(values)).with_quantity(quantity.clone()));
    if !errors.is_empty() {
        let error = Quantity {
            key: format!("{}_error", quantity.key).into(),
            name: format!("standard error of {}", quantity.name).into(),
            symbol: format!("sigma({})", quantity.symbol).into(),
            unit: quantity.unit.clone(),
        };
        document.array(Array::new(&error.key.clone(), 1, Values::F32(errors)).with_quantity(error));
    }
}

/// Columns `a_x`, `a_y`, `a_z` joined to a vector `a`, if there is no column `a`.
fn vectors(columns: &[Column]) -> Vec<Array<'static>> {
    let find = |key: &str| columns.iter().find(|column| column.quantity.key == key);
    let mut joined = Vec::new();
    for x in columns {
        let Some(key) = x.quantity.key.strip_suffix("_x") else { continue };
        let (Some(y), Some(z), None) = (find(&format!("{key}_y")), find(&format!("{key}_z")), find(key))
        else {
            continue;
        };
        let values = x.values.iter().zip(&y.values).zip(&z.values);
        let values: Vec<f32> = values.flat_map(|((&x, &y), &z)| [x, y, z]).collect();
        let quantity = Quantity {
            key: key.to_owned().into(),
            name: key.replace('_', " ").into(),
            symbol: "".into(),
            unit: x.quantity.unit.clone(),
        };
        joined.push(Array::new(key, 3, Values::F32(values.into())).with_quantity(quantity));
    }
    joined
}

fn check_length(column: &Column, length: usize) -> Result<(), OutputError> {
    let key = &column.quantity.key;
    if column.values.len() != length {
        let found = column.values.len();
        return Err(OutputError::Data(format!("column {key} has {found} values where {length} belong")));
    }
    if !column.errors.is_empty() && column.errors.len() != length {
        let found = column.errors.len();
        return Err(OutputError::Data(format!("column {key} has {found} errors where {length} belong")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Paint;

    #[test]
    fn particles_are_written_under_the_name_of_what_they_are_painted_by() {
        for paint in Paint::ALL {
            let drawn = [DrawnParticle { position: [1.0; 3], value: 3.0 }];
            let snapshot = Snapshot { paint, ..Snapshot::default() };
            let mut bytes = Vec::new();
            particles_document(&drawn, &snapshot).write(&mut bytes).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            for other in Paint::ALL {
                let name = format!("Name=\"{}\"", other.quantity().key);
                assert_eq!(text.contains(&name), other == paint, "{paint:?}: {text}");
            }
        }
    }
}
