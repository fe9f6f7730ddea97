//! The device functions of `kernels/*.cuh`, compiled for the host, against the Rust physics on random input.
//! Must not need a GPU, and knows no kernel.

// Helpers of tests may fall over as tests do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "common/host_cuda.rs"]
mod host_cuda;

use host_cuda::HostProgram;
use knudsen::physics::collide::PairModel;
use knudsen::physics::collide::pair::{relative_speed_squared, scatter};
use knudsen::physics::particle::Particle;
use knudsen::physics::rng::{Purpose, Stream, philox};
use knudsen::physics::sample::{direction, effusion, gauss_pair, gauss_triple, inflow_speed, poisson};
use knudsen::physics::wall::WallLaw;
use std::sync::OnceLock;

const SEED: u64 = 0x1234_5678_9ABC_DEF1;
const STEP: u64 = 0x00AB_CDEF_0123_4567;

/// The functions without -D: the general power, isotropic scattering.
fn program() -> &'static HostProgram {
    static PROGRAM: OnceLock<HostProgram> = OnceLock::new();
    PROGRAM.get_or_init(|| HostProgram::compile("formulas_main.cpp", &[]))
}

/// Packed input.
#[derive(Default)]
struct Input(Vec<u8>);

impl Input {
    fn u32(&mut self, values: &[u32]) -> &mut Self {
        values.iter().for_each(|value| self.0.extend(value.to_ne_bytes()));
        self
    }

    fn u64(&mut self, values: &[u64]) -> &mut Self {
        values.iter().for_each(|value| self.0.extend(value.to_ne_bytes()));
        self
    }

    fn f32(&mut self, values: &[f32]) -> &mut Self {
        values.iter().for_each(|value| self.0.extend(value.to_ne_bytes()));
        self
    }

    fn f64(&mut self, values: &[f64]) -> &mut Self {
        values.iter().for_each(|value| self.0.extend(value.to_ne_bytes()));
        self
    }

    /// The stream of this index, purpose Test.
    fn stream(&mut self, index: u32) -> &mut Self {
        self.u64(&[SEED, STEP]).u32(&[index])
    }

    fn model(&mut self, model: &PairModel) -> &mut Self {
        self.f32(&[model.coefficient, model.exponent, model.inverse_alpha, model.first_share])
    }
}

fn rust_stream(index: u32) -> Stream {
    Stream::new(SEED, STEP, Purpose::Test, index)
}

/// Packed output.
struct Output {
    bytes: Vec<u8>,
    at: usize,
}

impl Output {
    fn of(program: &HostProgram, case: &str, input: &Input) -> Self {
        Self { bytes: program.run(&[case], &input.0), at: 0 }
    }

    fn next<const N: usize>(&mut self) -> [u8; N] {
        self.at += N;
        self.bytes[self.at - N..self.at].try_into().unwrap()
    }

    fn u32(&mut self) -> u32 {
        u32::from_ne_bytes(self.next())
    }

    fn f32(&mut self) -> f32 {
        f32::from_ne_bytes(self.next())
    }

    fn f64(&mut self) -> f64 {
        f64::from_ne_bytes(self.next())
    }

    fn vector(&mut self) -> [f32; 3] {
        std::array::from_fn(|_| self.f32())
    }

    /// All has been looked at.
    fn end(self) {
        assert_eq!(self.at, self.bytes.len(), "the program wrote more than the test read");
    }
}

