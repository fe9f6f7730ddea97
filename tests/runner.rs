//! The runner against a fake simulation: paces, orders, snapshots, checkpoints, recording, and all that may go wrong.
//! Must not know devices or physics.

// Helpers of tests may fall over as tests do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "common/fake.rs"]
mod fake;

use fake::{Controls, TIME_STEP_S, expected_state, scene};
use knudsen::runner::{Event, Order, Pace, Runner, RunnerError, Settings, Status, reply};
use knudsen::scene::{Impact, Model};
use knudsen::sim::{Checkpoint, Request, SimError};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// Long enough for a loaded machine; nothing waits so long when all is well.
const LONG: Duration = Duration::from_secs(30);

fn start(controls: &Arc<Controls>) -> Runner {
    Runner::start(scene("fake", 1), controls.factory(), Request::default()).unwrap()
}

fn settings(publish_interval: Duration) -> Settings {
    Settings { publish_interval, ..Settings::default() }
}

/// Waits for that event, passing over others.
#[track_caller]
fn wait_for(runner: &mut Runner, wanted: impl Fn(&Event) -> bool) -> Event {
    let end = Instant::now() + LONG;
    loop {
        let event = runner.wait(end.saturating_duration_since(Instant::now()));
        if wanted(&event) {
            return event;
        }
        assert_ne!(event, Event::Timeout, "state {:?}, step {}", runner.state(), runner.step());
    }
}

#[track_caller]
fn wait_status(runner: &mut Runner, status: Status) {
    wait_for(runner, |event| *event == Event::Status(status.clone()));
}

