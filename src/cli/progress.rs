//! The progress bar of a run: phase, steps a second, particles, time left.
//! Must not know physics.

use crate::sim::{Phase, Snapshot};
use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar; on a terminal it is drawn, elsewhere a line is printed now and then.
pub struct Progress {
    bar: ProgressBar,
    printed: u64,
    plain: bool,
    total: u64,
}

impl Progress {
    /// Starts at step `first` of `total`.
    pub fn new(first: u64, total: u64) -> Self {
        let bar = ProgressBar::new(total);
        let template = "{bar:30} {pos}/{len} steps  {msg}  {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_position(first);
        bar.reset_eta();
        let plain = bar.is_hidden();
        Self { bar, printed: first, plain, total }
    }

    /// Shows where the run is.
    pub fn show(&mut self, step: u64, steps_per_s: f64, snapshot: Option<&Snapshot>) {
        // Standing still, at the end, there is no speed.
        let mut message = if steps_per_s > 0.0 { format!("{steps_per_s:.1} steps/s") } else { String::new() };
        if let Some(snapshot) = snapshot {
            let phase = match snapshot.phase {
                Phase::Transient => "transient".to_string(),
                Phase::Sampling { samples, .. } => format!("sampling ({samples} samples)"),
            };
            message = format!("{phase}  {message}  {} particles", snapshot.particles);
        }
        if self.plain {
            // Without a terminal: a line each twentieth of the way.
            if step >= self.printed + (self.total / 20).max(1) {
                self.printed = step;
                let left = self.total.saturating_sub(step) as f64 / steps_per_s;
                let left = if left.is_finite() { format!("  {left:.0} s left") } else { String::new() };
                tell!("step {step} of {}  {message}{left}", self.total);
            }
        } else {
            self.bar.set_position(step);
            self.bar.set_message(message);
        }
    }

    /// Prints a line above the bar.
    pub fn say(&self, line: &str) {
        if self.plain { tell!("{line}") } else { self.bar.println(line) }
    }

    /// Removes the bar.
    pub fn done(&self) {
        self.bar.finish_and_clear();
    }
}
