//! The Maxwell distribution of speeds: fraction below a speed, quantiles, moments.
//! Knows nothing of particles or of how speeds are sampled.

use libm::{erf, tgamma};
use std::f64::consts::PI;

/// Fraction of the molecules slower than `speed`: erf(x) - 2 x exp(-x^2)/sqrt(pi), x the speed in most probable speeds.
pub fn speed_fraction_below(speed: f64, most_probable_speed: f64) -> f64 {
    let x = speed / most_probable_speed;
    erf(x) - 2.0 * x * (-x * x).exp() / PI.sqrt()
}

/// The speed, m/s, below which the fraction `p` of the molecules is (0 <= p < 1).
pub fn speed_quantile(p: f64, most_probable_speed: f64) -> f64 {
    // Bisection: 60 halvings of an interval that holds all but 1e-40 of the molecules.
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if speed_fraction_below(middle, 1.0) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high) * most_probable_speed
}

/// The `bins - 1` inner bounds of bins that are equally probable, m/s, increasing.
pub fn equiprobable_speeds(bins: usize, most_probable_speed: f64) -> Vec<f64> {
    (1..bins).map(|i| speed_quantile(i as f64 / bins as f64, most_probable_speed)).collect()
}

/// Mean of the k-th power of the speed: c_mp^k Gamma((k + 3)/2)/Gamma(3/2).
pub fn speed_moment(k: i32, most_probable_speed: f64) -> f64 {
    most_probable_speed.powi(k) * tgamma(0.5 * (f64::from(k) + 3.0)) / tgamma(1.5)
}
