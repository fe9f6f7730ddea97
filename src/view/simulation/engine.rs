//! The runner of the app: started, ordered, looked at and let go, without a frame that waits for it.
//! Must not know devices, nor where orders come from.

use super::{Factories, Handover, RunOrder, RunState, Wanted};
use crate::output::file::write_whole;
use crate::runner::{Order, Pace, Runner, RunnerError, Settings, Status, reply};
use crate::scene::{Model, Scene};
use crate::sim::{Checkpoint, Phase, Request};
use crate::view::flow::Flow;
use bevy::prelude::*;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What is asked of the snapshots changes at most so often: a slider that is dragged changes it in every frame.
const ASK_INTERVAL: Duration = Duration::from_millis(100);

/// An order that waits to be sent: unlike the runner's own it can be made again when the channel was full.
#[derive(Debug, Clone, PartialEq)]
enum Out {
    Pace(Pace),
    Adopt(Box<Scene>),
    Observe(Request),
    Restart,
    Save(PathBuf),
}

type SavedTo = Receiver<Result<Checkpoint, RunnerError>>;

#[derive(Resource)]
pub(super) struct Engine {
    factories: Factories,
    /// The scene of the runner, as it was handed over last.
    scene: Option<Box<Scene>>,
    /// Whether a runner shall be started when the old one is gone.
    start: bool,
    /// The old runner, while its thread ends: two simulations may not fit into the memory.
    leaving: Option<JoinHandle<()>>,
    waiting: VecDeque<Out>,
    asked: Request,
    asked_at: Option<Instant>,
    /// Generation from which on snapshots are surely those of the scene and run that were ordered last.
    fresh_from: u64,
    /// Checkpoints on their way from the simulation, and to the disk. A lock only since receivers are not `Sync`.
    saving: Mutex<Vec<(PathBuf, SavedTo)>>,
    written: Mutex<Vec<Receiver<String>>>,
}

impl Engine {
    pub(super) fn new(factories: Factories) -> Self {
        Self {
            factories,
            scene: None,
            start: false,
            leaving: None,
            waiting: VecDeque::new(),
            asked: Request::default(),
            asked_at: None,
            fresh_from: 0,
            saving: Mutex::new(Vec::new()),
            written: Mutex::new(Vec::new()),
        }
    }

    /// One more order. Of scenes, paces and requests that still wait, the newest is enough.
    fn order(&mut self, out: Out) {
        let same = |one: &Out| std::mem::discriminant(one) == std::mem::discriminant(&out);
        match out {
            Out::Adopt(_) | Out::Observe(_) => self.waiting.retain(|one| !same(one)),
            Out::Pace(_) | Out::Restart if self.waiting.back().is_some_and(same) => {
                self.waiting.pop_back();
            }
            _ => {}
        }
        self.waiting.push_back(out);
    }

    /// Whether a snapshot may be judged: an older one may tell of averages that are void by now.
    fn is_fresh(&self, generation: u64) -> bool {
        let changes = |out: &Out| matches!(out, Out::Adopt(_) | Out::Restart);
        generation >= self.fresh_from.max(1) && !self.start && !self.waiting.iter().any(changes)
    }
}

/// What the runner says becomes the state of this frame.
pub(super) fn report(flow: Res<Flow>, mut engine: ResMut<Engine>, mut state: ResMut<RunState>) {
    if let Some((step, steps_per_s, status, refusal)) =
        flow.with(|runner| (runner.step(), runner.steps_per_s(), runner.state(), runner.refusal()))
    {
        state.step = step;
        state.steps_per_s = steps_per_s;
        state.error = match &status {
            Status::Failed(error) => Some(error.to_string()),
            Status::Stopped => Some("the simulation has ended: restart it".into()),
            _ => None,
        };
        state.refusal = refusal.map(|error| error.to_string());
        state.status = status;
    }
    let seen =
        flow.read(|snapshot| (snapshot.generation, snapshot.time_s, snapshot.particles, snapshot.phase));
    if let Some((generation, time_s, particles, phase)) = seen {
        state.time_s = time_s;
        state.particles = particles;
        state.phase = if engine.is_fresh(generation) { phase } else { Phase::Transient };
    }
    if let Some(scene) = &engine.scene {
        let Model::Gas(gas) = &scene.model;
        state.steps = gas.steps;
    }
    let left = state.steps.saturating_sub(state.step);
    let runs = state.status == Status::Running && state.steps_per_s > 0.0 && left > 0;
    state.eta_s = runs.then(|| left as f64 / state.steps_per_s);
    if state.until_steady && state.phase != Phase::Transient {
        state.until_steady = false;
        state.pace = Pace::Paused;
        engine.order(Out::Pace(Pace::Paused));
    }
    if let Some(message) = engine.saved() {
        state.message = Some(message);
    }
}

