//! The camera path of the document: kept ready, played in the window, drawn as a line.
//! Must not know who edits the path, nor record it.

use super::{Path, Rig};
use crate::view::document::SceneSettings;
use crate::view::stage::Stage;
use bevy::prelude::*;
use bevy::time::Real;

/// The path of the document; `None` while it has no key frames.
#[derive(Debug, Clone, PartialEq, Default, Resource)]
pub struct CameraPath(pub Option<Path>);

/// How the path is shown in the window.
#[derive(Debug, Clone, PartialEq, Resource)]
pub struct Preview {
    /// The camera goes along the path, in real time.
    pub playing: bool,
    /// Time on the path, s.
    pub time_s: f64,
    /// Whether the path is drawn as a line, while it is not played.
    pub line: bool,
}

impl Default for Preview {
    fn default() -> Self {
        Self { playing: false, time_s: 0.0, line: true }
    }
}

impl Preview {
    /// Plays from where it stands, or from the start if it stands at the end.
    pub fn play(&mut self, path: &Path) {
        self.playing = true;
        if self.time_s >= path.end_s() {
            self.time_s = 0.0;
        }
    }
}

/// Makes the path when the document or the stage changed.
pub(super) fn follow_document(
    settings: Query<Ref<SceneSettings>>,
    stage: Option<Res<Stage>>,
    mut path: ResMut<CameraPath>,
) {
    let (Ok(settings), Some(stage)) = (settings.single(), stage) else {
        path.set_if_neq(CameraPath(None));
        return;
    };
    if settings.is_changed() || stage.is_changed() {
        path.set_if_neq(CameraPath(Path::new(&settings.view.path, &stage)));
    }
}

/// Moves the camera along the path.
pub(super) fn play(
    time: Res<Time<Real>>,
    path: Res<CameraPath>,
    mut preview: ResMut<Preview>,
    mut rigs: Query<&mut Rig>,
) {
    if !preview.playing {
        return;
    }
    let (Some(path), Some(mut rig)) = (&path.0, rigs.iter_mut().next()) else {
        preview.playing = false;
        return;
    };
    preview.time_s = (preview.time_s + time.delta_secs_f64()).min(path.end_s());
    preview.playing = preview.time_s < path.end_s();
    rig.jump(path.at(preview.time_s));
}

/// Draws the way of the eye, and at each key frame where it looks.
pub(super) fn draw_line(path: Res<CameraPath>, preview: Res<Preview>, mut gizmos: Gizmos) {
    let Some(path) = &path.0 else { return };
    if !preview.line || preview.playing {
        return;
    }
    let color = Color::srgb_u8(240, 190, 60);
    gizmos.linestrip(path.eyes(160), color);
    for view in path.views() {
        let glance = (view.target - view.eye).clamp_length_max(0.25);
        gizmos.arrow(view.eye, view.eye + glance, color.with_alpha(0.8));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{KeyFrame, View};
    use crate::view::camera::testing::settings;
    use crate::view::camera::{CameraPlugin, Viewpoint};
    use crate::view::testing::{count, picture, stage, studio};

    #[test]
    fn the_line_is_where_the_eye_goes() {
        let size = [320, 180];
        let mut studio = studio(size, Viewpoint::default().along(Vec3::NEG_Z, 3.0), CameraPlugin);
        let key = |x: f32| {
            let [eye, target] = [Vec3::new(x, 0.0, 0.0), Vec3::new(x, 0.0, -1.0)];
            let camera = Viewpoint { eye, target, ..Viewpoint::default() }.camera(&stage());
            KeyFrame { time_s: f64::from(x) + 1.0, camera }
        };
        let view = View { path: vec![key(-0.5), key(0.5)], ..View::default() };
        studio.world().spawn(SceneSettings { view, ..settings() });
        let frame = picture(&mut studio, size);
        let amber = |[r, g, b]: [u8; 3]| r > 90 && r > g && i32::from(g) > i32::from(b) + 25;
        // A unit at the middle is 90 / (3 tan 22.5 degrees) = 72.4 pixels: the line goes from column 124 to 196.
        let columns = |from: usize, to: usize| {
            let drawn = |x: usize| (87..93).any(|y| frame.pixel(x, y).is_some_and(amber));
            (from..to).filter(|&x| drawn(x)).count()
        };
        assert_eq!(columns(126, 195), 69);
        assert_eq!(columns(0, 118) + columns(203, 320), 0);
        studio.world().resource_mut::<Preview>().line = false;
        assert_eq!(count(&picture(&mut studio, size), amber), 0);
    }
}
