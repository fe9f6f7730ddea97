//! The CPU device computes the same bits for any number of threads, again and again, and after save, kill and resume.
//! Must not know how it does so.

// Helpers of tests may fail the test.
#![allow(clippy::unwrap_used, clippy::panic)]

use knudsen::device::cpu::CpuGas;
use knudsen::scene::{
    Collisions, Density, Domain, Face, Faces, Gas, GasScene, Model, Obstacle, Reference, Sampling, Scene,
    Scheme, Shape, Species, Start, Stream, TimeStep, Velocity, Wall,
};
use knudsen::sim::{Checkpoint, Column, Paint, Request, Simulation, Snapshot};

/// A diatomic gas at Mach 3 around a sphere and a thin plate, with inflow, a diffuse, a specular and two periodic
/// faces, sampled from the start of the second half.
fn flow(scheme: Scheme, sampling: Sampling) -> Scene {
    let obstacle = |name: &str, shape, x: f64, wall| Obstacle {
        name: name.into(),
        shape,
        position_m: [x, 0.5, 0.5],
        rotation_deg: [0.0, 0.0, 17.0],
        wall,
    };
    let diffuse = Wall::Diffuse { temperature_k: 500.0, accommodation: 0.8 };
    Scene {
        name: "bits".into(),
        about: String::new(),
        seed: 77,
        view: Default::default(),
        folder: Default::default(),
        model: Model::Gas(GasScene {
            gas: Gas {
                species: vec![Species {
                    name: "N2".into(),
                    mass_kg: 4.65e-26,
                    diameter_m: 4.17e-10,
                    omega: 0.74,
                    reference_temperature_k: 273.0,
                    alpha: 1.0,
                    rotational_dof: 2,
                    fraction: 1.0,
                }],
            },
            stream: Stream {
                velocity: Velocity::Mach(3.0),
                density: Density::PerCubicMeter(1.3e19),
                temperature_k: 300.0,
                incidence_deg: 5.0,
                sideslip_deg: 0.0,
            },
            domain: Domain { corner_m: [0.0; 3], size_m: [1.6, 1.0, 1.0], cells: [21, 13, 11] },
            particles_per_cell: 7.0,
            time_step: TimeStep::Auto,
            steps: 400,
            sampling,
            collisions: Collisions { scheme, heavy_cell_threshold: 9 },
            start: Start::Filled,
            faces: Faces {
                x_min: Face::Stream,
                x_max: Face::Vacuum,
                y_min: Face::Diffuse { temperature_k: 250.0 },
                y_max: Face::Specular,
                z_min: Face::Periodic,
                z_max: Face::Periodic,
            },
            reference: Reference::Auto,
            obstacles: vec![
                obstacle("sphere", Shape::Sphere { radius_m: 0.17 }, 0.5, diffuse),
                obstacle("plate", Shape::Plate { chord_m: 0.4, span_m: 0.5 }, 1.1, Wall::Specular),
            ],
        }),
    }
}

const SAMPLED: Sampling = Sampling::From { from: 40, every: 2 };

