//! What panels and keys order of the camera, its bookmarks and its path.
//! Must not know how the camera moves, nor draw anything.

use super::marks::{self, MarkError};
use super::orbit::corners;
use super::rig::picture;
use super::{CameraPath, Path, Preset, Preview, Rig, Viewpoint};
use crate::scene::mesh::transform;
use crate::scene::{View, shape};
use crate::view::document::{BodyShape, Document, Placement, SceneSettings, Selection};
use crate::view::keys::Action;
use crate::view::stage::Stage;
use bevy::camera::primitives::Aabb;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;

/// An order to the camera. Numbers are those of the lists in the scene's `View`.
#[derive(Debug, Clone, PartialEq, Message)]
pub enum CameraOrder {
    /// Goes there smoothly.
    GoTo(Viewpoint),
    /// Is there at once.
    Jump(Viewpoint),
    /// Looks along an axis.
    Look(Preset),
    /// To the whole domain from the upper left in front, in perspective.
    Reset,
    /// The whole domain fills the picture.
    FrameAll,
    /// The selected body fills the picture; without one, the domain.
    FrameSelection,
    /// To parallel projection and back.
    ToggleOrthographic,
    /// To flying and back to orbiting.
    ToggleFly,
    /// Sets the vertical angle of view, degrees.
    FieldOfView(f32),
    /// Keeps where the camera is, under this name or the next free one.
    AddBookmark(Option<String>),
    /// Goes to a bookmark.
    Bookmark(usize),
    /// Goes to the bookmark after the last one.
    NextBookmark,
    /// Gives a bookmark another name.
    RenameBookmark(usize, String),
    /// Takes a bookmark away.
    DeleteBookmark(usize),
    /// Adds a key frame where the camera is, at this time of the video, s, or 3 s after the last.
    AddKeyFrame(Option<f64>),
    /// Moves a key frame to another time, s.
    MoveKeyFrame(usize, f64),
    /// Goes to where a key frame looks from.
    KeyFrame(usize),
    /// Takes a key frame away.
    DeleteKeyFrame(usize),
    /// Takes all key frames away.
    ClearPath,
    /// Plays the path in the window, or stops it.
    TogglePreview,
    /// Stops the path where it is.
    StopPreview,
    /// Shows the path at this time, s.
    ShowPathAt(f64),
}

/// The orders that have keys.
pub(super) fn from_keys(mut actions: MessageReader<Action>, mut orders: MessageWriter<CameraOrder>) {
    orders.write_batch(actions.read().filter_map(|action| {
        Some(match *action {
            Action::Look(preset) => CameraOrder::Look(preset),
            Action::ResetView => CameraOrder::Reset,
            Action::FrameAll => CameraOrder::FrameAll,
            Action::FrameSelection => CameraOrder::FrameSelection,
            Action::ToggleOrthographic => CameraOrder::ToggleOrthographic,
            Action::ToggleFly => CameraOrder::ToggleFly,
            Action::AddBookmark => CameraOrder::AddBookmark(None),
            Action::NextBookmark => CameraOrder::NextBookmark,
            Action::AddKeyFrame => CameraOrder::AddKeyFrame(None),
            Action::TogglePreview => CameraOrder::TogglePreview,
            Action::Cancel => CameraOrder::StopPreview,
            _ => return None,
        })
    }));
}

/// What the orders are about.
#[derive(SystemParam)]
pub(super) struct About<'w, 's> {
    stage: Option<Res<'w, Stage>>,
    path: ResMut<'w, CameraPath>,
    preview: ResMut<'w, Preview>,
    settings: Query<'w, 's, &'static mut SceneSettings>,
    document: Option<ResMut<'w, Document>>,
    selection: Option<Res<'w, Selection>>,
    bodies: Query<'w, 's, (&'static BodyShape, &'static Placement)>,
    children: Query<'w, 's, &'static Children>,
    drawn: Query<'w, 's, (&'static Aabb, &'static GlobalTransform)>,
    windows: Query<'w, 's, &'static Window, With<PrimaryWindow>>,
}

