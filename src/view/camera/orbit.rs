//! The camera's place as what the hand changes: a target, a distance and angles; zoom, pan, orbit, look, frame.
//! Must not know windows, keys or Bevy's world: plain values in, plain values out.

use super::Viewpoint;
use bevy::prelude::*;
use std::f32::consts::{FRAC_PI_2, PI};

/// How near and how far the eye may be, units of the picture: from the near plane to where the domain is a speck.
const DISTANCE: [f32; 2] = [2e-3, 500.0];

/// A viewpoint in the coordinates of a turntable. Angles in radians, lengths in units of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Orbit {
    /// What is in the middle of the picture.
    pub target: Vec3,
    /// From the eye to the target.
    pub distance: f32,
    /// About the vertical; 0 looks along -z. Not wrapped: the way from 350 to 370 degrees is short.
    pub yaw: f32,
    /// Of the eye above the horizon of the target.
    pub elevation: f32,
    /// About the direction of view.
    pub roll: f32,
    /// Vertical angle of view, degrees.
    pub field_of_view_deg: f32,
    /// Parallel projection.
    pub orthographic: bool,
}

impl From<Viewpoint> for Orbit {
    fn from(view: Viewpoint) -> Self {
        let offset = view.eye - view.target;
        let back = offset.normalize_or(Vec3::Z);
        let up = view.up.normalize_or(Vec3::Y);
        let elevation = back.y.atan2(back.x.hypot(back.z));
        // Above a pole the direction of view says nothing of the yaw; what is up in the picture does.
        let yaw = if back.x.hypot(back.z) > 1e-4 {
            back.x.atan2(back.z)
        } else {
            (-back.y * up.x).atan2(-back.y * up.z)
        };
        let level = Quat::from_euler(EulerRot::YXZ, yaw, -elevation, 0.0).inverse() * up;
        Self {
            target: view.target,
            distance: offset.length().clamp(DISTANCE[0], DISTANCE[1]),
            yaw,
            elevation,
            roll: (-level.x).atan2(level.y),
            field_of_view_deg: view.field_of_view_deg,
            orthographic: view.orthographic,
        }
    }
}

impl From<Orbit> for Viewpoint {
    fn from(orbit: Orbit) -> Self {
        Self {
            eye: orbit.eye(),
            target: orbit.target,
            up: orbit.rotation() * Vec3::Y,
            field_of_view_deg: orbit.field_of_view_deg,
            orthographic: orbit.orthographic,
        }
    }
}

impl Orbit {
    /// The camera's rotation.
    pub fn rotation(&self) -> Quat {
        Quat::from_euler(EulerRot::YXZ, self.yaw, -self.elevation, self.roll)
    }

    /// Where the eye is.
    pub fn eye(&self) -> Vec3 {
        self.target + self.rotation() * Vec3::Z * self.distance
    }

    /// Half the height of what is seen at the target's depth.
    pub fn half_height(&self) -> f32 {
        self.distance * (0.5 * self.field_of_view_deg).to_radians().tan()
    }

    /// The point under the cursor at the target's depth. `cursor` goes from -1 to 1, to the right and upwards.
    pub fn under(&self, cursor: Vec2, aspect: f32) -> Vec3 {
        let across = cursor * self.half_height() * Vec2::new(aspect, 1.0);
        self.target + self.rotation() * across.extend(0.0)
    }

    /// Nearer by `factor` < 1, farther by one > 1; what is under the cursor at the target's depth stays there.
    pub fn zoom(&mut self, factor: f32, cursor: Vec2, aspect: f32) {
        let fixed = self.under(cursor, aspect);
        let distance = (self.distance * factor).clamp(DISTANCE[0], DISTANCE[1]);
        self.target = fixed + (self.target - fixed) * (distance / self.distance);
        self.distance = distance;
    }

    /// Turns about the target with the cursor, which moved by `pixels` (y downwards) in a picture of `height` pixels:
    /// half a turn from edge to edge.
    pub fn turn(&mut self, pixels: Vec2, height: f32) {
        let moved = Vec2::from_angle(-self.roll).rotate(pixels) * PI / height.max(1.0);
        self.yaw -= moved.x;
        self.elevation = (self.elevation + moved.y).clamp(-FRAC_PI_2, FRAC_PI_2);
    }

