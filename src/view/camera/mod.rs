//! Where the flow is seen from.
//! Must not know the simulation or what is drawn.

use bevy::camera::ScalingMode;
use bevy::prelude::*;

/// A place of the camera, in units of the picture: plain values, for presets, bookmarks, paths and recordings alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewpoint {
    /// Where the eye is.
    pub eye: Vec3,
    /// What it looks at.
    pub target: Vec3,
    /// What is up in the picture.
    pub up: Vec3,
    /// Vertical angle of view, degrees. With `orthographic` it gives the height that is seen at the target.
    pub field_of_view_deg: f32,
    /// Parallel projection: lengths are the same near and far.
    pub orthographic: bool,
}

impl Default for Viewpoint {
    /// The whole domain, from the upper left in front.
    fn default() -> Self {
        Self::orbit(-25.0, 20.0, 4.0)
    }
}

impl Viewpoint {
    /// Looks at the middle of the domain from `distance`, turned by `yaw_deg` about the vertical (0 looks along -z) and
    /// raised by `pitch_deg` above the horizon.
    pub fn orbit(yaw_deg: f32, pitch_deg: f32, distance: f32) -> Self {
        let (yaw, pitch) = (yaw_deg.to_radians(), pitch_deg.clamp(-89.0, 89.0).to_radians());
        let from = Vec3::new(pitch.cos() * yaw.sin(), pitch.sin(), pitch.cos() * yaw.cos());
        Self {
            eye: from * distance,
            target: Vec3::ZERO,
            up: Vec3::Y,
            field_of_view_deg: 45.0,
            orthographic: false,
        }
    }

    /// Looks at the same target along `direction` from `distance`.
    pub fn along(self, direction: Vec3, distance: f32) -> Self {
        let up = if direction.normalize_or_zero().y.abs() > 0.99 { Vec3::NEG_Z } else { Vec3::Y };
        Self { eye: self.target - direction.normalize_or_zero() * distance, up, ..self }
    }

    /// Turned about the vertical through the target.
    pub fn turned(self, degrees: f32) -> Self {
        let turn = Quat::from_rotation_y(degrees.to_radians());
        Self { eye: self.target + turn * (self.eye - self.target), up: turn * self.up, ..self }
    }

    /// The camera's place and direction.
    pub fn transform(&self) -> Transform {
        Transform::from_translation(self.eye).looking_at(self.target, self.up)
    }

    /// The camera's projection.
    pub fn projection(&self) -> Projection {
        let distance = self.eye.distance(self.target).max(1e-6);
        let half = (0.5 * self.field_of_view_deg).to_radians();
        if self.orthographic {
            let viewport_height = 2.0 * distance * half.tan();
            Projection::Orthographic(OrthographicProjection {
                near: -1000.0,
                far: 1000.0,
                scaling_mode: ScalingMode::FixedVertical { viewport_height },
                ..OrthographicProjection::default_3d()
            })
        } else {
            Projection::Perspective(PerspectiveProjection { fov: 2.0 * half, near: 1e-3, ..default() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_orbit_looks_at_the_middle_from_its_distance() {
        let camera = Viewpoint::orbit(90.0, 0.0, 3.0).transform();
        assert!((camera.translation - Vec3::new(3.0, 0.0, 0.0)).length() < 1e-6);
        assert!((camera.forward().as_vec3() - Vec3::NEG_X).length() < 1e-6);
        let down = Viewpoint::default().along(Vec3::NEG_Y, 2.0).transform();
        assert!((down.forward().as_vec3() - Vec3::NEG_Y).length() < 1e-6);
    }
}
