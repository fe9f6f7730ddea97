//! Decides, while a simulation runs, when its flow has become steady, and says why.
//! Knows nothing of what the monitored quantities are.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Windows in the span over which drift is measured.
const WINDOWS: usize = 12;
/// The span in transit times.
const SPAN: f64 = 1.2;
/// Nothing is decided before this many transit times: what was in the domain at the start must have left.
const EARLIEST: f64 = 1.5;
/// Windows in a row that must find the flow steady.
const CONFIRMATIONS: u32 = 2;
/// Largest relative drift over the span.
const DRIFT_LIMIT: f64 = 0.005;
/// A larger drift is taken for noise if it is below so many of its own standard deviations.
const SIGNIFICANT: f64 = 3.0;

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// First step after the transient.
    pub step: u64,
    /// "steady since step 812: particle count drifted 0.08 % over the last 240 steps (limit 0.5 %)".
    pub reason: String,
}

/// Watches several quantities, step by step, and finds when none of them drifts any more.
///
/// Means over windows of a tenth of the transit time are kept for the last twelve windows. A straight line through them
/// gives the drift over that span and, from the scatter about the line, its error. A quantity is at rest if the drift is
/// below 0.5 % of its mean, or cannot be told from noise (3 standard deviations). The flow is steady if all quantities
/// are at rest in two windows in a row, at least 1.5 transit times after the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SteadyDetector {
    names: Vec<String>,
    window_steps: u64,
    earliest_steps: u64,
    first_step: Option<u64>,
    /// Values seen in the open window, their sums, and the step at which it began.
    open_count: u64,
    open_sums: Vec<f64>,
    open_since: u64,
    /// Means of the last windows, oldest first, one value a quantity.
    windows: VecDeque<Vec<f64>>,
    passed_in_a_row: u32,
    decision: Option<Decision>,
}

/// Drift of one quantity over the span.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// End of the fitted line less its beginning.
    pub drift: f64,
    /// One standard deviation of it.
    pub error: f64,
    /// Mean over the span.
    pub mean: f64,
}

impl Drift {
    /// Least-squares line through window means.
    fn fit(means: impl ExactSizeIterator<Item = f64> + Clone) -> Self {
        let count = means.len() as f64;
        let centre = 0.5 * (count - 1.0);
        let mean = means.clone().sum::<f64>() / count;
        let spread = count * (count * count - 1.0) / 12.0;
        let moment: f64 = means.clone().enumerate().map(|(i, m)| (i as f64 - centre) * (m - mean)).sum();
        let slope = moment / spread;
        let scatter: f64 =
            means.enumerate().map(|(i, m)| (m - mean - slope * (i as f64 - centre)).powi(2)).sum();
        let error = (scatter / (count - 2.0) / spread).sqrt();
        Self { drift: slope * count, error: error * count, mean }
    }

    /// Drift over mean, unsigned.
    pub fn relative(&self) -> f64 {
        if self.drift == 0.0 { 0.0 } else { (self.drift / self.mean).abs() }
    }

    /// Whether the drift is small against the mean.
    fn is_small(&self) -> bool {
        self.relative() <= DRIFT_LIMIT
    }

    /// Whether the quantity is at rest as far as can be told.
    fn is_at_rest(&self) -> bool {
        self.is_small() || self.drift.abs() < SIGNIFICANT * self.error
    }
}

impl SteadyDetector {
    /// Watches the quantities `names`; `transit_steps` is the time in which the gas crosses the domain, in steps.
    pub fn new(names: &[&str], transit_steps: f64) -> Self {
        let transit = if transit_steps.is_finite() { transit_steps.max(1.0) } else { 1.0 };
        Self {
            names: names.iter().map(ToString::to_string).collect(),
            // Windows of fewer than 4 steps would hardly average.
            window_steps: ((transit * SPAN / WINDOWS as f64).ceil() as u64).max(4),
            earliest_steps: (transit * EARLIEST).ceil() as u64,
            first_step: None,
            open_count: 0,
            open_sums: vec![0.0; names.len()],
            open_since: 0,
            windows: VecDeque::with_capacity(WINDOWS + 1),
            passed_in_a_row: 0,
            decision: None,
        }
    }

    /// First step, counted from the start of watching, at which the flow can be found steady.
    pub fn earliest_step(&self) -> u64 {
        let windows = WINDOWS as u64 + u64::from(CONFIRMATIONS) - 1;
        self.earliest_steps.max(self.window_steps.saturating_mul(windows))
    }

    /// Steps over which drift is measured.
    pub fn span_steps(&self) -> u64 {
        self.window_steps * WINDOWS as u64
    }

