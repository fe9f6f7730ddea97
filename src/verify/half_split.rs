//! H: Half-Split-Shuffle makes the right number of collisions among equally likely pairs, and relaxes as its algebra says.
//! Must not know devices.

use super::cells::{FrozenGas, Pairing, maxwellian, on_threads, ratio, table};
use super::relaxation::{bkw_start, peculiar_squares, speed, two_to_one};
use super::{Bed, Effort, Row};
use crate::physics::collide::{CollisionCounts, PairTable, half_split_shuffle};
use crate::physics::particle::Particle;
use crate::physics::rng::{Purpose, Stream};
use crate::physics::statistics::{BatchMeans, ChiSquare};
use crate::physics::theory::collision_counts::{clipped_fraction, half_split_factor};
use crate::physics::theory::relaxation::{bkw_moments, half_split_stress_factor};
use crate::sim::SimError;

/// H-count, H-var, H-overflow.
pub fn counts(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    on_threads(bed.threads, || {
        let some = [2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16, 20, 21, 31, 32, 49, 50];
        let full = effort == Effort::Full;
        let mut rows: Vec<Row> =
            (2..=50).filter(|n| full || some.contains(n)).map(|n| count(n, effort)).collect();
        rows.extend(scatter(effort));
        rows.extend(overflow(effort));
        rows
    })
}

/// H-count: N (N - 1)/2 pairs for every N. Must resolve the error of a wrong factor, 1/(2 N), by four sigma.
fn count(n: usize, effort: Effort) -> Row {
    let (nu_dt, steps) = (0.1, 20);
    let collisions = if effort == Effort::Full { 1.2e6 } else { 3e5 };
    let gas = FrozenGas::new(0.5, n, nu_dt, Pairing::HalfSplit, 500 + n as u64);
    let expected = gas.expected_collisions() * f64::from(steps);
    let groups = gas.run((collisions / expected) as usize, steps, 1, maxwellian, |_, _, counts, sums| {
        sums[0] += counts.collisions as f64;
    });
    let (mean, error) = groups.mean(0);
    let what = format!("N = {n}: collisions of a cell in {steps} steps, HS, nu dt {nu_dt}");
    Row::new("H-count", what, mean, expected, error).must_resolve(0.125 / n as f64)
}

/// H-var: variance over mean of the collisions of a cell in a step is 1 - p/n_b, p the mean probability of a pair were
/// there one pass, n_b the passes: each pass has h disjoint pairs, each a Bernoulli trial of p/n_b, so the mean is h p
/// and the variance n_b h (p/n_b)(1 - p/n_b).
///
/// Exact for Maxwell molecules, whose probabilities are all equal; for others in one pass from equilibrium, where
/// disjoint pairs are independent.
fn scatter(effort: Effort) -> Vec<Row> {
    let cells = if effort == Effort::Full { 400_000 } else { 100_000 };
    let cases = [
        (1.0, 10, 0.1, Pairing::HalfSplit),
        (1.0, 11, 0.4, Pairing::HalfSplit),
        (1.0, 10, 0.4, Pairing::OnePass),
        (1.0, 11, 0.4, Pairing::OnePass),
        (0.5, 20, 0.04, Pairing::HalfSplit),
        (0.5, 20, 0.3, Pairing::OnePass),
    ];
    let row = |(i, (omega, n, nu_dt, pairing)): (usize, (f64, usize, f64, Pairing))| {
        let gas = FrozenGas::new(omega, n, nu_dt, pairing, 600 + i as u64);
        let groups = gas.run(cells, 1, 3, maxwellian, |_, _, counts, sums| {
            let collisions = counts.collisions as f64;
            sums[0] += collisions;
            sums[1] += collisions.powi(2);
            sums[2] += counts.candidates as f64;
        });
        let pairs = (n / 2) as f64;
        let passes = groups.total(2) / groups.cells as f64 / pairs;
        let probability = f64::from(half_split_factor(n as u32)) * nu_dt / n as f64 / passes;
        // About the exact mean, so that every group gives an unbiased sample of the variance.
        let exact_mean = gas.expected_collisions();
        let a_group = groups.cells as f64 / groups.sums.len() as f64;
        let samples = groups.sums.iter().map(|sums| {
            (sums[1] - 2.0 * exact_mean * sums[0] + a_group * exact_mean.powi(2), a_group * exact_mean)
        });
        let (value, error) = ratio(samples);
        let what = format!(
            "omega {omega}, N = {n}, nu dt {nu_dt}, {passes} passes: variance over mean of the collisions of a step"
        );
        Row::new("H-var", what, value, 1.0 - probability, error)
    };
    cases.into_iter().enumerate().map(row).collect()
}

