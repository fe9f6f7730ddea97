//! Tests of the simulation in the app, with one that has no physics and fails on demand.
//! Only for tests.

use super::*;
use crate::scene::{Impact, Model, Velocity};
use crate::sim::{Checkpoint, SimError, Simulation};
use crate::view::document::{Document, DocumentOrder, DocumentPlugin, FlowStream, shipped};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Longer than any machine, however busy, takes for a frame without graphics.
const SLOW: Duration = Duration::from_secs(3);

/// Strings to pull, and what is watched.
#[derive(Default)]
struct Strings {
    /// No simulation is built while this is set.
    refuse: AtomicBool,
    /// Steps fail while this is set.
    fail: AtomicBool,
    /// Everything takes so long, ms.
    slow: AtomicU64,
    built: AtomicU64,
    dropped: AtomicU64,
    adopted: Mutex<Vec<Scene>>,
    asked: Mutex<Vec<Request>>,
}

struct Fake {
    strings: Arc<Strings>,
    step: u64,
}

impl Fake {
    fn wait(&self) {
        std::thread::sleep(Duration::from_millis(self.strings.slow.load(SeqCst)));
    }
}

impl Simulation for Fake {
    fn advance(&mut self, steps: u32) -> Result<(), SimError> {
        self.wait();
        if self.strings.fail.load(SeqCst) {
            return Err(SimError::Numerical("the fake failed: let it not".into()));
        }
        std::thread::sleep(Duration::from_micros(300) * steps);
        self.step += u64::from(steps);
        Ok(())
    }

    fn adopt(&mut self, scene: &Scene) -> Result<Impact, SimError> {
        self.wait();
        self.strings.adopted.lock().expect("whole").push(scene.clone());
        if scene.seed == 666 {
            return Err(SimError::Scene("the fake wants no such seed: choose another".into()));
        }
        Ok(Impact::Live)
    }

    /// Averages are taken from step 500 on.
    fn observe(&mut self, request: &Request, into: &mut Snapshot) -> Result<(), SimError> {
        self.strings.asked.lock().expect("whole").push(*request);
        into.step = self.step;
        into.time_s = self.step as f64 * 1e-6;
        into.time_step_s = 1e-6;
        into.particles = 1000 + self.step;
        into.phase = match self.step {
            500.. => Phase::Sampling { since: 500, samples: self.step - 499 },
            _ => Phase::Transient,
        };
        Ok(())
    }

    fn save(&mut self) -> Result<Checkpoint, SimError> {
        Ok(Checkpoint::new("fake", "scene", self.step))
    }

    fn load(&mut self, _: &Checkpoint) -> Result<(), SimError> {
        Ok(())
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.strings.dropped.fetch_add(1, SeqCst);
    }
}

fn app() -> (App, Arc<Strings>) {
    let strings = Arc::new(Strings::default());
    (app_of(&strings), strings)
}

fn app_of(strings: &Arc<Strings>) -> App {
    let hung = Arc::clone(strings);
    let factories: Factories = Arc::new(move || {
        let strings = Arc::clone(&hung);
        Box::new(move |_: &Scene| {
            if strings.refuse.load(SeqCst) {
                return Err(SimError::Scene("the fake cannot be built: mend the scene".into()));
            }
            strings.built.fetch_add(1, SeqCst);
            Ok(Box::new(Fake { strings: Arc::clone(&strings), step: 0 }) as Box<dyn Simulation>)
        })
    });
    let scene = shipped()[0].scene(&std::env::temp_dir()).expect("a scene");
    let mut app = App::new();
    app.add_plugins(MinimalPlugins)
        .add_plugins(DocumentPlugin { scene, path: None })
        .add_plugins(SimulationPlugin { factories, device: "fake".into() });
    app
}

fn state(app: &App) -> &RunState {
    app.world().resource::<RunState>()
}

fn order(app: &mut App, order: RunOrder) {
    app.world_mut().write_message(order);
    frame(app);
}

/// A frame. Some tests have simulations that take [`SLOW`] for everything: a frame that waits for one is seen.
fn frame(app: &mut App) {
    let start = Instant::now();
    app.update();
    assert!(start.elapsed() < SLOW * 2 / 3, "a frame waited {:?}", start.elapsed());
}

fn until(app: &mut App, what: &str, is: impl Fn(&App) -> bool) {
    let start = Instant::now();
    while !is(app) {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}: {:?}", state(app));
        frame(app);
        std::thread::sleep(Duration::from_millis(3));
    }
}

fn stands(app: &App) -> bool {
    state(app).status == Status::Paused
}

fn set_mach(app: &mut App, mach: f64) {
    let world = app.world_mut();
    let mut query = world.query::<&mut FlowStream>();
    query.iter_mut(world).next().expect("a stream").0.velocity = Velocity::Mach(mach);
}

