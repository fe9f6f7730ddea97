//! One device against another: the same flow with collisions on both, with random numbers of their own, must have the same
//! drag, heat, rates and fields within their errors. Must not know how a device computes.

use super::flow::{CELLS, mach_four, model};
use super::loads::{Estimate, estimate};
use super::{Bed, Effort, Row};
use crate::device::subject::Subject;
use crate::physics::constants::BOLTZMANN;
use crate::scene::Sampling;
use crate::sim::{Fields, Request, SimError, Snapshot};

/// Batches of a run, each twice as long as the stream takes, or longer through the box.
const BATCHES: u64 = 24;
/// Edge of the cubes of cells whose sums are compared.
const BLOCK: usize = 4;
/// Cubes along each axis, and all together.
const BLOCKS: [usize; 3] = [CELLS[0] as usize / BLOCK, CELLS[1] as usize / BLOCK, CELLS[2] as usize / BLOCK];
const REGIONS: usize = BLOCKS[0] * BLOCKS[1] * BLOCKS[2];

/// What is summed over the samples of a region, each linear in the particles, so that batches are differences of sums.
const FIELDS: [&str; 4] = ["molecules", "momentum along x", "momentum along y", "energy"];
/// Numbers of the whole flow, one a batch.
const SCALARS: [&str; 9] = [
    "drag",
    "lift",
    "side force",
    "heat",
    "hits on the body",
    "collisions",
    "molecules entered",
    "molecules left",
    "molecules inside",
];

/// Batches of one device.
struct Run {
    /// [`SCALARS`] of each batch.
    scalars: Vec<[f64; SCALARS.len()]>,
    /// Of each of [`FIELDS`], of each batch: the sums of the regions.
    fields: [Vec<Vec<f64>>; FIELDS.len()],
}

/// Both devices.
pub fn run(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let batch_steps: u32 = if effort == Effort::Full { 1200 } else { 110 };
    // The stream takes 53 steps through the box.
    let transient: u32 = 300;
    let every = 5;
    let mut scene = mach_four(121, 0.3, Sampling::From { from: u64::from(transient), every });
    model(&mut scene).steps = u64::from(transient) + BATCHES * u64::from(batch_steps);
    let one = measure(bed.make(&scene)?.as_mut(), transient, batch_steps)?;
    let two = measure(bed.make_rival(&scene)?.as_mut(), transient, batch_steps)?;
    let against = format!("against {}", bed.rival_name);
    let mut rows = Vec::new();
    for (i, name) in SCALARS.into_iter().enumerate() {
        let [(value, sigma), (reference, of_reference)] =
            [&one, &two].map(|run| -> Estimate { estimate(run.scalars.iter().map(|batch| batch[i])) });
        rows.push(Row::new("A-B", format!("{name} {against}"), value, reference, sigma.hypot(of_reference)));
    }
    for (name, (one, two)) in FIELDS.into_iter().zip(one.fields.iter().zip(&two.fields)) {
        let (statistic, expected, sigma) = chi_square(one, two);
        let what = format!("{name} {against}: chi^2 of {REGIONS} regions");
        rows.push(Row::new("A-B", what, statistic, expected, sigma));
    }
    Ok(rows)
}

fn measure(gas: &mut dyn Subject, transient: u32, batch_steps: u32) -> Result<Run, SimError> {
    gas.advance(transient)?;
    let request = Request { fields: true, surfaces: true, ..Request::default() };
    let mut snapshot = Snapshot::default();
    let mut run = Run { scalars: Vec::new(), fields: Default::default() };
    let mut load_sums = [0.0; 5];
    let mut field_sums: [Vec<f64>; FIELDS.len()] = std::array::from_fn(|_| vec![0.0; REGIONS]);
    let mut before = gas.counters()?;
    for batch in 1..=BATCHES {
        gas.advance(batch_steps)?;
        gas.observe(&request, &mut snapshot)?;
        let missing =
            || SimError::Device("the device told no averages: this is a bug, please report it".into());
        let loads =
            snapshot.surfaces.first().and_then(|surface| surface.loads.as_ref()).ok_or_else(missing)?;
        let [x, y, z] = loads.force_n.map(|force| force.value);
        let means = [x, y, z, loads.heat_w.value, loads.hits_per_s.value];
        // The device tells means since the start: their growth is the mean of the batch.
        let now = means.map(|mean| mean * batch as f64);
        let counters = gas.counters()?;
        let mut scalars = [0.0; SCALARS.len()];
        (0..5).for_each(|i| scalars[i] = now[i] - load_sums[i]);
        let steps = f64::from(batch_steps);
        scalars[5] = (counters.collisions - before.collisions) as f64 / steps;
        scalars[6] = (counters.entered - before.entered) as f64 / steps;
        scalars[7] = (counters.left - before.left) as f64 / steps;
        scalars[8] = (counters.particle_steps - before.particle_steps) as f64 / steps;
        (load_sums, before) = (now, counters);
        run.scalars.push(scalars);
        let now = regions(snapshot.fields.as_ref().ok_or_else(missing)?, gas.setup().mass_kg);
        for ((batches, sums), now) in run.fields.iter_mut().zip(&mut field_sums).zip(now) {
            batches.push(now.iter().zip(sums.iter()).map(|(now, sum)| now - sum).collect());
            *sums = now;
        }
    }
    Ok(run)
}