/// H-overflow: where a particle would collide twice in a step, passes keep the count whole and clip nothing; one pass
/// would lose what theory says, and report it.
fn overflow(effort: Effort) -> Vec<Row> {
    let cells = if effort == Effort::Full { 16_000 } else { 2_000 };
    let (n, steps, nu_dt) = (20, 20, 2.0);
    let mut rows = Vec::new();
    for (i, omega) in [0.5, 0.81].into_iter().enumerate() {
        for pairing in [Pairing::HalfSplit, Pairing::OnePass] {
            let gas = FrozenGas::new(omega, n, nu_dt, pairing, 700 + i as u64);
            let groups = gas.run(cells, steps, 1, maxwellian, |_, _, counts, sums| {
                sums[0] += counts.collisions as f64;
            });
            let (mean, error) = groups.mean(0);
            let expected = gas.expected_collisions() * f64::from(steps);
            let name = format!("omega {omega}, nu dt {nu_dt}, {}", pairing.name());
            if pairing == Pairing::HalfSplit {
                let what = format!("{name}: collisions of a cell in {steps} steps");
                rows.push(Row::new("H-overflow", what, mean, expected, error).must_resolve(0.005));
                let clipped = groups.counts.clipped as f64;
                rows.push(Row::new("H-overflow", format!("{name}: pairs clipped"), clipped, 0.0, 0.0));
            } else {
                let lost = clipped_fraction(omega, f64::from(half_split_factor(n as u32)) * nu_dt / n as f64);
                let what = format!("{name}: collisions of a cell in {steps} steps, clipped as computed");
                rows.push(Row::new("H-overflow", what, mean, expected * (1.0 - lost), error));
                let reported = f64::from(u8::from(groups.counts.clipped > 0));
                rows.push(Row::new(
                    "H-overflow",
                    format!("{name}: clipping is reported"),
                    reported,
                    1.0,
                    0.0,
                ));
            }
        }
    }
    rows
}

/// H-pairs: the pairs that collide where every tested pair does, recognised by their momentum.
pub fn pairs(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    on_threads(bed.threads, || {
        let trials = if effort == Effort::Full { 900_000 } else { 90_000 };
        let mut rows = Vec::new();
        for n in [10_usize, 11] {
            let tested = tested_pairs(n, trials, 800 + n as u64);
            let h = (n / 2) as f64;
            let mut found = vec![0_u64; n * (n - 1) / 2];
            let mut idle = vec![0_u64; n];
            let mut repeats = BatchMeans::default();
            let mut before: &[usize] = &[];
            for pairs in &tested {
                let mut used = vec![false; n];
                for &pair in pairs {
                    let (i, j) = split(pair);
                    found[pair] += 1;
                    (used[i], used[j]) = (true, true);
                }
                (0..n).filter(|&i| !used[i]).for_each(|i| idle[i] += 1);
                if !before.is_empty() {
                    repeats.push(pairs.iter().filter(|pair| before.contains(pair)).count() as f64 / h);
                }
                before = pairs;
            }
            let all = tested.iter().all(|pairs| pairs.len() == n / 2);
            let what = format!("N = {n}: trials in which h = {} disjoint pairs were found", n / 2);
            rows.push(Row::new("H-pairs", what, f64::from(u8::from(all)), 1.0, 0.0));
            let test = ChiSquare::uniform(&found);
            let what = format!("N = {n}: chi^2 of {} pairs in {trials} passes", found.len());
            let (reference, sigma) = pair_statistic(n);
            rows.push(Row::new("H-pairs", what, test.statistic, reference, sigma));
            if n % 2 == 1 {
                let test = ChiSquare::uniform(&idle);
                let degrees = f64::from(test.degrees);
                let what = format!("N = {n}: chi^2 of the particle left over");
                rows.push(Row::new("H-pairs", what, test.statistic, degrees, (2.0 * degrees).sqrt()));
            }
            let mean = repeats.mean();
            let what = format!("N = {n}: chance that a tested pair is tested again in the next step");
            let reference = 1.0 / f64::from(half_split_factor(n as u32));
            rows.push(Row::new("H-pairs", what, mean.value, reference, mean.error));
        }
        rows
    })
}

