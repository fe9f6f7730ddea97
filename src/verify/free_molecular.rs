//! Free-molecular bodies against theory: spheres (B2, B3, B6), boxes and triangle files (B5), adiabatic walls (B7).
//! Must not know how a device computes.
//!
//! Each body is compared with the analytic value of the true shape at 4 sigma and the allowance of the acceptance
//! table, and with theory summed over its own triangles at 4 sigma alone.

use super::loads::Measured;
use super::scenes::{FreeFlow, ICOSAHEDRON, TEMPERATURE_K, WEDGE, from_file, triangle_files, wall_of};
use super::table::{Line, read};
use super::{Bed, Effort, Row};
use crate::physics::theory::bodies::{WallState, sphere_drag, sphere_hits};
use crate::scene::{Shape, Wall};
use crate::sim::SimError;
use std::f64::consts::PI;

const SPHERES: &str = include_str!("../../tests/data/reference/B_sphere_cylinder_drag.csv");
const BOXES: &str = include_str!("../../tests/data/reference/B_box.csv");
const POLYHEDRA: &str = include_str!("../../tests/data/reference/B_polyhedra_stl.csv");

/// Radius of the spheres, m.
const RADIUS_M: f64 = 1.0;

/// Hits a run; each body is run twice.
fn hits(effort: Effort) -> f64 {
    match effort {
        Effort::Quick => 1e5,
        Effort::Full => 5e5,
    }
}

/// What the tables say of a body, over q (force, m^2; moment, m^3), n U (hits, m^2), q U (heat, m^2).
struct Reference {
    id: &'static str,
    label: String,
    force: [f64; 3],
    /// Zero where the table has none.
    moment: [f64; 3],
    hits: Option<f64>,
    /// Of a monatomic and of a diatomic gas; a mirror takes none.
    heat: [Option<f64>; 2],
}

/// Runs a body twice with random numbers of their own and compares every load.
///
/// Loads go with the number of hits, so that those of one run are not independent comparisons: the force is taken from
/// one run and the hits from the other, heat and force are compared a hit where their total has no row of its own.
fn compare(flow: FreeFlow, line: usize, bed: &Bed<'_>, table: &Reference) -> Result<Vec<Row>, SimError> {
    let Reference { id, label, .. } = table;
    let flow = FreeFlow { seed: 2 * line as u64 + 1, ..flow };
    let one = Measured::run(&flow, bed)?;
    let two = Measured::run(&FreeFlow { rotational_dof: 2, seed: flow.seed + 1, ..flow }, bed)?;
    let (q, theory) = (one.dynamic_pressure(), one.theory());
    let (per_hit, heat_per_hit) = (one.hit_scale() / q, one.hit_scale() / (q * one.speed()));
    let mut rows = Vec::new();
    let size = table.force.iter().map(|f| f * f).sum::<f64>().sqrt();
    for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let mut unit = [0.0; 3];
        unit[k] = 1.0;
        let (value, sigma) = one.force(unit);
        let what = format!("{label}: F_{axis}/q, m^2");
        let row = Row::new(id, what, value / q, table.force[k], sigma / q);
        rows.push(Row { allowance: 0.003 * size, ..row });
        let (value, sigma) = two.force_a_hit(unit);
        let what = format!("{label}: F_{axis}/q a hit/(n U), its triangles");
        let reference = theory.force[k] / theory.hits * per_hit;
        rows.push(Row::new(id, what, value * per_hit, reference, sigma * per_hit));
        // The bodies measure 1 m: the allowance of the force is that of the moment.
        let (value, sigma) = one.moment(k);
        let what = format!("{label}: M_{axis}/q, m^3");
        let row = Row::new(id, what, value / q, table.moment[k], sigma / q);
        rows.push(Row { allowance: 0.003 * size, ..row });
        let (value, sigma) = two.moment(k);
        let what = format!("{label}: M_{axis}/q of its triangles, m^3");
        rows.push(Row::new(id, what, value / q, theory.moment[k] / q, sigma / q));
    }
    let (value, sigma) = two.hits();
    let [value, sigma, of_triangles] = [value, sigma, theory.hits].map(|x| x / one.hit_scale());
    let what = format!("{label}: hits/(n U), m^2");
    let reference = table.hits.unwrap_or(of_triangles);
    rows.push(Row::new("B3", what, value, reference, sigma).must_resolve(0.004));
    for ((heat, body), gas) in table.heat.into_iter().zip([&one, &two]).zip(["monatomic", "diatomic"]) {
        let (Some(heat), Some(hits)) = (heat, table.hits) else { continue };
        let (value, sigma) = body.heat_a_hit();
        let what = format!("{label}: C_h a hit, {gas}");
        let row = Row::new("B6", what, value * heat_per_hit, heat / hits, sigma * heat_per_hit);
        rows.push(row.clone().allow(0.005));
        let theory = body.theory();
        let reference = theory.heat / theory.hits * heat_per_hit;
        rows.push(Row { what: format!("{}, its triangles", row.what), reference, ..row });
    }
    if flow.wall == Wall::Specular {
        rows.extend(adiabatic(label, &one));
    }
    Ok(rows)
}

/// A mirror takes neither energy nor tangential momentum, to round-off.
fn adiabatic(label: &str, body: &Measured) -> Vec<Row> {
    // What a wall at absolute zero takes is all that comes.
    let cold = Wall::Diffuse { temperature_k: 0.0, accommodation: 1.0 };
    let energy_in = body.incident.body(&body.mesh, cold, [0.0; 3]).heat;
    [
        ("energy to the wall / energy that comes", body.heat().0 / energy_in),
        ("tangential / normal force on the triangles", body.shear_share),
    ]
    .into_iter()
    .map(|(what, value)| Row {
        allowance: 1e-6,
        ..Row::new("B7", format!("{label}: {what}"), value, 0.0, 0.0)
    })
    .collect()
}

