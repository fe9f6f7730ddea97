//! The shape of an arrow.
//! Must not know what arrows stand for.

use crate::view::draw::keep::triangles;
use bevy::prelude::*;

const SIDES: usize = 12;
const SHAFT_RADIUS: f32 = 0.045;
const HEAD_RADIUS: f32 = 0.13;
const HEAD_FROM: f32 = 0.62;

/// An arrow from the origin to (0, 1, 0). Its head has the full colour; shaft and end faces are a little darker, so that
/// it can be seen whether it points this way or away.
pub fn mesh() -> Mesh {
    let (mut positions, mut shades) = (Vec::new(), Vec::new());
    let mut add = |corners: [Vec3; 3], shade: f32| {
        positions.extend(corners.map(|corner| corner.to_array()));
        shades.extend([[shade, shade, shade, 1.0]; 3]);
    };
    let ring = |side: usize, radius: f32, height: f32| {
        let (sine, cosine) = (side as f32 / SIDES as f32 * std::f32::consts::TAU).sin_cos();
        Vec3::new(radius * sine, height, radius * cosine)
    };
    for side in 0..SIDES {
        let at = |radius, height| [ring(side, radius, height), ring(side + 1, radius, height)];
        let ([a, b], [c, d]) = (at(SHAFT_RADIUS, 0.0), at(SHAFT_RADIUS, HEAD_FROM));
        let [e, f] = at(HEAD_RADIUS, HEAD_FROM);
        add([Vec3::ZERO, b, a], 0.45);
        add([a, b, d], 0.7);
        add([a, d, c], 0.7);
        add([Vec3::Y * HEAD_FROM, f, e], 0.45);
        add([e, f, Vec3::Y], 1.0);
    }
    let normals = vec![[0.0, 1.0, 0.0]; positions.len()];
    triangles(false)
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
        .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, shades)
}