/// Mean and standard deviation of the chi-square statistic of pair counts, whose pairs are disjoint in a pass.
///
/// The covariance of the indicators of pairs has the eigenspaces of the Johnson scheme J(N, 2): constants (0, h pairs
/// each pass), N - 1 dimensions of counts of a particle, N (N - 3)/2 others. For even N each particle is in one pair,
/// so the middle one has no scatter, and the statistic is s chi^2(N (N - 3)/2), its mean N (N - 1)/2 (1 - p) as that of
/// independent trials; for N = 10: 40 +- 9.6 instead of 44 +- 9.4. For odd N the middle one is that of who is left over.
fn pair_statistic(n: usize) -> (f64, f64) {
    let nf = n as f64;
    let p = 1.0 / f64::from(half_split_factor(n as u32));
    let mean = 0.5 * nf * (nf - 1.0) * (1.0 - p);
    let others = 0.5 * nf * (nf - 3.0);
    let middle = if n.is_multiple_of(2) {
        0.0
    } else {
        // The number of pairs of a particle is 1 - idle; the vector (sum of x_i + x_j over pairs) of the contrast x has
        // the squared length (N - 2)|x|^2, and the scatter of the idle one is |x|^2/N.
        (nf - 1.0) / nf / (nf - 2.0) / p
    };
    let rest = mean - middle;
    (mean, (2.0 * middle.powi(2) / (nf - 1.0) + 2.0 * rest.powi(2) / others).sqrt())
}

/// For each step the indices of the pairs that collided in one pass of a cell in which every tested pair collides.
fn tested_pairs(n: usize, trials: u64, seed: u64) -> Vec<Vec<usize>> {
    let gas = FrozenGas::new(1.0, n, 0.0, Pairing::OnePass, seed);
    let species = [gas.species];
    let table = PairTable::new(&species);
    let first_majorant = table.majorant(&species, gas.temperature);
    let exposure = 1.5 / f64::from(half_split_factor(n as u32)) / f64::from(first_majorant);
    // The momentum of a pair, 2^i + 2^j, says who they are.
    let start: Vec<Particle> = (0..n)
        .map(|i| Particle { velocity: [(1_u32 << i) as f32, 0.0, 0.0], ..Particle::default() })
        .collect();
    let mut order = Vec::new();
    let one = |trial: u64| {
        let mut particles = start.clone();
        let mut rng = Stream::new(seed, trial, Purpose::Collide, 7);
        let (mut majorant, mut counts) = (first_majorant, CollisionCounts::default());
        half_split_shuffle(
            &mut particles,
            &table,
            exposure,
            &mut majorant,
            f32::MAX,
            &mut order,
            &mut rng,
            &mut counts,
        );
        let collided = |pair: &usize| {
            let (i, j) = split(*pair);
            let sum = |k: usize| particles[i].velocity[k] + particles[j].velocity[k];
            let wanted = start[i].velocity[0] + start[j].velocity[0];
            // One who is left over has not changed, and would seem paired with one who was hardly deflected.
            particles[i] != start[i]
                && particles[j] != start[j]
                && (sum(0) - wanted).abs() < 1e-3
                && sum(1).abs() < 1e-3
                && sum(2).abs() < 1e-3
        };
        (0..n * (n - 1) / 2).filter(collided).collect()
    };
    (0..trials).map(one).collect()
}

/// The particles i > j of a pair by its index.
fn split(pair: usize) -> (usize, usize) {
    let mut i = 1;
    while i * (i + 1) / 2 <= pair {
        i += 1;
    }
    (i, pair - i * (i - 1) / 2)
}

/// H-relax.
pub fn relaxation(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    on_threads(bed.threads, || {
        let mut rows = Vec::new();
        for (i, (n, nu_dt)) in [(10, 0.1), (10, 0.3), (21, 0.1), (21, 0.3)].into_iter().enumerate() {
            rows.extend(stress(n, nu_dt, effort, 900 + i as u64));
            rows.extend(against_schemes(n, nu_dt, effort, 920 + i as u64));
        }
        for (i, nu_dt) in [0.1, 0.4].into_iter().enumerate() {
            rows.extend(fourth_moment(nu_dt, effort, 940 + i as u64));
        }
        rows
    })
}

/// Sums 0 and 1 of a run: x^2, and a third of the square, about the cell's mean, at the last step; 2: candidates.
fn run_stress(gas: &FrozenGas, steps: u32, effort: Effort) -> super::cells::Groups {
    let particles = if effort == Effort::Full { 8_000_000 } else { 500_000 };
    gas.run(particles / gas.particles, steps, 3, two_to_one, |step, particles, counts, sums| {
        sums[2] += counts.candidates as f64;
        if step == steps {
            let [x, y, z] = peculiar_squares(particles);
            sums[0] += x;
            sums[1] += (x + y + z) / 3.0;
        }
    })
}

