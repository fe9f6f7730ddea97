//! One body: its triangles where it stands, what is left of them in a half-section, and their colours.
//! Must not know snapshots, nor who asks for what.

use crate::scene::TriangleMesh;
use crate::scene::mesh::transform::rotation;
use crate::scene::mesh::vector::{add, dot};
use crate::view::document::{BodyShape, Placement};
use crate::view::draw::Colors;
use crate::view::draw::clip::{clip, mix};
use crate::view::draw::keep::triangles;
use crate::view::stage::Stage;
use bevy::prelude::*;
use std::sync::Arc;

/// Cosine of the largest angle between triangles that are shaded as one round surface.
const ROUND: f64 = 0.82;
/// Linear colour of what has no value.
const PLAIN: [f32; 3] = [0.42, 0.43, 0.46];
/// Where the light comes from.
const LIGHT: Vec3 = Vec3::new(0.424, 0.707, 0.566);
/// How much of a plain body is left where the light does not reach.
const PLAIN_SHADOW: f32 = 0.2;
/// The same of a coloured one: its colours can be read off the colour bar in light and shadow.
const COLOR_SHADOW: f32 = 0.6;

/// What is kept of a body.
#[derive(Debug, Default)]
pub struct Body {
    /// Its place among the obstacles.
    pub index: usize,
    /// Its shape in the document, of which `source` was made in the shape's own axes.
    pub shape: Option<BodyShape>,
    /// Where it stands; `None` if `source` is in the axes of the scene.
    pub placement: Option<Placement>,
    /// Its triangles, m; `None` if there are none (an unreadable file).
    pub source: Option<Arc<TriangleMesh>>,
    /// Normals at the corners of `source`, smooth where it is round.
    normals: Vec<[[f64; 3]; 3]>,
    /// Whether `mesh` is that of `source` and `cut`.
    is_made: bool,
    /// The cut that was last drawn.
    cut: Option<Cut>,
    /// For each drawn triangle, that of `source` of which it is a part.
    shown: Vec<u32>,
    /// Normals at its corners.
    directions: Vec<Vec3>,
    /// The drawn mesh.
    pub mesh: Option<Handle<Mesh>>,
    /// Its entity.
    pub entity: Option<Entity>,
}

/// A plane in the axes of `source`: points at `normal` . p + `offset` >= 0 are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    normal: [f64; 3],
    offset: f64,
}

impl Body {
    /// Takes other triangles.
    pub fn take(&mut self, source: Option<Arc<TriangleMesh>>) {
        self.normals = source.as_ref().map(|mesh| normals(mesh)).unwrap_or_default();
        self.source = source;
        self.mesh_is_old();
    }

    /// The mesh has to be made anew.
    pub fn mesh_is_old(&mut self) {
        self.is_made = false;
    }

    /// Where it stands in the picture.
    pub fn transform(&self, stage: &Stage) -> Transform {
        let Some(placement) = self.placement else { return Transform::IDENTITY };
        Transform::from_translation(stage.place(placement.position_m)).with_rotation(turn(placement))
    }

    /// The cut across an axis of the scene, at `position_m` or through the middle of the body, that takes away the half
    /// on the side of `eye_m`.
    pub fn cut(&self, axis: usize, position_m: Option<f64>, eye_m: [f64; 3]) -> Option<Cut> {
        let mesh = self.source.as_ref()?;
        let axis = axis.min(2);
        let (row, shift) = match self.placement {
            Some(place) => (rotation(place.rotation_deg)[axis], place.position_m[axis]),
            None => (std::array::from_fn(|k| f64::from(u8::from(k == axis))), 0.0),
        };
        let position = position_m.unwrap_or_else(|| {
            let places = mesh.vertices.iter().map(|v| dot(row, *v) + shift);
            let [low, high] = places.fold([f64::MAX, f64::MIN], |[low, high], p| [low.min(p), high.max(p)]);
            0.5 * (low + high)
        });
        let side = if eye_m[axis] > position { -1.0 } else { 1.0 };
        Some(Cut { normal: row.map(|c| side * c), offset: side * (shift - position) })
    }

    /// Whether the drawn mesh is not that of this cut.
    pub fn must_be_made(&self, cut: Option<Cut>) -> bool {
        !self.is_made || self.cut != cut
    }