#[track_caller]
fn wait_failed(runner: &mut Runner) -> SimError {
    match wait_for(runner, |event| matches!(event, Event::Status(Status::Failed(_)))) {
        Event::Status(Status::Failed(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// Step and state of the newest snapshot.
fn seen(runner: &mut Runner) -> (u64, u64) {
    let snapshot = runner.snapshot().expect("a snapshot");
    (snapshot.step, snapshot.particles)
}

#[test]
fn starts_paused_with_a_snapshot_and_may_be_shared() {
    fn shareable<T: Send + Sync + 'static>(_: &T) {}
    let controls = Controls::new();
    let mut runner = start(&controls);
    shareable(&runner);
    wait_status(&mut runner, Status::Paused);
    assert_eq!(seen(&mut runner), (0, 1));
    assert_eq!(runner.wait(Duration::from_millis(50)), Event::Timeout);
    assert_eq!((runner.step(), runner.steps_per_s()), (0, 0.0));
    drop(runner);
    assert!(!controls.foreign_thread.load(SeqCst), "built, used and dropped on its thread");
    assert_eq!(controls.alive.load(SeqCst), 0);
}

#[test]
fn counted_steps_are_exact() {
    let mut runner = start(&Controls::new());
    wait_status(&mut runner, Status::Paused);
    for (steps, total) in [(1, 1), (9, 10), (1000, 1010)] {
        runner.order(Order::SetPace(Pace::Steps(steps))).unwrap();
        wait_for(&mut runner, |event| *event == Event::Status(Status::Paused));
        assert_eq!(seen(&mut runner), (total, expected_state(1, total)));
        assert_eq!(runner.step(), total);
    }
}

#[test]
fn until_finishes_at_its_step() {
    let mut runner = start(&Controls::new());
    runner.order(Order::SetPace(Pace::Until(1234))).unwrap();
    wait_status(&mut runner, Status::Finished(1234));
    assert_eq!(seen(&mut runner), (1234, expected_state(1, 1234)));
    // Beyond it already: nothing to do. Further on: goes on.
    runner.order(Order::SetPace(Pace::Until(1000))).unwrap();
    runner.order(Order::SetPace(Pace::Until(1300))).unwrap();
    wait_status(&mut runner, Status::Finished(1300));
    assert_eq!(seen(&mut runner), (1300, expected_state(1, 1300)));
}

#[test]
fn free_runs_until_paused() {
    let controls = Controls::new();
    controls.step_micros.store(200, SeqCst);
    let mut runner = start(&controls);
    runner.order(Order::SetPace(Pace::Free)).unwrap();
    wait_status(&mut runner, Status::Running);
    while runner.steps_per_s() == 0.0 {
        assert_ne!(runner.wait(LONG), Event::Timeout);
    }
    let speed = runner.steps_per_s();
    assert!(speed > 10.0 && speed <= 5000.0, "200 us and more a step, but {speed} steps/s");
    runner.order(Order::SetPace(Pace::Paused)).unwrap();
    wait_status(&mut runner, Status::Paused);
    let (step, state) = seen(&mut runner);
    assert_eq!(state, expected_state(1, step));
    assert_eq!(step, runner.step());
    assert_eq!(runner.steps_per_s(), 0.0);
    // Slices are adapted to steps of 200 us: no more than 1/60 s of them at a time.
    let longest = controls.longest_slice.load(SeqCst);
    assert!((2..=84).contains(&longest), "{longest}");
}

#[test]
fn real_time_keeps_to_the_clock() {
    let mut runner = start(&Controls::new());
    wait_status(&mut runner, Status::Paused);
    // 1 us steps at 2e-4 s/s: 200 steps a second.
    let begin = Instant::now();
    runner.order(Order::SetPace(Pace::RealTime { rate: 200.0 * TIME_STEP_S })).unwrap();
    std::thread::sleep(Duration::from_millis(700));
    runner.order(Order::SetPace(Pace::Paused)).unwrap();
    wait_status(&mut runner, Status::Paused);
    let most = begin.elapsed().as_secs_f64() * 200.0;
    let step = runner.step() as f64;
    // Never ahead of the clock; behind it only by what a loaded machine swallows.
    assert!(step <= most && step >= 0.5 * 140.0, "{step} of at most {most}");
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = runner.order(Order::SetPace(Pace::RealTime { rate })).unwrap_err();
        assert!(matches!(error, RunnerError::Rate { .. }), "{error}");
    }
}

#[test]
fn orders_are_bounded_and_never_wait() {
    let controls = Controls::new();
    controls.build_millis.store(1000, SeqCst);
    let settings = Settings { order_capacity: 4, ..Settings::default() };
    let mut runner =
        Runner::start_with(scene("fake", 1), controls.factory(), Request::default(), settings).unwrap();
    let begin = Instant::now();
    let results: Vec<_> = (0..6).map(|_| runner.order(Order::SetPace(Pace::Steps(1)))).collect();
    assert!(begin.elapsed() < Duration::from_millis(900), "order() waited");
    assert_eq!(runner.state(), Status::Building);
    assert!(results[..4].iter().all(Result::is_ok));
    for result in &results[4..] {
        assert!(matches!(result, Err(RunnerError::Full(4))), "{result:?}");
    }
    // After the build there is room again.
    wait_status(&mut runner, Status::Paused);
    runner.order(Order::SetPace(Pace::Until(50))).unwrap();
    wait_status(&mut runner, Status::Finished(50));
    runner.order(Order::Stop).unwrap();
    wait_status(&mut runner, Status::Stopped);
    let end = Instant::now() + LONG;
    while runner.order(Order::Restart).is_ok() {
        assert!(Instant::now() < end);
        std::thread::yield_now();
    }
    assert!(matches!(runner.order(Order::Restart), Err(RunnerError::Stopped)));
    assert!(matches!(runner.frame(1, LONG), Err(RunnerError::Stopped)));
}

#[test]
fn snapshots_grow_and_are_never_torn() {
    let request = Request { particles: 2000, ..Request::default() };
    let mut runner = Runner::start_with(
        scene("fake", 1),
        Controls::new().factory(),
        request,
        settings(Duration::from_micros(10)),
    )
    .unwrap();
    wait_status(&mut runner, Status::Paused);
    runner.order(Order::SetPace(Pace::Free)).unwrap();
    let (mut generation, mut step, mut different) = (0, 0, 0);
    let end = Instant::now() + LONG;
    while different < 50 {
        assert!(Instant::now() < end, "only {different} snapshots came");
        let snapshot = runner.snapshot().expect("a snapshot");
        assert!(snapshot.generation >= generation && snapshot.step >= step);
        different += u64::from(snapshot.generation > generation);
        (generation, step) = (snapshot.generation, snapshot.step);
        assert_eq!(snapshot.drawn.len(), 2000);
        assert!(
            snapshot
                .drawn
                .iter()
                .all(|particle| particle.value == step as f32 && particle.position == [step as f32; 3])
        );
        assert_eq!(snapshot.notes, [format!("fake at step {step}")]);
        assert_eq!(snapshot.time_s, step as f64 * TIME_STEP_S);
    }
}

#[test]
fn snapshots_keep_their_distance() {
    let mut runner = Runner::start_with(
        scene("fake", 1),
        Controls::new().factory(),
        Request::default(),
        settings(Duration::from_millis(100)),
    )
    .unwrap();
    wait_status(&mut runner, Status::Paused);
    let begin = Instant::now();
    let first = runner.snapshot().unwrap().generation;
    runner.order(Order::SetPace(Pace::Free)).unwrap();
    std::thread::sleep(Duration::from_millis(450));
    let count = runner.snapshot().unwrap().generation - first;
    let most = begin.elapsed().as_millis() as u64 / 100 + 1;
    assert!(count >= 1 && count <= most, "{count} of at most {most}");
}

#[test]
fn observing_takes_at_most_a_fortieth_of_the_time() {
    let controls = Controls::new();
    let settings = settings(Duration::from_millis(1));
    let mut runner =
        Runner::start_with(scene("fake", 1), controls.factory(), Request::default(), settings).unwrap();
    wait_status(&mut runner, Status::Paused);
    controls.observe_millis.store(5, SeqCst);
    let begin = Instant::now();
    let first = runner.snapshot().unwrap().generation;
    runner.order(Order::SetPace(Pace::Free)).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let observed = 0.005 * (runner.snapshot().unwrap().generation - first) as f64;
    let most = begin.elapsed().as_secs_f64() / 40.0;
    // The first one comes at once; fewer come only where a loaded machine takes the thread's time.
    assert!(observed <= most + 0.005 && observed >= 0.2 * most, "{observed} s of at most {most} s");
}

#[test]
fn a_new_request_shows_at_once_while_paused() {
    let mut runner = start(&Controls::new());
    wait_status(&mut runner, Status::Paused);
    assert!(runner.snapshot().unwrap().drawn.is_empty());
    runner.order(Order::Observe(Request { particles: 7, ..Request::default() })).unwrap();
    wait_for(&mut runner, |event| *event == Event::Snapshot);
    assert_eq!(runner.snapshot().unwrap().drawn.len(), 7);
}

#[test]
fn save_and_load_go_on_with_the_same_bits() {
    let mut runner = start(&Controls::new());
    runner.order(Order::SetPace(Pace::Until(500))).unwrap();
    wait_status(&mut runner, Status::Finished(500));
    let bytes = runner.save(LONG).unwrap().to_bytes();
    drop(runner);

    let mut runner = start(&Controls::new());
    wait_status(&mut runner, Status::Paused);
    runner.order(Order::Load(Box::new(Checkpoint::from_bytes(&bytes).unwrap()))).unwrap();
    wait_for(&mut runner, |event| *event == Event::Snapshot);
    assert_eq!(seen(&mut runner), (500, expected_state(1, 500)));
    runner.order(Order::SetPace(Pace::Until(700))).unwrap();
    wait_status(&mut runner, Status::Finished(700));
    assert_eq!(seen(&mut runner), (700, expected_state(1, 700)));
}

#[test]
fn a_refused_checkpoint_changes_nothing() {
    let mut runner = start(&Controls::new());
    runner.frame(10, LONG).unwrap();
    runner.order(Order::Load(Box::new(Checkpoint::new("gas/cpu", "", 3)))).unwrap();
    let event = wait_for(&mut runner, |event| matches!(event, Event::Refused(_)));
    assert!(format!("{event:?}").contains("gas/cpu"), "{event:?}");
    assert!(runner.refusal().is_some());
    let snapshot = runner.frame(5, LONG).unwrap();
    assert_eq!((snapshot.step, snapshot.particles), (15, expected_state(1, 15)));
}

#[test]
fn restart_begins_anew_and_keeps_the_pace() {
    let controls = Controls::new();
    let mut runner = start(&controls);
    runner.order(Order::SetPace(Pace::Until(100))).unwrap();
    wait_status(&mut runner, Status::Finished(100));
    controls.build_millis.store(50, SeqCst);
    runner.order(Order::Restart).unwrap();
    wait_status(&mut runner, Status::Building);
    wait_status(&mut runner, Status::Finished(100));
    assert_eq!(seen(&mut runner), (100, expected_state(1, 100)));
    assert_eq!((controls.built.load(SeqCst), controls.alive.load(SeqCst)), (2, 1));
}

#[test]
fn adopted_scenes_tell_their_cost_and_refused_ones_leave_the_old() {
    let mut runner = start(&Controls::new());
    runner.order(Order::SetPace(Pace::Until(100))).unwrap();
    wait_status(&mut runner, Status::Finished(100));
    let adopt = |runner: &mut Runner, scene| {
        runner.order(Order::Adopt(Box::new(scene))).unwrap();
        wait_for(runner, |event| matches!(event, Event::Adopted(_) | Event::Refused(_)))
    };
    assert_eq!(adopt(&mut runner, scene("fake", 1)), Event::Adopted(Impact::Nothing));
    assert_eq!(adopt(&mut runner, scene("other", 1)), Event::Adopted(Impact::Live));
    let mut more = scene("other", 1);
    let Model::Gas(gas) = &mut more.model;
    gas.particles_per_cell = 20.0;
    assert_eq!(adopt(&mut runner, more), Event::Adopted(Impact::AveragesReset));

    let Event::Refused(error) = adopt(&mut runner, scene("bad", 1)) else { panic!("must be refused") };
    assert!(error.to_string().contains("rename it"));
    assert_eq!(runner.refusal(), Some(error));
    let snapshot = runner.frame(20, LONG).unwrap();
    assert_eq!((snapshot.step, snapshot.particles), (120, expected_state(1, 120)));
    assert_eq!(snapshot.notes, ["other at step 120"]);

    assert_eq!(adopt(&mut runner, scene("other", 5)), Event::Adopted(Impact::Restart));
    assert_eq!(runner.refusal(), None);
    let snapshot = runner.frame(20, LONG).unwrap();
    assert_eq!((snapshot.step, snapshot.particles), (20, expected_state(5, 20)));
}

#[test]
fn of_many_scenes_only_the_last_is_adopted() {
    let controls = Controls::new();
    controls.build_millis.store(500, SeqCst);
    let mut runner = start(&controls);
    for index in 0..30 {
        runner.order(Order::Adopt(Box::new(scene(&format!("scene {index}"), 1)))).unwrap();
    }
    wait_for(&mut runner, |event| matches!(event, Event::Adopted(_)));
    assert_eq!(runner.frame(0, LONG).unwrap().notes, ["scene 29 at step 0"]);
    assert_eq!(controls.adoptions.load(SeqCst), 1);
}

#[test]
fn a_failure_is_shown_and_can_be_mended() {
    let controls = Controls::new();
    controls.fail_at.store(30, SeqCst);
    let mut runner = start(&controls);
    runner.order(Order::SetPace(Pace::Until(100))).unwrap();
    let error = wait_failed(&mut runner);
    assert!(matches!(&error, SimError::Numerical(text) if text.contains("step 30")), "{error}");
    assert_eq!(controls.alive.load(SeqCst), 0, "a failed simulation gives its memory back");
    for result in [runner.save(LONG).map(|_| ()), runner.frame(1, LONG).map(|_| ())] {
        assert!(matches!(result, Err(RunnerError::Sim(SimError::Numerical(_)))), "{result:?}");
    }
    controls.fail_at.store(u64::MAX, SeqCst);
    runner.order(Order::Restart).unwrap();
    wait_status(&mut runner, Status::Finished(100));
    assert_eq!(seen(&mut runner), (100, expected_state(1, 100)));
}

#[test]
fn a_panic_is_shown_and_can_be_mended() {
    let controls = Controls::new();
    controls.panic_at.store(30, SeqCst);
    let mut runner = start(&controls);
    runner.order(Order::SetPace(Pace::Free)).unwrap();
    let error = wait_failed(&mut runner).to_string();
    assert!(error.contains("the fake fell over") && error.contains("restart it"), "{error}");
    controls.panic_at.store(u64::MAX, SeqCst);
    // A changed scene mends it as well as a restart.
    runner.order(Order::SetPace(Pace::Until(40))).unwrap();
    runner.order(Order::Adopt(Box::new(scene("mended", 2)))).unwrap();
    wait_status(&mut runner, Status::Finished(40));
    assert_eq!(seen(&mut runner), (40, expected_state(2, 40)));

    runner.order(Order::Adopt(Box::new(scene("trap", 2)))).unwrap();
    assert!(wait_failed(&mut runner).to_string().contains("fell into a trap"));
    // The scene that panicked was not taken over.
    runner.order(Order::Restart).unwrap();
    wait_status(&mut runner, Status::Finished(40));
    assert_eq!(runner.snapshot().unwrap().notes, ["mended at step 40"]);
    assert_eq!(controls.alive.load(SeqCst), 1);
}

#[test]
fn a_scene_that_cannot_be_built_is_shown() {
    let controls = Controls::new();
    controls.build_fails.store(true, SeqCst);
    let mut runner = start(&controls);
    assert!(wait_failed(&mut runner).to_string().contains("cannot be built"));
    assert!(runner.snapshot().is_none());
    controls.build_fails.store(false, SeqCst);
    controls.observe_fails.store(true, SeqCst);
    runner.order(Order::Restart).unwrap();
    assert!(matches!(
        wait_for(&mut runner, |event| format!("{event:?}").contains("observed")),
        Event::Status(_)
    ));
    controls.observe_fails.store(false, SeqCst);
    runner.order(Order::Restart).unwrap();
    wait_status(&mut runner, Status::Paused);
    assert_eq!(seen(&mut runner), (0, 1));
}

#[test]
fn dropping_a_running_simulation_is_prompt() {
    let controls = Controls::new();
    controls.step_micros.store(1000, SeqCst);
    let mut runner = start(&controls);
    runner.order(Order::SetPace(Pace::Free)).unwrap();
    wait_status(&mut runner, Status::Running);
    std::thread::sleep(Duration::from_millis(100));
    let begin = Instant::now();
    drop(runner);
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    assert_eq!(controls.alive.load(SeqCst), 0);
}

#[test]
fn dropping_with_a_full_channel_ends() {
    let controls = Controls::new();
    controls.build_millis.store(100, SeqCst);
    let runner = start(&controls);
    while runner.order(Order::SetPace(Pace::Free)).is_ok() {}
    drop(runner);
    assert_eq!(controls.alive.load(SeqCst), 0);
}

#[test]
fn recorded_frames_are_exact() {
    // Snapshots far apart: a frame is published nevertheless.
    let mut runner = Runner::start_with(
        scene("fake", 1),
        Controls::new().factory(),
        Request { particles: 3, ..Request::default() },
        settings(Duration::from_secs(3600)),
    )
    .unwrap();
    let mut generation = 0;
    for frame in 1..=40u64 {
        let snapshot = runner.frame(25, LONG).unwrap();
        assert_eq!((snapshot.step, snapshot.particles), (25 * frame, expected_state(1, 25 * frame)));
        assert_eq!(snapshot.drawn[2].value, 25.0 * frame as f32);
        assert!(snapshot.generation > generation);
        generation = snapshot.generation;
    }
    assert_eq!(runner.frame(0, LONG).unwrap().step, 1000);
    assert_eq!(runner.state(), Status::Paused);
}

#[test]
fn a_frame_ends_with_another_pace_or_a_failure_or_the_time() {
    let controls = Controls::new();
    controls.step_micros.store(1000, SeqCst);
    let mut runner = start(&controls);
    wait_status(&mut runner, Status::Paused);
    let (answer, frame) = reply();
    runner.order(Order::AdvanceAndPublish { steps: 1_000_000, reply: answer }).unwrap();
    wait_status(&mut runner, Status::Running);
    runner.order(Order::SetPace(Pace::Paused)).unwrap();
    assert!(matches!(frame.recv_timeout(LONG).unwrap(), Err(RunnerError::Cancelled)));
    assert!(matches!(runner.frame(1_000_000, Duration::from_millis(50)), Err(RunnerError::TimedOut { .. })));
    controls.fail_at.store(runner.step() + 200, SeqCst);
    let result = runner.frame(1_000_000, LONG).map(|snapshot| snapshot.step);
    assert!(matches!(result, Err(RunnerError::Sim(SimError::Numerical(_)))), "{result:?}");
}
