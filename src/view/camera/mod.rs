//! Where the flow is seen from: the hand, presets, bookmarks and paths move one camera, that which has a [`Rig`].
//! Must not know the simulation or what is drawn.
//!
//! | file | is |
//! |---|---|
//! | [`orbit`] | what zoom, pan, orbit, look and frame do to a place: pure |
//! | [`path`] | the way through key frames: pure |
//! | [`marks`] | editing bookmarks and key frames: pure |
//! | [`rig`] | the mouse and the keys that fly, and how the camera follows, smoothly |
//! | [`orders`] | what panels and keys may order |
//! | [`preview`] | the path played in the window, and its line |

pub mod marks;
pub mod orbit;
pub mod orders;
pub mod path;
pub mod preview;
pub mod rig;
#[cfg(test)]
pub mod testing;

pub use orders::CameraOrder;
pub use path::Path;
pub use preview::{CameraPath, Preview};
pub use rig::{Hand, Mode, Rig};

use super::keys::Action;
use super::stage::Stage;
use crate::scene::{Camera as SceneCamera, Model, Scene};
use bevy::camera::ScalingMode;
use bevy::prelude::*;
use bevy::window::CursorMoved;

/// Moves the camera that has a [`Rig`] by mouse, keys and [`CameraOrder`]s.
pub struct CameraPlugin;

/// All that moves the camera, in `Update`. Whoever orders something of it in the same frame runs before.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SystemSet)]
pub struct CameraSystems;

impl Plugin for CameraPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Hand>()
            .init_resource::<Preview>()
            .init_resource::<CameraPath>()
            .add_message::<CameraOrder>()
            .add_message::<Action>()
            .add_message::<CursorMoved>()
            .add_systems(
                Update,
                (
                    orders::from_keys,
                    orders::obey,
                    preview::follow_document,
                    rig::steer,
                    preview::play,
                    rig::settle,
                    preview::draw_line.run_if(resource_exists::<GizmoConfigStore>),
                )
                    .chain()
                    .in_set(CameraSystems),
            );
    }
}

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

    /// The viewpoint of that name: a bookmark of the scene, or +x, -x, +y, -y, +z, -z for where to look from.
    ///
    /// # Errors
    /// There is none; what there is.
    pub fn named(name: &str, scene: &Scene) -> Result<Self, String> {
        let Model::Gas(gas) = &scene.model;
        let bookmarks = &scene.view.bookmarks;
        if let Some(bookmark) = bookmarks.iter().find(|bookmark| bookmark.name == name) {
            return Ok(Self::of(&bookmark.camera, &Stage::of(&gas.domain)));
        }
        let axes = ["+x", "-x", "+y", "-y", "+z", "-z"];
        let Some(at) = axes.iter().position(|axis| *axis == name) else {
            let names = bookmarks.iter().map(|bookmark| bookmark.name.as_str()).chain(axes);
            let names = names.collect::<Vec<_>>().join(", ");
            return Err(format!("there is no view \"{name}\" to look from; there are: {names}"));
        };
        let sign = if at % 2 == 0 { -1.0 } else { 1.0 };
        Ok(Self::default().along(Vec3::AXES[at / 2] * sign, 3.6))
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

    /// A camera of a scene in the picture.
    pub fn of(camera: &SceneCamera, stage: &Stage) -> Self {
        // Of length 1 in double precision first: in the file it may have any length.
        let length = camera.up.iter().map(|x| x * x).sum::<f64>().sqrt();
        let up = if length > 0.0 { camera.up.map(|x| (x / length) as f32) } else { [0.0, 1.0, 0.0] };
        Self {
            eye: stage.place(camera.eye_m),
            target: stage.place(camera.target_m),
            up: Vec3::from_array(up),
            field_of_view_deg: camera.field_of_view_deg as f32,
            orthographic: camera.orthographic,
        }
    }

    /// What a scene keeps of this.
    pub fn camera(&self, stage: &Stage) -> SceneCamera {
        SceneCamera {
            eye_m: stage.metres(self.eye),
            target_m: stage.metres(self.target),
            up: self.up.to_array().map(f64::from),
            field_of_view_deg: f64::from(self.field_of_view_deg),
            orthographic: self.orthographic,
        }
    }

    /// From the same direction, at the distance from which the box between two corners fills a picture whose width is
    /// `aspect` times its height.
    pub fn framing(self, corners: [Vec3; 2], aspect: f32) -> Self {
        orbit::Orbit::from(self).framed(corners, aspect).into()
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

/// Directions to look from, at the same target from the same distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preset {
    /// From +x: from downstream, where the stream goes along x.
    PlusX,
    /// From -x.
    MinusX,
    /// From +y: from above, x to the right.
    PlusY,
    /// From -y: from below, x to the right.
    MinusY,
    /// From +z: from the front, x to the right.
    PlusZ,
    /// From -z.
    MinusZ,
    /// From (-1, 1, 1): all three axes equally long.
    Isometric,
}

impl Preset {
    /// All of them, in the order of their keys.
    pub const ALL: [Self; 7] =
        [Self::PlusX, Self::MinusX, Self::PlusY, Self::MinusY, Self::PlusZ, Self::MinusZ, Self::Isometric];

    /// Its name on a button.
    pub fn name(self) -> &'static str {
        ["+x", "-x", "+y", "-y", "+z", "-z", "isometric"][self as usize]
    }

    /// The viewpoint of the same target, distance and projection.
    pub fn of(self, view: &Viewpoint) -> Viewpoint {
        let (yaw_deg, elevation_deg) = match self {
            Self::PlusX => (90.0, 0.0),
            Self::MinusX => (-90.0, 0.0),
            Self::PlusY => (0.0, 90.0),
            Self::MinusY => (0.0, -90.0),
            Self::PlusZ => (0.0, 0.0),
            Self::MinusZ => (180.0, 0.0),
            Self::Isometric => (-45.0, 35.264_39),
        };
        let (yaw, elevation) = (f32::to_radians(yaw_deg), f32::to_radians(elevation_deg));
        orbit::Orbit { yaw, elevation, roll: 0.0, ..(*view).into() }.into()
    }
}

