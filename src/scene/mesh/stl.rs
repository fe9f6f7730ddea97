//! Reads STL files, ASCII and binary, from untrusted bytes.
//! Knows nothing of file systems, repairs and scenes.
//!
//! Written here rather than taken from `stl_io` 0.11: that crate takes a binary file whose header is a line that
//! starts with "solid " for text, refuses text that starts with a bare "solid", and its errors name neither line nor
//! triangle. The tests compare the two on good files.
//!
//! Normals in the file are not used: the front side follows from the order of the corners, as the format demands.

use super::{MeshError, TriangleMesh};

/// Header and count of a binary file, bytes.
const PREAMBLE: usize = 84;
/// A triangle of a binary file, bytes.
const RECORD: usize = 50;

/// The triangles of an STL file, three vertices each, in the units of the file; and "ASCII" or "binary".
pub fn parse(bytes: &[u8]) -> Result<(TriangleMesh, &'static str), MeshError> {
    if bytes.is_empty() {
        return Err(MeshError("the file is empty: export it again".into()));
    }
    let (vertices, kind) =
        if is_binary(bytes) { (binary(bytes)?, "binary") } else { (ascii(bytes)?, "ASCII") };
    if vertices.is_empty() {
        return Err(MeshError(
            "the file holds no triangles: export the body itself, as a surface mesh".into(),
        ));
    }
    if vertices.len() > u32::MAX as usize {
        return Err(MeshError("more than 1.4e9 triangles: simplify the mesh before export".into()));
    }
    let triangles = (0..vertices.len() as u32 / 3).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    Ok((TriangleMesh::new(vertices, triangles, false), kind))
}

/// The count in the header decides: text has it right only by a chance of 1 in 4e9. A damaged file is text if it
/// starts like text and has no zero bytes.
fn is_binary(bytes: &[u8]) -> bool {
    if count(bytes).is_some_and(|n| n.checked_mul(RECORD).is_some_and(|size| size + PREAMBLE == bytes.len()))
    {
        return true;
    }
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start();
    let solid = text.len() >= 5 && text[..5].eq_ignore_ascii_case(b"solid");
    !solid || bytes.iter().take(4096).any(|&b| b == 0)
}

fn count(bytes: &[u8]) -> Option<usize> {
    let field = bytes.get(80..PREAMBLE)?;
    Some(u32::from_le_bytes([field[0], field[1], field[2], field[3]]) as usize)
}

fn binary(bytes: &[u8]) -> Result<Vec<[f64; 3]>, MeshError> {
    let Some(count) = count(bytes) else {
        return Err(MeshError(format!(
            "neither ASCII STL (it does not start with \"solid\") nor binary STL (its {} bytes are less than the \
             84 of a header): is it an STL file, completely copied?",
            bytes.len()
        )));
    };
    // A page that a server sent instead of the file, say.
    if let Some(word) = std::str::from_utf8(bytes).ok().filter(|t| !t.contains('\0')) {
        let word: String = word.split_whitespace().next().unwrap_or_default().chars().take(30).collect();
        return Err(MeshError(format!(
            "text, but not ASCII STL: it starts with \"{word}\" instead of \"solid\"; is it an STL file?"
        )));
    }
    let body = &bytes[PREAMBLE..];
    let whole = body.len() / RECORD;
    if count > whole {
        return Err(MeshError(format!(
            "byte {}: the header promises {count} triangles, but the file ends after {whole}{}: it is truncated, \
             or no STL file; copy or export it again",
            bytes.len(),
            if body.len().is_multiple_of(RECORD) { "" } else { " and a part of one" }
        )));
    }
    if count * RECORD < body.len() {
        return Err(MeshError(format!(
            "byte {}: {} bytes follow after the {count} triangles that the header promises: the count is wrong or \
             the file damaged; export it again",
            PREAMBLE + count * RECORD,
            body.len() - count * RECORD
        )));
    }
    let mut vertices = Vec::with_capacity(3 * count);
    for (i, record) in body.chunks_exact(RECORD).enumerate() {
        for (corner, point) in record[12..48].chunks_exact(12).enumerate() {
            let number = |k: usize| f32::from_le_bytes([point[k], point[k + 1], point[k + 2], point[k + 3]]);
            let xyz = [number(0), number(4), number(8)];
            if let Some(axis) = xyz.iter().position(|v| !v.is_finite()) {
                return Err(MeshError(format!(
                    "triangle {} of {count} (byte {}): {} of corner {} is {}, not a finite number: repair the mesh \
                     in the program that wrote it",
                    i + 1,
                    PREAMBLE + i * RECORD + 12 + corner * 12 + axis * 4,
                    ["x", "y", "z"][axis],
                    corner + 1,
                    xyz[axis]
                )));
            }
            vertices.push(xyz.map(f64::from));
        }
    }
    Ok(vertices)
}