fn mach(scene: &Scene) -> f64 {
    let Model::Gas(gas) = &scene.model;
    match gas.stream.velocity {
        Velocity::Mach(mach) => mach,
        other => panic!("{other:?}"),
    }
}

fn adopted(strings: &Strings) -> Vec<f64> {
    strings.adopted.lock().expect("whole").iter().map(mach).collect()
}

#[test]
fn it_plays_pauses_steps_and_ends() {
    let (mut app, strings) = app();
    assert_eq!((state(&app).status.clone(), state(&app).device.as_str()), (Status::Building, "fake"));
    until(&mut app, "built", stands);
    assert_eq!((state(&app).step, state(&app).particles), (0, 1000));
    order(&mut app, RunOrder::Step(3));
    until(&mut app, "3 steps", |app| state(app).step == 3 && stands(app));
    order(&mut app, RunOrder::Play);
    until(&mut app, "runs", |app| state(app).step > 3 && state(app).eta_s.is_some_and(|eta| eta > 0.0));
    order(&mut app, RunOrder::Pause);
    until(&mut app, "stands", stands);
    let step = state(&app).step;
    until(&mut app, "its newest snapshot", |app| state(app).particles == 1000 + step);
    assert_eq!((state(&app).time_s, state(&app).eta_s), (step as f64 * 1e-6, None));
    order(&mut app, RunOrder::UntilEnd);
    let end = state(&app).steps;
    assert!(end > 0);
    until(&mut app, "ended", |app| state(app).status == Status::Finished(end.max(step)));
    order(&mut app, RunOrder::RealTime(-1.0));
    assert!(state(&app).message.as_ref().is_some_and(|message| message.contains("positive")));
    assert_eq!(strings.built.load(SeqCst), 1);
}

#[test]
fn until_steady_stops_when_averages_are_taken_also_after_a_restart() {
    let (mut app, _) = app();
    until(&mut app, "built", stands);
    order(&mut app, RunOrder::UntilSteady);
    until(&mut app, "steady", |app| stands(app) && !state(app).until_steady && state(app).step > 0);
    let step = state(&app).step;
    assert!(step >= 500, "{step}");
    order(&mut app, RunOrder::UntilSteady);
    assert!(state(&app).message.as_ref().is_some_and(|message| message.contains("already")));
    // The snapshots of the old run say "sampling" until the new one has published: they must not count.
    app.world_mut().write_message(RunOrder::Restart);
    order(&mut app, RunOrder::UntilSteady);
    assert!(state(&app).until_steady);
    until(&mut app, "begun anew", |app| state(app).step < 500);
    until(&mut app, "steady again", |app| stands(app) && !state(app).until_steady && state(app).step > 0);
    assert!(state(&app).step >= 500);
}

#[test]
fn an_edit_is_adopted_once_and_a_refusal_is_shown() {
    let (mut app, strings) = app();
    until(&mut app, "built", stands);
    set_mach(&mut app, 2.5);
    until(&mut app, "adopted", |_| !adopted(&strings).is_empty());
    for _ in 0..20 {
        frame(&mut app);
    }
    assert_eq!(adopted(&strings), [2.5]);
    let seed = |app: &mut App, seed| {
        let world = app.world_mut();
        let mut query = world.query::<&mut crate::view::document::SceneSettings>();
        query.iter_mut(world).next().expect("settings").seed = seed;
    };
    seed(&mut app, 666);
    until(&mut app, "refused", |app| {
        state(app).refusal.as_ref().is_some_and(|text| text.contains("another"))
    });
    assert!(state(&app).error.is_none());
    seed(&mut app, 667);
    until(&mut app, "accepted", |app| state(app).refusal.is_none());
    app.world_mut().write_message(DocumentOrder::Undo);
    until(&mut app, "undone", |_| strings.adopted.lock().expect("whole").len() == 4);
}

#[test]
fn a_failing_simulation_shows_its_error_and_is_mended_by_an_edit() {
    let (mut app, strings) = app();
    until(&mut app, "built", stands);
    strings.fail.store(true, SeqCst);
    order(&mut app, RunOrder::Play);
    until(&mut app, "failed", |app| {
        state(app).error.as_ref().is_some_and(|text| text.contains("the fake failed"))
    });
    for _ in 0..10 {
        frame(&mut app);
    }
    strings.fail.store(false, SeqCst);
    set_mach(&mut app, 2.5);
    until(&mut app, "runs again", |app| state(app).status == Status::Running && state(app).step > 0);
    assert_eq!((state(&app).error.clone(), strings.built.load(SeqCst)), (None, 2));
}

#[test]
fn a_scene_that_cannot_be_built_is_mended_by_an_edit_too() {
    let strings = Arc::new(Strings::default());
    strings.refuse.store(true, SeqCst);
    let mut app = app_of(&strings);
    until(&mut app, "failed", |app| {
        state(app).error.as_ref().is_some_and(|text| text.contains("mend the scene"))
    });
    strings.refuse.store(false, SeqCst);
    order(&mut app, RunOrder::Restart);
    until(&mut app, "built", |app| stands(app) && state(app).error.is_none());
}

