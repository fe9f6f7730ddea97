//! Where a body stands, as the file says it and as the picture says it, and back.
//! Must not know what moves it.

use super::components::Placement;
use crate::scene::mesh::transform::rotation;
use crate::view::stage::Stage;
use bevy::math::{DMat3, DQuat};
use bevy::prelude::*;

/// Below this cosine of the middle angle, turns about x and z are the same turn.
const LOCKED: f64 = 1e-6;
/// What a gizmo writes is rounded to this, degrees: single precision has no more.
const ROUND_DEG: f64 = 1e-3;
/// And to about this share of the longest edge of the domain.
const ROUND_LENGTH: f64 = 1e-5;
/// Smaller moves than this, in units of the picture, are noise of single precision.
const NOISE: f32 = 1e-6;

/// Where a body was put in the picture, so that a gizmo's move can be told from that.
#[derive(Debug, Clone, Copy, PartialEq, Default, Component)]
pub(super) struct Shown(pub(super) Transform);

/// Place and rotation of a body in the picture.
pub fn transform(placement: &Placement, stage: &Stage) -> Transform {
    let [x, y, z] = rotation(placement.rotation_deg);
    let rows = DMat3::from_cols(x.into(), y.into(), z.into());
    Transform {
        translation: stage.place(placement.position_m),
        rotation: DQuat::from_mat3(&rows.transpose()).normalize().as_quat(),
        scale: Vec3::ONE,
    }
}

/// The angles about x, then y, then z (fixed axes) of which [`rotation`] makes `matrix`, degrees: the inverse of it. Of
/// all that do, those nearest to `near`. In gimbal lock (y at +-90) the turn about z is that of `near`.
pub fn degrees(matrix: [[f64; 3]; 3], near: [f64; 3]) -> [f64; 3] {
    // R = Rz Ry Rx. The first column has y and z; what is left of R without z has x.
    let [[r00, r01, r02], [r10, r11, r12], [r20, _, _]] = matrix;
    let level = r00.hypot(r10);
    let y = f64::atan2(-r20, level);
    let z = if level < LOCKED { near[2].to_radians() } else { f64::atan2(r10, r00) };
    let (s, c) = z.sin_cos();
    let x = f64::atan2(s * r02 - c * r12, c * r11 - s * r01);
    let one = [x, y, z].map(f64::to_degrees);
    let other = [one[0] + 180.0, 180.0 - one[1], one[2] + 180.0];
    let candidates = [one, other].map(|angles| {
        let angles: [f64; 3] =
            std::array::from_fn(|k| angles[k] + 360.0 * ((near[k] - angles[k]) / 360.0).round());
        let far: f64 = (0..3).map(|k| (angles[k] - near[k]).abs()).sum();
        (far, angles)
    });
    let [(one_far, one), (other_far, other)] = candidates;
    if other_far < one_far { other } else { one }
}

/// A body that was moved in the picture from `shown` to `now`: its new placement. What was not moved stays to the last
/// bit.
pub(super) fn moved(placement: &Placement, shown: &Transform, now: &Transform, stage: &Stage) -> Placement {
    let mut result = *placement;
    let longest = stage.size_m.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let grid = 10_f64.powf((longest * ROUND_LENGTH).log10().floor());
    let place = stage.metres(now.translation);
    for axis in 0..3 {
        if (now.translation[axis] - shown.translation[axis]).abs() > NOISE {
            result.position_m[axis] = round(place[axis], grid);
        }
    }
    if now.rotation != shown.rotation {
        let columns = DMat3::from_quat(now.rotation.as_dquat().normalize());
        let rows = columns.transpose();
        let matrix = [rows.x_axis, rows.y_axis, rows.z_axis].map(|row| row.to_array());
        result.rotation_deg = degrees(matrix, placement.rotation_deg).map(|angle| round(angle, ROUND_DEG));
    }
    result
}

/// To a multiple of a power of ten, without the digits that a product with it would leave behind.
fn round(value: f64, grid: f64) -> f64 {
    let decimals = -grid.log10().round() as i32;
    let rounded = format!("{value:.*}", decimals.max(0) as usize).parse().unwrap_or(value);
    let rounded = if decimals < 0 { (value / grid).round() * grid } else { rounded };
    // No "-0" in files.
    rounded + 0.0
}

/// A gizmo's move goes into the placement.
pub(super) fn write_back(
    stage: Option<Res<Stage>>,
    mut bodies: Query<(&mut Placement, &Transform, &mut Shown), Changed<Transform>>,
) {
    let Some(stage) = stage else { return };
    for (mut placement, now, mut shown) in &mut bodies {
        if *now != shown.0 {
            let result = moved(&placement, &shown.0, now, &stage);
            placement.set_if_neq(result);
            shown.0 = *now;
        }
    }
}

/// The placement goes into the picture, but for the body that a gizmo holds.
pub(super) fn show(
    stage: Option<Res<Stage>>,
    held: Res<super::edit::Held>,
    mut bodies: Query<(Entity, &Placement, &mut Transform, Option<&mut Shown>)>,
    mut commands: Commands,
) {
    let Some(stage) = stage else { return };
    for (entity, placement, mut now, shown) in &mut bodies {
        if held.0 == Some(entity) {
            continue;
        }
        let wanted = transform(placement, &stage);
        match shown {
            Some(mut shown) if shown.0 != wanted || *now != wanted => {
                shown.0 = wanted;
                *now = wanted;
            }
            Some(_) => {}
            None => {
                *now = wanted;
                commands.entity(entity).insert(Shown(wanted));
            }
        }
    }
}
