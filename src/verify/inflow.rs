//! Inflow (B1): an empty box in a stream keeps the density, velocity and temperature of the stream, edges included,
//! and each face lets in what the flux of a drifting Maxwellian says. Must not know how a device computes steps.

use super::loads::{Estimate, estimate};
use super::scenes::{
    NUMBER_DENSITY, TEMPERATURE_K, all_faces, document, empty_box, incident_gas, stream, thermal_speed,
};
use super::table::read;
use super::{Bed, Effort, Row};
use crate::device::gas::GasSetup;
use crate::device::subject::{Population, Subject};
use crate::physics::motion::MotionLog;
use crate::physics::particle::Particle;
use crate::physics::theory::inflow_flux::{CrossingMolecules, crossing_molecules};
use crate::scene::{Domain, Face, Faces, Model, Sampling, Scene, Start, Stream, TimeStep};
use crate::sim::{Request, SimError, Snapshot};
use std::path::Path;

const FLUXES: &str = include_str!("../../tests/data/reference/B_inflow_flux.csv");

/// Cells along each edge of the box of 1 m.
const CELLS: u32 = 10;

/// Cells of a class: those that touch an edge, those that touch a corner, those more than two cells from any face.
const CENTRE: usize = 0;
const EDGE: usize = 1;
const CORNER: usize = 2;

/// Sample sizes.
struct Size {
    particles: f64,
    snapshots: usize,
    /// Molecules through the six faces whose number and speeds are taken.
    entering: f64,
}

impl Size {
    fn of(effort: Effort) -> Self {
        match effort {
            Effort::Quick => Self { particles: 1e4, snapshots: 60, entering: 2e5 },
            Effort::Full => Self { particles: 2e5, snapshots: 200, entering: 2e7 },
        }
    }
}