/// Maxwell molecules: the exact factor of the passes that the solver takes, and of one pass.
fn stress(n: usize, nu_dt: f64, effort: Effort, seed: u64) -> Vec<Row> {
    let steps = (1.2 / nu_dt).round() as u32;
    let row = |pairing: Pairing| {
        let gas = FrozenGas::new(1.0, n, nu_dt, pairing, seed);
        let groups = run_stress(&gas, steps, effort);
        let tests = groups.total(2) / groups.cells as f64 / f64::from(steps);
        let passes = (tests / (n / 2) as f64).round();
        let exact = 1.0 + half_split_stress_factor(n as u32, nu_dt, passes as u32).powi(steps as i32);
        let (value, error) = groups.ratio(0, 1);
        let what = format!("Maxwell, N = {n}, nu dt {nu_dt}, {passes} passes: T_x/T at nu t = 1.2");
        Row::new("H-relax", what, value, exact, error)
    };
    vec![row(Pairing::HalfSplit), row(Pairing::OnePass)]
}

/// Hard spheres against the table of schemes: one pass must agree with the one of one pass, and everything must be
/// many sigma away from pairs that were not shuffled or only shifted.
fn against_schemes(n: usize, nu_dt: f64, effort: Effort, seed: u64) -> Vec<Row> {
    let lines = table(include_str!("../../tests/data/reference/H4_relaxation_by_scheme.csv"));
    let of = |scheme: &str| {
        let number = |text: &str| text.parse().unwrap_or(f64::NAN);
        let line = lines.iter().find(|line| {
            line.text("scheme") == scheme
                && line.number("omega") == 0.5
                && number(line.text("N")) == n as f64
                && line.number("nu_dt") == nu_dt
        });
        line.map_or((f64::NAN, f64::NAN), |line| (line.number("Tx_over_T_end"), line.number("se")))
    };
    let steps = (1.2 / nu_dt).round() as u32;
    let mut rows = Vec::new();
    for pairing in [Pairing::OnePass, Pairing::HalfSplit] {
        let gas = FrozenGas::new(0.5, n, nu_dt, pairing, seed);
        let (value, error) = run_stress(&gas, steps, effort).ratio(0, 1);
        let name = format!("HS, N = {n}, nu dt {nu_dt}, {}", pairing.name());
        if pairing == Pairing::OnePass {
            let (reference, se) = of("half");
            rows.push(Row::new(
                "H-relax",
                format!("{name}: T_x/T at nu t = 1.2"),
                value,
                reference,
                error.hypot(se),
            ));
        }
        for scheme in ["half_WRONG_noshuffle", "half_WRONG_cyclicshift"] {
            let (wrong, se) = of(scheme);
            let away = (value - wrong).abs() / error.hypot(se);
            let what = format!("{name}: is not that of {scheme} ({wrong:.3}, {away:.0} sigma away)");
            rows.push(Row::new("H-relax", what, f64::from(u8::from(away > 4.0)), 1.0, 0.0));
        }
    }
    rows
}

/// The fourth moment of the BKW start: M2 - 1 decays by 1 - nu dt/(3 n_b) in each of n_b passes, instead of
/// exp(-nu dt/3), exactly for large N (by the algebra of isotropic scattering).
fn fourth_moment(nu_dt: f64, effort: Effort, seed: u64) -> Vec<Row> {
    let n = 2000;
    let cells = if effort == Effort::Full { 4096 } else { 640 };
    let steps = (2.0 / nu_dt).round() as u32;
    let row = |pairing: Pairing| {
        let gas = FrozenGas::new(1.0, n, nu_dt, pairing, seed);
        let unit = gas.thermal_speed();
        let groups = gas.run(cells, steps, 2, bkw_start, |step, particles, counts, sums| {
            sums[1] += counts.candidates as f64;
            if step == steps {
                sums[0] += particles.iter().map(|p| (speed(p) / unit).powi(4)).sum::<f64>();
            }
        });
        let tests = groups.total(1) / groups.cells as f64 / f64::from(steps);
        let passes = (tests / (n / 2) as f64).round();
        let [first, ..] = bkw_moments(0.0);
        let exact = 1.0 + (first - 1.0) * (1.0 - nu_dt / 3.0 / passes).powf(passes * f64::from(steps));
        let (sum, error) = groups.mean(0);
        let scale = 1.0 / (15.0 * n as f64);
        let what = format!("BKW, nu dt {nu_dt}, {passes} passes: M2_fourth at nu t = 2");
        Row::new("H-relax", what, sum * scale, exact, error * scale)
    };
    vec![row(Pairing::HalfSplit), row(Pairing::OnePass)]
}
