//! The top bar: the scene, play, pause, steps, restart, until steady, and how the simulation goes.
//! Must not know Bevy or how an order is carried out.

use super::Panels;
use super::state::{Answer, Order, State};
use super::style::{self, faint};
use super::text;
use crate::runner::Status;
use crate::view::simulation::RunOrder;
use bevy_egui::egui::{self, Button, RichText, Ui};

/// First line: scene, file, edits, windows.
pub fn title(ui: &mut Ui, state: &State, panels: &mut Panels, answer: &mut Answer) {
    let document = &state.document;
    let name = if document.scene.name.is_empty() { "no scene" } else { &document.scene.name };
    let mark = if document.dirty { " *" } else { "" };
    let file = document.path.as_ref().map_or("not saved yet".into(), |path| path.display().to_string());
    let hover = if document.dirty { format!("{file}: changed since it was saved") } else { file };
    ui.label(RichText::new(format!("{name}{mark}")).strong().size(15.0)).on_hover_text(hover);
    ui.separator();
    if ui.button("Open...").on_hover_text("A scene file, a triangle file, or a shipped scene").clicked() {
        panels.open.gallery = true;
    }
    let can_save = document.path.is_some();
    if ui.add_enabled(can_save && document.dirty, Button::new("Save")).clicked() {
        answer.order(Order::Save);
    }
    if ui.button("Save as...").clicked() {
        panels.open.save_as = true;
    }
    if ui.add_enabled(document.can_undo, Button::new("Undo")).clicked() {
        answer.order(Order::Undo);
    }
    if ui.add_enabled(document.can_redo, Button::new("Redo")).clicked() {
        answer.order(Order::Redo);
    }
    ui.separator();
    let recording = if state.recording.is_some() { "Recording..." } else { "Record..." };
    if ui.selectable_label(panels.open.recording, recording).clicked() {
        panels.open.recording = !panels.open.recording;
    }
    if ui.button("Picture").on_hover_text("A picture of the window, as PNG").clicked() {
        answer.order(Order::Screenshot);
    }
    ui.separator();
    ui.toggle_value(&mut panels.left, "Scene");
    ui.toggle_value(&mut panels.right, "Results");
    ui.toggle_value(&mut panels.open.help, "Help");
}

/// Second line: pace and progress.
pub fn control(ui: &mut Ui, state: &State, panels: &mut Panels, answer: &mut Answer) {
    let run = &state.run;
    let alive = !matches!(run.status, Status::Failed(_) | Status::Stopped | Status::Building);
    let running = run.status == Status::Running;
    if running {
        if ui.button("Pause").clicked() {
            answer.order(Order::Run(RunOrder::Pause));
        }
    } else if ui.add_enabled(alive, Button::new("Play")).clicked() {
        answer.order(Order::Run(RunOrder::Play));
    }
    if ui.add_enabled(alive, Button::new("Step")).on_hover_text("One time step").clicked() {
        answer.order(Order::Run(RunOrder::Step(1)));
    }
    if ui.add_enabled(alive, Button::new("Steps")).on_hover_text("So many time steps").clicked() {
        answer.order(Order::Run(RunOrder::Step(panels.steps)));
    }
    ui.add(egui::DragValue::new(&mut panels.steps).range(1..=1_000_000).speed(1.0));
    let steady = ui.add_enabled(alive, Button::new("Until steady"));
    if steady.on_hover_text("Goes on until averages have begun").clicked() {
        answer.order(Order::Run(RunOrder::UntilSteady));
    }
    let to_end = ui.add_enabled(alive, Button::new("To the end"));
    let end = state.document.gas().steps;
    if to_end.on_hover_text(format!("To step {end}, as the scene says")).clicked() {
        answer.order(Order::Run(RunOrder::UntilEnd));
    }
    let paced = ui.add_enabled(alive, Button::new("Paced"));
    let about = "Simulated time by the wall clock: so many steps a second, as far as the device keeps up";
    if paced.on_hover_text(about).clicked()
        && let Some(dt) = state.flow.as_ref().map(|flow| flow.time_step_s).filter(|dt| *dt > 0.0)
    {
        answer.order(Order::Run(RunOrder::RealTime(panels.paced_steps_per_s * dt)));
    }
    ui.add(
        egui::DragValue::new(&mut panels.paced_steps_per_s)
            .range(0.1..=1e6)
            .speed(1.0)
            .max_decimals(1)
            .suffix(" /s"),
    );
    let restart = ui.button("Restart");
    if restart.on_hover_text("The flow from its beginning").clicked() {
        answer.order(Order::Run(RunOrder::Restart));
    }
    ui.separator();
    progress(ui, state);
}

fn progress(ui: &mut Ui, state: &State) {
    let run = &state.run;
    let color = match run.status {
        Status::Failed(_) | Status::Stopped => style::BAD,
        Status::Running => style::GOOD,
        _ => style::TEXT,
    };
    ui.colored_label(color, text::status(&run.status));
    if run.until_steady && run.status == Status::Running {
        ui.label(faint("until steady"));
    }
    let end = run.goal.unwrap_or(state.document.gas().steps);
    ui.label(format!("step {} of {end}", run.step.max(state.flow.as_ref().map_or(0, |f| f.step))));
    let steps_per_s = state.speed.steps_per_s();
    ui.label(format!("{} steps/s", text::speed(steps_per_s)));
    if let Some(flow) = &state.flow {
        ui.label(format!("{} particles", text::count(flow.particles))).on_hover_text(format!(
            "{} of them drawn; each stands for {:.3e} molecules",
            text::count(flow.drawn),
            flow.weight
        ));
        ui.label(text::phase(flow.phase)).on_hover_text(flow.notes.join("\n"));
    }
    if let Some(left) = text::time_left(run.step, end, steps_per_s) {
        ui.label(format!("{left} left"));
    }
    if !state.device.is_empty() {
        ui.label(faint(&state.device));
    }
}

/// What a failed simulation says, and what to do; nothing while all is well.
pub fn failure(ui: &mut Ui, state: &State, answer: &mut Answer) {
    let Status::Failed(error) = &state.run.status else { return };
    ui.horizontal_wrapped(|ui| {
        ui.colored_label(style::BAD, "■ The simulation failed:");
        ui.label(error.to_string());
        ui.label(text::advice(error));
        if ui.button("Restart the flow").clicked() {
            answer.order(Order::Run(RunOrder::Restart));
        }
    });
}
