//! The distribution of molecular velocities in the probed cell, with error bars, beside its Maxwellian.
//! Must not know Bevy or how velocities come here.

use super::state::{Answer, Order, State};
use super::style::{self, faint};
use super::text;
use crate::output::distribution::{Bin, Gathered, Histogram, Maxwellian, Of};
use crate::units::si;
use bevy_egui::egui::Ui;
use egui_plot::{Bar, BarChart, Legend, Line, Plot, Points};

/// Bins of the histogram.
const BINS: usize = 40;
/// Points of the Maxwellian.
const CURVE: usize = 160;
/// Shortest time between two histograms, s: 260,000 velocities are counted each time.
const INTERVAL_S: f64 = 0.5;

/// What is drawn, kept from frame to frame.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    of: Of,
    key: Option<(u32, u64)>,
    made_s: f64,
    bins: Vec<Bin>,
    maxwellian: Option<Maxwellian>,
}

impl Shown {
    /// Counts anew if there is something new and the last time was long enough ago.
    fn update(&mut self, gathered: &Gathered, cell: u32, now_s: f64) {
        let key = Some((cell, gathered.snapshots()));
        let other = self.key.is_none_or(|(shown, _)| shown != cell);
        if self.key == key || (!other && now_s - self.made_s < INTERVAL_S) {
            return;
        }
        (self.key, self.made_s) = (key, now_s);
        self.maxwellian = gathered.maxwellian();
        self.bins = match &self.maxwellian {
            None => Vec::new(),
            Some(maxwellian) => {
                let range = maxwellian.range(self.of);
                Histogram::new(gathered.velocities(), self.of, range, BINS).bins().collect()
            }
        };
    }
}

/// The histogram.
pub fn distribution(ui: &mut Ui, state: &State, shown: &mut Shown, answer: &mut Answer) {
    let Some(probe) = state.probe else {
        shown.key = None;
        style::paragraph(
            ui,
            faint("Probe a cell of a slice to see how its molecules move: click on the slice."),
        );
        return;
    };
    let [x, y, z] = probe.middle_m.map(|m| si(m, "m"));
    ui.horizontal_wrapped(|ui| {
        ui.label(format!("cell {} at {x}, {y}, {z}", probe.cell));
        if ui.small_button("close").clicked() {
            answer.order(Order::EndProbe);
        }
    });
    ui.horizontal_wrapped(|ui| {
        for of in Of::ALL {
            if ui.selectable_value(&mut shown.of, of, name(of)).changed() {
                shown.key = None;
            }
        }
    });
    shown.update(&state.gathered, probe.cell, ui.input(|input| input.time));
    let count = text::count(state.gathered.velocities().len() as u64);
    let snapshots = state.gathered.snapshots();
    let Some(maxwellian) = shown.maxwellian else {
        style::paragraph(ui, faint(format!("{count} velocities so far: too few for a temperature.")));
        return;
    };
    ui.label(faint(format!("{count} velocities of {snapshots} snapshots")));
    ui.label(faint(format!(
        "Maxwellian of {} and {}",
        si(maxwellian.temperature_k, "K"),
        si(maxwellian.speed(), "m/s")
    )));
    plot(ui, shown, maxwellian);
}

fn plot(ui: &mut Ui, shown: &Shown, maxwellian: Maxwellian) {
    let [low, high] = maxwellian.range(shown.of);
    let width = (high - low) / BINS as f64;
    let bars = shown.bins.iter().map(|bin| Bar::new(bin.middle, bin.density).width(0.95 * width)).collect();
    let of = shown.of;
    let curve: Vec<[f64; 2]> = (0..=CURVE)
        .map(|i| low + (high - low) * i as f64 / CURVE as f64)
        .map(|c| [c, maxwellian.density(of, c)])
        .collect();
    let errors: Vec<[[f64; 2]; 2]> = shown
        .bins
        .iter()
        .map(|bin| [[bin.middle, (bin.density - bin.error).max(0.0)], [bin.middle, bin.density + bin.error]])
        .collect();
    let middles: Vec<[f64; 2]> = shown.bins.iter().map(|bin| [bin.middle, bin.density]).collect();
    Plot::new("distribution")
        .height(150.0)
        .width(ui.available_width())
        .allow_scroll(false)
        .legend(Legend::default())
        .x_axis_label(format!("{} [m/s]", symbol(of)))
        .show(ui, |plot| {
            plot.bar_chart(BarChart::new("cell", bars).color(style::ACCENT.gamma_multiply(0.45)));
            for [bottom, top] in errors {
                plot.line(Line::new("", vec![bottom, top]).color(style::TEXT).width(1.0));
            }
            plot.points(Points::new("cell", middles).color(style::ACCENT).radius(1.8));
            plot.line(Line::new("Maxwellian", curve).color(style::WARN).width(1.8));
        });
}

fn name(of: Of) -> &'static str {
    match of {
        Of::X => "x",
        Of::Y => "y",
        Of::Z => "z",
        Of::Speed => "speed",
    }
}

fn symbol(of: Of) -> &'static str {
    match of {
        Of::X => "c_x",
        Of::Y => "c_y",
        Of::Z => "c_z",
        Of::Speed => "c",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Probe;

    #[test]
    fn counts_again_only_for_something_new_and_not_too_often() {
        let velocities = (0..200).map(|i| [(i % 20) as f32 * 10.0, (i % 7) as f32, 0.0]).collect();
        let probe = Probe { cell: 3, velocities, mass_kg: 6.6e-26 };
        let mut gathered = Gathered::default();
        let mut shown = Shown::default();
        gathered.add(&probe, 1);
        shown.update(&gathered, 3, 0.0);
        let inside: f64 = shown.bins.iter().map(|bin| bin.density).sum();
        assert!(shown.bins.len() == BINS && inside > 0.0);
        gathered.add(&probe, 2);
        shown.update(&gathered, 3, 0.1);
        assert_eq!(shown.key, Some((3, 1)));
        shown.update(&gathered, 3, 1.0);
        assert_eq!(shown.key, Some((3, 2)));
    }
}
