//! C2, C3, C5: a homogeneous gas relaxes to equilibrium at the right rate, and arrives there.
//! Must not know how a scheme chooses its pairs.

use super::cells::{FrozenGas, Pairing, isotropic, maxwellian, on_threads, table};
use super::{Bed, Effort, Row};
use crate::physics::particle::Particle;
use crate::physics::rng::Stream;
use crate::physics::statistics::ChiSquare;
use crate::physics::theory::maxwell::{equiprobable_speeds, speed_moment};
use crate::physics::theory::relaxation::maxwell_anisotropy;
use crate::sim::SimError;
use libm::lgamma;

/// Equally probable bins of the speed test.
const BINS: usize = 50;
/// Highest power of the speed whose mean is compared.
const POWERS: usize = 8;

/// C2: from equal speeds to the Maxwell distribution.
///
/// In 30 collision times. After the 10 that are usual the fourth moment is still 1 % too low for VHS of omega 0.81, as
/// it must be (its deviation of 40 % decays by about exp(-0.37 nu t)): 13 sigma with 10^6 particles.
pub fn speeds(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    on_threads(bed.threads, || {
        let mut rows = Vec::new();
        let full = effort == Effort::Full;
        let cases: &[(f64, Pairing, u64)] = &[
            (0.5, Pairing::NoTimeCounter, 11),
            (0.81, Pairing::HalfSplit, 12),
            (0.5, Pairing::HalfSplit, 13),
            (0.81, Pairing::NoTimeCounter, 14),
        ];
        let cases = if full { cases } else { &cases[..2] };
        for &(omega, pairing, seed) in cases {
            let seeds = if full { 2 } else { 1 };
            (0..seeds).for_each(|i| rows.extend(speed_rows(omega, pairing, effort, seed + 1000 * i)));
        }
        rows
    })
}

fn speed_rows(omega: f64, pairing: Pairing, effort: Effort, seed: u64) -> Vec<Row> {
    // Large cells: in a closed cell of N the moments differ from those of the infinite gas by about 1/N.
    let n = 2000;
    let cells = if effort == Effort::Full { 512 } else { 256 };
    let (nu_dt, steps) = (0.5, 60);
    let gas = FrozenGas::new(omega, n, nu_dt, pairing, seed);
    let unit = gas.thermal_speed();
    let bounds = equiprobable_speeds(BINS, std::f64::consts::SQRT_2);
    let groups = gas.run(
        cells,
        steps,
        BINS + POWERS,
        |rng| isotropic(3f64.sqrt(), rng),
        |step, particles, _, sums| {
            if step < steps {
                return;
            }
            for speed in particles.iter().map(|p| speed(p) / unit) {
                sums[bounds.partition_point(|&bound| bound <= speed)] += 1.0;
                let mut power = 1.0;
                for sum in &mut sums[BINS..] {
                    power *= speed;
                    *sum += power;
                }
            }
        },
    );
    let counts: Vec<u64> = (0..BINS).map(|bin| groups.total(bin) as u64).collect();
    let test = ChiSquare::uniform(&counts);
    let degrees = f64::from(test.degrees);
    let name = format!("omega {omega}, {}, equal speeds after 30 collision times", pairing.name());
    let mut rows = vec![Row::new(
        "C2",
        format!("{name}: chi^2 of 50 equiprobable speed bins"),
        test.statistic,
        degrees,
        (2.0 * degrees).sqrt(),
    )];
    let total = groups.cells as f64 * n as f64;
    for k in 1..=POWERS {
        let (sum, error) = groups.mean(BINS + k - 1);
        let moment = |k: usize| speed_moment(k as i32, std::f64::consts::SQRT_2);
        let reference = moment(k) * closed_cell_factor(3 * n, k);
        // The second moment is the energy, equal in all cells but for rounding: its scatter is no error.
        let error = if k == 2 { ((moment(4) - moment(2).powi(2)) / total).sqrt() } else { error / n as f64 };
        let what = format!("{name}: mean of (c/sqrt(kT/m))^{k}");
        rows.push(Row::new("C2", what, sum / n as f64, reference, error));
    }
    rows
}

/// Mean of c^k in a closed cell whose energy is fixed over that at the temperature of that energy:
/// (D/2)^(k/2) Gamma(D/2)/Gamma((D + k)/2), D squared velocity components that share the energy (uniform on a
/// D-sphere).
fn closed_cell_factor(components: usize, k: usize) -> f64 {
    let (half, power) = (0.5 * components as f64, 0.5 * k as f64);
    (power * half.ln() + lgamma(half) - lgamma(half + power)).exp()
}

