//! Where the panels stand: two lines on top, one at the bottom, one panel at each side; the flow has the rest.
//! Must not know Bevy: a function of plain values, which tests call.

use super::state::{Answer, Order, State};
use super::{
    Panels, body, camera, distribution, loads, plots, resolution, run_control, status, stream, style, windows,
};
use crate::runner::Status;
use crate::scene::Model;
use bevy_egui::egui::{self, CollapsingHeader, Panel, Rect, ScrollArea, Ui};

/// Width of a side panel at first; there is room for the flow at 1280 points.
const SIDE: f32 = 300.0;

/// Shows all panels; `display` draws the controls of the drawn things. Returns what was ordered and the free rectangle.
pub fn show(
    ui: &mut Ui,
    state: &State,
    panels: &mut Panels,
    display: &mut dyn FnMut(&mut Ui, &mut Answer),
) -> (Answer, Rect) {
    let mut answer = Answer::default();
    if panels.hidden {
        return (answer, ui.available_rect_before_wrap());
    }
    Panel::top("top").show(ui, |ui| {
        ui.add_space(2.0);
        ui.horizontal_wrapped(|ui| run_control::title(ui, state, panels, &mut answer));
        ui.horizontal_wrapped(|ui| run_control::control(ui, state, panels, &mut answer));
        if matches!(state.run.status, Status::Failed(_)) {
            run_control::failure(ui, state, &mut answer);
        }
        ui.add_space(2.0);
    });
    Panel::bottom("status").show(ui, |ui| {
        ui.horizontal(|ui| status::line(ui, state, panels));
    });
    if panels.left {
        Panel::left("left").default_size(SIDE).size_range(240.0..=520.0).show(ui, |ui| {
            ScrollArea::vertical()
                .auto_shrink(false)
                .show(ui, |ui| left(ui, state, panels, display, &mut answer));
        });
    }
    if panels.right {
        Panel::right("right").default_size(SIDE).size_range(240.0..=620.0).show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| right(ui, state, panels, &mut answer));
        });
    }
    let free = ui.available_rect_before_wrap();
    windows::show(ui.ctx(), state, panels, &mut answer);
    (answer, free)
}

fn left(
    ui: &mut Ui,
    state: &State,
    panels: &mut Panels,
    display: &mut dyn FnMut(&mut Ui, &mut Answer),
    answer: &mut Answer,
) {
    let document = &state.document;
    let mut scene = document.scene.clone();
    if !scene.about.is_empty() {
        style::paragraph(ui, style::faint(&scene.about));
    }
    section(ui, "Stream", true, |ui| {
        let Model::Gas(gas) = &mut scene.model;
        stream::stream(ui, document, gas, answer);
    });
    section(ui, "Bodies", true, |ui| {
        let Model::Gas(gas) = &mut scene.model;
        body::bodies(ui, document, gas, &mut panels.add_path, answer);
    });
    section(ui, "Display", true, |ui| display(ui, answer));
    section(ui, "Camera", false, |ui| camera::camera(ui, &document.scene.view, answer));
    section(ui, "Domain and faces", false, |ui| {
        let Model::Gas(gas) = &mut scene.model;
        stream::domain(ui, document, gas, answer);
    });
    section(ui, "Scene and run", false, |ui| stream::settings(ui, document, &mut scene, answer));
    if scene != document.scene {
        answer.order(Order::Edit(Box::new(scene)));
    }
}

fn right(ui: &mut Ui, state: &State, panels: &mut Panels, answer: &mut Answer) {
    section(ui, "Loads", true, |ui| loads::loads(ui, state));
    section(ui, "Resolution", true, |ui| resolution::resolution(ui, state));
    section(ui, "Plots", true, |ui| plots::plots(ui, state, panels, answer));
    section(ui, "Velocity distribution", state.probe.is_some(), |ui| {
        distribution::distribution(ui, state, &mut panels.distribution, answer);
    });
}

fn section(ui: &mut Ui, title: &str, open: bool, content: impl FnOnce(&mut Ui)) {
    let title = egui::RichText::new(title).strong();
    CollapsingHeader::new(title).default_open(open).show_unindented(ui, |ui| {
        content(ui);
        ui.add_space(4.0);
    });
}