/// Spheres of all speed ratios and walls: drag, hit rate, heat of a monatomic and a diatomic gas.
///
/// # Errors
/// A scene cannot be computed.
pub fn spheres(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let mut rows = Vec::new();
    let chosen = |line: &Line| {
        effort == Effort::Full
            || (["0.5", "2", "10"].contains(&line.text("s"))
                && ["", "0.25", "5"].contains(&line.text("Tw_over_T")))
    };
    let surface = 4.0 * PI * RADIUS_M * RADIUS_M;
    let shape = Shape::Sphere { radius_m: RADIUS_M };
    for (i, line) in read(SPHERES)?.iter().enumerate() {
        if line.text("body") != "sphere" || !chosen(line) {
            continue;
        }
        let (s, (wall, name)) = (line.get("s")?, wall_of(line));
        let of_surface = |column: &str| line.number(column).map(|mean| surface * mean);
        let table = Reference {
            id: "B2",
            label: format!("sphere s = {s}, {name}"),
            force: [0.25 * surface * line.get("CD")?, 0.0, 0.0],
            moment: [0.0; 3],
            hits: of_surface("flux_mean_over_nU"),
            heat: ["Ch_mean_mono", "Ch_mean_diat"].map(of_surface),
        };
        let flow = FreeFlow { wall, ..FreeFlow::new(s, shape.clone(), hits(effort)) };
        rows.extend(compare(flow, i, bed, &table)?);
    }
    // Steps that are short against the transit: particles live for many of them before they hit.
    let s = 2.0;
    let flow = FreeFlow {
        wall: Wall::Specular,
        step_in_transits: 0.1,
        batches: 100,
        batch_steps: 20,
        ..FreeFlow::new(s, shape, hits(effort))
    };
    let drag = sphere_drag(s, WallState::new(Wall::Specular, TEMPERATURE_K));
    let table = Reference {
        id: "B2",
        label: format!("sphere s = {s}, specular, short steps"),
        force: [0.25 * surface * drag, 0.0, 0.0],
        moment: [0.0; 3],
        hits: Some(surface * sphere_hits(s)),
        heat: [None; 2],
    };
    rows.extend(compare(flow, 1000, bed, &table)?);
    Ok(rows)
}

/// Boxes at yaw.
///
/// The table turns the stream, here the box is turned the other way, so that its C_D A and C_L A are the forces along
/// x and y.
///
/// # Errors
/// A scene cannot be computed.
pub fn boxes(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let mut rows = Vec::new();
    let chosen = |line: &Line| {
        effort == Effort::Full
            || (["1", "5"].contains(&line.text("s")) && ["0", "30"].contains(&line.text("yaw_deg")))
    };
    for (i, line) in read(BOXES)?.iter().enumerate().filter(|(_, line)| chosen(line)) {
        let (s, yaw, (wall, name)) = (line.get("s")?, line.get("yaw_deg")?, wall_of(line));
        let table = Reference {
            id: "B5",
            label: format!("box s = {s}, yaw {yaw} deg, {name}"),
            force: [line.get("CdA_m2")?, line.get("ClA_m2")?, 0.0],
            moment: [0.0; 3],
            hits: Some(line.get("hits_over_nU_m2")?),
            heat: [None; 2],
        };
        let shape = Shape::Box { size_m: [line.get("Lx")?, line.get("Ly")?, line.get("Lz")?] };
        let flow = FreeFlow { wall, rotation_deg: [0.0, 0.0, -yaw], ..FreeFlow::new(s, shape, hits(effort)) };
        rows.extend(compare(flow, 2000 + i, bed, &table)?);
    }
    Ok(rows)
}

/// Bodies from triangle files.
///
/// # Errors
/// A scene cannot be computed.
pub fn polyhedra(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let folder = triangle_files()?;
    let mut rows = Vec::new();
    let chosen = |line: &Line| effort == Effort::Full || ["2", "10"].contains(&line.text("s"));
    for (i, line) in read(POLYHEDRA)?.iter().enumerate().filter(|(_, line)| chosen(line)) {
        let file = match line.text("body") {
            "icosahedron_R1" => ICOSAHEDRON,
            "wedge" => WEDGE,
            // The triangles of the other body are not among the tables.
            _ => continue,
        };
        let (s, (wall, name)) = (line.get("s")?, wall_of(line));
        let heat = |column: &str| line.number(column).filter(|_| wall != Wall::Specular);
        let table = Reference {
            id: "B5",
            label: format!("{} s = {s}, {name}", line.text("body")),
            force: [line.get("FxA_m2")?, line.get("FyA_m2")?, line.get("FzA_m2")?],
            moment: [line.get("MxA_m3")?, line.get("MyA_m3")?, line.get("MzA_m3")?],
            hits: Some(line.get("hits_over_nU_m2")?),
            heat: ["QA_mono_m2", "QA_diat_m2"].map(heat),
        };
        let folder = folder.path().to_path_buf();
        let flow = FreeFlow { wall, folder, ..FreeFlow::new(s, from_file(file), hits(effort)) };
        rows.extend(compare(flow, 3000 + i, bed, &table)?);
    }
    Ok(rows)
}
