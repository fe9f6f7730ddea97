//! Random variates: Gaussian pairs, directions, effusing speeds, Poisson counts.
//! Knows nothing of gases: speeds are in units of the most probable speed or of a standard deviation.

use super::rng::Stream;
use std::f32::consts::TAU;

/// Two independent standard normal variates (Box & Muller 1958).
#[inline]
pub fn gauss_pair(rng: &mut Stream) -> [f32; 2] {
    let radius = (-2.0 * rng.unit().ln()).sqrt();
    let (sin, cos) = (TAU * rng.unit()).sin_cos();
    [radius * cos, radius * sin]
}

/// Three independent standard normal variates.
#[inline]
pub fn gauss_triple(rng: &mut Stream) -> [f32; 3] {
    let [a, b] = gauss_pair(rng);
    let [c, _] = gauss_pair(rng);
    [a, b, c]
}

/// A direction, uniform on the unit sphere.
#[inline]
pub fn direction(rng: &mut Stream) -> [f32; 3] {
    let cos = 2.0 * rng.unit() - 1.0;
    // In f64: near the equator an f32 square root of the lattice of 1 - cos^2 meets ties and always rounds them down,
    // which took 4e-10 of the energy of a pair in each collision.
    let sin = (1.0 - f64::from(cos) * f64::from(cos)).sqrt() as f32;
    let (y, x) = (TAU * rng.unit()).sin_cos();
    [sin * x, sin * y, cos]
}

/// Normal speed of a molecule that leaves a diffuse wall, in units of sqrt(kT/m): density v exp(-v^2/2).
#[inline]
pub fn effusion(rng: &mut Stream) -> f32 {
    (-2.0 * rng.unit().ln()).sqrt()
}

/// Normal speed of a molecule that enters through a face, in units of the most probable speed: density
/// v exp(-(v - s)^2) for v > 0, `s` the speed ratio of the stream along the inward normal, of either sign.
///
/// Exact for every `s`: rejection from (s + |w|) exp(-w^2), w = v - s, for s >= 0; from v exp(-v^2) for
/// -1 < s < 0; from v exp(2 s v) below. At least 40 % of the proposals are accepted.
pub fn inflow_speed(s: f32, rng: &mut Stream) -> f32 {
    if s >= 0.0 {
        let gaussian_weight = s * std::f32::consts::PI.sqrt();
        loop {
            let magnitude_and_sign = rng.unit();
            let w = if rng.unit() * (1.0 + gaussian_weight) < gaussian_weight {
                let radius = (-magnitude_and_sign.ln()).sqrt();
                radius * (TAU * rng.unit()).cos()
            } else {
                let radius = (-magnitude_and_sign.ln()).sqrt();
                if rng.bits() & 1 == 0 { radius } else { -radius }
            };
            if w >= 0.0 || rng.unit() * (s - w) < s + w {
                return s + w;
            }
        }
    } else if s > -1.0 {
        loop {
            let v = (-rng.unit().ln()).sqrt();
            if rng.unit() < (2.0 * s * v).exp() {
                return v;
            }
        }
    } else {
        loop {
            let v = (rng.unit() * rng.unit()).ln() / (2.0 * s);
            if rng.unit() < (-v * v).exp() {
                return v;
            }
        }
    }
}

/// A Poisson variate, exact for any mean: sequential search, in parts of mean at most 32.
pub fn poisson(mean: f64, rng: &mut Stream) -> u32 {
    let mut count = 0;
    let mut rest = mean;
    while rest > 0.0 {
        let part = rest.min(32.0);
        rest -= part;
        let mut term = (-part).exp();
        let mut below = term;
        let u = rng.unit_f64();
        let mut k = 0_u32;
        // Past 200 the terms of a mean of 32 are below the resolution of u.
        while u > below && k < 200 {
            k += 1;
            term *= part / f64::from(k);
            below += term;
        }
        count += k;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::rng::Purpose;

    fn rng(index: u32) -> Stream {
        Stream::new(11, 0, Purpose::Test, index)
    }

    /// Mean and mean square of `n` draws within 4 sigma of the given moments.
    fn check_moments(name: &str, n: u32, mut draw: impl FnMut() -> f64, mean: f64, square: f64) {
        let (mut s1, mut s2, mut s4) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            let x = draw();
            s1 += x;
            s2 += x * x;
            s4 += x * x * x * x;
        }
        let n = f64::from(n);
        let (m1, m2, m4) = (s1 / n, s2 / n, s4 / n);
        let (e1, e2) = (((m2 - m1 * m1) / n).sqrt(), ((m4 - m2 * m2) / n).sqrt());
        assert!((m1 - mean).abs() < 4.0 * e1, "{name}: mean {m1} is not {mean} +- {e1}");
        assert!((m2 - square).abs() < 4.0 * e2, "{name}: square {m2} is not {square} +- {e2}");
    }

    #[test]
    fn gaussian_and_direction() {
        let mut r = rng(0);
        check_moments("gauss", 1_000_000, || f64::from(gauss_pair(&mut r)[1]), 0.0, 1.0);
        check_moments("direction", 1_000_000, || f64::from(direction(&mut r)[0]), 0.0, 1.0 / 3.0);
        check_moments(
            "effusion",
            1_000_000,
            || f64::from(effusion(&mut r)),
            (0.5 * std::f64::consts::PI).sqrt(),
            2.0,
        );
    }

    /// Against B_inflow_flux.csv: (s_n, mean v_n, mean v_n^2) in units of the most probable speed.
    #[test]
    fn inflow_speed_moments() {
        for (i, (s, mean, square)) in [
            (-3.0, 0.29214108751, 0.123576737973),
            (-2.0, 0.391424508622, 0.217150982757),
            (-1.0, 0.565024790341, 0.434975209659),
            (-0.5, 0.70090455787, 0.649547721065),
            (0.0, 0.886226925453, 1.0),
            (0.25, 1.00158605158, 1.25039651289),
            (0.5, 1.13373108637, 1.56686554318),
            (1.0, 1.44938341935, 2.44938341935),
            (2.0, 2.24935431458, 5.49870862916),
            (5.0, 5.1, 26.5),
            (10.0, 10.05, 101.5),
        ]
        .into_iter()
        .enumerate()
        {
            let mut r = rng(100 + i as u32);
            check_moments(
                &format!("s = {s}"),
                400_000,
                || f64::from(inflow_speed(s as f32, &mut r)),
                mean,
                square,
            );
        }
    }

    #[test]
    fn poisson_moments() {
        for (i, mean) in [0.02, 0.7, 5.0, 31.0, 100.0].into_iter().enumerate() {
            let mut r = rng(200 + i as u32);
            check_moments(
                &format!("Poisson {mean}"),
                200_000,
                || f64::from(poisson(mean, &mut r)),
                mean,
                mean * (1.0 + mean),
            );
        }
    }
}