    /// Makes the mesh, without colours.
    pub fn make(&mut self, cut: Option<Cut>, stage: &Stage) -> Mesh {
        (self.cut, self.is_made) = (cut, true);
        self.shown.clear();
        self.directions.clear();
        let mut positions = Vec::new();
        let middle = if self.placement.is_some() { [0.0; 3] } else { stage.middle_m };
        let scale = stage.scale();
        let source = self.source.as_deref();
        for triangle in 0..source.map_or(0, |mesh| mesh.triangles.len()) {
            let (Some(mesh), Some(normals)) = (source, self.normals.get(triangle)) else { break };
            for part in parts(mesh.corners(triangle), *normals, cut) {
                self.shown.push(triangle as u32);
                for [x, y, z, right, up, front] in part {
                    let point = [x, y, z];
                    let place: [f32; 3] = std::array::from_fn(|a| ((point[a] - middle[a]) * scale) as f32);
                    positions.push(place);
                    let direction = Vec3::new(right as f32, up as f32, front as f32);
                    self.directions.push(direction.normalize_or(Vec3::Y));
                }
            }
        }
        if positions.is_empty() {
            // A mesh without a corner is not one: a triangle without area stands for it.
            positions.extend([[0.0; 3]; 3]);
            self.shown.push(u32::MAX);
            self.directions.extend([Vec3::Y; 3]);
        }
        triangles(true)
            .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, vec![[1.0; 4]; positions.len()])
            .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
            .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, self.directions.clone())
    }

    /// Linear colours of the corners of the drawn triangles, with light from above; `values` has one a triangle of the
    /// body.
    pub fn shades(&self, values: &[f32], colors: Option<&Colors>) -> Vec<[f32; 4]> {
        // Values of another version of the body mean nothing on this one.
        let fits = self.source.as_ref().is_some_and(|mesh| mesh.triangles.len() == values.len());
        let light = self.placement.map_or(Quat::IDENTITY, turn).inverse() * LIGHT;
        let corners = self.shown.iter().zip(self.directions.chunks(3));
        let shade = |(&triangle, directions): (&u32, &[Vec3])| {
            let (color, shadow) = match (colors, values.get(triangle as usize)) {
                (Some(colors), Some(value)) if fits && value.is_finite() => {
                    let [r, g, b, _] = colors.linear(*value);
                    ([r, g, b], COLOR_SHADOW)
                }
                _ => (PLAIN, PLAIN_SHADOW),
            };
            let lit = |direction: Option<&Vec3>| {
                let share = direction.map_or(1.0, |direction| 0.5 + 0.5 * light.dot(*direction));
                let [r, g, b] = color.map(|c| c * (shadow + (1.0 - shadow) * share));
                [r, g, b, 1.0]
            };
            [0, 1, 2].map(|corner| lit(directions.get(corner)))
        };
        corners.flat_map(shade).collect()
    }
}

fn turn(placement: Placement) -> Quat {
    let [x, y, z] = rotation(placement.rotation_deg).map(|row| Vec3::from_array(row.map(|c| c as f32)));
    Quat::from_mat3(&Mat3::from_cols(x, y, z).transpose())
}

/// What a cut leaves of a triangle, as triangles: position and normal of each corner.
fn parts(corners: [[f64; 3]; 3], normals: [[f64; 3]; 3], cut: Option<Cut>) -> Vec<[[f64; 6]; 3]> {
    let corner = |i: usize| -> [f64; 6] {
        std::array::from_fn(|k| if k < 3 { corners[i][k] } else { normals[i][k - 3] })
    };
    let whole = [corner(0), corner(1), corner(2)];
    let Some(Cut { normal, offset }) = cut else { return vec![whole] };
    let left = clip(&whole, |c| dot(normal, [c[0], c[1], c[2]]) + offset, mix);
    (2..left.len()).map(|i| [left[0], left[i - 1], left[i]]).collect()
}

/// Normals at the corners of each triangle: that of the surface around the corner where it is round, else that of the
/// triangle.
fn normals(mesh: &TriangleMesh) -> Vec<[[f64; 3]; 3]> {
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); mesh.vertices.len()];
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        triangle.iter().for_each(|&v| around[v as usize].push(t as u32));
    }
    let flat: Vec<[f64; 3]> = (0..mesh.triangles.len()).map(|t| mesh.normal(t)).collect();
    let corner = |t: usize, v: u32| {
        let near = around[v as usize].iter().map(|&other| other as usize);
        let round = near.filter(|&other| dot(flat[t], flat[other]) > ROUND);
        round.fold([0.0; 3], |sum, other| add(sum, mesh.area_vector(other)))
    };
    mesh.triangles
        .iter()
        .enumerate()
        .map(|(t, triangle)| triangle.map(|v| unit(corner(t, v), flat[t])))
        .collect()
}

