//! One line of the self-test: value, reference, sigma, verdict; and the rule for many of them.
//! Must not know how a value was computed.

/// A comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Row of the acceptance table: "B2".
    pub id: &'static str,
    /// What is compared: "sphere s = 5, diffuse Tw/T = 1: C_D".
    pub what: String,
    /// Value of the solver.
    pub value: f64,
    /// Reference.
    pub reference: f64,
    /// Statistical error of the value (and of the reference, combined), one standard deviation.
    pub sigma: f64,
    /// Systematic allowance that the acceptance table gives beside 4 sigma, absolute; combined in quadrature.
    pub allowance: f64,
    /// What the comparison must resolve, absolute: a larger sigma makes it void. Infinite where the table asks nothing.
    pub resolve: f64,
}

/// Outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Within the tolerance.
    Pass,
    /// Outside.
    Fail,
    /// The statistical error is larger than what the comparison must resolve: it says nothing.
    Void,
}

impl Row {
    /// A comparison at 4 sigma without allowance.
    pub fn new(id: &'static str, what: impl Into<String>, value: f64, reference: f64, sigma: f64) -> Self {
        Self { id, what: what.into(), value, reference, sigma, allowance: 0.0, resolve: f64::INFINITY }
    }

    /// With a systematic allowance of a fraction of the reference.
    pub fn allow(mut self, fraction: f64) -> Self {
        self.allowance = fraction * self.reference.abs();
        self
    }

    /// With something it must resolve, as a fraction of the reference.
    pub fn must_resolve(mut self, fraction: f64) -> Self {
        self.resolve = fraction * self.reference.abs();
        self
    }

    /// Deviation in standard deviations, the allowance taken as four of them.
    pub fn z(&self) -> f64 {
        let spread = self.sigma.hypot(self.allowance / 4.0);
        let deviation = self.value - self.reference;
        if deviation == 0.0 { 0.0 } else { deviation / spread }
    }

    /// The verdict: |z| <= 4, two-sided chance 6.3e-5.
    pub fn verdict(&self) -> Verdict {
        if self.sigma > self.resolve {
            Verdict::Void
        } else if self.z().abs() <= 4.0 {
            Verdict::Pass
        } else {
            // NaN too.
            Verdict::Fail
        }
    }
}

/// The rule for a family of m comparisons: at most max(1, 1 %) beyond 3 sigma, and mean z^2 < 1 + 4 sqrt(2 / m).
/// Returns what breaks it.
pub fn family(rows: &[Row]) -> Option<String> {
    let m = rows.len() as f64;
    if rows.len() < 2 {
        return None;
    }
    let beyond = rows.iter().filter(|row| row.z().abs() > 3.0).count();
    let mean = rows.iter().map(|row| row.z().powi(2)).sum::<f64>() / m;
    let most = (0.01 * m).max(1.0);
    let bound = 1.0 + 4.0 * (2.0 / m).sqrt();
    if beyond as f64 > most {
        Some(format!("{beyond} of {m} comparisons are beyond 3 sigma, at most {most:.0} may"))
    } else if mean >= bound {
        Some(format!("mean z^2 is {mean:.2}, must be below {bound:.2}"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts() {
        assert_eq!(Row::new("X", "", 1.03, 1.0, 0.01).verdict(), Verdict::Pass);
        assert_eq!(Row::new("X", "", 1.05, 1.0, 0.01).verdict(), Verdict::Fail);
        assert_eq!(Row::new("X", "", 1.05, 1.0, 0.01).allow(0.04).verdict(), Verdict::Pass);
        assert_eq!(Row::new("X", "", 1.0, 1.0, 0.01).must_resolve(0.005).verdict(), Verdict::Void);
        assert_eq!(Row::new("X", "", f64::NAN, 1.0, 0.01).verdict(), Verdict::Fail);
        assert_eq!(Row::new("X", "", 0.0, 0.0, 0.0).verdict(), Verdict::Pass);
        assert_eq!(Row::new("X", "", 1e-9, 0.0, 0.0).verdict(), Verdict::Fail);
    }

    #[test]
    fn families() {
        let rows = |z: f64| vec![Row::new("X", "", 1.0 + 0.1 * z, 1.0, 0.1); 50];
        assert_eq!(family(&rows(0.9)), None);
        assert!(family(&rows(1.5)).is_some_and(|text| text.contains("mean")));
        assert!(family(&rows(3.5)).is_some_and(|text| text.contains("beyond")));
    }
}