    /// Takes the values after `step`, in the order of the names (missing ones count as 0). Returns the decision in the
    /// step in which it falls, and `None` before and after.
    pub fn push(&mut self, step: u64, values: &[f64]) -> Option<&Decision> {
        if self.decision.is_some() {
            return None;
        }
        let first = *self.first_step.get_or_insert(step);
        if self.open_count == 0 {
            self.open_since = step;
        }
        for (sum, value) in self.open_sums.iter_mut().zip(values) {
            *sum += value;
        }
        self.open_count += 1;
        if step + 1 < self.open_since + self.window_steps {
            return None;
        }
        let count = self.open_count as f64;
        self.windows.push_back(self.open_sums.iter().map(|sum| sum / count).collect());
        if self.windows.len() > WINDOWS {
            self.windows.pop_front();
        }
        self.open_count = 0;
        self.open_sums.fill(0.0);

        let drifts = self.drifts();
        let steady = !drifts.is_empty() && drifts.iter().all(Drift::is_at_rest);
        self.passed_in_a_row = if steady { self.passed_in_a_row + 1 } else { 0 };
        if self.passed_in_a_row >= CONFIRMATIONS && step + 1 - first >= self.earliest_steps {
            self.decision = Some(Decision { step: step + 1, reason: self.reason(step + 1, &drifts) });
        }
        self.decision.as_ref()
    }

    /// What was decided, if it was.
    pub fn decision(&self) -> Option<&Decision> {
        self.decision.as_ref()
    }

    /// Drift of each quantity over the last span; empty before there are enough windows.
    pub fn drifts(&self) -> Vec<Drift> {
        if self.windows.len() < WINDOWS {
            return Vec::new();
        }
        let series = |quantity: usize| self.windows.iter().map(move |means| means[quantity]);
        (0..self.names.len()).map(|quantity| Drift::fit(series(quantity))).collect()
    }

    /// One line on where it stands: the decision, or what still drifts.
    pub fn status(&self) -> String {
        if let Some(decision) = &self.decision {
            return decision.reason.clone();
        }
        let drifts = self.drifts();
        let moving: Vec<String> = self
            .names
            .iter()
            .zip(&drifts)
            .filter(|(_, drift)| !drift.is_at_rest())
            .map(|(name, drift)| self.describe(name, drift))
            .collect();
        if drifts.is_empty() {
            format!("not steady yet: watching the first {} steps", self.span_steps())
        } else if moving.is_empty() {
            "not steady yet: nothing drifts, waiting for that to be confirmed".to_string()
        } else {
            format!("not steady yet: {}", moving.join("; "))
        }
    }

    fn reason(&self, step: u64, drifts: &[Drift]) -> String {
        let lines: Vec<String> =
            self.names.iter().zip(drifts).map(|(name, drift)| self.describe(name, drift)).collect();
        format!("steady since step {step}: {}", lines.join("; "))
    }

