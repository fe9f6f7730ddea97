//! The example of these tests: a snapshot made of formulas, and helpers to write it and to look at a folder.
//! Must not know simulations.

use knudsen::output::write_run;
use knudsen::scene::*;
use knudsen::sim::*;
use knudsen::units::Quantity;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub const CELLS: [u32; 3] = [40, 30, 20];
pub const CORNER: [f64; 3] = [-0.1, 0.0, 0.25];
pub const SIZE: [f64; 3] = [1.0, 0.75, 0.5];
pub const CENTRE: [f64; 3] = [0.4, 0.375, 0.5];
pub const RADIUS: f64 = 0.12;

pub fn scene() -> Scene {
    Scene {
        name: "ball in a stream".to_owned(),
        about: String::new(),
        seed: 7,
        model: Model::Gas(GasScene {
            gas: Gas {
                species: vec![Species {
                    name: "Ar".to_owned(),
                    mass_kg: 6.63e-26,
                    diameter_m: 4.17e-10,
                    omega: 0.81,
                    reference_temperature_k: 273.0,
                    alpha: 1.0,
                    rotational_dof: 0,
                    fraction: 1.0,
                }],
            },
            stream: Stream {
                velocity: Velocity::Mach(4.0),
                density: Density::PressurePa(0.1),
                temperature_k: 200.0,
                incidence_deg: 0.0,
                sideslip_deg: 0.0,
            },
            domain: Domain { corner_m: CORNER, size_m: SIZE, cells: CELLS },
            particles_per_cell: 10.0,
            time_step: TimeStep::Auto,
            steps: 100,
            sampling: Sampling::Auto,
            collisions: Collisions::default(),
            start: Start::Filled,
            faces: Faces::default(),
            reference: Reference::Auto,
            obstacles: Vec::new(),
        }),
        view: Default::default(),
        folder: PathBuf::new(),
    }
}

/// A flow made of formulas: a bow of hot, dense, slow gas before a ball, and noise of a known seed.
pub fn fields() -> Fields {
    let quantities = [
        Quantity::new("number_density", "number density", "n", "1/m^3"),
        Quantity::new("velocity_x", "velocity along x", "u", "m/s"),
        Quantity::new("velocity_y", "velocity along y", "v", "m/s"),
        Quantity::new("velocity_z", "velocity along z", "w", "m/s"),
        Quantity::new("temperature", "temperature", "T", "K"),
        Quantity::new("temperature_x", "temperature along x", "T_x", "K"),
        Quantity::new("temperature_y", "temperature along y", "T_y", "K"),
        Quantity::new("temperature_z", "temperature along z", "T_z", "K"),
        Quantity::new("mach", "Mach number", "M", ""),
        Quantity::new("sample_count", "samples", "N", ""),
    ];
    let mut columns: Vec<Column> = quantities
        .into_iter()
        .map(|quantity| Column { quantity, values: Vec::new(), errors: Vec::new() })
        .collect();
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    for k in 0..CELLS[2] {
        for j in 0..CELLS[1] {
            for i in 0..CELLS[0] {
                let at: [f64; 3] = std::array::from_fn(|a| {
                    CORNER[a] + (f64::from([i, j, k][a]) + 0.5) * SIZE[a] / f64::from(CELLS[a]) - CENTRE[a]
                });
                let r = at.iter().map(|x| x * x).sum::<f64>().sqrt();
                let shock = (-((r - 0.2) / 0.07).powi(2)).exp() * (1.0 - at[0] / r) / 2.0;
                let wake = if at[0] > 0.0 { (-(at[1].powi(2) + at[2].powi(2)) / 0.01).exp() } else { 0.0 };
                let t = 200.0 + 900.0 * shock + 300.0 * wake;
                let row = [
                    3.6e19 * (1.0 + 3.0 * shock - 0.9 * wake),
                    1050.0 * (1.0 - 0.9 * shock - 0.7 * wake),
                    900.0 * shock * at[1] / r,
                    900.0 * shock * at[2] / r,
                    t,
                    1.1 * t,
                    0.9 * t,
                    t,
                    4.0 * (1.0 - 0.9 * shock - 0.7 * wake),
                ];
                for (at, value) in row.into_iter().enumerate() {
                    let value = value * (1.0 + 0.04 * noise());
                    columns[at].values.push(if r < RADIUS { f32::NAN } else { value as f32 });
                }
                columns[9].values.push(if r < RADIUS { 0.0 } else { 5000.0 });
            }
        }
    }
    columns[4].errors = columns[4].values.iter().map(|t| 0.01 * t).collect();
    Fields { cells: CELLS, corner_m: CORNER, size_m: SIZE, samples: 500, batches: 25, columns }
}