#[test]
fn another_scene_gets_another_runner_and_no_frame_waits_for_the_old_one() {
    let (mut app, strings) = app();
    until(&mut app, "built", stands);
    let old = app.world().resource::<Flow>().stamp();
    strings.slow.store(SLOW.as_millis() as u64, SeqCst);
    order(&mut app, RunOrder::Play);
    std::thread::sleep(Duration::from_millis(100));
    app.world_mut().write_message(DocumentOrder::OpenShipped("combo".into()));
    frame(&mut app);
    assert_eq!(strings.built.load(SeqCst), 1, "the memory of the old one is not free yet");
    until(&mut app, "built anew", |_| strings.built.load(SeqCst) == 2);
    assert_eq!(strings.dropped.load(SeqCst), 1);
    strings.slow.store(0, SeqCst);
    until(&mut app, "stands", stands);
    assert_ne!(app.world().resource::<Flow>().stamp(), old);
    assert_eq!(state(&app).pace, Pace::Paused);
    assert!(adopted(&strings).is_empty());
}

#[test]
fn nothing_is_lost_when_the_channel_is_full() {
    let (mut app, strings) = app();
    until(&mut app, "built", stands);
    strings.slow.store(SLOW.as_millis() as u64, SeqCst);
    order(&mut app, RunOrder::Step(1));
    std::thread::sleep(Duration::from_millis(100));
    // The simulation is in a long step: the channel fills up.
    let full = app.world().resource::<Flow>().with(|runner| {
        while runner.order(crate::runner::Order::SetPace(Pace::Paused)).is_ok() {}
        runner.order(crate::runner::Order::Restart).is_err()
    });
    assert_eq!(full, Some(true));
    for k in 0..5 {
        set_mach(&mut app, 2.0 + f64::from(k));
        frame(&mut app);
    }
    order(&mut app, RunOrder::Step(7));
    assert!(adopted(&strings).is_empty());
    strings.slow.store(0, SeqCst);
    until(&mut app, "all carried out", |app| state(app).step == 8 && stands(app));
    assert_eq!(adopted(&strings), [6.0], "the newest scene is enough");
    assert_eq!(app.world().resource::<Document>().undo.len(), 5);
}

#[test]
fn a_thread_that_has_ended_is_replaced_when_someone_wants_to_go_on() {
    let (mut app, strings) = app();
    until(&mut app, "built", stands);
    app.world()
        .resource::<Flow>()
        .with(|runner| runner.order(crate::runner::Order::Stop))
        .expect("runs")
        .expect("told");
    until(&mut app, "ended", |app| state(app).error.as_ref().is_some_and(|text| text.contains("restart")));
    assert_eq!(strings.built.load(SeqCst), 1);
    set_mach(&mut app, 2.5);
    until(&mut app, "built anew", |app| stands(app) && strings.built.load(SeqCst) == 2);
    order(&mut app, RunOrder::Step(2));
    until(&mut app, "steps", |app| state(app).step == 2);
}

#[test]
fn only_what_is_wanted_is_asked_for() {
    #[derive(Resource, Default)]
    struct Wish(bool);
    let (mut app, strings) = app();
    app.init_resource::<Wish>().add_systems(Update, |wish: Res<Wish>, mut wanted: ResMut<Wanted>| {
        if wish.0 {
            wanted.0.fields = true;
        }
    });
    until(&mut app, "built", stands);
    let last = |strings: &Strings| strings.asked.lock().expect("whole").last().copied();
    app.world_mut().resource_mut::<Wish>().0 = true;
    until(&mut app, "asked", |_| last(&strings).is_some_and(|request| request.fields));
    app.world_mut().resource_mut::<Wish>().0 = false;
    until(&mut app, "no more", |_| last(&strings).is_some_and(|request| !request.fields));
    let looks = strings.asked.lock().expect("whole").len();
    for _ in 0..20 {
        frame(&mut app);
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(strings.asked.lock().expect("whole").len(), looks, "the same wish is told once");
}

#[test]
fn a_checkpoint_is_written_beside_the_frames() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.ckpt");
    let (mut app, _) = app();
    until(&mut app, "built", stands);
    order(&mut app, RunOrder::Step(4));
    order(&mut app, RunOrder::Save(path.clone()));
    until(&mut app, "saved", |app| state(app).message.as_ref().is_some_and(|text| text.contains("a.ckpt")));
    assert!(std::fs::metadata(&path).expect("a file").len() > 0);
    order(&mut app, RunOrder::Save(folder.path().join("no/a.ckpt")));
    until(&mut app, "refused", |app| {
        state(app).message.as_ref().is_some_and(|text| text.contains("not saved"))
    });
}
