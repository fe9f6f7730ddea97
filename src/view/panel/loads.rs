//! What the gas does to each body: coefficients, forces, heat and hits, with their errors and what theory says.
//! Must not know Bevy or how loads are summed.

use super::state::State;
use super::style::{self, faint};
use super::text;
use crate::sim::{Estimate, Loads};
use bevy_egui::egui::{self, Ui};

/// One block a body.
pub fn loads(ui: &mut Ui, state: &State) {
    let bodies = state.flow.as_ref().map_or(&[][..], |flow| &flow.bodies);
    if bodies.is_empty() {
        style::paragraph(ui, faint("There is no body, or no snapshot yet."));
    }
    for (name, loads) in bodies {
        ui.strong(name);
        match loads {
            None => style::paragraph(ui, faint("No averages yet: loads are known once the flow is sampled.")),
            Some(loads) if loads.hits_per_s.value == 0.0 => {
                style::paragraph(ui, faint("No molecule has hit it while averages were taken."));
            }
            Some(loads) => table(ui, name, loads),
        }
    }
}

fn table(ui: &mut Ui, name: &str, loads: &Loads) {
    egui::Grid::new(("loads", name)).num_columns(2).striped(true).spacing([10.0, 3.0]).show(ui, |ui| {
        for (label, value) in lines(loads) {
            ui.label(faint(label));
            ui.monospace(value);
            ui.end_row();
        }
    });
    if loads.heat_w.batches < 20 {
        let note = format!("Only {} batches: the errors themselves are rough yet.", loads.heat_w.batches);
        style::paragraph(ui, faint(note));
    }
}

/// Label and value of each load that is known.
pub fn lines(loads: &Loads) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let mut coefficient = |label, value: Option<Estimate>| {
        lines.extend(value.map(|value| (label, text::estimate(&value, ""))));
    };
    coefficient("drag C_D", loads.drag_coefficient);
    coefficient("lift C_L", loads.lift_coefficient);
    coefficient("side C_S", loads.side_coefficient);
    if let Some(theory) = loads.free_molecular_drag_coefficient {
        lines.push(("C_D, free-molecular", format!("{theory:.4} (theory)")));
    }
    let axes = ["force x", "force y", "force z"];
    lines.extend(axes.into_iter().zip(&loads.force_n).map(|(axis, f)| (axis, text::estimate(f, "N"))));
    lines.push(("heat into it", text::estimate(&loads.heat_w, "W")));
    lines.push(("hits", text::estimate(&loads.hits_per_s, "1/s")));
    lines
}
