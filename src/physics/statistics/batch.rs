//! Mean and statistical error of a correlated series, by batch means whose length doubles as the series grows.
//! Knows nothing of what the numbers are.

use serde::{Deserialize, Serialize};

/// Batches at which neighbours are merged: from 64 to 32.
const FULL: usize = 64;

/// A mean with its statistical error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// Mean of all values; NaN without any.
    pub value: f64,
    /// One standard deviation of the mean; NaN with fewer than two batches.
    pub error: f64,
    /// Batches behind the error.
    pub batches: u32,
}

/// Sums of a series in batches of equal length.
///
/// Values of neighbouring steps are correlated, so their scatter says little about the error of the mean; means of
/// batches that are long against the correlation time are not (Law & Kelton 2000, section 9.5.3). When 64 batches
/// are full, neighbours merge: there are 32 to 64 of them, as long as the series allows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchMeans {
    /// Sums of the full batches.
    full: Vec<f64>,
    /// Values in a full batch.
    length: u64,
    /// Sum of the batch that is being filled.
    open: f64,
    /// Values in it.
    open_count: u64,
}

impl Default for BatchMeans {
    fn default() -> Self {
        Self { full: Vec::with_capacity(FULL), length: 1, open: 0.0, open_count: 0 }
    }
}

impl BatchMeans {
    /// Adds the value of one step.
    pub fn push(&mut self, value: f64) {
        self.open += value;
        self.open_count += 1;
        if self.open_count < self.length {
            return;
        }
        self.full.push(self.open);
        (self.open, self.open_count) = (0.0, 0);
        if self.full.len() >= FULL {
            for i in 0..FULL / 2 {
                self.full[i] = self.full[2 * i] + self.full[2 * i + 1];
            }
            self.full.truncate(FULL / 2);
            self.length *= 2;
        }
    }

    /// The mean of a weighted sum of several series that were pushed together, with the error that follows from how they
    /// vary together.
    pub fn combine(series: &[Self], weights: &[f64]) -> Mean {
        let sum = |of: &dyn Fn(&Self) -> f64| series.iter().zip(weights).map(|(s, w)| w * of(s)).sum::<f64>();
        let Some(first) = series.first() else {
            return Self::default().mean();
        };
        Self {
            full: (0..first.full.len()).map(|i| sum(&|s| s.full[i])).collect(),
            length: first.length,
            open: sum(&|s| s.open),
            open_count: first.open_count,
        }
        .mean()
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.full.len() as u64 * self.length + self.open_count
    }

    /// Values in a batch.
    pub fn batch_length(&self) -> u64 {
        self.length
    }

    /// Mean of all values, and its error from the scatter of the full batches.
    ///
    /// Where neighbouring batches are still significantly correlated the error is raised by sqrt(1 + 2 r), r their
    /// correlation; see [`BatchMeans::is_correlated`].
    pub fn mean(&self) -> Mean {
        let sum = self.full.iter().sum::<f64>() + self.open;
        let count = self.full.len() as f64;
        let mut error = f64::NAN;
        if self.full.len() >= 2 {
            let centre = self.full.iter().sum::<f64>() / count;
            let scatter: f64 = self.full.iter().map(|batch| (batch - centre).powi(2)).sum();
            error = (scatter / (count - 1.0) / count).sqrt() / self.length as f64;
            if self.is_correlated() {
                error *= (1.0 + 2.0 * self.correlation()).sqrt();
            }
        }
        Mean { value: sum / self.count() as f64, error, batches: self.full.len() as u32 }
    }

