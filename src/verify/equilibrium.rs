//! Equilibrium: a Maxwellian gas at rest stays what it is, in boxes of every kind of face, in short and in far steps;
//! and walls of another temperature take molecules to theirs, rotation too. Must not know how a device computes.

use super::cells::{GasBox, argon, energy, scheme_name};
use super::{Bed, Effort, Row};
use crate::device::subject::{Molecule, Population};
use crate::physics::constants::BOLTZMANN;
use crate::physics::species::most_probable_speed;
use crate::physics::statistics::ChiSquare;
use crate::physics::statistics::chi_square::histogram;
use crate::physics::theory::maxwell::{equiprobable_speeds, speed_moment};
use crate::scene::{Collisions, Face, Faces, Model, Scene, Scheme};
use crate::sim::SimError;

const TEMPERATURE_K: f64 = 300.0;
const BINS: usize = 50;
/// Particles a cell; the scheme of mixed cells changes here.
const PER_CELL: u32 = 20;

/// All boxes.
pub fn run(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let diffuse = Face::Diffuse { temperature_k: TEMPERATURE_K };
    let mut rows = Vec::new();
    for (i, (name, faces, scheme, cells_a_step)) in [
        ("periodic box", [Face::Periodic; 3], Scheme::Ntc, 0.4),
        ("periodic box, far steps", [Face::Periodic; 3], Scheme::HalfSplitShuffle, 3.7),
        ("specular box, far steps", [Face::Specular; 3], Scheme::Ntc, 3.7),
        ("diffuse box", [diffuse; 3], Scheme::HalfSplitShuffle, 0.4),
        (
            "periodic, specular and diffuse, far steps",
            [Face::Periodic, Face::Specular, diffuse],
            Scheme::Mixed,
            3.7,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        rows.extend(stays(name, faces, scheme, cells_a_step, 81 + i as u64, effort, bed)?);
    }
    rows.extend(warmed(91, effort, bed)?);
    Ok(rows)
}

/// The box and its scene; `cells_a_step` is what a molecule of the most probable speed crosses.
fn closed(
    faces: [Face; 3],
    scheme: Scheme,
    cells_a_step: f64,
    rotational_dof: u32,
    seed: u64,
    effort: Effort,
) -> (GasBox, Scene) {
    let mut species = argon(0.81);
    species.rotational_dof = rotational_dof;
    let number_density = 1e20;
    let time_step = 0.2 / species.collision_frequency(number_density, TEMPERATURE_K);
    let gas = GasBox {
        cell_edge: time_step * most_probable_speed(species.mass_kg, TEMPERATURE_K) / cells_a_step,
        species,
        temperature: TEMPERATURE_K,
        number_density,
        cells: if effort == Effort::Full { 40 } else { 12 },
        particles_per_cell: f64::from(PER_CELL),
        time_step,
        scheme,
        face: Face::Periodic,
        seed,
    };
    let mut scene = gas.scene();
    let Model::Gas(model) = &mut scene.model;
    let [x, y, z] = faces;
    model.faces = Faces { x_min: x, x_max: x, y_min: y, y_max: y, z_min: z, z_max: z };
    model.collisions = Collisions { scheme, heavy_cell_threshold: PER_CELL };
    (gas, scene)
}

fn stays(
    name: &str,
    faces: [Face; 3],
    scheme: Scheme,
    cells_a_step: f64,
    seed: u64,
    effort: Effort,
    bed: &Bed<'_>,
) -> Result<Vec<Row>, SimError> {
    let (of_box, scene) = closed(faces, scheme, cells_a_step, 0, seed, effort);
    let mut gas = of_box.gas_of(&scene, bed)?;
    let start = gas.population()?.molecules;
    // Eight collision times, and as many ways across the box in the far steps.
    gas.advance(40)?;
    let population = gas.population()?;
    let counters = gas.counters()?;
    let name = format!("{name}, {}", scheme_name(scheme));
    let molecules = &population.molecules;
    let count = molecules.len() as f64;
    let exact = |what: &str, value: f64, reference: f64| {
        Row::new("EQ", format!("{name}: {what}"), value, reference, 0.0)
    };
    let mut rows = vec![
        exact("particles", count, start.len() as f64),
        exact("lost or stopped", (counters.lost + counters.left + counters.bounce_limit) as f64, 0.0),
    ];
    let unit = most_probable_speed(of_box.species.mass_kg, TEMPERATURE_K);
    let conserved = !faces.iter().any(|face| matches!(face, Face::Diffuse { .. }));
    let energies = [energy(&start), energy(molecules)].map(|sum| sum / (0.75 * unit * unit * count));
    let row = exact("energy over 3/2 N k T", energies[1], energies[0]);
    rows.push(if conserved {
        // Single precision, as C6.
        Row { allowance: 2e-5, ..row }
    } else {
        // Walls exchange energy: it scatters as that of N independent molecules, at most.
        Row { reference: 1.0, sigma: (2.0 / (3.0 * count)).sqrt(), ..row }
    });
    rows.extend(maxwellian(&name, molecules, unit));
    rows.push(uniform(&name, &population));
    // Times that nobody flew at all would leave everything as it was.
    let moved = molecules.iter().zip(&start).filter(|(now, then)| now.position != then.position).count();
    let row = exact("share that is not where it was", moved as f64 / count, 1.0);
    rows.push(Row { allowance: 0.01, ..row });
    Ok(rows)
}

/// Speeds in equally probable bins, and squares of each component.
fn maxwellian(name: &str, molecules: &[Molecule], unit: f64) -> Vec<Row> {
    let count = molecules.len() as f64;
    let speeds = || {
        let speed =
            |p: &Molecule| p.velocity.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>().sqrt() / unit;
        molecules.iter().map(speed)
    };
    let counts: Vec<u64> = histogram(speeds(), &equiprobable_speeds(BINS, 1.0));
    let mut rows = vec![chi_square(format!("{name}: chi^2 of {BINS} equally probable speed bins"), &counts)];
    for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let square = molecules.iter().map(|p| (f64::from(p.velocity[k]) / unit).powi(2)).sum::<f64>() / count;
        let what = format!("{name}: T_{axis}/T");
        rows.push(Row::new("EQ", what, 2.0 * square, 1.0, (2.0 / count).sqrt()));
    }
    let fourth = speeds().map(|c| c.powi(4)).sum::<f64>() / count;
    let [reference, eighth] = [4, 8].map(|k| speed_moment(k, 1.0));
    let sigma = ((eighth - reference * reference) / count).sqrt();
    rows.push(Row::new("EQ", format!("{name}: mean of (c/c_mp)^4"), fourth, reference, sigma));
    rows
}

