//! Reads the polygons of Wavefront OBJ files from untrusted bytes.
//! Knows nothing of file systems, repairs and scenes.
//!
//! Written here rather than taken from `tobj` 4.0: its errors name no line, a texture index out of range makes it
//! panic, it does not join lines, and it cuts polygons from their first corner even where that leaves the polygon.
//! The tests compare the two on good files. Points, lines, materials, normals and texture coordinates are passed over.

use super::stl::number;
use super::vector::{add, cross, dot, sub};
use super::{MeshError, TriangleMesh};

/// Statements that do not change where the surface is.
const PASSED_OVER: [&str; 22] = [
    "vt",
    "vn",
    "vp",
    "g",
    "o",
    "s",
    "mg",
    "usemtl",
    "mtllib",
    "usemap",
    "maplib",
    "l",
    "p",
    "bevel",
    "c_interp",
    "d_interp",
    "lod",
    "shadow_obj",
    "trace_obj",
    "call",
    "csh",
    "end",
];
/// Polygons of more corners are cut from their first corner only: the search for a better one is quadratic.
const MOST_CORNERS: usize = 1024;

/// The triangles of an OBJ file in the units of the file; polygons are cut into triangles.
pub fn parse(bytes: &[u8]) -> Result<TriangleMesh, MeshError> {
    if bytes.is_empty() {
        return Err(MeshError("the file is empty: export it again".into()));
    }
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    let mut begun: Option<(usize, String)> = None;
    for (index, raw) in bytes.split(|&b| b == b'\n').enumerate() {
        let text = std::str::from_utf8(raw).ok();
        let text = match text {
            Some(text) => text,
            // Comments and names may be in any encoding.
            None if raw.first().is_some_and(|&b| b"#gou".contains(&b)) => continue,
            None => {
                return Err(MeshError(format!(
                    "line {}: not text in UTF-8: this is no OBJ file, or it is damaged; export it again",
                    index + 1
                )));
            }
        };
        let text = text.trim_end();
        // A backslash at the end joins the next line.
        let (line, before) = begun.take().unwrap_or((index + 1, String::new()));
        if let Some(part) = text.strip_suffix('\\') {
            begun = Some((line, before + part + " "));
            continue;
        }
        statement(&(before + text), &mut vertices, &mut triangles)
            .map_err(|message| MeshError(format!("line {line}: {message}")))?;
    }
    if let Some((line, _)) = begun {
        return Err(MeshError(format!(
            "line {line}: the file ends where \"\\\" promises another line: it is truncated; copy or export it again"
        )));
    }
    if triangles.is_empty() {
        return Err(MeshError(format!(
            "no faces (\"f\") among its {} vertices: export the body as a surface mesh, not as points or lines",
            vertices.len()
        )));
    }
    Ok(TriangleMesh::new(vertices, triangles, false))
}

fn statement(text: &str, vertices: &mut Vec<[f64; 3]>, triangles: &mut Vec<[u32; 3]>) -> Result<(), String> {
    let text = text.split('#').next().unwrap_or_default();
    let mut words = text.split_whitespace();
    match words.next() {
        None => Ok(()),
        Some("v") => {
            // A weight or a colour may follow.
            let xyz = words.take(3).map(number).collect::<Result<Vec<f64>, String>>()?;
            let &[x, y, z] = xyz.as_slice() else {
                return Err(format!("a vertex needs three numbers, found {}", xyz.len()));
            };
            if vertices.len() >= u32::MAX as usize {
                return Err("more than 4.2e9 vertices: simplify the mesh before export".into());
            }
            vertices.push([x, y, z]);
            Ok(())
        }
        Some("f") => {
            let corners =
                words.map(|word| corner(word, vertices.len())).collect::<Result<Vec<u32>, String>>()?;
            triangulate(&corners, vertices, triangles)
        }
        Some(word) if PASSED_OVER.contains(&word) => Ok(()),
        Some(word @ ("surf" | "curv" | "curv2" | "cstype")) => {
            Err(format!("\"{word}\" belongs to a free-form surface: export the body as a triangle mesh"))
        }
        Some(word) => {
            let shown: String = word.chars().filter(|c| !c.is_control()).take(30).collect();
            Err(format!("\"{shown}\" is no statement of an OBJ file: is this one, completely copied?"))
        }
    }
}

/// The vertex of "7", "7/1", "7//3" or "7/1/3"; negative indices count back from the last vertex.
fn corner(word: &str, count: usize) -> Result<u32, String> {
    let shown: String = word.chars().take(30).collect();
    let index: i64 = word
        .split('/')
        .next()
        .and_then(|i| i.parse().ok())
        .ok_or_else(|| format!("\"{shown}\" is not a corner of a face: write 7, 7/1, 7//3 or 7/1/3"))?;
    let known = count as i64;
    match index {
        1.. if index <= known => Ok((index - 1) as u32),
        ..=-1 if index >= -known => Ok((known + index) as u32),
        _ => Err(format!(
            "the face names vertex {index}, but {known} are defined up to here and they count from 1: export the \
             file again"
        )),
    }
}

/// Cuts a polygon into the triangles of a fan, from a corner that sees all others.
fn triangulate(corners: &[u32], vertices: &[[f64; 3]], triangles: &mut Vec<[u32; 3]>) -> Result<(), String> {
    let n = corners.len();
    if n < 3 {
        return Err(format!("a face needs at least three corners, found {n}"));
    }
    let at = |i: usize| vertices[corners[i % n] as usize];
    let area = |a: usize, b: usize, c: usize| cross(sub(at(b), at(a)), sub(at(c), at(a)));
    // Twice the vector area (Newell).
    let whole = (1..n - 1).fold([0.0; 3], |sum, i| add(sum, area(0, i, i + 1)));
    let least = |start: usize| {
        (1..n - 1).map(|i| dot(area(start, start + i, start + i + 1), whole)).fold(f64::INFINITY, f64::min)
    };
    let starts = if n > MOST_CORNERS || n == 3 { 1 } else { n };
    let mut best = (0, least(0));
    for start in 1..starts {
        // The first corner is kept where it serves: the diagonals are then those other programs draw.
        if best.1 > 0.0 {
            break;
        }
        let value = least(start);
        if value > best.1 {
            best = (start, value);
        }
    }
    if n > 3 && best.1 < 0.0 {
        return Err(format!(
            "a face of {n} corners is bent in so much that it cannot be cut into triangles from one \
             corner: triangulate the mesh before export"
        ));
    }
    triangles.extend((1..n - 1).map(|i| [best.0, best.0 + i, best.0 + i + 1].map(|k| corners[k % n])));
    Ok(())
}
