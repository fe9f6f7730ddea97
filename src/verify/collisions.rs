//! C1: how many collisions a step makes, for every molecular model, scheme and majorant of the reference table.
//! Must not know how a scheme chooses its pairs.

use super::cells::{FrozenGas, GasBox, Line, Pairing, argon, maxwellian, on_threads, ratio, table};
use super::{Bed, Effort, Row};
use crate::physics::species::most_probable_speed;
use crate::scene::{Face, Scheme, Species};
use crate::sim::SimError;

const COUNTS: &str = include_str!("../../tests/data/reference/C1_collision_counts.csv");

/// What a count must resolve: the size of the error of a majorant that starts too low.
const RESOLVE: f64 = 0.005;

/// Counts in frozen cells of exactly N particles, by the formulas alone.
pub fn frozen_cells(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let lines = table(COUNTS);
    let rows = lines.iter().enumerate().map(|(i, line)| frozen(line, effort, 100 + i as u64));
    on_threads(bed.threads, || rows.flatten().collect())
}

/// Counts in periodic boxes in which particles move freely: the lines of the table, and light to heavy cells.
pub fn moving_boxes(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let mut rows = Vec::new();
    for (i, line) in table(COUNTS).iter().enumerate() {
        for (scheme, name) in [(Scheme::Ntc, "NTC"), (Scheme::HalfSplitShuffle, "HSS")] {
            rows.push(moving(line, scheme, name, effort, bed, 200 + i as u64)?);
        }
    }
    // Numbers of particles a cell for each way to share work out. In mixed ones both schemes take part: the numbers of
    // the cells scatter about the threshold.
    for (i, (per_cell, scheme, name)) in [
        (10.0, Scheme::Ntc, "NTC"),
        (10.0, Scheme::HalfSplitShuffle, "HSS"),
        (100.0, Scheme::Ntc, "NTC"),
        (100.0, Scheme::HalfSplitShuffle, "HSS"),
        (300.0, Scheme::Mixed, "mixed"),
        (1200.0, Scheme::Ntc, "NTC"),
        (1200.0, Scheme::HalfSplitShuffle, "HSS"),
    ]
    .into_iter()
    .enumerate()
    {
        rows.push(crowded(per_cell, scheme, name, effort, bed, 250 + i as u64)?);
    }
    Ok(rows)
}

/// Collisions of argon in a box with so many particles a cell, which fly half a cell in a step.
fn crowded(
    per_cell: f64,
    scheme: Scheme,
    name: &str,
    effort: Effort,
    bed: &Bed<'_>,
    seed: u64,
) -> Result<Row, SimError> {
    let (species, temperature, number_density, nu_dt) = (argon(0.81), 300.0, 1e20, 0.2);
    let time_step = nu_dt / species.collision_frequency(number_density, temperature);
    // 30,000 particles, or the 4^3 cells that every device takes.
    let cells = (3e4 / per_cell).cbrt().round().max(4.0) as u32;
    let mut gas = GasBox {
        cell_edge: 2.0 * time_step * most_probable_speed(species.mass_kg, temperature),
        species,
        temperature,
        number_density,
        cells,
        particles_per_cell: per_cell,
        time_step,
        scheme,
        face: Face::Periodic,
        seed,
    }
    .gas(bed)?;
    gas.advance(20)?;
    let wanted = if effort == Effort::Full { 4e6 } else { 4e5 };
    let batch = 4;
    let particles = gas.population()?.molecules.len() as f64;
    let batches = (wanted / (0.5 * particles * nu_dt * f64::from(batch))).ceil().max(40.0) as u32;
    let mut samples = Vec::new();
    for _ in 0..batches {
        let before = gas.counters()?.collisions;
        gas.advance(batch)?;
        samples.push(((gas.counters()?.collisions - before) as f64, f64::from(batch)));
    }
    let (mean, error) = ratio(samples.iter().copied());
    let setup = gas.setup();
    let cells = setup.motion.grid.len() as f64;
    let rate = setup.gas().gas.species[0].self_pair().mean_sigma_c(temperature);
    let reference = 0.5 * particles * (particles - 1.0) / cells * setup.exposure * rate;
    let what = format!("{per_cell} a cell, {name}, moving in a periodic box: collisions a step");
    Ok(Row::new("C1", what, mean, reference, error).must_resolve(RESOLVE))
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
    bed: &Bed<'_>,
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
    .gas(bed)?;
    gas.advance(settle)?;
    let mut samples = Vec::new();
    for _ in 0..steps / batch {
        let before = gas.counters()?.collisions;
        gas.advance(batch)?;
        samples.push(((gas.counters()?.collisions - before) as f64, f64::from(batch)));
    }
    let (mean, error) = ratio(samples.iter().copied());
    let reference = line.number("collisions_per_step_uniform_random_positions_total_fixed");
    let what = format!("{}, {name}, moving in a periodic box: collisions a step", line.text("id"));
    Ok(Row::new("C1", what, mean, reference, error).must_resolve(RESOLVE))
}