/// Sums of [`FIELDS`] over all samples so far and the cells of each region.
fn regions(fields: &Fields, mass_kg: f64) -> [Vec<f64>; FIELDS.len()] {
    let column = |key: &str| fields.column(key).map(|column| column.values.as_slice()).unwrap_or_default();
    let count = column("sample_count");
    let velocity = ["velocity_x", "velocity_y", "velocity_z"].map(column);
    let temperature = column("temperature");
    let mut sums: [Vec<f64>; FIELDS.len()] = std::array::from_fn(|_| vec![0.0; REGIONS]);
    for cell in 0..count.len() {
        let n = f64::from(count[cell]);
        // Nobody was ever here, or one alone, who has no temperature.
        if n < 2.0 {
            continue;
        }
        let u = velocity.map(|component| f64::from(component[cell]));
        let [nx, ny] = [CELLS[0] as usize, CELLS[1] as usize];
        let [i, j, k] = [cell % nx, cell / nx % ny, cell / nx / ny].map(|index| index / BLOCK);
        let region = (k * BLOCKS[1] + j) * BLOCKS[0] + i;
        let square = u.iter().map(|u| u * u).sum::<f64>();
        // c_v of the fields is that of n samples, or of n - 1: the difference is nothing at thousands of samples.
        let energy = square + 3.0 * BOLTZMANN / mass_kg * f64::from(temperature[cell]);
        for (sums, value) in sums.iter_mut().zip([1.0, u[0], u[1], energy]) {
            sums[region] += n * value;
        }
    }
    sums
}

/// Sum over the regions of (difference of the means)^2/(variance of it), with its expectation and standard deviation.
///
/// A mean of K batches with a variance from the same batches is Student's: the square of the difference of two has the
/// mean nu/(nu - 2), nu = 2 (K - 1), since both devices have the same variance. Regions are correlated, as molecules fly
/// from one to the next: the variance of the sum is 2 times the sum of the squares of all correlations, which the batches
/// tell too, each square 1/nu too high.
fn chi_square(one: &[Vec<f64>], two: &[Vec<f64>]) -> (f64, f64, f64) {
    let regions = one.first().map_or(0, Vec::len);
    let freedom = (one.len() + two.len() - 2) as f64;
    let mean = |run: &[Vec<f64>], region: usize| {
        run.iter().map(|batch| batch[region]).sum::<f64>() / run.len() as f64
    };
    // Deviations of all batches from the mean of their device, of length 1.
    let mut deviations: Vec<Vec<f64>> = Vec::new();
    let mut statistic = 0.0;
    for region in 0..regions {
        let means = [one, two].map(|run| mean(run, region));
        let of = |run: &[Vec<f64>], mean: f64| -> Vec<f64> {
            run.iter().map(|batch| batch[region] - mean).collect()
        };
        let mut deviation = of(one, means[0]);
        deviation.extend(of(two, means[1]));
        let square = deviation.iter().map(|d| d * d).sum::<f64>();
        if square <= 0.0 {
            // Inside the body nobody ever is.
            if means[0] != means[1] {
                statistic = f64::INFINITY;
            }
            continue;
        }
        let variance = square / freedom * (1.0 / one.len() as f64 + 1.0 / two.len() as f64);
        statistic += (means[0] - means[1]).powi(2) / variance;
        deviations.push(deviation.iter().map(|d| d / square.sqrt()).collect());
    }
    let count = deviations.len() as f64;
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut squares = count;
    for i in 0..deviations.len() {
        for j in 0..i {
            squares += 2.0 * (dot(&deviations[i], &deviations[j]).powi(2) - 1.0 / freedom);
        }
    }
    let student = freedom / (freedom - 2.0);
    (statistic, count * student, (2.0 * squares.max(count)).sqrt() * student)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::rng::{Purpose, Stream};
    use crate::physics::sample::gauss_triple;

    /// Batches of 80 regions, neighbours correlated by `share`, the means moved by `shift` standard deviations of a batch.
    fn batches(seed: u64, share: f64, shift: f64) -> Vec<Vec<f64>> {
        let batch = |batch: u64| {
            let mut rng = Stream::new(seed, batch, Purpose::Test, 0);
            let noise: Vec<f64> = (0..81).map(|_| f64::from(gauss_triple(&mut rng)[0])).collect();
            let mix = |i: usize| noise[i] + share * noise[i + 1] + shift;
            (0..80).map(mix).collect()
        };
        (0..24).map(batch).collect()
    }

    /// Over many pairs the statistic has the mean and the scatter that are told, with correlated regions too.
    #[test]
    fn the_statistic_scatters_as_told() {
        for share in [0.0, 1.0] {
            let z: Vec<f64> = (0..400)
                .map(|i| {
                    let (value, expected, sigma) =
                        chi_square(&batches(2 * i, share, 0.0), &batches(2 * i + 1, share, 0.0));
                    (value - expected) / sigma
                })
                .collect();
            let mean = z.iter().sum::<f64>() / 400.0;
            let square = z.iter().map(|z| z * z).sum::<f64>() / 400.0;
            // 0 +- 0.05, and 1 with the longer tail of few batches.
            assert!(mean.abs() < 0.2, "{share}: mean {mean}");
            assert!((0.75..1.45).contains(&square), "{share}: square {square}");
        }
    }

    #[test]
    fn a_difference_is_seen() {
        let (value, expected, sigma) = chi_square(&batches(1, 0.5, 0.0), &batches(2, 0.5, 0.5));
        assert!(value > expected + 6.0 * sigma, "{value} {expected} {sigma}");
    }
}