/// Drifts: speed ratio, incidence and sideslip in degrees, name.
fn ways() -> [(f64, f64, f64, &'static str); 5] {
    // Direction (1, 2, 3)/sqrt 14 as the angles of a scene.
    let incidence = -(2.0_f64).atan2(1.0).to_degrees();
    let sideslip = (3.0 / 14f64.sqrt()).asin().to_degrees();
    [
        (0.0, 0.0, 0.0, "at rest"),
        (1.0, 0.0, 0.0, "s = 1 along x"),
        (5.0, 0.0, 0.0, "s = 5 along x"),
        (1.0, incidence, sideslip, "s = 1 along (1, 2, 3)"),
        (5.0, incidence, sideslip, "s = 5 along (1, 2, 3)"),
    ]
}

/// The empty box at the drifts of the acceptance table, and what each face lets into a void.
///
/// # Errors
/// A scene cannot be computed.
pub fn empty_boxes(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let size = Size::of(effort);
    let mut rows = Vec::new();
    for (i, (s, a, b, way)) in ways().into_iter().enumerate() {
        let seed = i as u64 + 1;
        rows.extend(snapshots(stream(s, a, b), way, seed, &size, bed)?);
        // Every face meets a drift in, out and across.
        if i == 0 || i == 3 {
            for axis in 0..3 {
                rows.extend(into_a_void(stream(s, a, b), axis, way, 300 + seed, effort, bed)?);
            }
        }
    }
    Ok(rows)
}

/// Every line of the flux table, and every face at the drifts, by the emission law of the CPU alone.
///
/// # Errors
/// A scene cannot be made.
pub fn emission(effort: Effort, _: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let size = Size::of(effort);
    let mut rows = Vec::new();
    for (i, (s, a, b, way)) in ways().into_iter().enumerate() {
        let setup = GasSetup::new(&scene(stream(s, a, b), 101 + i as u64, &size, 1.0))?;
        for (face, name) in Faces::NAMES.into_iter().enumerate() {
            rows.extend(through_face(&setup, face, &format!("{way}, face {name}"), &size, None));
        }
    }
    for (i, line) in read(FLUXES)?.iter().enumerate() {
        let s = line.get("s_n")?;
        let crossing = CrossingMolecules {
            flux: line.get("flux_over_n_vmp")?,
            mean_normal_speed: line.get("mean_vn_over_vmp")?,
            mean_square_normal_speed: line.get("mean_vn2_over_vmp2")?,
            variance: line.get("var_vn_over_vmp2")?,
            mean_energy: line.get("mean_Etr_over_kT")?,
        };
        let setup = GasSetup::new(&scene(stream(s, 0.0, 0.0), 200 + i as u64, &size, 1.0))?;
        rows.extend(through_face(&setup, 0, &format!("s_n = {s}"), &size, Some(crossing)));
    }
    Ok(rows)
}

/// Steps from a void with one pair of faces open and the others periodic: none leaves sideways, and the step is too short
/// to reach the face opposite. Who came through which face is told by what a molecule touched last.
fn into_a_void(
    stream: Stream,
    axis: usize,
    way: &str,
    seed: u64,
    effort: Effort,
    bed: &Bed<'_>,
) -> Result<Vec<Row>, SimError> {
    const STEP_IN_TRANSITS: f64 = 0.05;
    let size = Size { particles: 1e5, ..Size::of(effort) };
    let mut scene = scene(stream, seed, &size, STEP_IN_TRANSITS);
    let Model::Gas(gas) = &mut scene.model;
    let mut faces = [Face::Periodic; 6];
    (faces[2 * axis], faces[2 * axis + 1]) = (Face::Stream, Face::Stream);
    let [x_min, x_max, y_min, y_max, z_min, z_max] = faces;
    gas.faces = Faces { x_min, x_max, y_min, y_max, z_min, z_max };
    gas.start = Start::Empty;
    let steps = if effort == Effort::Full { 400 } else { 20 };
    let mut gas = bed.make(&scene)?;
    let (mut total, mut sums) = (0.0, [[0.0; 5]; 2]);
    for _ in 0..steps {
        gas.place(&[])?;
        let before = gas.counters()?.entered;
        gas.advance(1)?;
        total += (gas.counters()?.entered - before) as f64;
        for molecule in gas.population()?.molecules {
            let origin = Particle { tag: molecule.tag, ..Particle::default() }.origin();
            let Some(side) = [2 * axis + 1, 2 * axis + 2].iter().position(|&face| face as u32 == origin)
            else {
                continue;
            };
            let inward = if side == 0 { 1.0 } else { -1.0 };
            let normal = inward * f64::from(molecule.velocity[axis]) / thermal_speed();
            (0..5).for_each(|power| sums[side][power] += normal.powi(power as i32));
        }
    }
    let setup = gas.setup();
    let mut rows = Vec::new();
    for (side, sums) in sums.into_iter().enumerate() {
        let inward = if side == 0 { 1.0 } else { -1.0 };
        let reference = crossing_molecules(inward * setup.stream.velocity[axis] / thermal_speed());
        let a_step = NUMBER_DENSITY * thermal_speed() * reference.flux * setup.time_step_s / setup.weight;
        let expected = a_step * f64::from(steps);
        let what = format!("{way}, face {} into a void", Faces::NAMES[2 * axis + side]);
        let sigma = super::flat_plate::poisson_sigma(expected);
        rows.push(Row::new("B1", format!("{what}: molecules"), sums[0], expected, sigma));
        if expected > 1000.0 {
            let [first, second, _, fourth] = std::array::from_fn(|k| sums[k + 1] / sums[0]);
            let what = |moment: &str| format!("{what}: {moment}");
            let sigma = (reference.variance / sums[0]).sqrt();
            rows.push(Row::new("B1", what("mean v_n/c"), first, reference.mean_normal_speed, sigma));
            let sigma = ((fourth - second * second) / sums[0]).sqrt();
            let square = reference.mean_square_normal_speed;
            rows.push(Row::new("B1", what("mean v_n^2/c^2"), second, square, sigma));
        }
    }
    // The counter, which the balance of particles relies on.
    let inside = sums.iter().map(|sums| sums[0]).sum();
    let name = ["x", "y", "z"][axis];
    let what = format!("{way}, faces of {name}: counted as entered, against those inside");
    rows.push(Row::new("B1", what, total, inside, 0.0));
    Ok(rows)
}

fn scene(stream: Stream, seed: u64, size: &Size, step_in_transits: f64) -> Scene {
    let domain = Domain { corner_m: [0.0; 3], size_m: [1.0; 3], cells: [CELLS; 3] };
    let mut gas = empty_box(stream, domain, all_faces(Face::Stream), 1.0);
    let speed = incident_gas(&gas).velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
    let transit = 1.0 / speed.max(thermal_speed());
    gas.time_step = TimeStep::Seconds(step_in_transits * transit);
    gas.particles_per_cell = size.particles / f64::from(CELLS).powi(3);
    document("empty box", seed, gas, Path::new(""))
}

/// Independent snapshots of the box: number, density by place, velocity and temperature.
fn snapshots(stream: Stream, way: &str, seed: u64, size: &Size, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    // A quarter of a transit a step, three transits between snapshots: hardly any molecule is in two of them.
    const SPACING: u32 = 12;
    let mut scene = scene(stream, seed, size, 0.25);
    let Model::Gas(gas) = &mut scene.model;
    gas.sampling = Sampling::From { from: u64::from(SPACING), every: u64::from(SPACING) };
    gas.steps = u64::from(SPACING) * (size.snapshots as u64 + 1);
    let mut gas = bed.make(&scene)?;
    let mut counts = Vec::new();
    let mut places = Vec::new();
    gas.advance(SPACING)?;
    for _ in 0..size.snapshots {
        let population = gas.population()?;
        counts.push(population.molecules.len() as f64);
        places.push(by_place(&population));
        gas.advance(SPACING)?;
    }
    let expected = NUMBER_DENSITY / gas.setup().weight;
    let scale = |(value, sigma): Estimate| (value / expected, sigma / expected);
    let mut rows = Vec::new();
    let (value, sigma) = scale(estimate(counts.iter().copied()));
    rows.push(Row::new("B1", format!("{way}: N/(n V/F)"), value, 1.0, sigma));
    let (mean, sigma) = estimate(counts.iter().copied());
    let m = counts.len() as f64;
    let spread = sigma * sigma * m / mean;
    rows.push(Row::new("B1", format!("{way}: variance of N/mean"), spread, 1.0, (2.0 / (m - 1.0)).sqrt()));
    for (place, name) in [(CENTRE, "centre"), (EDGE, "edge"), (CORNER, "corner")] {
        let cells = (0..CELLS.pow(3)).filter(|&cell| place_of(cell) == Some(place)).count() as f64;
        let share = cells / f64::from(CELLS).powi(3);
        let (value, sigma) =
            estimate(places.iter().map(|place_counts: &[f64; 3]| place_counts[place] / (share * expected)));
        rows.push(Row::new("B1", format!("{way}: density of {name} cells"), value, 1.0, sigma));
    }
    rows.extend(centre_fields(gas.as_mut(), way, size)?);
    Ok(rows)
}

/// Velocity and temperatures of the centre cells as the device averages them.
fn centre_fields(gas: &mut dyn Subject, way: &str, size: &Size) -> Result<Vec<Row>, SimError> {
    let mut snapshot = Snapshot::default();
    gas.observe(&Request { fields: true, ..Request::default() }, &mut snapshot)?;
    let Some(fields) = snapshot.fields else {
        return Err(SimError::Device("the device told no fields: this is a bug, please report it".into()));
    };
    let centre: Vec<usize> =
        (0..CELLS.pow(3)).filter(|&cell| place_of(cell) == Some(CENTRE)).map(|cell| cell as usize).collect();
    let mean = |key: &str| {
        let values = fields.column(key).map(|column| column.values.as_slice()).unwrap_or_default();
        centre.iter().map(|&cell| f64::from(values[cell])).sum::<f64>() / centre.len() as f64
    };
    // Errors of independent samples of a Maxwellian; each cell has hundreds, so that all weigh the same.
    let samples = size.particles * centre.len() as f64 / f64::from(CELLS).powi(3) * fields.samples as f64;
    let thermal = thermal_speed() / 2f64.sqrt();
    let stream = gas.setup().stream;
    let mut rows = Vec::new();
    for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let value = mean(&format!("velocity_{axis}"));
        let what = format!("{way}: u_{axis} in the centre, m/s");
        rows.push(Row::new("B1", what, value, stream.velocity[k], thermal / samples.sqrt()));
        let value = mean(&format!("temperature_{axis}"));
        let what = format!("{way}: T_{axis} in the centre, K");
        rows.push(Row::new("B1", what, value, TEMPERATURE_K, TEMPERATURE_K * (2.0 / samples).sqrt()));
    }
    Ok(rows)
}

