//! C3 on a device: T_x = 2 T decays at the right rate in a periodic box in which particles move, by either scheme.
//! Must not know how a scheme chooses its pairs.

use super::cells::{GasBox, argon, ratio, scheme_name, table};
use super::relaxation::two_to_one;
use super::{Bed, Effort, Row};
use crate::physics::constants::BOLTZMANN;
use crate::physics::rng::{Purpose, Stream};
use crate::physics::theory::relaxation::maxwell_anisotropy;
use crate::scene::{Face, Scheme};
use crate::sim::SimError;

/// Groups of neighbouring particles at the start, from whose scatter errors are taken.
const GROUPS: usize = 200;

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
    let (particles, last) = if effort == Effort::Full { (2e6, 4.0) } else { (2e5, 2.0) };
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
            cells: (particles / per_cell).cbrt().round() as u32,
            particles_per_cell: per_cell,
            time_step,
            scheme,
            face: Face::Periodic,
            seed,
        }
        .scene(),
    )?;
    let mut start = gas.population()?.molecules;
    let mut rng = Stream::new(seed, 1, Purpose::Test, 0);
    for molecule in &mut start {
        molecule.velocity = two_to_one(&mut rng).map(|v| (unit * v) as f32);
    }
    gas.place(&start)?;
    let mut rows = Vec::new();
    let mut done = 0;
    for line in table(include_str!("../../tests/data/reference/C3_anisotropy_relaxation.csv")) {
        let nu_t = line.number("nu_t");
        if line.text("id") != id || !(0.25..=last).contains(&nu_t) {
            continue;
        }
        let step = (nu_t / nu_dt).round() as u32;
        if (f64::from(step) * nu_dt - nu_t).abs() > 1e-9 {
            continue;
        }
        gas.advance(step - done)?;
        done = step;
        let molecules = gas.population()?.molecules;
        let squares = molecules.chunks(molecules.len().div_ceil(GROUPS)).map(|group| {
            let [x, y, z] = group.iter().fold([0.0; 3], |sum: [f64; 3], molecule| {
                std::array::from_fn(|k| sum[k] + f64::from(molecule.velocity[k]).powi(2))
            });
            (x, (x + y + z) / 3.0)
        });
        let (value, error) = ratio(squares);
        let name = scheme_name(scheme);
        let what = format!("{id}, {name}, {per_cell} a cell, nu dt {nu_dt}: T_x/T at nu t = {nu_t}");
        let (reference, of_reference) = match omega {
            1.0 => (maxwell_anisotropy(2.0, nu_t), 0.0),
            _ => (line.number("Tx_over_T"), line.number("se")),
        };
        rows.push(Row::new("C3", what, value, reference, error.hypot(of_reference)).allow(0.003));
    }
    Ok(rows)
}