/// Orders of panels and keys.
pub(super) fn take_orders(
    mut orders: MessageReader<RunOrder>,
    mut engine: ResMut<Engine>,
    mut state: ResMut<RunState>,
) {
    for order in orders.read() {
        let pace = match order {
            RunOrder::Play => Pace::Free,
            RunOrder::Pause => Pace::Paused,
            RunOrder::Step(steps) => Pace::Steps(u64::from(*steps)),
            RunOrder::UntilEnd => Pace::Until(state.steps),
            RunOrder::UntilSteady if state.phase != Phase::Transient => {
                state.message = Some("averages are being taken already: the flow counts as steady".into());
                continue;
            }
            RunOrder::UntilSteady => Pace::Free,
            RunOrder::RealTime(rate) if !(*rate > 0.0 && rate.is_finite()) => {
                state.message = Some(RunnerError::Rate { rate: *rate }.to_string());
                continue;
            }
            RunOrder::RealTime(rate) => Pace::RealTime { rate: *rate },
            RunOrder::Restart => {
                state.phase = Phase::Transient;
                engine.order(Out::Restart);
                continue;
            }
            RunOrder::Save(path) => {
                engine.order(Out::Save(path.clone()));
                continue;
            }
        };
        state.until_steady = *order == RunOrder::UntilSteady;
        state.pace = pace;
        engine.order(Out::Pace(pace));
    }
}

/// The scene of the document: on with it, or another runner.
pub(super) fn take_scene(
    mut handover: ResMut<Handover>,
    mut engine: ResMut<Engine>,
    mut state: ResMut<RunState>,
    mut flow: ResMut<Flow>,
) {
    if handover.scene.is_some() {
        let Handover { scene, anew } = std::mem::take(&mut *handover);
        engine.scene = scene.clone();
        if anew {
            // Orders for another scene are void.
            engine.waiting.clear();
            engine.start = true;
            *state = RunState { message: state.message.take(), ..RunState::new(&state.device) };
        } else if let (Some(scene), false) = (scene, engine.start) {
            engine.order(Out::Adopt(scene));
        }
    }
    if engine.start {
        engine.restart(&mut state, &mut flow);
    }
}

/// What is wanted is asked for, if that is something else.
pub(super) fn ask(wanted: Res<Wanted>, mut engine: ResMut<Engine>) {
    let due = engine.asked_at.is_none_or(|at| at.elapsed() >= ASK_INTERVAL);
    if wanted.0 != engine.asked && due && !engine.start {
        engine.asked = wanted.0;
        engine.asked_at = Some(Instant::now());
        engine.order(Out::Observe(wanted.0));
    }
}