    /// Correlation of neighbouring batch means (lag 1); 0 where it is not known or nothing scatters.
    pub fn correlation(&self) -> f64 {
        if self.full.len() < 4 {
            return 0.0;
        }
        let centre = self.full.iter().sum::<f64>() / self.full.len() as f64;
        let scatter: f64 = self.full.iter().map(|batch| (batch - centre).powi(2)).sum();
        let lagged: f64 = self.full.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).sum();
        if scatter > 0.0 { lagged / scatter } else { 0.0 }
    }

    /// Whether the batches are too short to be independent: their correlation is over two standard deviations of
    /// that of independent ones. The error is then an estimate from below: run longer.
    pub fn is_correlated(&self) -> bool {
        self.correlation() > 2.0 / (self.full.len() as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};

    /// Uniform noise of variance 1, smoothed to the correlation `r` of neighbours, stationary.
    fn series(seed: u64, r: f64) -> impl FnMut() -> f64 {
        let mut rng = SmallRng::seed_from_u64(seed);
        let mut state = 0.0;
        move || {
            let noise = (rng.random::<f64>() - 0.5) * 12f64.sqrt();
            state = r * state + (1.0 - r * r).sqrt() * noise;
            state
        }
    }

    #[test]
    fn the_mean_is_exact_and_batches_stay_between_32_and_64() {
        let mut batches = BatchMeans::default();
        let mut sum = 0.0;
        for i in 0..10_007u32 {
            let value = f64::from(i * i % 1013);
            sum += value;
            batches.push(value);
            assert_eq!(batches.count(), u64::from(i) + 1);
            let mean = batches.mean();
            assert!((mean.value * f64::from(i + 1) / sum.max(1e-300) - 1.0).abs() < 1e-12 || sum == 0.0);
            assert!(i < 64 || (32..64).contains(&mean.batches));
        }
        assert_eq!(batches.batch_length(), 256);
    }

    #[test]
    fn few_values_have_no_error() {
        let mut batches = BatchMeans::default();
        assert!(batches.mean().value.is_nan());
        batches.push(3.0);
        let mean = batches.mean();
        assert!(mean.value == 3.0 && mean.error.is_nan() && mean.batches == 1);
        batches.push(3.0);
        assert_eq!(batches.mean().error, 0.0);
    }

    #[test]
    fn errors_cover_the_truth_for_independent_and_for_correlated_series() {
        for r in [0.0f64, 0.9] {
            // Variance of the mean of a stationary first-order series: (1 + r)/(1 - r)/n.
            let n = 4096;
            let truth = ((1.0 + r) / (1.0 - r) / f64::from(n)).sqrt();
            let (mut ratio, mut z2) = (0.0, 0.0);
            let runs = 400;
            for seed in 0..runs {
                let mut next = series(seed, r);
                let mut batches = BatchMeans::default();
                for _ in 0..200 {
                    next();
                }
                (0..n).for_each(|_| batches.push(next()));
                let mean = batches.mean();
                ratio += mean.error / truth / runs as f64;
                z2 += (mean.value / mean.error).powi(2) / runs as f64;
            }
            // 32 batches: the error scatters by 13 %, its mean over 400 runs by 0.7 %; the correction for
            // correlation that is not there adds about 2 %.
            assert!((ratio - 1.0).abs() < 0.05, "r {r}: error over truth {ratio}");
            // Mean square of t with 31 degrees of freedom is 31/29; its mean over 400 runs scatters by 0.08.
            assert!((z2 - 31.0 / 29.0).abs() < 0.3, "r {r}: mean z^2 {z2}");
        }
    }

    #[test]
    fn strong_correlation_is_noticed() {
        let mut next = series(5, 0.999);
        let mut slow = BatchMeans::default();
        (0..2000).for_each(|_| slow.push(next()));
        assert!(slow.is_correlated() && slow.correlation() > 0.5);
        let mut next = series(6, 0.0);
        let mut quick = BatchMeans::default();
        (0..2000).for_each(|_| quick.push(next()));
        assert!(!quick.is_correlated());
    }

    #[test]
    fn goes_on_the_same_after_being_saved() {
        let mut next = series(7, 0.5);
        let mut one = BatchMeans::default();
        (0..777).for_each(|_| one.push(next()));
        let mut two: BatchMeans = serde_json::from_str(&serde_json::to_string(&one).unwrap()).unwrap();
        for _ in 0..999 {
            let value = next();
            one.push(value);
            two.push(value);
        }
        assert_eq!(one, two);
    }
}
