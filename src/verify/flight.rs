//! C3 on a device: T_x = 2 T decays at the right rate in a periodic box in which particles move, by either scheme.
//! Must not know how a scheme chooses its pairs.

use super::cells::{GasBox, argon, scheme_name, table};
use super::loads::estimate;
use super::relaxation::two_to_one;
use super::{Bed, Effort, Row};
use crate::physics::constants::BOLTZMANN;
use crate::physics::rng::{Purpose, Stream};
use crate::physics::theory::relaxation::maxwell_anisotropy;
use crate::scene::{Face, Scheme};
use crate::sim::SimError;

/// Independent runs, from whose scatter errors are taken.
const RUNS: u64 = 24;
/// When the anisotropy is compared, in collision times: so few, since what has decayed too far stays so.
const TIMES: [f64; 2] = [0.5, 2.0];

/// Both schemes, for Maxwell molecules (closed form) and argon (the table).
pub fn anisotropy(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let mut rows = Vec::new();
    // Half-Split-Shuffle is forward Euler: steps small enough for its error to vanish in the allowance.
    let cases = [
        ("maxwell_2to1", 1.0, Scheme::Ntc, 0.1, 15.0),
        ("maxwell_2to1", 1.0, Scheme::HalfSplitShuffle, 0.0125, 60.0),
        ("vhs081_2to1", 0.81, Scheme::Ntc, 0.05, 60.0),
        ("vhs081_2to1", 0.81, Scheme::HalfSplitShuffle, 0.0125, 15.0),
        ("vhs081_2to1", 0.81, Scheme::Mixed, 0.0125, 300.0),
    ];
    for (i, (id, omega, scheme, nu_dt, per_cell)) in cases.into_iter().enumerate() {
        rows.extend(decay(id, omega, scheme, nu_dt, per_cell, 61 + i as u64, effort, bed)?);
    }
    Ok(rows)
}

fn decay(
    id: &'static str,
    omega: f64,
    scheme: Scheme,
    nu_dt: f64,
    per_cell: f64,
    seed: u64,
    effort: Effort,
    bed: &Bed<'_>,
) -> Result<Vec<Row>, SimError> {
    let particles = if effort == Effort::Full { 1e5 } else { 8e3 };
    let (species, temperature, number_density) = (argon(omega), 300.0, 1e20);
    let time_step = nu_dt / species.collision_frequency(number_density, temperature);
    let unit = (BOLTZMANN * temperature / species.mass_kg).sqrt();
    let mut gas = bed.make(
        &GasBox {
            // Half a cell a step: cells are emptied and filled anew between collisions.
            cell_edge: 2.0 * time_step * unit,
            species,
            temperature,
            number_density,
            cells: (particles / per_cell).cbrt().round().max(4.0) as u32,
            particles_per_cell: per_cell,
            time_step,
            scheme,
            face: Face::Periodic,
            seed,
        }
        .scene(),
    )?;
    let steps = TIMES.map(|nu_t| (nu_t / nu_dt).round() as u32);
    let mut seen = [const { Vec::new() }; TIMES.len()];
    let mut molecules = gas.population()?.molecules;
    for run in 0..RUNS {
        let mut rng = Stream::new(gas.setup().scene.seed, run, Purpose::Test, 0);
        let start: Vec<[f64; 3]> = molecules.iter().map(|_| two_to_one(&mut rng)).collect();
        // Exactly at rest and exactly two to one, so that only what collisions do scatters.
        let count = start.len() as f64;
        let mean: [f64; 3] = std::array::from_fn(|k| start.iter().map(|v| v[k]).sum::<f64>() / count);
        let scale: [f64; 3] = std::array::from_fn(|k| {
            let square = start.iter().map(|v| (v[k] - mean[k]).powi(2)).sum::<f64>() / count;
            ([2.0, 0.5, 0.5][k] / square).sqrt() * unit
        });
        for (molecule, v) in molecules.iter_mut().zip(start) {
            molecule.velocity = std::array::from_fn(|k| (scale[k] * (v[k] - mean[k])) as f32);
        }
        gas.place(&molecules)?;
        let mut done = 0;
        for (seen, step) in seen.iter_mut().zip(steps) {
            gas.advance(step - done)?;
            done = step;
            molecules = gas.population()?.molecules;
            let [x, y, z] = molecules.iter().fold([0.0; 3], |sum: [f64; 3], molecule| {
                std::array::from_fn(|k| sum[k] + f64::from(molecule.velocity[k]).powi(2))
            });
            seen.push(3.0 * x / (x + y + z));
        }
    }
    let lines = table(include_str!("../../tests/data/reference/C3_anisotropy_relaxation.csv"));
    let mut rows = Vec::new();
    for (seen, nu_t) in seen.into_iter().zip(TIMES) {
        let Some(line) = lines.iter().find(|line| line.text("id") == id && line.number("nu_t") == nu_t)
        else {
            continue;
        };
        let (reference, of_reference) = match omega {
            1.0 => (maxwell_anisotropy(2.0, nu_t), 0.0),
            _ => (line.number("Tx_over_T"), line.number("se")),
        };
        let (value, error) = estimate(seen.into_iter());
        let name = scheme_name(scheme);
        let what = format!("{id}, {name}, {per_cell} a cell, nu dt {nu_dt}: T_x/T at nu t = {nu_t}");
        rows.push(Row::new("C3", what, value, reference, error.hypot(of_reference)).allow(0.003));
    }
    Ok(rows)
}
