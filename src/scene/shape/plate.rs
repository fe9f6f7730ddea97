//! The thin plate: a two-sided rectangle in the x-z plane, 16 by 32 cells of two triangles a side.
//! Must not know where it stands and what flows around it.
//!
//! Exact in area. Each triangle is there twice with the same vertices in opposite order: first the upper side
//! (normal +y), then, in the same order, the lower side. It encloses nothing: `closed` is false.

use super::{Body, MeshError, TriangleMesh, positive};

const ALONG_CHORD: u32 = 16;
const ALONG_SPAN: u32 = 32;

pub(super) fn body(chord_m: f64, span_m: f64) -> Result<Body, MeshError> {
    positive("chord_m", chord_m)?;
    positive("span_m", span_m)?;
    let at = |i: u32, n: u32| f64::from(i) / f64::from(n) - 0.5;
    let mut vertices = Vec::new();
    for i in 0..=ALONG_CHORD {
        for k in 0..=ALONG_SPAN {
            vertices.push([chord_m * at(i, ALONG_CHORD), 0.0, span_m * at(k, ALONG_SPAN)]);
        }
    }
    let vertex = |i: u32, k: u32| i * (ALONG_SPAN + 1) + k;
    let mut triangles = Vec::new();
    for i in 0..ALONG_CHORD {
        for k in 0..ALONG_SPAN {
            let (a, b, c, d) = (vertex(i, k), vertex(i, k + 1), vertex(i + 1, k + 1), vertex(i + 1, k));
            // z cross x is y.
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let lower: Vec<[u32; 3]> = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
    triangles.extend(lower);
    Ok(Body { mesh: TriangleMesh::new(vertices, triangles, false), length_m: chord_m, reports: Vec::new() })
}
