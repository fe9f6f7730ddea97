//! Triangle meshes: the form in which a simulation and the view see every obstacle.
//! Knows nothing of scenes, gases or files other than the readers beside it.

mod edges;
pub mod file;
pub mod obj;
pub mod repair;
pub mod report;
pub mod stl;
pub mod transform;
pub mod vector;

pub use report::{Findings, MeshReport};

use std::collections::HashSet;
use thiserror::Error;
use vector::{add, cross, dot, norm, scale, sub};

/// Why there is no mesh: a sentence that names the file, the place in it and what to do.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{0}")]
pub struct MeshError(pub String);

/// Triangles in space, metres. Each triangle's front side is the one from which its corners run counter-clockwise.
///
/// A closed body has all fronts outside. A thin plate has each triangle twice, once per side: a molecule
/// always meets the side that faces it. The two sides of a plate use the same vertices in opposite order, so
/// that they cancel in the volume and in an inside test by parity; [`TriangleMesh::sheets`] finds them.
///
/// Parts of a group may overlap. An inside test must then be made for each part alone: by parity over the whole
/// group, the overlap of two bodies would count as outside.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TriangleMesh {
    /// Corners, m.
    pub vertices: Vec<[f64; 3]>,
    /// Indices of the corners.
    pub triangles: Vec<[u32; 3]>,
    /// Which part of a group, or which shape, each triangle came from (0 for a simple shape).
    pub part: Vec<u32>,
    /// Whether it encloses a volume. A plate does not; a group is closed if all its closed parts are and it has any.
    pub closed: bool,
}

impl TriangleMesh {
    /// A mesh of one part.
    pub fn new(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>, closed: bool) -> Self {
        let part = vec![0; triangles.len()];
        Self { vertices, triangles, part, closed }
    }

    /// Corners of triangle `i`, m.
    pub fn corners(&self, i: usize) -> [[f64; 3]; 3] {
        self.triangles[i].map(|v| self.vertices[v as usize])
    }

    /// Normal of the front side of triangle `i`, as long as twice its area, m^2.
    pub fn area_vector(&self, i: usize) -> [f64; 3] {
        let [a, b, c] = self.corners(i);
        cross(sub(b, a), sub(c, a))
    }

    /// Unit normal of the front side of triangle `i`; zero for a triangle without area.
    pub fn normal(&self, i: usize) -> [f64; 3] {
        let n = self.area_vector(i);
        let length = norm(n);
        if length > 0.0 { scale(n, 1.0 / length) } else { [0.0; 3] }
    }

    /// Area of triangle `i`, m^2.
    pub fn triangle_area(&self, i: usize) -> f64 {
        0.5 * norm(self.area_vector(i))
    }

    /// Centroid of triangle `i`, m.
    pub fn centroid(&self, i: usize) -> [f64; 3] {
        let [a, b, c] = self.corners(i);
        scale(add(add(a, b), c), 1.0 / 3.0)
    }

    /// Area of all triangles, m^2; a plate counts with both sides.
    pub fn area(&self) -> f64 {
        (0..self.triangles.len()).map(|i| self.triangle_area(i)).sum()
    }

    /// Enclosed volume, m^3, by the divergence theorem: positive if the fronts are outside. Where parts overlap,
    /// the overlap counts twice.
    pub fn volume(&self) -> f64 {
        // Seen from a corner of the mesh, so that a body far from the origin does not lose its digits.
        let Some(&origin) = self.vertices.first() else { return 0.0 };
        let six_volumes: f64 = (0..self.triangles.len())
            .map(|i| {
                let [a, b, c] = self.corners(i).map(|p| sub(p, origin));
                dot(a, cross(b, c))
            })
            .sum();
        six_volumes / 6.0
    }

    /// Lower and upper corner of the bounding box, m; `None` without vertices.
    pub fn bounds(&self) -> Option<[[f64; 3]; 2]> {
        let first = *self.vertices.first()?;
        Some(self.vertices.iter().fold([first, first], |[lo, hi], p| {
            [std::array::from_fn(|k| lo[k].min(p[k])), std::array::from_fn(|k| hi[k].max(p[k]))]
        }))
    }

    /// Appends `other`, whose parts are counted on from those here. Closed if either is.
    pub fn append(&mut self, other: &TriangleMesh) {
        let first_vertex = self.vertices.len() as u32;
        let first_part = self.part.iter().max().map_or(0, |p| p + 1);
        self.vertices.extend_from_slice(&other.vertices);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + first_vertex)));
        self.part.extend(other.part.iter().map(|p| p + first_part));
        self.closed |= other.closed;
    }

    /// For each triangle, whether it is one side of a thin plate: whether the same vertices in opposite order
    /// make another triangle.
    pub fn sheets(&self) -> Vec<bool> {
        let known: HashSet<[u32; 3]> = self.triangles.iter().map(|&t| lowest_first(t)).collect();
        self.triangles.iter().map(|&[a, b, c]| known.contains(&lowest_first([a, c, b]))).collect()
    }

    /// Whether no corner lies in front of any triangle: no part hides or faces another. A flat plate is convex too.
    /// Meshes too large to compare all corners with all triangles count as not convex.
    pub fn is_convex(&self) -> bool {
        const MOST_COMPARISONS: usize = 1 << 32;
        let Some([lo, hi]) = self.bounds() else { return false };
        if self.triangles.len().saturating_mul(self.vertices.len()) > MOST_COMPARISONS {
            return false;
        }
        let rounding = 1e-9 * norm(sub(hi, lo));
        (0..self.triangles.len()).all(|i| {
            let (normal, corner) = (self.normal(i), self.corners(i)[0]);
            self.vertices.iter().all(|&v| dot(sub(v, corner), normal) <= rounding)
        })
    }

    /// Reference area along `direction` (of any length but zero), m^2: what the closed bodies project along it,
    /// and the one-sided area of plates whatever the direction.
    ///
    /// It sums `max(0, n . d) A` over the triangles: exact for convex bodies. Where a body hides a part of itself,
    /// or parts overlap, the hidden area counts too.
    pub fn reference_area(&self, direction: [f64; 3]) -> f64 {
        let length = norm(direction);
        let direction = if length > 0.0 { scale(direction, 1.0 / length) } else { [0.0; 3] };
        self.sheets()
            .into_iter()
            .enumerate()
            .map(|(i, sheet)| {
                if sheet {
                    0.5 * self.triangle_area(i)
                } else {
                    0.5 * dot(self.area_vector(i), direction).max(0.0)
                }
            })
            .sum()
    }
}

/// The same triangle and orientation, written from its lowest vertex.
fn lowest_first([a, b, c]: [u32; 3]) -> [u32; 3] {
    if a < b && a < c {
        [a, b, c]
    } else if b < c {
        [b, c, a]
    } else {
        [c, a, b]
    }
}