/// Where the reader of ASCII files is: it names what may follow.
#[derive(Clone, Copy, PartialEq)]
enum Expect {
    Solid,
    Facet,
    Loop,
    Vertex,
    EndLoop,
    EndFacet,
}

impl Expect {
    fn words(self) -> &'static str {
        match self {
            Expect::Solid => "solid",
            Expect::Facet => "facet normal\" or \"endsolid",
            Expect::Loop => "outer loop",
            Expect::Vertex => "vertex",
            Expect::EndLoop => "endloop",
            Expect::EndFacet => "endfacet",
        }
    }
}

fn ascii(bytes: &[u8]) -> Result<Vec<[f64; 3]>, MeshError> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    let mut expect = Expect::Solid;
    let mut last_line = 0;
    for (index, raw) in bytes.split(|&b| b == b'\n').enumerate() {
        let line = index + 1;
        let at = |message: String| MeshError(format!("line {line}: {message}"));
        let lossy = String::from_utf8_lossy(raw);
        let words: Vec<&str> = lossy.split_whitespace().collect();
        let Some(first) = words.first() else { continue };
        last_line = line;
        // The name of a solid may be in any encoding; all else is plain ASCII.
        let keyword = first.to_ascii_lowercase();
        let second = words.get(1).map(|w| w.to_ascii_lowercase()).unwrap_or_default();
        expect = match (expect, keyword.as_str()) {
            (Expect::Solid, "solid") => Expect::Facet,
            (Expect::Facet, "endsolid") => Expect::Solid,
            (Expect::Facet, "facet") if second == "normal" => Expect::Loop,
            (Expect::Loop, "outer") if second == "loop" => Expect::Vertex,
            (Expect::Vertex, "vertex") => {
                vertices.push(point(&words[1..]).map_err(at)?);
                if vertices.len().is_multiple_of(3) { Expect::EndLoop } else { Expect::Vertex }
            }
            (Expect::EndLoop, "endloop") => Expect::EndFacet,
            (Expect::EndLoop, "vertex") => {
                return Err(at(
                    "a fourth corner: facets of STL have three; triangulate the mesh before export".into(),
                ));
            }
            (Expect::EndFacet, "endfacet") => Expect::Facet,
            _ => {
                let shown: String = lossy.trim().chars().filter(|c| !c.is_control()).take(40).collect();
                return Err(at(format!(
                    "expected \"{}\", found \"{shown}\": not valid STL; export the file again",
                    expect.words()
                )));
            }
        };
    }
    if expect != Expect::Solid {
        return Err(MeshError(format!(
            "line {last_line}: the file ends where \"{}\" should follow: it is truncated; copy or export it again",
            expect.words()
        )));
    }
    Ok(vertices)
}

/// Exactly three finite numbers.
fn point(words: &[&str]) -> Result<[f64; 3], String> {
    let &[x, y, z] = words else {
        return Err(format!("a vertex needs three numbers, found {}", words.len()));
    };
    Ok([number(x)?, number(y)?, number(z)?])
}

/// A finite number, or what is wrong with `word`.
pub(super) fn number(word: &str) -> Result<f64, String> {
    let shown: String = word.chars().take(30).collect();
    match word.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => {
            Err(format!("\"{shown}\" is not a finite number: repair the mesh in the program that wrote it"))
        }
        Err(_) => Err(format!("\"{shown}\" is not a number: write one with a decimal point, as 1.5 or 2e-3")),
    }
}