/// Sends what waits, in order; what the channel does not take now is tried again in the next frame.
pub(super) fn send(mut engine: ResMut<Engine>, mut state: ResMut<RunState>, flow: Res<Flow>) {
    while !engine.start
        && let Some(out) = engine.waiting.front().cloned()
    {
        let (order, answer) = match &out {
            Out::Pace(pace) => (Order::SetPace(*pace), None),
            Out::Adopt(scene) => (Order::Adopt(scene.clone()), None),
            Out::Observe(request) => (Order::Observe(*request), None),
            Out::Restart => (Order::Restart, None),
            Out::Save(path) => {
                let (reply, answer) = reply();
                (Order::Save(reply), Some((path.clone(), answer)))
            }
        };
        match flow.with(|runner| runner.order(order)) {
            Some(Err(RunnerError::Full(_))) => return,
            Some(Err(RunnerError::Stopped)) => {
                // The thread is gone. Another is worth it if someone wants to go on; it begins with this scene, and
                // takes what waits after that.
                if matches!(out, Out::Observe(_)) {
                    engine.waiting.pop_front();
                } else if matches!(out, Out::Save(_)) {
                    state.message = Some(format!("the checkpoint was not saved: {}", RunnerError::Stopped));
                    engine.waiting.pop_front();
                } else {
                    engine.waiting.retain(|one| matches!(one, Out::Pace(_)));
                    engine.start = engine.scene.is_some();
                    return;
                }
            }
            Some(Err(error)) => {
                state.message = Some(error.to_string());
                engine.waiting.pop_front();
            }
            Some(Ok(())) => {
                engine.waiting.pop_front();
                if matches!(out, Out::Adopt(_) | Out::Restart) {
                    // One more of the old may be published before the order is carried out.
                    engine.fresh_from = flow.read(|snapshot| snapshot.generation).unwrap_or(0) + 2;
                }
                engine.saving.get_mut().unwrap_or_else(PoisonError::into_inner).extend(answer);
            }
            // There is no runner, since there was no thread to be had.
            None => {
                engine.start = engine.scene.is_some() && matches!(out, Out::Adopt(_) | Out::Restart);
                engine.waiting.clear();
                return;
            }
        }
    }
}

impl Engine {
    /// Ends the old runner, and starts another when it is gone.
    fn restart(&mut self, state: &mut RunState, flow: &mut Flow) {
        if flow.with(|_| ()).is_some() {
            let old = std::mem::replace(flow, Flow::still(default()));
            state.status = Status::Building;
            // Its thread is in a step that may take seconds: someone else waits for that.
            match aside("knudsen-farewell", move || drop(old)) {
                Ok(leaving) => self.leaving = Some(leaving),
                Err(error) => warn!("the old simulation had to be waited for: {error}"),
            }
        }
        if self.leaving.as_ref().is_some_and(|leaving| !leaving.is_finished()) {
            return;
        }
        self.leaving = None;
        let Some(scene) = &self.scene else { return };
        self.start = false;
        let settings = Settings { pace: state.pace, ..default() };
        match Runner::start_with((**scene).clone(), (self.factories)(), self.asked, settings) {
            Ok(runner) => {
                self.fresh_from = 0;
                *flow = Flow::new(runner);
            }
            Err(error) => {
                state.status = Status::Stopped;
                state.error = Some(error.to_string());
            }
        }
    }

    /// Passes checkpoints on to the disk; what became of the last one, when that is known.
    fn saved(&mut self) -> Option<String> {
        let mut message = None;
        let (mut came, written) =
            (Vec::new(), self.written.get_mut().unwrap_or_else(PoisonError::into_inner));
        self.saving.get_mut().unwrap_or_else(PoisonError::into_inner).retain(|(path, answer)| {
            let result = match answer.try_recv() {
                Ok(result) => result,
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => Err(RunnerError::Stopped),
            };
            came.push((path.clone(), result));
            false
        });
        for (path, result) in came {
            match result {
                Ok(checkpoint) => {
                    let (told, result) = sync_channel(1);
                    let started = aside("knudsen-checkpoint", move || {
                        // Whoever asked may be gone.
                        let _ = told.send(write_checkpoint(&path, &checkpoint));
                    });
                    match started {
                        Ok(_) => written.push(result),
                        Err(error) => message = Some(format!("the checkpoint was not saved: {error}")),
                    }
                }
                Err(error) => message = Some(format!("the checkpoint was not saved: {error}")),
            }
        }
        written.retain(|result| match result.try_recv() {
            Ok(text) => {
                message = Some(text);
                false
            }
            Err(error) => error == TryRecvError::Empty,
        });
        message
    }
}

fn write_checkpoint(path: &Path, checkpoint: &Checkpoint) -> String {
    match write_whole(path, |mut to| checkpoint.write_to(&mut to)) {
        Ok(path) => format!("checkpoint of step {} saved in {}", checkpoint.step, path.display()),
        Err(error) => format!("the checkpoint was not saved: {error}"),
    }
}

fn aside(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, RunnerError> {
    std::thread::Builder::new().name(name.into()).spawn(work).map_err(RunnerError::Spawn)
}
