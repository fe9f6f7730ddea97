//! The faces that particles can meet: the triangles of all obstacles, coincident ones merged into one two-sided face.
//! Knows nothing of cells or particles.

use super::GeometryError;
use super::predicates::{Corners, Point, edge_on};
use crate::scene::TriangleMesh;
use std::collections::HashMap;

/// No triangle on this side.
pub(crate) const NONE: u32 = u32::MAX;

/// A triangle of an obstacle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Triangle {
    /// Which obstacle.
    pub obstacle: u32,
    /// Index within the obstacle's mesh.
    pub local: u32,
    /// Which part of a group.
    pub part: u32,
    /// Unit normal on the front side.
    pub normal: [f64; 3],
    /// Area, m^2.
    pub area: f64,
}

/// A set of points in space where one triangle lies, or several that coincide.
#[derive(Debug, Clone)]
pub(crate) struct Face {
    /// Corners, counter-clockwise seen from the front.
    pub corners: Corners,
    /// Least coordinates of the corners.
    pub low: Point,
    /// Largest coordinates of the corners.
    pub high: Point,
    /// Unit normal on the front side, rounded.
    pub normal: Point,
    /// The plane is where normal . x = offset.
    pub offset: f64,
    /// Bound of the rounding error of normal . x - offset for points in the domain, m; infinite for slivers.
    pub margin: f64,
    /// Largest coordinate, of the corners or of a particle, m.
    pub largest: f64,
    /// An axis along which the face is not edge-on.
    pub dropped: u8,
    /// The triangle whose front is the face's front, or NONE.
    pub front: u32,
    /// The triangle whose front is the face's back, or NONE.
    pub back: u32,
    /// How much the winding number grows from front to back: triangles of closed meshes only, opposite ones cancel.
    pub weight: i32,
    /// Obstacle and part of its first triangle.
    pub body: (u32, u32),
}

impl Face {
    /// Rounded signed distance from the plane, positive in front, m.
    #[inline]
    pub fn distance(&self, point: Point) -> f64 {
        dot(self.normal, point) - self.offset
    }

    /// Axis nearest to the normal.
    pub fn dominant(&self) -> usize {
        dominant(self.normal)
    }
}

pub(super) fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn minus(a: Point, b: Point) -> Point {
    std::array::from_fn(|n| a[n] - b[n])
}

fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dominant(normal: Point) -> usize {
    let larger = |m: usize, n: usize| if normal[n].abs() > normal[m].abs() { n } else { m };
    larger(larger(0, 1), 2)
}

/// Normal, twice the area, and the products of the lengths of the edges used.
fn normal_of([a, b, c]: &Corners) -> (Point, f64, f64) {
    let (u, v) = (minus(*b, *a), minus(*c, *a));
    let product = cross(u, v);
    let twice = dot(product, product).sqrt();
    let lengths = (dot(u, u) * dot(v, v)).sqrt();
    // A sliver without area in rounded arithmetic still stops particles: any direction will do for it.
    let normal = if twice > 0.0 { product.map(|x| x / twice) } else { [1.0, 0.0, 0.0] };
    (normal, twice, lengths)
}

/// All triangles in order of obstacle and index, and the distinct faces on which they lie, relative to `corner`.
/// `reach`: largest coordinate of a particle, m.
///
/// A triangle that is exactly without area gets no face: its points belong to the edges of its neighbours.
pub(super) fn flatten(
    meshes: &[TriangleMesh],
    corner: [f64; 3],
    reach: f64,
) -> Result<(Vec<Triangle>, Vec<Face>), GeometryError> {
    let total: usize = meshes.iter().map(|mesh| mesh.triangles.len()).sum();
    if total >= NONE as usize {
        return Err(GeometryError::TooManyTriangles { triangles: total });
    }
    let mut triangles = Vec::with_capacity(total);
    let mut faces: Vec<Face> = Vec::with_capacity(total);
    let mut known: HashMap<[[u64; 3]; 3], usize> = HashMap::with_capacity(total);
    for (obstacle, mesh) in meshes.iter().enumerate() {
        for (local, indices) in mesh.triangles.iter().enumerate() {
            let corners = corners_of(mesh, indices, corner)
                .ok_or(GeometryError::BadTriangle { obstacle, triangle: local })?;
            let part = mesh.part.get(local).copied().unwrap_or(0);
            let (normal, twice, lengths) = normal_of(&corners);
            let triangle = triangles.len() as u32;
            let body = (obstacle as u32, part);
            triangles.push(Triangle {
                obstacle: body.0,
                local: local as u32,
                part,
                normal,
                area: 0.5 * twice,
            });
            let preferred = dominant(normal);
            let Some(dropped) = (0..3).map(|n| (preferred + n) % 3).find(|&axis| !edge_on(&corners, axis))
            else {
                continue;
            };
            let mut key = corners.map(|point| point.map(f64::to_bits));
            key.sort_unstable();
            let weight = i32::from(mesh.closed);
            if let Some(&face) = known.get(&key) {
                let face = &mut faces[face];
                let same = same_way(&face.corners, &corners);
                let (side, weight) = if same { (&mut face.front, weight) } else { (&mut face.back, -weight) };
                if *side == NONE {
                    *side = triangle;
                }
                face.weight += weight;
                let sign = if same { 1.0 } else { -1.0 };
                if let Some(last) = triangles.last_mut() {
                    last.normal = face.normal.map(|x| sign * x);
                }
                continue;
            }
            known.insert(key, faces.len());
            let largest = corners.iter().flatten().fold(reach, |most, x| most.max(x.abs()));
            // Forward error of the normal and of the two dot products, with a wide allowance.
            let sharpness = if twice > 0.0 { lengths / twice } else { f64::INFINITY };
            let margin = 128.0 * f64::EPSILON * largest * (1.0 + sharpness);
            let margin = if sharpness < 1e10 { margin } else { f64::INFINITY };
            faces.push(Face {
                corners,
                low: std::array::from_fn(|a| corners[0][a].min(corners[1][a]).min(corners[2][a])),
                high: std::array::from_fn(|a| corners[0][a].max(corners[1][a]).max(corners[2][a])),
                normal,
                offset: dot(normal, corners[0]),
                margin,
                largest,
                dropped: dropped as u8,
                front: triangle,
                back: NONE,
                weight,
                body,
            });
        }
    }
    Ok((triangles, faces))
}

/// Corners relative to the domain; None if an index is wrong or a coordinate is not finite.
fn corners_of(mesh: &TriangleMesh, indices: &[u32; 3], corner: [f64; 3]) -> Option<Corners> {
    let mut corners = [[0.0; 3]; 3];
    for (point, &index) in corners.iter_mut().zip(indices) {
        let vertex = mesh.vertices.get(index as usize)?;
        for axis in 0..3 {
            let x = vertex[axis] - corner[axis];
            if !x.is_finite() || x.abs() > 1e30 {
                return None;
            }
            // Below this, products of three could underflow, and with them the exactness; also makes -0 into 0.
            point[axis] = if x.abs() < 1e-50 { 0.0 } else { x };
        }
    }
    Some(corners)
}

/// Whether two orders of the same three corners run the same way round.
fn same_way(a: &Corners, b: &Corners) -> bool {
    (0..3).any(|turn| (0..3).all(|n| a[n] == b[(n + turn) % 3]))
}
