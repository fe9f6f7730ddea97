//! The controls that panels edit a scene with: a number, a vector, a choice; each says beforehand what it costs.
//! Must not know Bevy, or what the numbers mean.

use super::state::Answer;
use super::style;
use crate::scene::Impact;
use bevy_egui::egui::{self, DragValue, Ui};
use std::ops::RangeInclusive;

/// Numbers that are lengths of something.
pub const POSITIVE: RangeInclusive<f64> = 1e-30..=1e30;
/// Any number.
pub const ANY: RangeInclusive<f64> = -1e30..=1e30;

/// A grid of label, control and cost.
pub fn grid(ui: &mut Ui, id: &str, rows: impl FnOnce(&mut Ui)) {
    egui::Grid::new(id).num_columns(3).spacing([6.0, 5.0]).show(ui, rows);
}

/// A row of a grid: label, `control`, cost.
pub fn row(ui: &mut Ui, label: &str, about: &str, cost: Impact, control: impl FnOnce(&mut Ui)) {
    let response = ui.label(label);
    if !about.is_empty() {
        response.on_hover_text(about);
    }
    control(ui);
    style::cost(ui, cost);
    ui.end_row();
}

/// A number; typed ones count when they are finished, dragged ones at once.
pub fn number(ui: &mut Ui, answer: &mut Answer, value: &mut f64, unit: &str, range: RangeInclusive<f64>) {
    // A hundredth of the number a point, so that microns and kilometres are dragged alike; around 0 by the unit.
    let step = if value.abs() > 1e-12 { 0.01 * value.abs() } else { 0.01 };
    let suffix = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    let control = DragValue::new(value)
        .speed(step)
        .range(range)
        .suffix(suffix)
        .custom_formatter(|value, _| digits(value))
        .update_while_editing(false);
    let response = ui.add(control);
    answer.dragging |= response.dragged();
}

/// An angle, degrees.
pub fn angle(ui: &mut Ui, answer: &mut Answer, value: &mut f64, most: f64) {
    let control = DragValue::new(value)
        .speed(0.25)
        .range(-most..=most)
        .suffix("°")
        .custom_formatter(|value, _| digits(value))
        .update_while_editing(false);
    answer.dragging |= ui.add(control).dragged();
}

/// A share from 0 to 1.
pub fn share(ui: &mut Ui, answer: &mut Answer, value: &mut f64) {
    let control =
        DragValue::new(value).speed(0.005).range(0.0..=1.0).max_decimals(3).update_while_editing(false);
    answer.dragging |= ui.add(control).dragged();
}

/// A whole number.
pub fn whole<N: egui::emath::Numeric>(
    ui: &mut Ui,
    answer: &mut Answer,
    value: &mut N,
    range: RangeInclusive<N>,
) {
    let step = (0.01 * value.to_f64().abs()).max(0.1);
    let control = DragValue::new(value).speed(step).range(range).update_while_editing(false);
    answer.dragging |= ui.add(control).dragged();
}

/// Three numbers side by side.
pub fn vector(
    ui: &mut Ui,
    answer: &mut Answer,
    values: &mut [f64; 3],
    range: RangeInclusive<f64>,
    scale: f64,
) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.spacing_mut().interact_size.x = 40.0;
        ui.spacing_mut().button_padding.x = 2.0;
        for (value, axis) in values.iter_mut().zip(["x", "y", "z"]) {
            let control = DragValue::new(value)
                .speed(0.002 * scale)
                .range(range.clone())
                .custom_formatter(|value, _| digits(value))
                .update_while_editing(false);
            answer.dragging |= ui.add(control).on_hover_text(axis).dragged();
        }
    });
}

/// A choice from a list of names.
pub fn choice<T: PartialEq + Clone>(ui: &mut Ui, id: &str, value: &mut T, all: &[(T, &str)]) {
    let name = all.iter().find(|(one, _)| one == value).map_or("other", |(_, name)| name);
    egui::ComboBox::from_id_salt(id).selected_text(name).width(110.0).show_ui(ui, |ui| {
        for (one, name) in all {
            ui.selectable_value(value, one.clone(), *name);
        }
    });
}

/// At most six significant digits, without trailing zeros; exponents where they are shorter.
pub fn digits(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e6).contains(&magnitude) {
        let text = format!("{value:.4e}");
        let Some((mantissa, power)) = text.split_once('e') else { return text };
        return format!("{}e{power}", trim(mantissa));
    }
    let decimals = (5 - magnitude.log10().floor() as i32).clamp(0, 9) as usize;
    trim(&format!("{value:.decimals$}")).to_owned()
}

fn trim(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_few_and_read_back() {
        let values = [0.0, 0.15, 4.0, 1052.94, -12.5, 3.62e19, 1e-5, 0.0004, 999_999.0];
        let texts = values.map(digits);
        assert_eq!(texts, ["0", "0.15", "4", "1052.94", "-12.5", "3.62e19", "1e-5", "0.0004", "999999"]);
        for (value, text) in values.iter().zip(&texts) {
            assert_eq!(text.parse::<f64>().ok(), Some(*value), "{text}");
        }
    }
}
