//! The velocity distribution of a cell: samples of known distributions against the densities that are drawn over them.
//! Knows nothing of simulations.

#![allow(clippy::unwrap_used)]

use knudsen::output::distribution::{Gathered, Histogram, Maxwellian, Of};
use knudsen::physics::constants::BOLTZMANN;
use knudsen::physics::rng::{Purpose, Stream};
use knudsen::physics::sample::gauss_triple;
use knudsen::physics::statistics::ChiSquare;
use knudsen::sim::Probe;

const ARGON_KG: f64 = 6.63e-26;
const BINS: usize = 40;
/// Below this a sample is not of the distribution; a right one is below it once in ten thousand.
const SIGNIFICANCE: f64 = 1e-4;

fn gas(mean: [f64; 3], temperature_k: f64) -> Maxwellian {
    Maxwellian { mean, temperature_k, mass_kg: ARGON_KG }
}

fn sample(gas: &Maxwellian, count: usize, seed: u64) -> Vec<[f32; 3]> {
    let mut rng = Stream::new(seed, 0, Purpose::Test, 0);
    let thermal = (BOLTZMANN * gas.temperature_k / gas.mass_kg).sqrt();
    (0..count)
        .map(|_| {
            let g = gauss_triple(&mut rng);
            std::array::from_fn(|a| (gas.mean[a] + thermal * f64::from(g[a])) as f32)
        })
        .collect()
}

/// Integral of the density, by Simpson's rule.
fn share(gas: &Maxwellian, of: Of, low: f64, high: f64) -> f64 {
    const PARTS: usize = 64;
    let h = (high - low) / PARTS as f64;
    let weight = |i: usize| if i == 0 || i == PARTS { 1.0 } else { 2.0 + 2.0 * (i % 2) as f64 };
    (0..=PARTS).map(|i| weight(i) * gas.density(of, low + i as f64 * h)).sum::<f64>() * h / 3.0
}

/// Probability of a histogram as far from the density as that of the sample, neighbouring bins joined until at least 10
/// are expected in each. `fitted`: parameters of the density that were taken from the sample.
fn p_value(velocities: &[[f32; 3]], gas: &Maxwellian, of: Of, fitted: u32) -> f64 {
    let histogram = Histogram::new(velocities, of, gas.range(of), BINS);
    assert_eq!(histogram.total, velocities.len() as u64);
    let total = velocities.len() as f64;
    let (mut statistic, mut bins, mut held) = (0.0, 0, (0.0, 0.0));
    for (i, &count) in histogram.counts.iter().enumerate() {
        let low = histogram.low + i as f64 * histogram.width;
        held = (held.0 + count as f64, held.1 + total * share(gas, of, low, low + histogram.width));
        if held.1 >= 10.0 {
            statistic += (held.0 - held.1).powi(2) / held.1;
            bins += 1;
            held = (0.0, 0.0);
        }
    }
    assert!(bins > 15, "{bins}");
    // The rest of the range and what lies outside stay out, so that no degree is lost to the total.
    ChiSquare { statistic, degrees: bins - fitted }.p_value()
}

const CASES: [([f64; 3], f64); 3] =
    [([0.0; 3], 300.0), ([1052.9, -60.0, 20.0], 200.0), ([30.0, 20.0, -10.0], 1500.0)];

#[test]
fn densities_integrate_to_one_and_have_the_right_moments() {
    for (mean, temperature) in CASES {
        let gas = gas(mean, temperature);
        for of in Of::ALL {
            // Eight thermal speeds about the mean: what is beyond is below 1e-13.
            let [low, high] = gas.range(of);
            assert!(share(&gas, of, low, high) > 1.0 - 1.6e-5, "{of:?}");
            let thermal = (BOLTZMANN * temperature / ARGON_KG).sqrt();
            let (low, high) = (low - 3.0 * thermal, high + 3.0 * thermal);
            let low = if of == Of::Speed { low.max(0.0) } else { low };
            let n = 4000;
            let h = (high - low) / f64::from(n);
            let moment = |k: i32| -> f64 {
                let at = |i| low + (f64::from(i) + 0.5) * h;
                (0..n).map(|i| at(i).powi(k) * gas.density(of, at(i)) * h).sum()
            };
            assert!((moment(0) - 1.0).abs() < 1e-9, "{of:?} {}", moment(0));
            if of == Of::Speed {
                let want = gas.speed().powi(2) + 3.0 * BOLTZMANN * temperature / ARGON_KG;
                assert!((moment(2) / want - 1.0).abs() < 1e-9, "{} {want}", moment(2));
            }
        }
    }
    // At rest, the most probable speed is sqrt(2 k T/m).
    let rest = gas([0.0; 3], 300.0);
    let probable = (2.0 * BOLTZMANN * 300.0 / ARGON_KG).sqrt();
    let at = |c: f64| rest.density(Of::Speed, c);
    assert!(at(probable) > at(0.99 * probable) && at(probable) > at(1.01 * probable));
    assert_eq!((at(0.0), at(-1.0)), (0.0, 0.0));
}