fn place_of(cell: u32) -> Option<usize> {
    let at = [cell % CELLS, cell / CELLS % CELLS, cell / CELLS / CELLS];
    match at.iter().filter(|&&i| i == 0 || i == CELLS - 1).count() {
        0 if at.iter().all(|i| (3..CELLS - 3).contains(i)) => Some(CENTRE),
        2 => Some(EDGE),
        3 => Some(CORNER),
        _ => None,
    }
}

fn by_place(population: &Population) -> [f64; 3] {
    let mut counts = [0.0; 3];
    for (cell, pair) in population.offsets.windows(2).enumerate() {
        if let Some(place) = place_of(cell as u32) {
            counts[place] += f64::from(pair[1] - pair[0]);
        }
    }
    counts
}

/// Molecules that one face lets in, counted where they cross it.
fn through_face(
    setup: &GasSetup,
    face: usize,
    what: &str,
    size: &Size,
    table: Option<CrossingMolecules>,
) -> Vec<Row> {
    let inflow = &setup.inflow;
    let Some(which) = inflow.faces.iter().position(|open| open.face == face) else { return Vec::new() };
    let (axis, inward) = (face / 2, if face % 2 == 1 { -1.0 } else { 1.0 });
    let c_mp = thermal_speed();
    let reference = table.unwrap_or_else(|| crossing_molecules(inward * setup.stream.velocity[axis] / c_mp));
    let rows_of_face = inflow.faces[which].rows;
    let per_step = NUMBER_DENSITY * c_mp * reference.flux * setup.time_step_s / setup.weight;
    // As many steps as six faces at rest need for the sample, at most twenty times as many particles as wanted.
    let steps = (size.entering / 6.0 / per_step.max(0.05 * size.particles)).ceil().max(1.0) as u64;
    let (mut count, mut speeds) = (0, [0.0_f64; 4]);
    let (mut entered, mut log) = (Vec::new(), MotionLog::default());
    for step in 0..steps {
        for row in 0..rows_of_face {
            entered.clear();
            // With no time to fly on, all that cross are still there.
            count += inflow.emit_row(
                &setup.motion,
                which,
                row,
                0.0,
                setup.scene.seed,
                step,
                &mut entered,
                &mut log,
            );
            for (particle, ..) in &entered {
                let normal = inward * f64::from(particle.velocity[axis]) / c_mp;
                for (power, sum) in speeds.iter_mut().enumerate() {
                    *sum += normal.powi(power as i32 + 1);
                }
            }
        }
    }
    let expected = per_step * steps as f64;
    let sigma = super::flat_plate::poisson_sigma(expected);
    let mut rows = vec![Row::new("B1", format!("{what}: molecules"), count as f64, expected, sigma)];
    let n = count as f64;
    if expected > 1000.0 {
        let [first, second, _, fourth] = speeds.map(|sum| sum / n);
        let sigma = (reference.variance / n).sqrt();
        rows.push(Row::new("B1", format!("{what}: mean v_n/c"), first, reference.mean_normal_speed, sigma));
        let sigma = ((fourth - second * second) / n).sqrt();
        let mean_square = reference.mean_square_normal_speed;
        rows.push(Row::new("B1", format!("{what}: mean v_n^2/c^2"), second, mean_square, sigma));
    }
    rows
}