fn chi_square(what: String, counts: &[u64]) -> Row {
    let test = ChiSquare::uniform(counts);
    let degrees = f64::from(test.degrees);
    Row::new("EQ", what, test.statistic, degrees, (2.0 * degrees).sqrt())
}

/// Numbers in the cells: those of particles that know nothing of each other.
fn uniform(name: &str, population: &Population) -> Row {
    let counts: Vec<u64> = population.cells().map(|members| members.len() as u64).collect();
    chi_square(format!("{name}: chi^2 of the numbers in {} cells", counts.len()), &counts)
}

/// Free molecules without rotation in a box whose walls are twice as hot: soon all have been at a wall, and move and
/// rotate as it says.
fn warmed(seed: u64, effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    const HOT: f64 = 2.0;
    let hot = Face::Diffuse { temperature_k: HOT * TEMPERATURE_K };
    let (of_box, scene) = closed([hot; 3], Scheme::Off, 3.7, 2, seed, effort);
    let mut gas = of_box.gas_of(&scene, bed)?;
    let mut start = gas.population()?.molecules;
    start.iter_mut().for_each(|molecule| molecule.rotation = 0.0);
    gas.place(&start)?;
    // 40 to 100 ways across: only the slowest of some ten thousand molecules has not been at a wall by then.
    gas.advance(if effort == Effort::Full { 1200 } else { 300 })?;
    let molecules = gas.population()?.molecules;
    let count = molecules.len() as f64;
    let name = "hot diffuse box, no collisions";
    let unit = most_probable_speed(of_box.species.mass_kg, HOT * TEMPERATURE_K);
    let mut rows = maxwellian(name, &molecules, unit);
    // Two degrees of freedom: exponential, mean k T/m.
    let mean = BOLTZMANN * HOT * TEMPERATURE_K / of_box.species.mass_kg;
    let rotation = || molecules.iter().map(|molecule| f64::from(molecule.rotation) / mean);
    let what = format!("{name}: rotational energy/(k T)");
    rows.push(Row::new("EQ", what, rotation().sum::<f64>() / count, 1.0, 1.0 / count.sqrt()));
    let bounds: Vec<f64> = (1..BINS).map(|i| -(1.0 - i as f64 / BINS as f64).ln()).collect();
    let counts: Vec<u64> = histogram(rotation(), &bounds);
    rows.push(chi_square(format!("{name}: chi^2 of {BINS} equally probable bins of it"), &counts));
    Ok(rows)
}