    /// "drag drifted 1.2 % over the last 240 steps, within its noise of 0.9 %".
    fn describe(&self, name: &str, drift: &Drift) -> String {
        let percent = 100.0 * drift.relative();
        let span = self.span_steps();
        let verdict = if drift.is_small() || !drift.is_at_rest() {
            format!(" (limit {} %)", 100.0 * DRIFT_LIMIT)
        } else {
            let noise = 100.0 * (drift.error / drift.mean).abs();
            format!(", within its noise (one sigma {noise:.2} %)")
        };
        format!("{name} drifted {percent:.2} % over the last {span} steps{verdict}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};

    const TRANSIT: f64 = 200.0;

    /// Runs `value(step)` plus uniform noise of that standard deviation; the step of the decision.
    fn decide(seed: u64, steps: u64, noise: f64, value: impl Fn(f64) -> f64) -> Option<u64> {
        let mut rng = SmallRng::seed_from_u64(seed);
        let mut detector = SteadyDetector::new(&["particle count"], TRANSIT);
        for step in 0..steps {
            let random = (rng.random::<f64>() - 0.5) * 12f64.sqrt() * noise;
            if let Some(decision) = detector.push(step, &[value(step as f64) + random]) {
                return Some(decision.step);
            }
        }
        None
    }

    #[test]
    fn exponential_approach_is_found_when_its_drift_has_gone() {
        for seed in 0..50 {
            // From 40 % too low, time constant one transit. Drift over the last span is below 0.5 % once
            // 0.4 exp(-t/200)(exp(1.2) - 1) is, at t = 1045 = 5.2 time constants (fit: somewhat later or earlier).
            let step = decide(seed, 5000, 1e-3, |t| 1.0 - 0.4 * (-t / TRANSIT).exp()).unwrap();
            assert!((900..1400).contains(&step), "seed {seed}: {step}");
            let before = 0.4 * (-(step as f64) / TRANSIT).exp();
            assert!(before < 0.0035, "seed {seed}: {before} is still missing at {step}");
        }
    }

    #[test]
    fn pure_noise_is_steady_as_soon_as_anything_may_be() {
        let steps: Vec<u64> = (0..50).map(|seed| decide(seed, 5000, 0.05, |_| 1.0).unwrap()).collect();
        assert!(steps.iter().all(|&step| step >= 300));
        assert!(steps.iter().filter(|&&step| step <= 400).count() >= 45, "{steps:?}");
        // A quantity around zero, and one that does not vary at all.
        assert!(decide(1, 5000, 1.0, |_| 0.0).is_some());
        assert_eq!(decide(1, 5000, 0.0, |_| 7.0), Some(300));
        assert_eq!(decide(1, 5000, 0.0, |_| 0.0), Some(300));
    }

    #[test]
    fn slow_fluctuations_of_a_small_run_do_not_keep_it_waiting_for_ever() {
        // A box with so few particles that their number wanders by 1 % with half a transit as correlation time.
        for seed in 0..20 {
            let mut rng = SmallRng::seed_from_u64(seed);
            let keep = (-2.0 / TRANSIT).exp();
            let mut wander = 0.0;
            let mut detector = SteadyDetector::new(&["particle count"], TRANSIT);
            let decided = (0..8000).find_map(|step| {
                let noise = (rng.random::<f64>() - 0.5) * 12f64.sqrt();
                wander = keep * wander + (1.0 - keep * keep).sqrt() * noise;
                detector.push(step, &[1.0 + 0.01 * wander]).map(|decision| decision.step)
            });
            assert!(decided.is_some_and(|step| step < 20 * TRANSIT as u64), "seed {seed}: {decided:?}");
        }
    }

    #[test]
    fn a_linear_drift_is_never_steady() {
        // 2 % in a transit time: over 40 transits it remains above 0.5 % of the growing mean.
        for seed in 0..20 {
            assert_eq!(decide(seed, 8000, 1e-3, |t| 1.0 + 0.02 * t / TRANSIT), None, "seed {seed}");
        }
    }

    #[test]
    fn a_step_change_must_leave_the_span() {
        for seed in 0..20 {
            // While a span holds the step it drifts; the step comes before anything may be decided.
            let step = decide(seed, 5000, 1e-3, |t| if t < 250.0 { 1.0 } else { 1.3 }).unwrap();
            assert!((440..=560).contains(&step), "seed {seed}: {step}");
        }
    }

    #[test]
    fn all_quantities_must_rest_and_the_reason_says_so() {
        let mut detector = SteadyDetector::new(&["particle count", "drag"], 100.0);
        assert_eq!(detector.span_steps(), 120);
        assert!(detector.status().contains("watching the first 120 steps"));
        let mut rng = SmallRng::seed_from_u64(3);
        let mut decided = None;
        for step in 0..2000 {
            let drag =
                if step < 1000 { 2.0 + 0.001 * step as f64 } else { 3.0 } + 0.2 * (rng.random::<f64>() - 0.5);
            decided = detector.push(step, &[1e6, drag]).cloned();
            if step == 500 {
                assert!(
                    detector.status().starts_with("not steady yet: drag drifted"),
                    "{}",
                    detector.status()
                );
            }
            if decided.is_some() {
                break;
            }
        }
        let decision = decided.unwrap();
        assert!((1000..1300).contains(&decision.step), "{decision:?}");
        assert!(decision.reason.starts_with(&format!("steady since step {}: particle count", decision.step)));
        assert!(
            decision.reason.contains("particle count drifted 0.00 % over the last 120 steps (limit 0.5 %)")
        );
        assert!(decision.reason.contains("drag drifted"));
        assert_eq!(detector.push(5000, &[0.0, 0.0]), None);
        assert_eq!(detector.decision(), Some(&decision));
    }

    #[test]
    fn goes_on_the_same_after_being_saved() {
        let value = |step: u64| 1.0 - 0.4 * (-(step as f64) / TRANSIT).exp();
        let mut one = SteadyDetector::new(&["particle count"], TRANSIT);
        (0..777).for_each(|step| drop(one.push(step, &[value(step)]).cloned()));
        let mut two: SteadyDetector = serde_json::from_str(&serde_json::to_string(&one).unwrap()).unwrap();
        assert_eq!(one, two);
        for step in 777..2000 {
            assert_eq!(one.push(step, &[value(step)]), two.push(step, &[value(step)]));
        }
        assert!(one.decision().is_some() && one == two);
    }
}