    /// Moves across the view, such that a point at the target's depth follows the cursor.
    pub fn pan(&mut self, pixels: Vec2, height: f32) {
        let units = pixels * 2.0 * self.half_height() / height.max(1.0);
        self.target += self.rotation() * Vec3::new(-units.x, units.y, 0.0);
    }

    /// Turns the view about the eye, a quarter of a degree a pixel.
    pub fn look(&mut self, pixels: Vec2) {
        let eye = self.eye();
        let moved = pixels * 0.25_f32.to_radians();
        self.yaw -= moved.x;
        self.elevation = (self.elevation + moved.y).clamp(-FRAC_PI_2, FRAC_PI_2);
        self.target += eye - self.eye();
    }

    /// Moves eye and target: x to the right, y upwards in the picture, z backwards.
    pub fn fly(&mut self, by: Vec3) {
        self.target += self.rotation() * by;
    }

    /// A `share` of the way to `goal`; `about_eye` when it is the eye that goes straight, not the target. Every part is
    /// linear, so that the shares of two frames are that of one frame of both, and a zoom holds its point all the way.
    pub fn approach(&mut self, goal: &Self, share: f32, about_eye: bool) {
        let eye = self.eye().lerp(goal.eye(), share);
        let to = |from: f32, to: f32| from + (to - from) * share;
        self.target = self.target.lerp(goal.target, share);
        self.distance = to(self.distance, goal.distance);
        self.yaw = to(self.yaw, goal.yaw);
        self.elevation = to(self.elevation, goal.elevation);
        self.roll = to(self.roll, goal.roll);
        self.field_of_view_deg = to(self.field_of_view_deg, goal.field_of_view_deg);
        self.orthographic = goal.orthographic;
        if about_eye {
            self.target += eye - self.eye();
        }
        if self.is_near(goal) {
            *self = *goal;
        }
    }

    /// Less than a tenth of a pixel away.
    fn is_near(&self, goal: &Self) -> bool {
        let angles = [self.yaw - goal.yaw, self.elevation - goal.elevation, self.roll - goal.roll];
        let lengths = [self.target.distance(goal.target), self.distance - goal.distance];
        angles.iter().all(|angle| angle.abs() < 5e-5)
            && lengths.iter().all(|length| length.abs() < 5e-5 * goal.distance)
            && (self.field_of_view_deg - goal.field_of_view_deg).abs() < 1e-3
    }

    /// From the same direction, at the distance from which the box between the corners `low` and `high` fills the
    /// picture but for a margin of a tenth; `aspect` is width over height.
    pub fn framed(mut self, [low, high]: [Vec3; 2], aspect: f32) -> Self {
        let middle = 0.5 * (low + high);
        let to_camera = self.rotation().inverse();
        let slope = (0.5 * self.field_of_view_deg).to_radians().tan();
        let margin = 1.1 / (slope * Vec2::new(aspect.max(1e-3), 1.0));
        let distance = corners([low, high]).map(|corner| {
            let at = to_camera * (corner - middle);
            let needed = (at.truncate().abs() * margin).max_element();
            if self.orthographic { needed } else { needed + at.z }
        });
        self.target = middle;
        self.distance = distance.into_iter().fold(DISTANCE[0], f32::max).min(DISTANCE[1]);
        self
    }
}

/// The eight corners of a box.
pub fn corners([low, high]: [Vec3; 2]) -> [Vec3; 8] {
    std::array::from_fn(|i| {
        Vec3::from_array(std::array::from_fn(|a| if i >> a & 1 == 0 { low[a] } else { high[a] }))
    })
}

/// The way from one viewpoint to another, `share` from 0 to 1: the target goes straight, the eye about it, so that it
/// never comes nearer to it than at the nearer end.
pub fn between(from: &Viewpoint, to: &Viewpoint, share: f32) -> Viewpoint {
    if share >= 1.0 {
        return *to;
    }
    let [a, b] = [from, to].map(|view| view.transform().rotation);
    let [near, far] = [from, to].map(|view| view.eye.distance(view.target).max(1e-6));
    let rotation = a.slerp(b, share);
    let target = from.target.lerp(to.target, share);
    Viewpoint {
        eye: target + rotation * Vec3::Z * near * (far / near).powf(share),
        target,
        up: rotation * Vec3::Y,
        field_of_view_deg: from.field_of_view_deg + (to.field_of_view_deg - from.field_of_view_deg) * share,
        orthographic: to.orthographic,
    }
}

#[cfg(test)]
#[path = "orbit_tests.rs"]
mod tests;