/// Everything that is seen of a run, as bytes and text; floats by their bits.
#[derive(PartialEq)]
struct Seen {
    particles: Vec<u8>,
    rotation: Vec<u32>,
    offsets: Vec<u32>,
    columns: Vec<(String, Vec<u32>, Vec<u32>)>,
    history: Vec<u64>,
    /// Counters, loads, notes, phase, judgement, drawn particles, probe. `Debug` of a float prints its shortest exact form.
    rest: String,
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn seen(gas: &mut CpuGas) -> Seen {
    let request = Request {
        particles: 500,
        paint: Paint::Origin,
        probe_cell: Some(21),
        fields: true,
        surfaces: true,
        history_from: Some(0),
    };
    let mut snapshot = Snapshot::default();
    gas.observe(&request, &mut snapshot).unwrap();
    let column = |c: &Column| (c.quantity.key.to_string(), bits(&c.values), bits(&c.errors));
    let fields = snapshot.fields.as_ref().unwrap();
    let surfaces = snapshot.surfaces.iter().flat_map(|surface| &surface.columns);
    Seen {
        particles: bytemuck::cast_slice(gas.particles()).to_vec(),
        rotation: bits(gas.rotation()),
        offsets: gas.offsets().to_vec(),
        columns: fields.columns.iter().chain(surfaces).map(column).collect(),
        history: snapshot.history.values.iter().map(|v| v.to_bits()).collect(),
        rest: format!(
            "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            snapshot.step,
            snapshot.phase,
            snapshot.counters,
            snapshot.notes,
            snapshot.surfaces.iter().map(|surface| &surface.loads).collect::<Vec<_>>(),
            snapshot.resolution,
            snapshot.drawn,
            snapshot.probe
        ),
    }
}

/// Says what differs, instead of printing megabytes.
#[track_caller]
fn assert_same(one: &Seen, two: &Seen, what: &str) {
    assert_eq!(one.rest, two.rest, "{what}");
    assert!(one.offsets == two.offsets, "{what}: cells");
    assert!(one.particles == two.particles, "{what}: particles");
    assert!(one.rotation == two.rotation, "{what}: rotation");
    assert!(one.history == two.history, "{what}: history");
    assert_eq!(one.columns.len(), two.columns.len(), "{what}");
    for (a, b) in one.columns.iter().zip(&two.columns) {
        assert!(a == b, "{what}: {}", a.0);
    }
}

/// That a comparison of two such runs says something: particles move, hit, collide, enter, leave, and are sampled.
fn assert_eventful(gas: &mut CpuGas, seen: &Seen) {
    let counters = gas.counters();
    for count in [counters.collisions, counters.entered, counters.left, counters.wall_hits] {
        assert!(count > 1000, "{counters:?}");
    }
    assert_eq!(counters.lost, 0, "{counters:?}");
    assert_eq!(seen.rotation.len(), gas.particles().len());
    assert!(seen.columns.len() > 5 && seen.rest.contains("Sampling"));
    let finite = |bits: &[u32]| bits.iter().filter(|&&b| f32::from_bits(b).is_finite()).count();
    for (key, values, _) in &seen.columns {
        assert!(finite(values) > 0, "{key} has no value");
    }
}

fn run(scene: &Scene, threads: usize, steps: u32) -> (CpuGas, Seen) {
    let mut gas = CpuGas::new(scene, threads).unwrap();
    gas.advance(steps).unwrap();
    let state = seen(&mut gas);
    (gas, state)
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_again() {
    for scheme in [Scheme::Mixed, Scheme::Off] {
        let scene = flow(scheme, SAMPLED);
        let (mut gas, one) = run(&scene, 1, 120);
        if scheme != Scheme::Off {
            assert_eventful(&mut gas, &one);
        }
        for threads in [1, 2, 3] {
            let (_, other) = run(&scene, threads, 120);
            assert_same(&one, &other, &format!("{scheme:?}, {threads} threads"));
        }
    }
}

#[test]
fn another_seed_gives_other_bits() {
    let scene = flow(Scheme::Mixed, SAMPLED);
    let other = Scene { seed: 78, ..scene.clone() };
    assert!(run(&scene, 2, 3).1.particles != run(&other, 2, 3).1.particles);
}

/// Steps one by one or in orders of any size are the same.
#[test]
fn orders_of_any_size_give_the_same_bits() {
    let scene = flow(Scheme::Mixed, SAMPLED);
    let (_, whole) = run(&scene, 2, 90);
    let mut gas = CpuGas::new(&scene, 2).unwrap();
    for steps in [1, 7, 0, 30, 52] {
        gas.advance(steps).unwrap();
        // Looking changes nothing.
        seen(&mut gas);
    }
    assert_same(&whole, &seen(&mut gas), "in parts");
}

/// Saved as bytes, dropped, loaded by a new simulation with another number of threads, and continued: in the transient,
/// at the first sampled step, within a batch and long after; and with automatic sampling.
#[test]
fn save_kill_and_resume_continue_with_the_same_bits() {
    let before = [11, 40, 63];
    let cases = before.map(|steps| (Scheme::Mixed, SAMPLED, steps)).into_iter().chain([
        (Scheme::Ntc, SAMPLED, 71),
        (Scheme::HalfSplitShuffle, SAMPLED, 71),
        (Scheme::Mixed, Sampling::Auto, 40),
    ]);
    for (scheme, sampling, before) in cases {
        let what = format!("{scheme:?}, {sampling:?}, saved after {before} steps");
        let scene = flow(scheme, sampling);
        let (_, uninterrupted) = run(&scene, 2, 120);
        let (mut gas, at_save) = run(&scene, 2, before);
        let state = gas.save().unwrap();
        assert_eq!(state.step, u64::from(before));
        let mut bytes = Vec::new();
        state.write_to(&mut bytes).unwrap();
        drop((gas, state));

        let state = Checkpoint::read_from(&mut bytes.as_slice()).unwrap();
        let mut gas = CpuGas::new(&scene, 3).unwrap();
        // What was there before the state is loaded must leave no trace.
        gas.advance(5).unwrap();
        gas.load(&state).unwrap();
        assert_same(&at_save, &seen(&mut gas), &format!("{what}, just loaded"));
        gas.advance(120 - before).unwrap();
        assert_same(&uninterrupted, &seen(&mut gas), &what);
    }
}

/// A checkpoint of another scene is refused, and the old state still holds.
#[test]
fn a_checkpoint_of_another_grid_is_refused_and_changes_nothing() {
    let scene = flow(Scheme::Ntc, SAMPLED);
    let (mut gas, before) = run(&scene, 2, 45);
    let mut other = scene.clone();
    let Model::Gas(model) = &mut other.model;
    model.domain.cells = [20, 13, 11];
    let (mut foreign, _) = run(&other, 2, 45);
    let state = foreign.save().unwrap();
    let error = gas.load(&state).unwrap_err().to_string();
    assert!(error.contains("cells"), "{error}");
    assert_same(&before, &seen(&mut gas), "after a refused checkpoint");
}
