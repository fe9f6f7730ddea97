//! Where the flow is seen from: presets, bookmarks and the path of a camera, as buttons.
//! Must not know Bevy or how the camera moves.

use super::edit;
use super::state::{Answer, Order};
use super::style::{self, faint};
use crate::scene::View;
use crate::view::camera::{CameraOrder, Preset};
use bevy_egui::egui::{self, Ui};

/// Presets, bookmarks and the path.
pub fn camera(ui: &mut Ui, view: &View, answer: &mut Answer) {
    let mut order = |order| answer.order(Order::Camera(order));
    ui.horizontal_wrapped(|ui| {
        for preset in Preset::ALL {
            if ui.small_button(preset.name()).on_hover_text("Look from there").clicked() {
                order(CameraOrder::Look(preset));
            }
        }
    });
    ui.horizontal_wrapped(|ui| {
        for (text, about, what) in [
            ("All", "The whole domain fills the picture", CameraOrder::FrameAll),
            ("Selected", "The selected body fills the picture", CameraOrder::FrameSelection),
            ("Parallel", "Parallel projection or perspective", CameraOrder::ToggleOrthographic),
            ("Fly", "Fly or orbit", CameraOrder::ToggleFly),
        ] {
            if ui.button(text).on_hover_text(about).clicked() {
                order(what);
            }
        }
    });
    if ui.button("Bookmark this view").on_hover_text("Kept in the scene").clicked() {
        order(CameraOrder::AddBookmark(None));
    }
    for (i, bookmark) in view.bookmarks.iter().enumerate() {
        ui.horizontal(|ui| {
            if ui.small_button("x").on_hover_text("Take it away").clicked() {
                order(CameraOrder::DeleteBookmark(i));
            }
            if ui.add(egui::Button::new(&bookmark.name).truncate()).clicked() {
                order(CameraOrder::Bookmark(i));
            }
        });
    }
    path(ui, view, answer);
}

fn path(ui: &mut Ui, view: &View, answer: &mut Answer) {
    ui.horizontal_wrapped(|ui| {
        if ui.button("Add to the path").on_hover_text("This view, 3 s after the last; for videos").clicked() {
            answer.order(Order::Camera(CameraOrder::AddKeyFrame(None)));
        }
        let enough = view.path.len() > 1;
        let play = ui.add_enabled(enough, egui::Button::new("Play the path"));
        if play.on_disabled_hover_text("A path needs two views").clicked() {
            answer.order(Order::Camera(CameraOrder::TogglePreview));
        }
    });
    if view.path.is_empty() {
        style::paragraph(ui, faint("No path: videos have the camera as it stands."));
    }
    for (i, frame) in view.path.iter().enumerate() {
        ui.horizontal(|ui| {
            if ui.small_button("x").on_hover_text("Take it away").clicked() {
                answer.order(Order::Camera(CameraOrder::DeleteKeyFrame(i)));
            }
            if ui.button(format!("view {}", i + 1)).clicked() {
                answer.order(Order::Camera(CameraOrder::KeyFrame(i)));
            }
            ui.label("at");
            let mut time_s = frame.time_s;
            edit::number(ui, answer, &mut time_s, "s", 0.0..=3600.0);
            if time_s != frame.time_s {
                answer.order(Order::Camera(CameraOrder::MoveKeyFrame(i, time_s)));
            }
        });
    }
}
