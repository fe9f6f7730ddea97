//! C1: how many collisions a step makes, for every molecular model, scheme and majorant of the reference table.
//! Must not know how a scheme chooses its pairs.

use super::cells::{FrozenGas, GasBox, Line, Pairing, maxwellian, on_threads, ratio, table};
use super::{Effort, Row};
use crate::scene::{Face, Scheme, Species};
use crate::sim::{SimError, Simulation};

/// What a count must resolve: the size of the error of a majorant that starts too low.
const RESOLVE: f64 = 0.005;

/// Counts in frozen cells of exactly N particles, and in a periodic box in which particles move freely.
pub fn run(effort: Effort, threads: usize) -> Result<Vec<Row>, SimError> {
    let mut rows = Vec::new();
    for (i, line) in
        table(include_str!("../../tests/data/reference/C1_collision_counts.csv")).iter().enumerate()
    {
        rows.extend(on_threads(threads, || frozen(line, effort, 100 + i as u64))?);
        for (scheme, name) in [(Scheme::Ntc, "NTC"), (Scheme::HalfSplitShuffle, "HSS")] {
            rows.push(moving(line, scheme, name, effort, threads, 200 + i as u64)?);
        }
    }
    Ok(rows)
}

/// The molecules of a line; SPARTA's soft spheres have alpha 1.4.
fn species(line: &Line) -> Species {
    Species {
        name: line.text("gas").into(),
        mass_kg: line.number("mass"),
        diameter_m: line.number("d_ref"),
        omega: line.number("omega"),
        reference_temperature_k: line.number("Tref"),
        alpha: if line.text("model") == "VSS" { 1.4 } else { 1.0 },
        rotational_dof: 0,
        fraction: 1.0,
    }
}

fn frozen(line: &Line, effort: Effort, seed: u64) -> Vec<Row> {
    let collisions = match effort {
        Effort::Quick => 2e5,
        Effort::Full => 2e6,
    };
    let steps = 20;
    let per_step = line.number("collisions_per_step_fixedN_every_cell");
    let table_cells = line.number("cells");
    let cells = (collisions / f64::from(steps) / (per_step / table_cells)) as usize;
    let settings = [
        ("C1", Pairing::NoTimeCounter, 1.0),
        ("C1b", Pairing::NoTimeCounter, 2.0),
        ("C1b", Pairing::NoTimeCounter, 4.0),
        ("C1", Pairing::HalfSplit, 1.0),
        ("C1b", Pairing::HalfSplit, 2.0),
    ];
    let row = |(k, (id, pairing, majorant_factor)): (usize, (&'static str, Pairing, f32))| {
        let gas = FrozenGas {
            species: species(line),
            temperature: line.number("T"),
            particles: line.number("N_per_cell") as usize,
            exposure: line.number("fnum") * line.number("dt") / line.number("V_cell"),
            pairing,
            majorant_factor,
            seed: seed + 1000 * k as u64,
        };
        let groups = gas.run(cells, steps, 1, maxwellian, |_, _, counts, sums| {
            sums[0] += counts.collisions as f64;
        });
        let (mean, error) = groups.mean(0);
        let scale = table_cells / f64::from(steps);
        let what = format!(
            "{}, {}, majorant x{majorant_factor}, N fixed: collisions a step",
            line.text("id"),
            pairing.name()
        );
        Row::new(id, what, mean * scale, per_step, error * scale).must_resolve(RESOLVE)
    };
    settings.into_iter().enumerate().map(row).collect()
}

fn moving(
    line: &Line,
    scheme: Scheme,
    name: &str,
    effort: Effort,
    threads: usize,
    seed: u64,
) -> Result<Row, SimError> {
    // Counts of neighbouring steps are correlated through the numbers in the cells, which change in a few steps.
    let (settle, steps, batch) = match effort {
        Effort::Quick => (100, 400, 20),
        Effort::Full => (300, 4000, 40),
    };
    let mut gas = GasBox {
        species: species(line),
        temperature: line.number("T"),
        number_density: line.number("n"),
        cells: line.number("cells").cbrt().round() as u32,
        cell_edge: line.number("V_cell").cbrt(),
        particles_per_cell: line.number("N_per_cell"),
        time_step: line.number("dt"),
        scheme,
        face: Face::Periodic,
        seed,
    }
    .gas(threads)?;
    gas.advance(settle)?;
    let mut samples = Vec::new();
    for _ in 0..steps / batch {
        let before = gas.counters().collisions;
        gas.advance(batch)?;
        samples.push(((gas.counters().collisions - before) as f64, f64::from(batch)));
    }
    let (mean, error) = ratio(samples.iter().copied());
    let reference = line.number("collisions_per_step_uniform_random_positions_total_fixed");
    let what = format!("{}, {name}, moving in a periodic box: collisions a step", line.text("id"));
    Ok(Row::new("C1", what, mean, reference, error).must_resolve(RESOLVE))
}
