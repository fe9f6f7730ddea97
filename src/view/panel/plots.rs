//! Histories against step or time, zoomable, and their export.
//! Must not know Bevy, or what the histories mean.

use super::Panels;
use super::history::HistoryStore;
use super::state::{Answer, Order, State};
use super::style::{self, faint};
use crate::units::Quantity;
use bevy_egui::egui::{self, Ui};
use egui_plot::{Legend, Line, Plot};

/// Points drawn of a curve at most: more than the panel has pixels.
const MOST_POINTS: usize = 1500;
/// Height of a plot.
const HEIGHT: f32 = 130.0;

/// A plot: its title and the columns that it shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// "drag coefficient C_D".
    pub title: String,
    /// Names of the curves and their columns.
    pub curves: Vec<(String, usize)>,
}

/// The plots that a history has: a plot each for particles, energy and so on, and one a kind of load with a curve a body.
pub fn groups(columns: &[Quantity]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (i, quantity) in columns.iter().enumerate() {
        if matches!(quantity.key.as_ref(), "step" | "time") {
            continue;
        }
        // "drag coefficient of sphere" is the curve "sphere" of the plot "drag coefficient".
        let name = quantity.name.as_ref();
        let split = [" of ", " into "].into_iter().find_map(|word| {
            let (kind, body) = name.split_once(word)?;
            quantity
                .key
                .ends_with(&format!("_{body}"))
                .then(|| (format!("{kind}{}", if word == " into " { " into" } else { "" }), body))
        });
        let (kind, curve) = split.map_or((name.to_owned(), name), |(kind, body)| (kind, body));
        let unit = if quantity.unit.is_empty() { String::new() } else { format!(" [{}]", quantity.unit) };
        let title = format!("{kind} {}{unit}", quantity.symbol);
        let curve = (curve.to_owned(), i);
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.curves.push(curve),
            None => groups.push(Group { title, curves: vec![curve] }),
        }
    }
    groups
}

/// The plots.
pub fn plots(ui: &mut Ui, state: &State, panels: &mut Panels, answer: &mut Answer) {
    let store = &state.history;
    ui.horizontal_wrapped(|ui| {
        ui.label("against");
        ui.selectable_value(&mut panels.plot_time, false, "step");
        ui.selectable_value(&mut panels.plot_time, true, "time");
        let export = ui.add_enabled(store.rows() > 0, egui::Button::new("CSV"));
        if export.on_hover_text("Writes the history to a file; where is told below").clicked() {
            answer.order(Order::ExportHistory);
        }
        ui.label(faint(format!("{} rows", store.rows())));
    });
    if store.rows() == 0 {
        style::paragraph(ui, faint("No history yet: let the flow run."));
    }
    let x = store.column(if panels.plot_time { "time" } else { "step" }).unwrap_or(0);
    for group in groups(store.columns()) {
        let shown =
            panels.plots.contains(&group.title) || (!panels.plots_chosen && first_shown(&group.title));
        let mut open = shown;
        ui.checkbox(&mut open, &group.title);
        if open != shown {
            choose(panels, store, &group.title, open);
        }
        if open {
            plot(ui, &group, store, x);
        }
    }
    ui.checkbox(&mut panels.plot_speed, "steps/s by the wall clock");
    if panels.plot_speed {
        let points = state.speed.curve().to_vec();
        frame(ui, "speed", 1).show(ui, |plot| plot.line(curve("steps/s", points, 0)));
    }
}

/// Whether a plot is open before somebody has chosen.
fn first_shown(title: &str) -> bool {
    title.starts_with("drag coefficient") || title.starts_with("simulated particles")
}

/// Notes which plots are open; from the first choice on only these are.
fn choose(panels: &mut Panels, store: &HistoryStore, title: &str, open: bool) {
    if !panels.plots_chosen {
        panels.plots_chosen = true;
        let first = groups(store.columns()).into_iter().map(|group| group.title);
        panels.plots = first.filter(|title| first_shown(title)).collect();
    }
    panels.plots.retain(|shown| shown != title);
    if open {
        panels.plots.push(title.to_owned());
    }
}

fn plot(ui: &mut Ui, group: &Group, store: &HistoryStore, x: usize) {
    let curves: Vec<Vec<[f64; 2]>> =
        group.curves.iter().map(|(_, column)| store.points(x, *column, MOST_POINTS)).collect();
    let mut frame = frame(ui, &group.title, group.curves.len());
    if let Some([low, high]) = around_constant(curves.iter().flatten().map(|point| point[1])) {
        frame = frame.include_y(low).include_y(high);
    }
    frame.show(ui, |plot| {
        for (i, ((name, _), points)) in group.curves.iter().zip(curves).enumerate() {
            plot.line(curve(name, points, i));
        }
    });
}

/// A range for values that are all the same, which have none of their own.
fn around_constant(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    let [low, high] =
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], y| [low.min(y), high.max(y)]);
    let margin = if high == 0.0 { 1.0 } else { 0.05 * high.abs() };
    (high >= low && high - low < 1e-6 * margin).then_some([low - margin, high + margin])
}

fn frame<'a>(ui: &Ui, id: &str, curves: usize) -> Plot<'a> {
    let plot = Plot::new(id.to_owned()).height(HEIGHT).width(ui.available_width()).allow_scroll(false);
    if curves > 1 { plot.legend(Legend::default()) } else { plot }
}

fn curve<'a>(name: &str, points: Vec<[f64; 2]>, index: usize) -> Line<'a> {
    Line::new(name, points).color(style::CURVES[index % style::CURVES.len()]).width(1.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_get_a_range() {
        assert_eq!(around_constant([2.0, 2.0].into_iter()), Some([1.9, 2.1]));
        assert_eq!(around_constant([0.0].into_iter()), Some([-1.0, 1.0]));
        assert_eq!(around_constant([1.0, 2.0].into_iter()), None);
        assert_eq!(around_constant(std::iter::empty()), None);
    }

    #[test]
    fn loads_of_a_kind_share_a_plot() {
        let of = |key: &str, name: &str, symbol: &'static str, unit: &'static str| Quantity {
            key: key.to_owned().into(),
            name: name.to_owned().into(),
            symbol: symbol.into(),
            unit: unit.into(),
        };
        let columns = [
            of("step", "step", "", ""),
            of("time", "time", "t", "s"),
            of("energy", "kinetic energy of the gas", "E", "J"),
            of("drag_coefficient_a", "drag coefficient of a", "C_D", ""),
            of("heat_a", "heat into a", "Q", "W"),
            of("drag_coefficient_b", "drag coefficient of b", "C_D", ""),
            of("heat_b", "heat into b", "Q", "W"),
        ];
        let groups = groups(&columns);
        let titles: Vec<&str> = groups.iter().map(|group| group.title.as_str()).collect();
        assert_eq!(titles, ["kinetic energy of the gas E [J]", "drag coefficient C_D", "heat into Q [W]"]);
        assert_eq!(groups[1].curves, [("a".to_owned(), 3), ("b".to_owned(), 5)]);
    }
}
