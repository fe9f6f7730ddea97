//! Changes of a scene while it runs, through the runner: what goes on, what starts anew.
//! Must not know how the device carries them out.

use knudsen::device::{Choice, choose};
use knudsen::runner::{Order, Pace, Runner, Status};
use knudsen::scene::{GasScene, Impact, Model, Reference, Scene, Velocity, Wall, parse};
use knudsen::sim::{Paint, Phase, Request, Snapshot};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);
const ALL: Request = Request {
    particles: 100_000,
    paint: Paint::Speed,
    probe_cell: None,
    fields: false,
    surfaces: true,
    history_from: Some(0),
};

fn scene() -> Scene {
    parse(&crate::support::small("sphere.ron"), "sphere.ron", ".".as_ref()).unwrap()
}

fn start(scene: &Scene) -> Runner {
    let device = choose(Choice::Cpu, 1).unwrap();
    Runner::start(scene.clone(), device.factory(), ALL).unwrap()
}

fn adopt(runner: &mut Runner, scene: &Scene) -> Snapshot {
    runner.order(Order::Adopt(Box::new(scene.clone()))).unwrap();
    let snapshot = runner.frame(0, LONG).unwrap().clone();
    assert_eq!(runner.refusal(), None);
    snapshot
}

fn gas(scene: &mut Scene) -> &mut GasScene {
    let Model::Gas(gas) = &mut scene.model;
    gas
}

fn since(snapshot: &Snapshot) -> Option<u64> {
    match snapshot.phase {
        Phase::Sampling { since, .. } => Some(since),
        Phase::Transient => None,
    }
}

#[test]
fn live_changes_keep_averages_and_particles() {
    let mut scene = scene();
    let mut runner = start(&scene);
    let before = runner.frame(40, LONG).unwrap().clone();
    let drag =
        |snapshot: &Snapshot| snapshot.surfaces[0].loads.clone().unwrap().drag_coefficient.unwrap().value;
    gas(&mut scene).reference = Reference::Given {
        area_m2: 2.0 * before.surfaces[0].loads.clone().unwrap().reference_area_m2,
        length_m: 1.0,
    };
    gas(&mut scene).obstacles[0].name = "renamed".into();
    gas(&mut scene).steps = 500;
    let after = adopt(&mut runner, &scene);
    assert_eq!((after.phase, after.step, &after.drawn), (before.phase, 40, &before.drawn));
    assert_eq!(after.surfaces[0].name, "renamed");
    assert!(
        (drag(&after) / drag(&before) - 0.5).abs() < 1e-12,
        "by twice the area: {} {}",
        drag(&after),
        drag(&before)
    );
    assert_eq!(after.surfaces[0].loads.as_ref().unwrap().reference_length_m, 1.0);
    assert!(after.history.columns.iter().any(|column| column.key == "drag_coefficient_renamed"));
}

#[test]
fn another_wall_temperature_starts_averages_anew_and_changes_the_heat() {
    let mut scene = scene();
    let mut runner = start(&scene);
    let cold = runner.frame(60, LONG).unwrap().clone();
    let heat = |snapshot: &Snapshot| snapshot.surfaces[0].loads.clone().unwrap().heat_w;
    gas(&mut scene).obstacles[0].wall = Wall::Diffuse { temperature_k: 2000.0, accommodation: 1.0 };
    let at_once = adopt(&mut runner, &scene);
    assert_eq!((at_once.step, &at_once.drawn), (60, &cold.drawn), "the particles fly on");
    assert_eq!(since(&at_once), None);
    assert!(at_once.surfaces[0].loads.is_none(), "the old averages are gone");
    assert!(
        at_once.notes.iter().any(|note| note.starts_with("step 60: the scene was changed")),
        "{:?}",
        at_once.notes
    );
    assert_eq!(at_once.history.values, cold.history.values, "the history goes on");
    let hot = runner.frame(60, LONG).unwrap().clone();
    assert_eq!(since(&hot), Some(60));
    // A molecule takes 2 k T_w from the wall: 1700 K more are 4.7e-20 J, times the hits.
    let (cold_heat, hot_heat) = (heat(&cold), heat(&hot));
    let hits = hot.surfaces[0].loads.as_ref().unwrap().hits_per_s.value;
    let expected = cold_heat.value - hits * 2.0 * 1.380649e-23 * 1700.0;
    assert!(
        (hot_heat.value - expected).abs() < 5.0 * hot_heat.error.hypot(cold_heat.error),
        "{hot_heat:?} {expected}"
    );
    assert!(
        cold_heat.value - hot_heat.value > 5.0 * hot_heat.error.hypot(cold_heat.error),
        "{cold_heat:?} {hot_heat:?}"
    );
}

#[test]
fn another_speed_keeps_the_particles_and_another_seed_does_not() {
    let mut scene = scene();
    let mut runner = start(&scene);
    let before = runner.frame(30, LONG).unwrap().clone();
    gas(&mut scene).stream.velocity = Velocity::Mach(8.0);
    let after = adopt(&mut runner, &scene);
    assert_eq!((after.step, &after.drawn, after.weight), (30, &before.drawn, before.weight));
    assert_eq!(since(&after), None);
    // The faster gas comes in: twice the flux and more energy.
    let later = runner.frame(60, LONG).unwrap().clone();
    let energy = |snapshot: &Snapshot| {
        *snapshot.history.values.chunks(snapshot.history.columns.len()).next_back().unwrap().get(3).unwrap()
    };
    assert!(energy(&later) > 2.0 * energy(&before), "{} {}", energy(&later), energy(&before));
    let entered = |a: &Snapshot, b: &Snapshot| {
        (b.counters.entered - a.counters.entered) as f64 / (b.step - a.step) as f64
    };
    let first = before.counters.entered as f64 / 30.0;
    assert!(entered(&after, &later) > 1.3 * first);

    scene.seed = 77;
    let fresh = adopt(&mut runner, &scene);
    assert_eq!((fresh.step, fresh.counters.collisions, since(&fresh)), (0, 0, None), "from the beginning");
    let alone = start(&scene).frame(0, LONG).unwrap().clone();
    assert_eq!(fresh.drawn, alone.drawn, "as if started with it");
}

#[test]
fn a_refused_change_leaves_the_run_as_it_was() {
    let mut scene = scene();
    let mut runner = start(&scene);
    let before = runner.frame(30, LONG).unwrap().clone();
    let mut wrong = scene.clone();
    gas(&mut wrong).particles_per_cell = 1e9;
    runner.order(Order::Adopt(Box::new(wrong))).unwrap();
    let after = runner.frame(0, LONG).unwrap().clone();
    assert!(runner.refusal().is_some_and(|error| error.to_string().contains("not enough memory")));
    assert_eq!((after.step, &after.drawn, after.phase), (30, &before.drawn, before.phase));
    // And the next one is taken.
    gas(&mut scene).steps = 70;
    adopt(&mut runner, &scene);
    runner.order(Order::SetPace(Pace::Until(35))).unwrap();
    while runner.state() != Status::Finished(35) {
        assert_ne!(runner.wait(LONG), knudsen::runner::Event::Timeout);
    }
    assert_eq!(runner.snapshot().unwrap().phase, Phase::Sampling { since: 20, samples: 8 });
    assert_eq!(knudsen::scene::impact(&self::scene(), &scene), Impact::Live);
}
