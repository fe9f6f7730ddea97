//! The box: six faces of 8 by 8 cells of two triangles, for distributions over the faces.
//! Must not know where it stands and what flows around it. Exact in area and volume.

use super::{Body, MeshError, TriangleMesh, positive};
use std::collections::HashMap;

const CELLS: u32 = 8;

pub(super) fn body(size_m: [f64; 3]) -> Result<Body, MeshError> {
    for (name, size) in ["size_m[0]", "size_m[1]", "size_m[2]"].iter().zip(size_m) {
        positive(name, size)?;
    }
    let mut known: HashMap<[u32; 3], u32> = HashMap::new();
    let mut vertices = Vec::new();
    let mut vertex = |p: [u32; 3]| {
        *known.entry(p).or_insert_with(|| {
            vertices.push(std::array::from_fn(|k| size_m[k] * (f64::from(p[k]) / f64::from(CELLS) - 0.5)));
            vertices.len() as u32 - 1
        })
    };
    let mut triangles = Vec::new();
    for (axis, upper) in [(0, false), (0, true), (1, false), (1, true), (2, false), (2, true)] {
        for i in 0..CELLS {
            for j in 0..CELLS {
                let [a, b, c, d] = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(di, dj)| {
                    let mut p = [if upper { CELLS } else { 0 }; 3];
                    p[(axis + 1) % 3] = i + di;
                    p[(axis + 2) % 3] = j + dj;
                    vertex(p)
                });
                triangles.extend(if upper { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] });
            }
        }
    }
    Ok(Body { mesh: TriangleMesh::new(vertices, triangles, true), length_m: size_m[0], reports: Vec::new() })
}
