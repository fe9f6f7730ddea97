//! Words and numbers of the panels: counts, times, means with their errors, costs of an edit.
//! Must not know egui, Bevy or the simulation.

use crate::runner::Status;
use crate::scene::Impact;
use crate::sim::{Estimate, Phase, SimError};
use crate::units::si;

/// "830", "12.5 k", "1.25 M": three digits are enough to see what goes on.
pub fn count(n: u64) -> String {
    let n = n as f64;
    let (scaled, suffix) = match n {
        n if n >= 0.9995e9 => (n / 1e9, " G"),
        n if n >= 0.9995e6 => (n / 1e6, " M"),
        n if n >= 9_999.5 => (n / 1e3, " k"),
        n => return format!("{n:.0}"),
    };
    let decimals = if scaled < 9.995 {
        2
    } else if scaled < 99.95 {
        1
    } else {
        0
    };
    format!("{scaled:.decimals$}{suffix}")
}

/// "42 s", "3 min 20 s", "2 h 05 min"; "unknown" for what has no end.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || !(0.0..1e9).contains(&seconds) {
        return "unknown".into();
    }
    let whole = seconds.ceil() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Time to `end` at this speed; nothing to say where nothing goes on or the end is behind.
pub fn time_left(step: u64, end: u64, steps_per_s: f64) -> Option<String> {
    (end > step && steps_per_s > 0.0).then(|| duration((end - step) as f64 / steps_per_s))
}

/// "12.3" steps a second.
pub fn speed(steps_per_s: f64) -> String {
    match steps_per_s {
        s if !s.is_finite() || s <= 0.0 => "0".into(),
        s if s < 99.95 => format!("{s:.1}"),
        s => count(s.round() as u64),
    }
}

/// A mean with its error in the same unit and prefix: "1.402 ± 0.013", "23.4 ± 1.2 mN". The error has two digits.
pub fn estimate(estimate: &Estimate, unit: &str) -> String {
    value_with_error(estimate.value, estimate.error, unit)
}

/// As [`estimate`], for a value and an error apart; NaN errors are left out.
pub fn value_with_error(value: f64, error: f64, unit: &str) -> String {
    let plain = si(value, unit);
    if !error.is_finite() || !value.is_finite() {
        return plain;
    }
    // The prefix follows the larger of both, so that 0 +- 3 mN is not 0 N +- 0.003 N.
    let larger = si(value.abs().max(error), unit);
    let (number, unit_text) = larger.split_once(' ').unwrap_or((&larger, ""));
    let shown: f64 = number.parse().unwrap_or(1.0);
    let factor = if shown == 0.0 || unit_text == unit {
        1.0
    } else {
        10_f64.powi((value.abs().max(error) / shown).log10().round() as i32)
    };
    let (value, error) = (value / factor, error / factor);
    let spaced = if unit_text.is_empty() { String::new() } else { format!(" {unit_text}") };
    if value.abs().max(error) >= 99_999.5 || (error > 0.0 && error < 1e-6) {
        return format!("{value:.3e} ± {error:.1e}{spaced}");
    }
    let decimals = if error > 0.0 { (1 - error.log10().floor() as i32).clamp(0, 6) as usize } else { 3 };
    format!("{value:.decimals$} ± {error:.decimals$}{spaced}")
}

/// What an edit costs, in a word.
pub fn cost(impact: Impact) -> &'static str {
    match impact {
        Impact::Nothing => "free",
        Impact::Live => "live",
        Impact::AveragesReset => "averages",
        Impact::Restart => "restart",
    }
}

/// What an edit costs, in a sentence.
pub fn cost_sentence(impact: Impact) -> &'static str {
    match impact {
        Impact::Nothing => "The simulation does not see this.",
        Impact::Live => "Takes effect at once; the averages go on.",
        Impact::AveragesReset => "Takes effect in the running flow; the averages start anew.",
        Impact::Restart => "The flow starts again from the beginning.",
    }
}

/// What the pending edit will do, for the status line.
pub fn pending(impact: Impact) -> &'static str {
    match impact {
        Impact::Nothing => "this edit costs nothing",
        Impact::Live => "this edit takes effect at once",
        Impact::AveragesReset => "this edit will start the averages anew",
        Impact::Restart => "this edit will restart the flow",
    }
}

/// Transient or sampling, in a few words.
pub fn phase(phase: Phase) -> String {
    match phase {
        Phase::Transient => "transient".into(),
        Phase::Sampling { since, samples } => format!("sampling, {samples} since step {since}"),
    }
}

/// What the simulation does, in a few words.
pub fn status(status: &Status) -> String {
    match status {
        Status::Building => "building the flow".into(),
        Status::Running => "running".into(),
        Status::Paused => "paused".into(),
        Status::Finished(step) => format!("finished at step {step}"),
        Status::Failed(_) => "failed".into(),
        Status::Stopped => "stopped".into(),
    }
}

/// What to do about a failed simulation, beside what it says itself.
pub fn advice(error: &SimError) -> &'static str {
    match error {
        SimError::Scene(_) => {
            "Change the scene on the left, or take the last edit back; it starts anew by itself."
        }
        SimError::Memory { .. } => "Take fewer particles a cell or fewer cells (Scene, on the left).",
        SimError::Device(_) => {
            "Restart the flow; if it fails again, save the scene and start the program anew."
        }
        SimError::Checkpoint(_) => "Restart the flow from its beginning.",
        SimError::Numerical(_) => {
            "Take the last edit back or a smaller time step, then restart the flow. The scene is not lost."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_times() {
        let texts = [0, 830, 9_999, 12_500, 1_250_000, 999_600_000].map(count);
        assert_eq!(texts, ["0", "830", "9999", "12.5 k", "1.25 M", "1.00 G"]);
        assert_eq!([0.2, 200.0, 7500.0].map(duration), ["1 s", "3 min 20 s", "2 h 05 min"]);
        assert_eq!(duration(f64::INFINITY), "unknown");
        assert_eq!(time_left(100, 1100, 50.0).as_deref(), Some("20 s"));
        assert_eq!(time_left(100, 100, 50.0), None);
        assert_eq!(time_left(100, 1100, 0.0), None);
        assert_eq!([0.0, 12.34, 20_000.0].map(speed), ["0", "12.3", "20.0 k"]);
    }

    #[test]
    fn means_share_the_unit_with_their_errors() {
        assert_eq!(value_with_error(1.4023, 0.0131, ""), "1.402 ± 0.013");
        assert_eq!(value_with_error(0.0234, 0.0012, "N"), "23.4 ± 1.2 mN");
        assert_eq!(value_with_error(-0.0002, 0.0031, "N"), "-0.2 ± 3.1 mN");
        assert_eq!(value_with_error(3.62e19, 1.2e17, "1/m^3"), "3.620e19 ± 1.2e17 1/m^3");
        assert_eq!(value_with_error(213.0, 0.5, "K"), "213.00 ± 0.50 K");
        assert_eq!(value_with_error(213.0, f64::NAN, "K"), "213.0 K");
        assert_eq!(value_with_error(0.0, 0.0, ""), "0.000 ± 0.000");
    }

    #[test]
    fn every_cost_has_words_of_its_own() {
        let all = [Impact::Nothing, Impact::Live, Impact::AveragesReset, Impact::Restart];
        for (i, a) in all.iter().enumerate() {
            for b in &all[i + 1..] {
                assert_ne!(cost(*a), cost(*b));
                assert_ne!(pending(*a), pending(*b));
            }
        }
        assert_eq!(pending(Impact::Restart), "this edit will restart the flow");
    }
}