fn unit(direction: [f64; 3], otherwise: [f64; 3]) -> [f64; 3] {
    let length = dot(direction, direction).sqrt();
    if length > 0.0 { direction.map(|c| c / length) } else { otherwise }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::mesh::vector::{cross, norm, sub};
    use crate::scene::{Shape, shape};
    use crate::view::testing::{snapshot, stage};
    use std::path::Path;

    fn point(c: [f64; 6]) -> [f64; 3] {
        [c[0], c[1], c[2]]
    }

    fn area(body: &Body, cut: Option<Cut>) -> f64 {
        let mesh = body.source.as_ref().unwrap();
        let all = (0..mesh.triangles.len()).flat_map(|t| parts(mesh.corners(t), [[0.0; 3]; 3], cut));
        all.map(|p| 0.5 * norm(cross(sub(point(p[1]), point(p[0])), sub(point(p[2]), point(p[0]))))).sum()
    }

    #[test]
    fn a_half_section_leaves_the_half_behind_the_plane() {
        let mut body = Body::default();
        body.take(Some(snapshot().surfaces[0].mesh.clone()));
        let whole = area(&body, None);
        let half = |axis, position_m, eye_m| area(&body, body.cut(axis, position_m, eye_m)) / whole;
        let near = [1.0, 0.5, 9.0];
        assert!((half(2, None, near) - 0.5).abs() < 0.01);
        // By Archimedes the area of a cap goes as its height.
        assert!((half(2, Some(0.55), near) - 0.75).abs() < 0.01);
        assert!((half(2, Some(0.55), [1.0, 0.5, -9.0]) - 0.25).abs() < 0.01);
        let made = body.cut(2, None, near);
        body.make(made, &stage());
        let mesh = body.source.clone().unwrap();
        assert!(!body.shown.is_empty());
        assert!(body.shown.iter().all(|&t| mesh.corners(t as usize).iter().any(|c| c[2] <= 0.5 + 1e-9)));
    }

    #[test]
    fn a_placed_body_is_cut_where_it_stands() {
        let size_m = [0.4, 0.2, 0.2];
        let boxed = shape::body(&Shape::Box { size_m }, Path::new(".")).unwrap().mesh;
        // A quarter turn about z: its length now lies along y.
        let placement = Some(Placement { position_m: [1.0, 0.5, 0.5], rotation_deg: [0.0, 0.0, 90.0] });
        let mut body = Body { placement, ..Default::default() };
        body.take(Some(Arc::new(boxed)));
        let cut = body.cut(1, Some(0.6), [1.0, 9.0, 0.5]);
        // Up to y = 0.6 m of 0.3 to 0.7: three quarters of the sides, and one end.
        let expected = 0.75 * 4.0 * 0.4 * 0.2 + 0.04;
        assert!((area(&body, cut) - expected).abs() < 1e-9);
        let transform = body.transform(&stage());
        let end = transform * Vec3::new(0.2, 0.0, 0.0);
        assert!((end - Vec3::new(0.0, 0.2, 0.0)).length() < 1e-6, "{end}");
    }

    #[test]
    fn round_bodies_have_smooth_normals_and_edges_stay_sharp() {
        let sphere = snapshot().surfaces[0].mesh.clone();
        for (t, corners) in normals(&sphere).iter().enumerate() {
            for (normal, place) in corners.iter().zip(sphere.corners(t)) {
                let outwards = sub(place, [1.0, 0.5, 0.5]);
                assert!(dot(*normal, outwards) > 0.995 * norm(outwards));
            }
        }
        let boxed = shape::body(&Shape::Box { size_m: [1.0; 3] }, Path::new(".")).unwrap().mesh;
        for (t, corners) in normals(&boxed).iter().enumerate() {
            assert!(corners.iter().all(|normal| norm(sub(*normal, boxed.normal(t))) < 1e-9));
        }
    }
}
