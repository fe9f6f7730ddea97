//! C6: energy, momentum and particles of closed boxes stay, and what rounding does has no direction.
//! Must not know how a scheme chooses its pairs.

use super::cells::{GasBox, argon, energy, momentum};
use super::{Bed, Effort, Row};
use crate::device::subject::Molecule;
use crate::physics::constants::BOLTZMANN;
use crate::physics::statistics::BatchMeans;
use crate::scene::{Face, Scheme};
use crate::sim::SimError;

/// Relative drift that single precision may show.
const DRIFT: f64 = 2e-5;

/// A mirrored box (energy) and a periodic one (energy and momentum), with either scheme.
pub fn run(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let mut rows = Vec::new();
    let cases = [
        (Face::Specular, Scheme::Ntc, 0.5),
        (Face::Specular, Scheme::HalfSplitShuffle, 0.81),
        (Face::Periodic, Scheme::Ntc, 0.81),
        (Face::Periodic, Scheme::HalfSplitShuffle, 0.5),
    ];
    for (i, (face, scheme, omega)) in cases.into_iter().enumerate() {
        rows.extend(closed_box(face, scheme, omega, 41 + i as u64, effort, bed)?);
    }
    Ok(rows)
}

fn closed_box(
    face: Face,
    scheme: Scheme,
    omega: f64,
    seed: u64,
    effort: Effort,
    bed: &Bed<'_>,
) -> Result<Vec<Row>, SimError> {
    let steps = if effort == Effort::Full { 10_000 } else { 2_000 };
    let (species, temperature, number_density) = (argon(omega), 300.0, 1e20);
    let mean_collision_time = 1.0 / species.collision_frequency(number_density, temperature);
    let mean_free_path = species.mean_relative_speed(temperature) / 2f64.sqrt() * mean_collision_time;
    let mut gas = GasBox {
        species: species.clone(),
        temperature,
        number_density,
        cells: 8,
        cell_edge: 0.4 * mean_free_path,
        particles_per_cell: 15.0,
        time_step: 0.2 * mean_collision_time,
        scheme,
        face,
        seed,
    }
    .gas(bed)?;

    // Rounding makes energy and momentum walk at random: their increments are what is independent from step to step,
    // so a trend is a mean increment beyond the error of the increments.
    let start = gas.population()?.molecules;
    let count = start.len() as f64;
    let unit_energy = energy(&start);
    let unit_momentum = count * (BOLTZMANN * temperature / species.mass_kg).sqrt();
    let state = |molecules: &[Molecule]| {
        let [x, y, z] = momentum(molecules).map(|p| p / unit_momentum);
        [energy(molecules) / unit_energy, x, y, z]
    };
    let first = state(&start);
    let mut last = first;
    let mut largest = [0.0_f64; 4];
    let mut increments = [const { Vec::new() }; 4];
    let mut fewest = count;
    let mut most = count;
    for _ in 0..steps {
        gas.advance(1)?;
        let molecules = gas.population()?.molecules;
        let now = state(&molecules);
        for k in 0..4 {
            increments[k].push(now[k] - last[k]);
            largest[k] = largest[k].max((now[k] - first[k]).abs());
        }
        last = now;
        fewest = fewest.min(molecules.len() as f64);
        most = most.max(molecules.len() as f64);
    }

    let name = match face {
        Face::Periodic => "periodic box",
        _ => "specular box",
    };
    let scheme = if scheme == Scheme::Ntc { "NTC" } else { "HSS" };
    let name = format!("{name}, {scheme}, omega {omega}");
    let mut rows = vec![
        Row::new("C6", format!("{name}: fewest particles in {steps} steps"), fewest, count, 0.0),
        Row::new("C6", format!("{name}: most particles in {steps} steps"), most, count, 0.0),
    ];
    let of_momentum = if face == Face::Periodic { ["p_x", "p_y", "p_z"].as_slice() } else { &[] };
    for (k, what) in std::iter::once(&"energy").chain(of_momentum).enumerate() {
        let mut batches = BatchMeans::default();
        increments[k].iter().for_each(|&increment| batches.push(increment));
        let mean = batches.mean();
        let drift = Row::new("C6", format!("{name}: largest relative drift of {what}"), largest[k], 0.0, 0.0);
        rows.push(Row { allowance: DRIFT, ..drift });
        let trend = format!("{name}: mean relative increment of {what} a step");
        rows.push(Row::new("C6", trend, mean.value, 0.0, mean.error));
    }
    Ok(rows)
}