#[test]
fn samples_of_a_maxwellian_agree_with_it() {
    for (seed, (mean, temperature)) in (1..).zip(CASES) {
        let gas = gas(mean, temperature);
        let velocities = sample(&gas, 100_000, seed);
        let fitted = Maxwellian::of(&velocities, ARGON_KG).unwrap();
        let sigma = (2.0 / (3.0 * 1e5_f64)).sqrt();
        assert!((fitted.temperature_k / temperature - 1.0).abs() < 4.0 * sigma, "{fitted:?}");
        for of in Of::ALL {
            let p = p_value(&velocities, &gas, of, 0);
            assert!(p > SIGNIFICANCE, "{of:?} of {gas:?}: p {p}");
            let p = p_value(&velocities, &fitted, of, 2);
            assert!(p > SIGNIFICANCE, "{of:?} of {fitted:?}, fitted: p {p}");
        }
    }
}

#[test]
fn what_is_no_maxwellian_does_not_agree_with_one() {
    // Shifted by a tenth of the thermal speed, or 5 % too hot.
    let rest = gas([0.0; 3], 300.0);
    let thermal = (BOLTZMANN * 300.0 / ARGON_KG).sqrt();
    let shifted = sample(&gas([0.1 * thermal, 0.0, 0.0], 300.0), 100_000, 11);
    assert!(p_value(&shifted, &rest, Of::X, 0) < 1e-10);
    assert!(p_value(&shifted, &rest, Of::Y, 0) > SIGNIFICANCE);
    assert!(p_value(&sample(&gas([0.0; 3], 315.0), 100_000, 12), &rest, Of::Speed, 0) < 1e-10);
    // A shock: two streams in one cell, against the Maxwellian of their mean velocity and temperature.
    let mut shock = sample(&gas([1052.9, 0.0, 0.0], 200.0), 50_000, 13);
    shock.extend(sample(&gas([300.0, 0.0, 0.0], 1000.0), 50_000, 14));
    let fitted = Maxwellian::of(&shock, ARGON_KG).unwrap();
    assert!((fitted.mean[0] - 676.45).abs() < 5.0, "{fitted:?}");
    assert!(p_value(&shock, &fitted, Of::X, 2) < 1e-10);
    assert!(p_value(&shock, &fitted, Of::Speed, 2) < 1e-10);
}

#[test]
fn error_bars_are_those_of_repeated_samples() {
    let gas = gas([500.0, 0.0, 0.0], 300.0);
    let (mut squares, mut pulls) = (0.0, 0);
    for seed in 100..200 {
        let velocities = sample(&gas, 10_000, seed);
        let histogram = Histogram::new(&velocities, Of::X, gas.range(Of::X), BINS);
        for bin in histogram.bins().filter(|bin| bin.density > 3e-4) {
            let (low, high) = (bin.middle - 0.5 * histogram.width, bin.middle + 0.5 * histogram.width);
            let pull = (bin.density - share(&gas, Of::X, low, high) / histogram.width) / bin.error;
            (squares, pulls) = (squares + pull * pull, pulls + 1);
        }
    }
    assert!(pulls > 1000, "{pulls}");
    // A bin holds up to a tenth of all, which is so much less than Poisson's variance.
    let mean = squares / f64::from(pulls);
    let sigma = (2.0 / f64::from(pulls)).sqrt();
    assert!(mean > 0.9 - 4.0 * sigma && mean < 1.0 + 4.0 * sigma, "{mean} of {pulls}");

    let few = Histogram::new(&[[0.5, 0.0, 0.0], [9.0, 0.0, 0.0]], Of::X, [0.0, 4.0], 4);
    assert_eq!((few.counts.as_slice(), few.total), ([1, 0, 0, 0].as_slice(), 2));
    let bins: Vec<_> = few.bins().map(|bin| (bin.middle, bin.density, bin.error)).collect();
    assert_eq!(bins[0], (0.5, 0.5, 0.5));
    assert_eq!(bins[1], (1.5, 0.0, 0.5));
}

#[test]
fn gathering_counts_each_step_once_and_begins_anew_elsewhere() {
    let probe =
        |cell: u32, count: usize| Probe { cell, velocities: vec![[1.0, 2.0, 3.0]; count], mass_kg: ARGON_KG };
    let mut gathered = Gathered::default();
    assert!(gathered.add(&probe(0, 10), 5) && !gathered.add(&probe(0, 10), 5));
    assert!(gathered.add(&probe(0, 20), 6));
    assert_eq!((gathered.snapshots(), gathered.velocities().len()), (2, 30));
    assert!(gathered.maxwellian().is_none(), "all the same velocity");
    // Another cell, or an earlier step: the run was started again.
    assert!(gathered.add(&probe(1, 7), 7));
    assert_eq!((gathered.snapshots(), gathered.velocities().len()), (1, 7));
    assert!(gathered.add(&probe(1, 8), 3));
    assert_eq!((gathered.snapshots(), gathered.velocities().len()), (1, 8));
    // Of more than fit the newest stay.
    assert!(gathered.add(&probe(1, Gathered::MOST - 8), 4));
    let newest = Probe { velocities: vec![[9.0; 3]; 12], ..probe(1, 0) };
    assert!(gathered.add(&newest, 8));
    assert_eq!(gathered.velocities().len(), Gathered::MOST);
    assert_eq!(gathered.velocities().iter().filter(|v| **v == [9.0; 3]).count(), 12);
    assert!(gathered.maxwellian().is_some());
    gathered.clear();
    assert!(gathered.velocities().is_empty() && gathered.maxwellian().is_none());
}