/// Where a point is in the picture, by the matrices of Bevy's own camera: -1 to 1, to the right and upwards.
#[cfg(test)]
pub(crate) fn on_screen(view: &Viewpoint, point: Vec3, aspect: f32) -> Vec2 {
    let mut projection = view.projection();
    projection.update(720.0 * aspect, 720.0);
    let clip = projection.get_clip_from_view() * view.transform().to_matrix().inverse();
    clip.project_point3(point).truncate()
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

    #[test]
    fn cameras_of_scenes_come_back_as_they_were() {
        for size in [1e-6, 1.0, 3e3] {
            let stage = Stage { middle_m: [10.0 * size, -size, 0.0], size_m: [2.0 * size, size, 0.3 * size] };
            let camera = SceneCamera {
                eye_m: [12.3 * size, 0.7 * size, 3.1 * size],
                target_m: [10.1 * size, -0.9 * size, 0.05 * size],
                up: [0.0, 0.6, 0.8],
                field_of_view_deg: 37.5,
                orthographic: true,
            };
            let view = Viewpoint::of(&camera, &stage);
            let again = view.camera(&stage);
            for (a, b) in
                camera.eye_m.iter().chain(&camera.target_m).zip(again.eye_m.iter().chain(&again.target_m))
            {
                assert!((a - b).abs() < 1e-6 * size, "{a} {b}");
            }
            assert!(camera.up.iter().zip(again.up).all(|(a, b)| (a - b).abs() < 1e-6));
            assert_eq!((again.field_of_view_deg, again.orthographic), (37.5, true));
            // From the picture to metres and back nothing is lost.
            assert_eq!(Viewpoint::of(&again, &stage), view);
        }
        let long = SceneCamera { up: [0.0, 1e30, 0.0], ..SceneCamera::new([0.0, 0.0, 1.0], [0.0; 3]) };
        let stage = Stage { middle_m: [0.0; 3], size_m: [1.0; 3] };
        assert_eq!(Viewpoint::of(&long, &stage).up, Vec3::Y);
    }

    #[test]
    fn presets_look_along_the_axes_at_the_same_target() {
        let view = Viewpoint { target: Vec3::new(0.2, 0.1, -0.3), ..Viewpoint::orbit(33.0, 12.0, 3.0) };
        let distance = view.eye.distance(view.target);
        let from =
            [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z, Vec3::new(-1.0, 1.0, 1.0)];
        for (preset, from) in Preset::ALL.into_iter().zip(from) {
            let seen = preset.of(&view);
            assert_eq!(seen.target, view.target);
            let expected = view.target + from.normalize() * distance;
            assert!(seen.eye.distance(expected) < 1e-5, "{preset:?}: {} is not {expected}", seen.eye);
            // The stream goes to the right wherever it is seen from the side, above or below.
            if matches!(preset, Preset::PlusY | Preset::MinusY | Preset::PlusZ) {
                assert!((seen.transform().right().as_vec3() - Vec3::X).length() < 1e-5, "{preset:?}");
            }
        }
    }

    #[test]
    fn parallel_projection_keeps_the_size_at_the_target() {
        let view = Viewpoint::orbit(-25.0, 20.0, 3.0);
        let parallel = Viewpoint { orthographic: true, ..view };
        for point in [view.transform().up() * 0.7, view.transform().right() * -1.1] {
            let [a, b] = [view, parallel].map(|view| on_screen(&view, point, 1.6));
            assert!(a.distance(b) < 1e-5 && a.length() > 0.3, "{a} {b}");
        }
    }
}