pub fn octahedron(centre: [f64; 3], radius: f64) -> TriangleMesh {
    let mut vertices = Vec::new();
    for a in 0..3 {
        for sign in [-1.0, 1.0] {
            let mut vertex = centre;
            vertex[a] += sign * radius;
            vertices.push(vertex);
        }
    }
    let mut triangles = Vec::new();
    for (x, y, z) in (0..8).map(|n| (n & 1, n >> 1 & 1, n >> 2 & 1)) {
        let [a, b, c] = [x, 2 + y, 4 + z];
        triangles.push(if (x + y + z) % 2 == 1 { [a, b, c] } else { [a, c, b] });
    }
    TriangleMesh { part: vec![3; triangles.len()], vertices, triangles, closed: true }
}

pub fn column(key: &'static str, unit: &'static str, values: &[f32], errors: &[f32]) -> Column {
    let quantity = Quantity::new(key, key, key, unit);
    Column { quantity, values: values.to_vec(), errors: errors.to_vec() }
}

pub fn snapshot() -> Snapshot {
    let estimate = Estimate { value: 2.5, error: f64::NAN, batches: 1 };
    let loads = Loads {
        force_n: [estimate; 3],
        moment_n_m: [estimate; 3],
        heat_w: estimate,
        hits_per_s: estimate,
        drag_coefficient: Some(estimate),
        lift_coefficient: None,
        side_coefficient: None,
        free_molecular_drag_coefficient: Some(2.54),
        reference_area_m2: 0.045,
        reference_length_m: 0.24,
    };
    let first = Surface {
        name: "ball & <chain>".to_owned(),
        mesh: Arc::new(octahedron(CENTRE, RADIUS)),
        columns: vec![
            column("pressure", "Pa", &[1., 2., 3., 4., 5., 6., 7., 8.], &[0.5; 8]),
            column("hits", "", &[9.; 8], &[]),
        ],
        loads: Some(loads),
    };
    let second = Surface {
        name: "stone".to_owned(),
        mesh: Arc::new(octahedron([0.8, 0.2, 0.5], 0.05)),
        columns: vec![column("pressure", "Pa", &[10.; 8], &[]), column("shear", "Pa", &[0.25; 8], &[])],
        loads: None,
    };
    let rows = (0..200).flat_map(|n| {
        let t = f64::from(n) * 1e-5;
        [t, 1e5 + f64::from(n), 2.5 + (-t * 3e3).exp() * (t * 2e4).cos()]
    });
    Snapshot {
        step: 1200,
        time_s: 0.012,
        time_step_s: 1e-5,
        phase: Phase::Sampling { since: 700, samples: 500 },
        particles: 240_000,
        weight: 2.9e12,
        drawn: (0..50)
            .map(|n| DrawnParticle { position: [0.01 * n as f32, 0.5, 0.3], value: n as f32 })
            .collect(),
        fields: Some(fields()),
        surfaces: vec![first, second],
        history: History {
            columns: vec![
                Quantity::new("time", "time", "t", "s"),
                Quantity::new("particles", "particles", "N", ""),
                Quantity::new("drag_coefficient", "drag coefficient", "C_D", ""),
            ],
            first_row: 0,
            values: rows.collect(),
        },
        timings: vec![("move", 3.0), ("collide", 1.0)],
        memory_bytes: 1 << 24,
        notes: vec!["steady since step 700".to_owned()],
        ..Snapshot::default()
    }
}

pub fn written(folder: &Path) -> Vec<PathBuf> {
    write_run(folder, &scene(), "cpu, 2 threads", &snapshot()).unwrap()
}

pub fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|e| (e.file_name().to_string_lossy().into_owned(), fs::read(e.path()).unwrap())).collect()
}