/// Carries the orders out.
pub(super) fn obey(
    mut orders: MessageReader<CameraOrder>,
    mut rigs: Query<(&mut Rig, Option<&Camera>)>,
    mut about: About,
    mut last_bookmark: Local<Option<usize>>,
) {
    let Some((mut rig, camera)) = rigs.iter_mut().next() else {
        orders.clear();
        return;
    };
    let rect = picture(camera, about.windows.single().ok());
    let aspect = rect.width() / rect.height();
    for order in orders.read() {
        let view = rig.destination();
        match order {
            CameraOrder::GoTo(view) => rig.go(*view),
            CameraOrder::Jump(view) => rig.jump(*view),
            CameraOrder::Look(preset) => rig.go(preset.of(&view)),
            CameraOrder::Reset => rig.go(Viewpoint::default().framing(about.domain(), aspect)),
            CameraOrder::FrameAll => rig.go(view.framing(about.domain(), aspect)),
            CameraOrder::FrameSelection => {
                let selected = about.selected().unwrap_or_else(|| about.domain());
                rig.go(view.framing(selected, aspect));
            }
            CameraOrder::ToggleOrthographic => rig.toggle_orthographic(),
            CameraOrder::ToggleFly => rig.toggle_fly(),
            CameraOrder::FieldOfView(degrees) => rig.set_field_of_view(*degrees),
            CameraOrder::AddBookmark(name) => {
                about.edit(|marks, stage| {
                    let camera = view.camera(stage);
                    marks::add_bookmark(marks, camera, name.as_deref()).map(|i| *last_bookmark = Some(i))
                });
            }
            CameraOrder::Bookmark(index) => {
                if let Some(view) = about.bookmark(*index) {
                    rig.go(view);
                    *last_bookmark = Some(*index);
                }
            }
            CameraOrder::NextBookmark => {
                let next = last_bookmark.map_or(0, |last| last + 1);
                let next = if about.bookmark(next).is_some() { next } else { 0 };
                if let Some(view) = about.bookmark(next) {
                    rig.go(view);
                    *last_bookmark = Some(next);
                }
            }
            CameraOrder::RenameBookmark(index, name) => {
                about.edit(|marks, _| marks::rename_bookmark(marks, *index, name));
            }
            CameraOrder::DeleteBookmark(index) => {
                about.edit(|marks, _| marks::delete_bookmark(marks, *index))
            }
            CameraOrder::AddKeyFrame(time_s) => about
                .edit(|marks, stage| marks::add_key_frame(marks, view.camera(stage), *time_s).map(|_| ())),
            CameraOrder::MoveKeyFrame(index, time_s) => {
                about.edit(|marks, _| marks::move_key_frame(marks, *index, *time_s).map(|_| ()));
            }
            CameraOrder::KeyFrame(index) => {
                if let Some((view, time_s)) = about.key_frame(*index) {
                    rig.go(view);
                    about.preview.time_s = time_s;
                }
            }
            CameraOrder::DeleteKeyFrame(index) => {
                about.edit(|marks, _| marks::delete_key_frame(marks, *index))
            }
            CameraOrder::ClearPath => about.edit(|marks, _| {
                marks.path.clear();
                Ok(())
            }),
            CameraOrder::TogglePreview => {
                let About { path, preview, .. } = &mut about;
                match &path.0 {
                    Some(path) if !preview.playing => preview.play(path),
                    _ => preview.playing = false,
                }
            }
            CameraOrder::StopPreview => about.preview.playing = false,
            CameraOrder::ShowPathAt(time_s) => {
                about.preview.time_s = *time_s;
                if let Some(path) = &about.path.0 {
                    rig.jump(path.at(*time_s));
                }
            }
        }
        if !matches!(order, CameraOrder::TogglePreview) && rig.destination() != view {
            about.preview.playing = false;
        }
    }
}

impl About<'_, '_> {
    /// The domain in the picture.
    fn domain(&self) -> [Vec3; 2] {
        let half = 0.5 * self.stage.as_ref().map_or(Vec3::splat(2.0), |stage| stage.extent());
        [-half, half]
    }

    /// What is drawn of the selected body; else its shape where it stands.
    fn selected(&self) -> Option<[Vec3; 2]> {
        let entity = self.selection.as_ref()?.0?;
        let parts = std::iter::once(entity).chain(self.children.iter_descendants(entity));
        let drawn = parts.filter_map(|part| self.drawn.get(part).ok()).flat_map(|(aabb, transform)| {
            corners([aabb.min().into(), aabb.max().into()]).map(|corner| transform.transform_point(corner))
        });
        bounds(drawn).or_else(|| {
            let (stage, (shape, placement)) = (self.stage.as_ref()?, self.bodies.get(entity).ok()?);
            let folder = self.settings.single().ok()?.folder.clone();
            let mut mesh = shape::body(&shape.0, &folder).ok()?.mesh;
            transform::place(&mut mesh, placement.rotation_deg, placement.position_m);
            bounds(mesh.vertices.iter().map(|vertex| stage.place(*vertex)))
        })
    }

    fn bookmark(&self, index: usize) -> Option<Viewpoint> {
        let bookmark = self.settings.single().ok()?.view.bookmarks.get(index)?;
        Some(Viewpoint::of(&bookmark.camera, self.stage.as_ref()?))
    }

    fn key_frame(&self, index: usize) -> Option<(Viewpoint, f64)> {
        let key = self.settings.single().ok()?.view.path.get(index)?;
        Some((Viewpoint::of(&key.camera, self.stage.as_ref()?), key.time_s))
    }

    /// Edits bookmarks and path; what it refuses is told with the messages of the document.
    fn edit(&mut self, edit: impl FnOnce(&mut View, &Stage) -> Result<(), MarkError>) {
        let (Ok(mut settings), Some(stage)) = (self.settings.single_mut(), &self.stage) else { return };
        let mut view = settings.view.clone();
        match edit(&mut view, stage) {
            // An entity that is written to counts as edited: only when there is something new.
            Ok(()) if view != settings.view => {
                // A second order of the same frame may already want the new path.
                self.path.0 = Path::new(&view.path, stage);
                settings.view = view;
            }
            Ok(()) => {}
            Err(error) => match &mut self.document {
                Some(document) => document.messages.push(error.to_string()),
                None => warn!("{error}"),
            },
        }
    }
}

fn bounds(points: impl Iterator<Item = Vec3>) -> Option<[Vec3; 2]> {
    points.fold(None, |box_: Option<[Vec3; 2]>, point| {
        let [low, high] = box_.unwrap_or([point; 2]);
        Some([low.min(point), high.max(point)])
    })
}

#[cfg(test)]
#[path = "orders_tests.rs"]
mod tests;
