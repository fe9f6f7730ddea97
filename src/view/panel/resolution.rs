//! The resolution lights: whether cells, time step and particles resolve the flow; and counters that should be 0.
//! Must not know Bevy or how cells are judged.

use super::state::State;
use super::style::{self, faint};
use crate::sim::{Counters, Criterion};
use bevy_egui::egui::{self, Color32, Sense, Ui, vec2};

/// Cells that may miss a limit while the light is still good: a wake or a corner of few cells does not spoil a flow.
const FEW: f64 = 0.01;

/// A light, told by its shape, its colour and its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Light {
    /// At most one cell in a hundred misses the limit.
    Ok,
    /// More do, but not the median cell.
    Coarse,
    /// The median cell misses the limit.
    Bad,
    /// No cell to judge.
    Unknown,
}

impl Light {
    /// The light of a criterion.
    pub fn of(criterion: &Criterion) -> Self {
        let median_misses = if criterion.upper {
            criterion.median > criterion.limit
        } else {
            criterion.median < criterion.limit
        };
        match criterion.missed {
            missed if missed.is_nan() => Self::Unknown,
            _ if median_misses => Self::Bad,
            missed if missed > FEW => Self::Coarse,
            _ => Self::Ok,
        }
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Coarse => "coarse",
            Self::Bad => "bad",
            Self::Unknown => "unknown",
        }
    }

    /// Its colour.
    pub fn color(self) -> Color32 {
        match self {
            Self::Ok => style::GOOD,
            Self::Coarse => style::WARN,
            Self::Bad => style::BAD,
            Self::Unknown => style::FAINT,
        }
    }

    /// Draws it: a disc, a triangle, a square, a ring.
    pub fn show(self, ui: &mut Ui) {
        let (rect, _) = ui.allocate_exact_size(vec2(12.0, 12.0), Sense::hover());
        let (middle, r, color) = (rect.center(), 5.0, self.color());
        let painter = ui.painter();
        match self {
            Self::Ok => {
                painter.circle_filled(middle, r, color);
            }
            Self::Coarse => {
                let corners = [vec2(0.0, -r), vec2(r, r), vec2(-r, r)].map(|corner| middle + corner);
                painter.add(egui::Shape::convex_polygon(corners.to_vec(), color, egui::Stroke::NONE));
            }
            Self::Bad => {
                painter.rect_filled(egui::Rect::from_center_size(middle, vec2(2.0 * r, 2.0 * r)), 0.0, color);
            }
            Self::Unknown => {
                painter.circle_stroke(middle, r - 1.0, egui::Stroke::new(1.5, color));
            }
        }
    }
}

/// The lights.
pub fn resolution(ui: &mut Ui, state: &State) {
    let resolution = state.flow.as_ref().and_then(|flow| flow.resolution.as_ref());
    match resolution {
        None => style::paragraph(ui, faint("Cells are judged with the first average.")),
        Some(resolution) => {
            for criterion in &resolution.criteria {
                line(ui, criterion);
            }
        }
    }
    if let Some(flow) = &state.flow {
        counters(ui, &flow.counters);
    }
}

fn line(ui: &mut Ui, criterion: &Criterion) {
    let light = Light::of(criterion);
    ui.horizontal_wrapped(|ui| {
        light.show(ui);
        ui.colored_label(light.color(), light.word());
        ui.label(&criterion.name);
    });
    if light == Light::Unknown {
        return style::paragraph(ui, faint("no cell with gas to judge"));
    }
    let relation = if criterion.upper { "≤" } else { "≥" };
    let Criterion { worst, median, limit, missed, .. } = criterion;
    let missed = 100.0 * missed;
    style::paragraph(
        ui,
        faint(format!(
            "worst {worst:.3}, median {median:.3}, limit {relation} {limit}, missed by {missed:.1} %"
        ))
        .size(12.0),
    );
}

/// Counters that are 0 in a sound run, with what they count.
pub fn should_be_zero(counters: &Counters) -> [(&'static str, u64); 5] {
    [
        ("collision majorants exceeded", counters.majorant_exceeded),
        ("collision probabilities clipped", counters.probability_clipped),
        ("moves stopped by the bounce limit", counters.bounce_limit),
        ("particles put back before a wall", counters.put_back),
        ("particles lost", counters.lost),
    ]
}

fn counters(ui: &mut Ui, counters: &Counters) {
    ui.separator();
    let all = should_be_zero(counters);
    if all.iter().all(|(_, count)| *count == 0) {
        ui.horizontal(|ui| {
            Light::Ok.show(ui);
            ui.label("nothing clipped, exceeded or lost");
        });
    }
    for (name, count) in all.into_iter().filter(|(_, count)| *count > 0) {
        let share = count as f64 / counters.particle_steps.max(1) as f64;
        let light = if share > 1e-4 { Light::Bad } else { Light::Coarse };
        ui.horizontal_wrapped(|ui| {
            light.show(ui);
            ui.label(format!("{count} {name}"));
            ui.label(faint(format!("{share:.1e} a particle and step")));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lights_follow_median_and_missed_share() {
        let light = |median: f64, missed: f64, upper: bool| {
            let criterion = Criterion { name: "x".into(), worst: 2.0, median, limit: 1.0, upper, missed };
            Light::of(&criterion)
        };
        assert_eq!(light(0.5, 0.0, true), Light::Ok);
        assert_eq!(light(0.5, 0.01, true), Light::Ok);
        assert_eq!(light(0.5, 0.2, true), Light::Coarse);
        assert_eq!(light(1.5, 0.8, true), Light::Bad);
        assert_eq!(light(1.5, 0.2, false), Light::Coarse);
        assert_eq!(light(0.5, 0.8, false), Light::Bad);
        assert_eq!(light(f64::NAN, f64::NAN, true), Light::Unknown);
        let words = [Light::Ok, Light::Coarse, Light::Bad, Light::Unknown].map(Light::word);
        assert_eq!(words, ["ok", "coarse", "bad", "unknown"]);
    }
}