fn close(what: &str, device: f32, rust: f32, bound: f64) {
    let difference = (f64::from(device) - f64::from(rust)).abs();
    assert!(difference <= bound, "{what}: {device} on the device, {rust} in Rust; more than {bound} apart");
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f64 {
    (0..3).map(|k| f64::from(a[k]) * f64::from(b[k])).sum()
}

#[test]
fn random_words_are_those_of_rust() {
    let mut rng = rust_stream(0);
    let counters: Vec<[u32; 6]> = (0..1000).map(|_| std::array::from_fn(|_| rng.bits())).collect();
    let mut input = Input::default();
    counters.iter().for_each(|words| {
        input.u32(words);
    });
    let mut output = Output::of(program(), "philox", &input);
    for [c0, c1, c2, c3, k0, k1] in counters {
        for word in philox([c0, c1, c2, c3], [k0, k1]) {
            assert_eq!(output.u32(), word);
        }
    }
    output.end();
}

#[test]
fn streams_are_those_of_rust() {
    let purposes = [Purpose::Fill, Purpose::Collide, Purpose::Wall, Purpose::Inflow, Purpose::Test];
    let mut output = Output::of(program(), "purposes", &Input::default());
    for purpose in purposes {
        assert_eq!(output.u32(), purpose as u32);
    }
    output.end();

    let mut input = Input::default();
    let cases: Vec<_> = (0..1000_u32)
        .map(|i| (SEED ^ u64::from(i) << 35, STEP + u64::from(i), purposes[i as usize % 5], i * 977))
        .collect();
    for &(seed, step, purpose, index) in &cases {
        input.u64(&[seed, step]).u32(&[purpose as u32, index]);
    }
    let mut output = Output::of(program(), "stream", &input);
    for (seed, step, purpose, index) in cases {
        let mut rng = Stream::new(seed, step, purpose, index);
        let words: [u32; 9] = std::array::from_fn(|_| rng.bits());
        for word in words {
            assert_eq!(output.u32(), word);
        }
        assert_eq!(output.f32().to_bits(), rng.unit().to_bits());
        assert_eq!(output.f64().to_bits(), rng.unit_f64().to_bits());
        assert_eq!(output.u32(), rng.below(1000));
        assert_eq!(output.u32(), rng.round(123_456.7));
        assert_eq!(output.u32(), rng.round(0.25));
        // A stream from block 2 begins with the ninth word; block 1 alone is words five to eight.
        assert_eq!(output.u32(), words[8]);
        for word in &words[4..8] {
            assert_eq!(output.u32(), *word);
        }
    }
    output.end();
}

/// Rust's f32 angle 2 pi u is rounded, which turns it by up to 2.4e-7 rad; each side rounds a few times by 6e-8.
const TURN: f64 = 5e-7;

#[test]
fn variates_are_those_of_rust() {
    let count = 100_000;
    let mut input = Input::default();
    (0..count).for_each(|index| {
        input.stream(index);
    });
    let mut output = Output::of(program(), "variates", &input);
    for index in 0..count {
        let mut rng = rust_stream(index);
        let [a, b] = gauss_pair(&mut rng);
        for rust in [a, b].into_iter().chain(gauss_triple(&mut rng)) {
            // The radius is at most 5.8.
            close("gauss", output.f32(), rust, 6.0 * TURN);
        }
        for rust in direction(&mut rng) {
            close("direction", output.f32(), rust, TURN);
        }
        let rust = effusion(&mut rng);
        close("effusion", output.f32(), rust, 4e-7 * f64::from(rust));
        assert_eq!(output.u32(), rng.bits(), "the two drew different numbers of words");
    }
    output.end();
}

/// Sine, cosine and the sine of the polar angle for every value that `unit` can take: near the true value, and no trend
/// in the length of a direction, which would heat or cool the gas by its mean in each collision.
#[test]
fn directions_have_length_one_on_average() {
    let mut output = Output::of(program(), "lattice", &Input::default());
    let count = 1_u32 << 23;
    let (mut circle, mut polar, mut worst, mut unrounded) = (0.0, 0.0, [0.0_f64; 3], 0_u32);
    for k in 0..count {
        let u = (f64::from(k) + 0.5) / f64::from(count);
        let (sine, cosine, polar_sine) = (output.f32(), output.f32(), output.f32());
        let (true_sine, true_cosine) = (std::f64::consts::TAU * u).sin_cos();
        let z = 2.0 * u - 1.0;
        let true_polar = (1.0 - z * z).sqrt();
        worst[0] = worst[0].max((f64::from(sine) - true_sine).abs());
        worst[1] = worst[1].max((f64::from(cosine) - true_cosine).abs());
        worst[2] = worst[2].max((f64::from(polar_sine) / true_polar - 1.0).abs());
        unrounded += u32::from(polar_sine != true_polar as f32);
        circle += f64::from(sine).powi(2) + f64::from(cosine).powi(2) - 1.0;
        polar += f64::from(polar_sine).powi(2) + z * z - 1.0;
    }
    output.end();
    let (circle, polar) = (circle / f64::from(count), polar / f64::from(count));
    println!(
        "mean of sin^2 + cos^2 - 1: {circle:e} of the azimuth, {polar:e} of the polar angle; errors {worst:?}"
    );
    assert!(worst[0] < 6e-8 && worst[1] < 6e-8, "{worst:?}");
    assert_eq!(unrounded, 0, "polar sines that are not the rounded true ones");
    // Half an ulp is 6e-8 relative.
    assert!(worst[2] < 6e-8, "{worst:?}");
    assert!(circle.abs() < 5e-11 && polar.abs() < 1e-11, "trends {circle:e} and {polar:e}");
}

/// The same rejections with the same words: equal to rounding, but for a comparison within rounding of a tie.
#[test]
fn inflow_speeds_are_those_of_rust() {
    let count = 200_000;
    let ratio = |index: u32| -4.0 + 10.0 * (index % 1013) as f32 / 1012.0;
    let mut input = Input::default();
    (0..count).for_each(|index| {
        input.stream(index).f32(&[ratio(index)]);
    });
    let mut output = Output::of(program(), "inflow", &input);
    let mut differ = 0;
    for index in 0..count {
        let mut rng = rust_stream(index);
        let rust = inflow_speed(ratio(index), &mut rng);
        let (device, word) = (output.f32(), output.u32());
        if word != rng.bits() {
            differ += 1;
            continue;
        }
        // s + w cancels where the stream leaves: absolute, of a w of up to 4.
        close("inflow speed", device, rust, 4.0 * TURN + 4e-7 * f64::from(rust));
    }
    output.end();
    // About 2e-7 a comparison, three comparisons a speed: 0.1 expected.
    assert!(differ <= 2, "{differ} of {count} took another way through the rejections");
}

#[test]
fn poisson_counts_are_those_of_rust() {
    let means = [0.02, 0.7, 5.0, 31.0, 32.0, 100.0, 1234.5];
    let count = 20_000;
    let mut input = Input::default();
    (0..count).for_each(|index| {
        input.stream(index).f64(&[means[index as usize % means.len()]]);
    });
    let mut output = Output::of(program(), "poisson", &input);
    for index in 0..count {
        let mut rng = rust_stream(index);
        assert_eq!(output.u32(), poisson(means[index as usize % means.len()], &mut rng));
        assert_eq!(output.u32(), rng.bits());
    }
    output.end();
}

/// A pair of equal or unequal masses, of argon's size.
fn model(exponent: f32, inverse_alpha: f32, first_share: f32) -> PairModel {
    PairModel { coefficient: 2.5e-17, exponent, inverse_alpha, first_share }
}

#[test]
fn rates_are_those_of_rust() {
    for (define, exponents) in [
        ("VHS_POWER=0", &[0.19_f32, 0.26, 0.34, 0.5, 0.05, -0.1][..]),
        ("VHS_POWER=1", &[0.5]),
        ("VHS_POWER=2", &[0.25]),
        ("VHS_POWER=3", &[0.0]),
    ] {
        let compiled = HostProgram::compile("formulas_main.cpp", &[define]);
        let mut rng = rust_stream(1);
        let mut cases = vec![];
        let mut input = Input::default();
        for _ in 0..20_000 {
            let model = model(exponents[rng.below(exponents.len() as u32) as usize], 1.0, 0.5);
            let square = 10.0_f32.powf(-6.0 + 18.0 * rng.unit());
            input.model(&model).f32(&[square]);
            cases.push((model, square));
        }
        // Two molecules of the same velocity do not collide, unless their rate does not depend on it.
        if exponents[0] >= 0.0 {
            input.model(&model(exponents[0], 1.0, 0.5)).f32(&[0.0]);
            cases.push((model(exponents[0], 1.0, 0.5), 0.0));
        }
        let mut output = Output::of(&compiled, "rate", &input);
        for (model, square) in cases {
            let rust = model.rate(square);
            close("rate", output.f32(), rust, 1e-6 * f64::from(rust));
        }
        output.end();
    }
}

/// Against Rust with the same words, and by the laws of mechanics: momentum to rounding, energy without a trend.
#[test]
fn scattering_is_that_of_rust_and_conserves() {
    for (define, alphas) in [("VSS=0", &[1.0_f32][..]), ("VSS=1", &[1.4, 1.66, 2.0])] {
        let compiled = HostProgram::compile("formulas_main.cpp", &[define]);
        let mut rng = rust_stream(2);
        let mut cases = vec![];
        let mut input = Input::default();
        for index in 0..200_000 {
            let share = if index % 2 == 0 { 0.5 } else { 0.2 + 0.6 * rng.unit() };
            let model = model(0.19, 1.0 / alphas[index as usize % alphas.len()], share);
            let mut velocity = || gauss_triple(&mut rng).map(|g| 300.0 * g);
            let (a, mut b) = (velocity(), velocity());
            if index == 0 {
                b = a;
            }
            // A fresh stream: Rust's `scatter` draws from it what the device is given.
            let mut words = rust_stream(1000 + index);
            input.model(&model).f32(&a).f32(&b).u32(&[words.bits(), words.bits()]);
            cases.push((model, a, b, index));
        }
        let mut output = Output::of(&compiled, "scatter", &input);
        let (mut trend, mut square_of_trend) = (0.0, 0.0);
        let mut deflections = vec![[0.0; 5]; alphas.len()];
        for (model, a, b, index) in &cases {
            let (after_a, after_b) = (output.vector(), output.vector());
            let mut rust_a = Particle { velocity: *a, ..Particle::default() };
            let mut rust_b = Particle { velocity: *b, ..Particle::default() };
            let square = relative_speed_squared(&rust_a, &rust_b);
            scatter(model, square, &mut rust_a, &mut rust_b, &mut rust_stream(1000 + index));
            let speed = f64::from(square.sqrt());
            let fastest = dot(*a, *a).sqrt() + dot(*b, *b).sqrt();
            let share = f64::from(model.first_share);
            // Soft spheres: u^(1/alpha) is f32 on the device, so cos(chi) is off by 1.2e-7, which turns the direction
            // by that over sin(chi); and the azimuth has 23 bits, in Rust 32.
            let turn = if model.inverse_alpha == 1.0 {
                TURN
            } else {
                let u = f64::from(rust_stream(1000 + index).unit());
                let cosine = 2.0 * u.powf(f64::from(model.inverse_alpha)) - 1.0;
                2.0 * TURN + 1.5e-7 / (1.0 - cosine * cosine).sqrt()
            };
            let bound = turn * speed + 2.4e-7 * fastest;
            for k in 0..3 {
                close("a", after_a[k], rust_a.velocity[k], bound);
                close("b", after_b[k], rust_b.velocity[k], bound);
                let mean = |a: f32, b: f32| (1.0 - share) * f64::from(a) + share * f64::from(b);
                assert!((mean(after_a[k], after_b[k]) - mean(a[k], b[k])).abs() < 2.4e-7 * fastest);
            }
            if speed == 0.0 {
                continue;
            }
            let difference = |a: [f32; 3], b: [f32; 3]| -> [f64; 3] {
                std::array::from_fn(|k| f64::from(a[k]) - f64::from(b[k]))
            };
            let product = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            let (before, after) = (difference(*a, *b), difference(after_a, after_b));
            let energy = |a: [f32; 3], b: [f32; 3]| (1.0 - share) * dot(a, a) + share * dot(b, b);
            let change = energy(after_a, after_b) / energy(*a, *b) - 1.0;
            assert!(change.abs() < 2e-6, "{change:e} of the energy of a pair was made");
            // The device has one species. Shares that are no powers of two are rounded: that alone makes 3e-9 of the
            // energy, in Rust too.
            if model.first_share == 0.5 {
                trend += change;
                square_of_trend += change * change;
            }
            let cosine = product(before, after) / product(before, before);
            let sums = &mut deflections[*index as usize % alphas.len()];
            for (sum, value) in
                sums.iter_mut().zip([1.0, cosine, cosine.powi(2), cosine.powi(3), cosine.powi(4)])
            {
                *sum += value;
            }
        }
        output.end();
        let count = cases.iter().filter(|(model, ..)| model.first_share == 0.5).count() as f64;
        let (mean, sigma) = (trend / count, square_of_trend.sqrt() / count);
        println!("{define}: the energy changes by {mean:e} +- {sigma:e} of itself on average");
        assert!(mean.abs() < 4.0 * sigma, "the energy has a trend of {mean:e} +- {sigma:e} a collision");
        // cos(chi) = 2 u^(1/alpha) - 1: its mean is (alpha - 1)/(alpha + 1), that of its square
        // 1 - 4 alpha/((alpha + 1)(alpha + 2)).
        for ([n, c1, c2, _, c4], alpha) in deflections.into_iter().zip(alphas) {
            let alpha = f64::from(*alpha);
            let (c1, c2, c4) = (c1 / n, c2 / n, c4 / n);
            let wanted = [(alpha - 1.0) / (alpha + 1.0), 1.0 - 4.0 * alpha / ((alpha + 1.0) * (alpha + 2.0))];
            assert!(
                (c1 - wanted[0]).abs() < 4.0 * ((c2 - c1 * c1) / n).sqrt(),
                "alpha {alpha}: mean cosine {c1}"
            );
            assert!(
                (c2 - wanted[1]).abs() < 4.0 * ((c4 - c2 * c2) / n).sqrt(),
                "alpha {alpha}: mean square {c2}"
            );
        }
    }
}

#[test]
fn walls_reflect_as_in_rust() {
    let count = 100_000;
    let mut rng = rust_stream(3);
    let mut cases = vec![];
    let mut input = Input::default();
    for index in 0..count {
        let law = WallLaw {
            accommodation: [0.0, 0.3, 1.0][index as usize % 3],
            thermal_speed: 100.0 + 400.0 * rng.unit(),
            rotational: index % 2 == 0,
        };
        let velocity = gauss_triple(&mut rng).map(|g| 400.0 * g);
        let along = direction(&mut rng).map(f64::from);
        let length = along.iter().map(|c| c * c).sum::<f64>().sqrt();
        // Also those along the axes, of which -z is the frame's special case.
        let axis = |k: usize, sign: f64| std::array::from_fn(|j| if j == k { sign } else { 0.0 });
        let normal = match index {
            0..6 => axis(index as usize / 2, [1.0, -1.0][index as usize % 2]),
            _ => along.map(|c| c / length),
        };
        let rotation = 1e4 * rng.unit();
        input
            .stream(index)
            .f32(&[law.accommodation, law.thermal_speed])
            .u32(&[u32::from(law.rotational)])
            .f32(&velocity)
            .f32(&[rotation])
            .f64(&normal);
        cases.push((law, velocity, rotation, normal));
    }
    let mut output = Output::of(program(), "reflect", &input);
    for (index, (law, velocity, rotation, normal)) in cases.into_iter().enumerate() {
        let mut rng = rust_stream(index as u32);
        let (rust, rust_rotation) = law.reflect(velocity, rotation, normal, &mut rng);
        let device = output.vector();
        // The Gaussian pair turned by TURN, with a radius of up to 5.8; a mirror only rounds.
        let scale = 6.0 * TURN * f64::from(law.thermal_speed) + 2e-7 * dot(velocity, velocity).sqrt();
        for k in 0..3 {
            close("velocity", device[k], rust[k], scale);
        }
        close("rotation", output.f32(), rust_rotation, 4e-7 * f64::from(rust_rotation));
        assert_eq!(output.u32(), rng.bits(), "the two drew different numbers of words");
    }
    output.end();
}
