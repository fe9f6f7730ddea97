//! Special functions that libm lacks: incomplete gamma function, modified Bessel functions.
//! Knows nothing of gases.

use libm::lgamma;
use std::f64::consts::PI;

/// exp(-x) I_n(x) for x >= 0: the modified Bessel function, scaled so that it never overflows.
///
/// By the trapezoidal rule on (1/pi) integral of exp(x (cos t - 1)) cos(n t) dt over 0 to pi (DLMF 10.32.3), which
/// converges exponentially for a periodic integrand. Good to 1e-14 for small orders.
pub fn bessel_i_scaled(order: u32, x: f64) -> f64 {
    // The integrand is a peak of width 1/sqrt(x): points in proportion.
    let points = 32 + (8.0 * x.sqrt()) as u32;
    let step = PI / f64::from(points);
    let inner: f64 = (1..points)
        .map(|i| {
            let t = f64::from(i) * step;
            (-2.0 * x * (0.5 * t).sin().powi(2)).exp() * (f64::from(order) * t).cos()
        })
        .sum();
    let end = if order.is_multiple_of(2) { 0.5 } else { -0.5 } * (-2.0 * x).exp();
    (0.5 + inner + end) * step / PI
}

/// Regularised upper incomplete gamma function Q(a, x), a > 0, x >= 0: series or continued fraction
/// (Abramowitz & Stegun 1964, 6.5.29 and 6.5.31). Good to 1e-13 for a up to a few hundred.
pub fn gamma_q(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let front = (a * x.ln() - x - lgamma(a)).exp();
    if x < a + 1.0 {
        let mut term = 1.0 / a;
        let mut sum = term;
        let mut k = a;
        while term > sum * 1e-17 {
            k += 1.0;
            term *= x / k;
            sum += term;
        }
        return 1.0 - front * sum;
    }
    // Modified Lentz: x + 1 - a - (1 - a)/(x + 3 - a - 2 (2 - a)/(x + 5 - a - ...)).
    let mut b = x + 1.0 - a;
    let mut c = f64::MAX;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for i in 1..10_000 {
        let i = f64::from(i);
        let numerator = i * (a - i);
        b += 2.0;
        d = 1.0 / nonzero(numerator * d + b);
        c = nonzero(b + numerator / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    front * fraction
}

/// The value, or something tiny where Lentz's method would divide by zero.
fn nonzero(x: f64) -> f64 {
    if x == 0.0 { f64::MIN_POSITIVE } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bessel_functions() {
        // Abramowitz & Stegun 1964, tables 9.8: exp(-x) I_n(x).
        for (n, x, value) in [(0, 0.0, 1.0), (0, 1.0, 0.465_759_607_6), (1, 1.0, 0.207_910_415_3)] {
            assert!((bessel_i_scaled(n, x) - value).abs() < 2e-10, "{n} {x}");
        }
        // Recurrence I_0 - I_2 = 2 I_1/x, and the asymptotic series.
        for x in [0.01, 0.3, 2.0, 10.0, 50.0, 200.0] {
            let [i0, i1, i2] = [0, 1, 2].map(|n| bessel_i_scaled(n, x));
            assert!((i0 - i2 - 2.0 * i1 / x).abs() < 1e-13, "{x}");
        }
        let x: f64 = 200.0;
        let series = (1.0 + 1.0 / (8.0 * x) + 9.0 / (128.0 * x * x) + 225.0 / (3072.0 * x.powi(3)))
            / (2.0 * PI * x).sqrt();
        assert!((bessel_i_scaled(0, x) / series - 1.0).abs() < 1e-9);
    }

    #[test]
    fn incomplete_gamma() {
        for x in [0.1, 0.9, 2.0, 7.0, 30.0] {
            assert!((gamma_q(1.0, x) / (-x).exp() - 1.0).abs() < 1e-13, "{x}");
            assert!((gamma_q(0.5, x) / libm::erfc(x.sqrt()) - 1.0).abs() < 1e-12, "{x}");
            let step = x.powf(20.3) * (-x).exp() / libm::tgamma(21.3);
            assert!((gamma_q(21.3, x) - gamma_q(20.3, x) - step).abs() < 1e-13, "{x}");
        }
        assert_eq!(gamma_q(3.0, 0.0), 1.0);
    }
}
