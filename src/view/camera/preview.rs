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
