//! Pearson's chi-square test of counts against expected counts.
//! Knows nothing of what was counted.

use crate::physics::theory::special::gamma_q;

/// Outcome of a chi-square test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChiSquare {
    /// Sum of (observed - expected)^2/expected.
    pub statistic: f64,
    /// Degrees of freedom: bins less one.
    pub degrees: u32,
}

impl ChiSquare {
    /// Counts against equally probable bins.
    pub fn uniform(counts: &[u64]) -> Self {
        let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        let statistic = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
        Self { statistic, degrees: counts.len().saturating_sub(1) as u32 }
    }

    /// Probability of a statistic at least as large if the expectation is right.
    pub fn p_value(&self) -> f64 {
        gamma_q(0.5 * f64::from(self.degrees), 0.5 * self.statistic)
    }
}

/// Counts `values` into the bins between increasing inner bounds: one bin more than bounds.
pub fn histogram(values: impl IntoIterator<Item = f64>, bounds: &[f64]) -> Vec<u64> {
    let mut counts = vec![0; bounds.len() + 1];
    for value in values {
        counts[bounds.partition_point(|&bound| bound <= value)] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_acceptance_tests() {
        // p = 1e-4 at the limits of tests C2 (50 bins), H-pairs (45 pairs of 10, 11 leftovers); printed to 3 digits.
        for (limit, degrees) in [(94.6, 49), (87.7, 44), (35.6, 10)] {
            let p = ChiSquare { statistic: limit, degrees }.p_value();
            assert!((p / 1e-4 - 1.0).abs() < 0.04, "{limit} {degrees}: {p}");
        }
        let p = ChiSquare { statistic: 3.841_458_820_694_124, degrees: 1 }.p_value();
        assert!((p - 0.05).abs() < 1e-12);
    }

    #[test]
    fn statistic_by_hand() {
        let test = ChiSquare::uniform(&[8, 12, 10, 10]);
        assert_eq!((test.statistic, test.degrees), (0.8, 3));
    }

    #[test]
    fn values_fall_into_their_bins() {
        assert_eq!(histogram([0.5, 1.0, 1.5, 2.0, 9.0, -1.0], &[1.0, 2.0]), [2, 2, 2]);
    }
}
