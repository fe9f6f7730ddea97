//! Windows beside the panels: problems, help, opening and saving scenes, recording.
//! Must not know Bevy, or how anything is opened or recorded.

use super::Panels;
use super::edit;
use super::state::{Answer, KeyLine, Order, State};
use super::style::{self, faint};
use super::text;
use crate::runner::Status;
use crate::view::keys;
use crate::view::simulation::RunOrder;
use bevy_egui::egui::{self, Button, Context, RichText, TextEdit, Ui};
use std::path::PathBuf;

/// All windows that are open.
pub fn show(ctx: &Context, state: &State, panels: &mut Panels, answer: &mut Answer) {
    // Taken out, so that a window's content can change the rest of the panels.
    let mut open = panels.open;
    window(ctx, "Problems", &mut open.problems, [560.0, 320.0], |ui| problems(ui, state, answer));
    window(ctx, "Help", &mut open.help, [440.0, 480.0], |ui| help(ui, state));
    let mut close = false;
    window(ctx, "Open", &mut open.gallery, [460.0, 380.0], |ui| close = gallery(ui, state, panels, answer));
    open.gallery &= !close;
    let mut close = false;
    window(ctx, "Save as", &mut open.save_as, [420.0, 100.0], |ui| close = save_as(ui, panels, answer));
    open.save_as &= !close;
    window(ctx, "Record", &mut open.recording, [400.0, 340.0], |ui| recording(ui, state, panels, answer));
    panels.open = open;
}

fn window(ctx: &Context, title: &str, open: &mut bool, size: [f32; 2], content: impl FnOnce(&mut Ui)) {
    let most = ctx.content_rect().size() - egui::vec2(40.0, 60.0);
    egui::Window::new(title)
        .open(open)
        .collapsible(false)
        .default_size(size)
        .max_size(most)
        .default_pos(ctx.content_rect().center() - 0.5 * egui::vec2(size[0], size[1]))
        .show(ctx, |ui| egui::ScrollArea::vertical().auto_shrink([false, true]).show(ui, content));
}

/// What is wrong, each with its place and its line.
pub fn problems(ui: &mut Ui, state: &State, answer: &mut Answer) {
    if state.problem_count() == 0 {
        ui.label(RichText::new("Nothing is wrong.").color(style::GOOD));
    }
    if let Status::Failed(error) = &state.run.status {
        heading(ui, "The simulation failed");
        style::paragraph(ui, error.to_string());
        style::paragraph(ui, faint(text::advice(error)));
        if ui.button("Restart the flow").clicked() {
            answer.order(Order::Run(RunOrder::Restart));
        }
    }
    if let Some(refusal) = &state.run.refusal {
        heading(ui, "The last edit was refused; the flow goes on as before");
        style::paragraph(ui, refusal.as_str());
        if ui.add_enabled(state.document.can_undo, Button::new("Take it back")).clicked() {
            answer.order(Order::Undo);
        }
    }
    let document = &state.document;
    if !document.problems.is_empty() {
        heading(ui, "The scene cannot be simulated as it stands; the flow keeps the last good one");
    }
    for problem in &document.problems {
        style::paragraph(ui, RichText::new(problem.to_string()));
        if problem.line > 0 && !problem.source_line.trim().is_empty() {
            style::paragraph(
                ui,
                RichText::new(problem.source_line.trim_end()).monospace().color(style::FAINT),
            );
        }
    }
    if !document.messages.is_empty() {
        ui.add_space(4.0);
        style::paragraph(ui, RichText::new("Messages").strong());
    }
    for message in document.messages.iter().rev() {
        style::paragraph(ui, message.as_str());
    }
}

fn heading(ui: &mut Ui, text: &str) {
    ui.add_space(4.0);
    style::paragraph(ui, RichText::new(format!("■ {text}")).strong().color(style::BAD));
}

/// Keys, as the bindings say.
pub fn help(ui: &mut Ui, state: &State) {
    let mut group = "";
    for line in &state.keys {
        if line.group != group {
            group = &line.group;
            ui.add_space(6.0);
            ui.strong(group);
        }
        ui.horizontal_wrapped(|ui| {
            ui.add_sized([120.0, 16.0], egui::Label::new(RichText::new(&line.key).monospace()));
            ui.label(&line.does);
        });
    }
    ui.add_space(6.0);
    ui.strong("Panels");
    for (key, does) in [
        ("drag a number", "changes it: one edit, taken back by one undo"),
        ("click a number", "types it"),
        ("drag in a plot", "moves it; Ctrl and wheel zoom; double click shows all"),
    ] {
        ui.horizontal_wrapped(|ui| {
            ui.add_sized([120.0, 16.0], egui::Label::new(RichText::new(key).monospace()));
            ui.label(does);
        });
    }
    ui.add_space(6.0);
    ui.strong("What an edit costs");
    use crate::scene::Impact;
    for impact in [Impact::Nothing, Impact::Live, Impact::AveragesReset, Impact::Restart] {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(text::cost(impact)).color(style::cost_color(impact)));
            ui.label(text::cost_sentence(impact));
        });
    }
}