/// C3: T_x = 2 T decays as the reference computed, and for Maxwell molecules as theory says.
pub fn anisotropy(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    on_threads(bed.threads, || {
        let lines = table(include_str!("../../tests/data/reference/C3_anisotropy_relaxation.csv"));
        let mut rows = Vec::new();
        // Half-Split-Shuffle is forward Euler: steps small enough for its error, nu dt/4 of the rate, to vanish in the
        // allowance. Its error itself is the subject of H-relax.
        let schemes = [(Pairing::NoTimeCounter, 0.05, 21), (Pairing::HalfSplit, 0.0125, 22)];
        for (id, omega) in [("maxwell_2to1", 1.0), ("hs_2to1", 0.5), ("vhs081_2to1", 0.81)] {
            for (pairing, nu_dt, seed) in schemes {
                let half_split = pairing == Pairing::HalfSplit;
                let last = if effort == Effort::Quick && half_split { 2.0 } else { 4.0 };
                let times: Vec<(u32, f64, f64, f64)> = lines
                    .iter()
                    .filter(|line| line.text("id") == id && (0.1..=last).contains(&line.number("nu_t")))
                    .map(|line| {
                        let nu_t = line.number("nu_t");
                        let step = (nu_t / nu_dt).round() as u32;
                        (step, nu_t, line.number("Tx_over_T"), line.number("se"))
                    })
                    .collect();
                let gas = FrozenGas::new(omega, 200, nu_dt, pairing, seed);
                let cells = match effort {
                    Effort::Full => 20_480,
                    Effort::Quick if half_split => 2_560,
                    Effort::Quick => 5_120,
                };
                let steps = (last / nu_dt).round() as u32;
                let groups =
                    gas.run(cells, steps, 2 * times.len(), two_to_one, |step, particles, _, sums| {
                        if let Some(i) = times.iter().position(|time| time.0 == step) {
                            let [x, y, z] = peculiar_squares(particles);
                            sums[2 * i] += x;
                            sums[2 * i + 1] += (x + y + z) / 3.0;
                        }
                    });
                for (i, &(_, nu_t, reference, se)) in times.iter().enumerate() {
                    let (value, error) = groups.ratio(2 * i, 2 * i + 1);
                    let name = format!("{id}, {}, nu dt {nu_dt}: T_x/T at nu t = {nu_t}", pairing.name());
                    rows.push(Row::new("C3", name.clone(), value, reference, error.hypot(se)).allow(0.003));
                    if omega == 1.0 {
                        let exact = maxwell_anisotropy(2.0, nu_t);
                        let row = Row::new("C3", format!("{name}, closed form"), value, exact, error);
                        // No-Time-Counter has no time-step error to allow for.
                        rows.push(if half_split { row.allow(0.003) } else { row });
                    }
                }
            }
        }
        rows
    })
}

/// C5: the BKW mode of Maxwell molecules.
pub fn bkw(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    on_threads(bed.threads, || {
        let lines = table(include_str!("../../tests/data/reference/C5_BKW.csv"));
        // Closed cells of N particles end at moments that are 0.3/N too low: large cells.
        let (n, nu_dt) = (2000, 0.25);
        let mut rows = Vec::new();
        let seeds: &[u64] = if effort == Effort::Full { &[31, 32] } else { &[31] };
        for &seed in seeds {
            let cells = if effort == Effort::Full { 4096 } else { 640 };
            let gas = FrozenGas::new(1.0, n, nu_dt, Pairing::NoTimeCounter, seed);
            let steps_at: Vec<u32> =
                lines.iter().map(|line| (line.number("nu_t") / nu_dt).round() as u32).collect();
            let last = steps_at.iter().copied().max().unwrap_or(0);
            let unit = gas.thermal_speed();
            let groups = gas.run(cells, last, 3 * steps_at.len(), bkw_start, |step, particles, _, sums| {
                if let Some(i) = steps_at.iter().position(|&at| at == step) {
                    for square in particles.iter().map(|p| (speed(p) / unit).powi(2)) {
                        sums[3 * i] += square.powi(2);
                        sums[3 * i + 1] += square.powi(3);
                        sums[3 * i + 2] += square.powi(4);
                    }
                }
            });
            // Moments of the Maxwell distribution: <c^4>, <c^6>, <c^8> = 15, 105, 945.
            let moments = [("M2_fourth", 15.0), ("M3_sixth", 105.0), ("M4_eighth", 945.0)];
            for (i, line) in lines.iter().enumerate() {
                for (k, (column, equilibrium)) in moments.into_iter().enumerate() {
                    let (sum, error) = groups.mean(3 * i + k);
                    let scale = 1.0 / (equilibrium * n as f64);
                    let what = format!("BKW, NTC, seed {seed}: {column} at nu t = {}", line.text("nu_t"));
                    rows.push(Row::new("C5", what, sum * scale, line.number(column), error * scale));
                }
            }
        }
        rows
    })
}

/// Velocity of a gas with T_x = 2 T and T_y = T_z = T/2, in units of sqrt(k T/m).
pub(super) fn two_to_one(rng: &mut Stream) -> [f64; 3] {
    let [x, y, z] = maxwellian(rng);
    [x * std::f64::consts::SQRT_2, y * std::f64::consts::FRAC_1_SQRT_2, z * std::f64::consts::FRAC_1_SQRT_2]
}

/// Velocity of the BKW start: sqrt(0.6) times a chi variate of 5 degrees of freedom, isotropic.
pub(super) fn bkw_start(rng: &mut Stream) -> [f64; 3] {
    let ([a, b, c], [d, e, _]) = (maxwellian(rng), maxwellian(rng));
    isotropic((0.6 * (a * a + b * b + c * c + d * d + e * e)).sqrt(), rng)
}

/// Sums over a cell of the squares of the velocity components about the cell's mean.
pub(super) fn peculiar_squares(particles: &[Particle]) -> [f64; 3] {
    let n = particles.len() as f64;
    std::array::from_fn(|k| {
        let mean = particles.iter().map(|p| f64::from(p.velocity[k])).sum::<f64>() / n;
        particles.iter().map(|p| (f64::from(p.velocity[k]) - mean).powi(2)).sum()
    })
}

/// Speed, m/s.
pub(super) fn speed(particle: &Particle) -> f64 {
    particle.velocity.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>().sqrt()
}
