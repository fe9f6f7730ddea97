//! The bottom line: the value under the cursor, problems, the cost of the edit in progress, the newest message.
//! Must not know Bevy or where the values come from.

use super::Panels;
use super::resolution::Light;
use super::state::State;
use super::style::{self, faint};
use super::text;
use bevy_egui::egui::{self, RichText, Ui};

/// The line.
pub fn line(ui: &mut Ui, state: &State, panels: &mut Panels) {
    match state.problem_count() {
        0 => {
            Light::Ok.show(ui);
            ui.label(RichText::new("no problems").color(style::GOOD));
            let count = state.document.messages.len();
            if count > 0 {
                let label = faint(if count == 1 { "1 message".into() } else { format!("{count} messages") });
                if ui.selectable_label(panels.open.problems, label).on_hover_text("Show them").clicked() {
                    panels.open.problems = !panels.open.problems;
                }
            }
        }
        count => {
            let noun = if count == 1 { "problem" } else { "problems" };
            let label = RichText::new(format!("■ {count} {noun}")).color(style::BAD);
            if ui.selectable_label(panels.open.problems, label).on_hover_text("Show them").clicked() {
                panels.open.problems = !panels.open.problems;
            }
        }
    }
    ui.separator();
    if let Some(impact) = state.document.pending {
        ui.label(RichText::new(text::pending(impact)).color(style::cost_color(impact)));
        ui.separator();
    }
    match &state.hover {
        Some(hover) => ui.label(hover),
        None => ui.label(faint("point at a slice or a body to read its value")),
    };
    if let Some(message) = state.messages.last() {
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let response = ui.add(egui::Label::new(faint(message)).truncate());
            response.on_hover_text(message);
        });
    }
}