/// The lines of the help: the bindings and what the mouse does.
pub fn key_lines() -> Vec<KeyLine> {
    let line = |group: &str, key: String, does: &str| KeyLine { group: group.into(), key, does: does.into() };
    let keys = keys::table().into_iter().map(|(key, does)| line("Keys", key, does));
    let hand = keys::HAND.iter().map(|(key, does)| line("Mouse", (*key).into(), does));
    keys.chain(hand).collect()
}

/// Shipped scenes and a path; true when something was opened.
fn gallery(ui: &mut Ui, state: &State, panels: &mut Panels, answer: &mut Answer) -> bool {
    let mut opened = false;
    ui.label("A scene file (.ron), or triangles (.stl, .obj) to add to this scene:");
    ui.horizontal(|ui| {
        ui.add(TextEdit::singleline(&mut panels.open_path).hint_text("path").desired_width(300.0));
        let path = panels.open_path.trim();
        if ui.add_enabled(!path.is_empty(), Button::new("Open")).clicked() {
            answer.order(Order::Open(PathBuf::from(path)));
            opened = true;
        }
    });
    style::paragraph(ui, faint("Files can be dropped on the window, too."));
    ui.separator();
    ui.label("Shipped scenes:");
    for (name, about) in &state.shipped {
        if ui.button(RichText::new(name).strong()).clicked() {
            answer.order(Order::OpenShipped(name.clone()));
            opened = true;
        }
        style::paragraph(ui, faint(about));
    }
    if state.document.dirty {
        style::paragraph(ui, RichText::new("This scene has changes that are not saved.").color(style::WARN));
    }
    opened
}

fn save_as(ui: &mut Ui, panels: &mut Panels, answer: &mut Answer) -> bool {
    let mut saved = false;
    ui.horizontal(|ui| {
        ui.add(TextEdit::singleline(&mut panels.save_path).hint_text("scene.ron").desired_width(300.0));
        let path = panels.save_path.trim();
        if ui.add_enabled(!path.is_empty(), Button::new("Save")).clicked() {
            answer.order(Order::SaveAs(PathBuf::from(path)));
            saved = true;
        }
    });
    saved
}

fn recording(ui: &mut Ui, state: &State, panels: &mut Panels, answer: &mut Answer) {
    if let Some(recording) = &state.recording {
        let total = recording.total.map_or(String::new(), |total| format!(" of {total}"));
        ui.label(format!("{}{total} frames in {}", recording.frames, recording.path.display()));
        if let Some(total) = recording.total.filter(|total| *total > 0) {
            ui.add(egui::ProgressBar::new(recording.frames as f32 / total as f32));
        }
        if let Some(left) = recording.eta_s {
            ui.label(format!("{} left", text::duration(left)));
        }
        if ui.button("Stop").on_hover_text("What there is, is kept").clicked() {
            answer.order(Order::StopRecording);
        }
        return;
    }
    let choice = &mut panels.recording;
    let mut path = choice.path.display().to_string();
    egui::Grid::new("recording").num_columns(2).show(ui, |ui| {
        ui.label(".mp4, or folder");
        if ui.add(TextEdit::singleline(&mut path).desired_width(220.0)).changed() {
            choice.path = path.into();
        }
        ui.end_row();
        ui.label("frames a second");
        edit::whole(ui, &mut Answer::default(), &mut choice.fps, 1..=120);
        ui.end_row();
        ui.label("time steps a frame");
        edit::whole(ui, &mut Answer::default(), &mut choice.every, 1..=100_000);
        ui.end_row();
        ui.label("length");
        edit::number(ui, &mut Answer::default(), &mut choice.seconds, "s", 0.0..=3600.0);
        ui.end_row();
        ui.label("pixels");
        ui.horizontal(|ui| {
            let [width, height] = &mut choice.size;
            edit::whole(ui, &mut Answer::default(), width, 16..=3840);
            ui.label("x");
            edit::whole(ui, &mut Answer::default(), height, 16..=2160);
        });
        ui.end_row();
        ui.label("supersampling");
        edit::whole(ui, &mut Answer::default(), &mut choice.supersampling, 1..=4);
        ui.end_row();
        ui.label("camera");
        ui.checkbox(&mut choice.along_path, "along the key frames");
        ui.end_row();
    });
    style::paragraph(
        ui,
        faint("Each frame waits for its time steps, so that the video is exact. Length 0: until stopped."),
    );
    if ui.button("Start recording").clicked() {
        answer.order(Order::Record(choice.clone()));
    }
}
