//! The simulation thread: builds, steps, obeys and publishes, and survives what goes wrong in a simulation.
//! Must not know devices, physics or who looks.

use super::exchange::{Board, Publisher, Status};
use super::orders::{Order, Reply, RunnerError};
use super::pace::{Due, Pacer, Slicer, SpeedMeter};
use super::{Pace, Settings};
use crate::scene::Scene;
use crate::sim::{Checkpoint, Factory, Request, SimError, Simulation, Snapshot};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Instant;

/// Orders carried out between two slices at most, so that a flood of them cannot stop the simulation.
const ORDERS_AT_ONCE: usize = 64;
/// Publishing waits so many times as long as it took, so that it costs at most a fortieth of the time.
const PUBLISH_WAIT: u32 = 39;

pub(super) struct Worker {
    pub(super) factory: Factory,
    pub(super) scene: Scene,
    pub(super) request: Request,
    pub(super) settings: Settings,
    pub(super) orders: Receiver<Order>,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) board: Arc<Board>,
    pub(super) publisher: Publisher,
}

impl Worker {
    /// Runs until it is stopped. Built, used and dropped here: a simulation never leaves its thread.
    pub(super) fn run(self) {
        let board = Arc::clone(&self.board);
        let now = Instant::now();
        let mut thread = Thread {
            pacer: Pacer::new(self.settings.pace, now),
            worker: self,
            simulation: None,
            slicer: Slicer::new(),
            speed: SpeedMeter::new(),
            now: Snapshot::default(),
            frame: None,
            unpublished: false,
            publish_at: now,
        };
        let ended = guard(|| {
            thread.build();
            thread.run();
        });
        thread.discard();
        board.set_status(ended.err().map_or(Status::Stopped, Status::Failed));
    }
}

struct Thread {
    worker: Worker,
    simulation: Option<Box<dyn Simulation>>,
    pacer: Pacer,
    slicer: Slicer,
    speed: SpeedMeter,
    /// Step, time and time step as last told by the simulation; the step is counted on from there.
    now: Snapshot,
    /// Who waits for a frame.
    frame: Option<Reply<u64>>,
    unpublished: bool,
    publish_at: Instant,
}

impl Thread {
    fn run(&mut self) {
        let mut order = None;
        loop {
            self.obey_all(order.take());
            if self.stopped() {
                return;
            }
            let due = match self.simulation {
                Some(_) => self.pacer.due(self.now.step, self.now.time_step_s, Instant::now()),
                None => Due::Paused,
            };
            match due {
                Due::Steps(steps) => {
                    self.worker.board.set_status(Status::Running);
                    self.slice(steps);
                    self.publish_when_due();
                }
                Due::Wait(wait) => {
                    self.worker.board.set_status(Status::Running);
                    self.publish_when_due();
                    let publish = self.publish_at.saturating_duration_since(Instant::now());
                    let wait = if self.unpublished { wait.min(publish) } else { wait };
                    order = self.worker.orders.recv_timeout(wait).ok();
                }
                Due::Paused => {
                    self.settle(Status::Paused);
                    order = self.wait_for_order();
                }
                Due::Finished => {
                    self.settle(Status::Finished(self.now.step));
                    order = self.wait_for_order();
                }
            }
        }
    }

    fn stopped(&self) -> bool {
        self.worker.stop.load(Ordering::Acquire)
    }

    /// The next order; when there can be none any more, the thread has to end.
    fn wait_for_order(&self) -> Option<Order> {
        let order = self.worker.orders.recv().ok();
        if order.is_none() {
            self.worker.stop.store(true, Ordering::Release);
        }
        order
    }

    /// Computes at most `due` steps, as many as fit between two looks at the orders.
    fn slice(&mut self, due: u64) {
        let Some(simulation) = &mut self.simulation else { return };
        let steps = u64::from(self.slicer.steps()).min(due) as u32;
        let start = Instant::now();
        self.speed.start(start);
        match flat(guard(|| simulation.advance(steps))) {
            Ok(()) => {
                let end = Instant::now();
                self.slicer.record(steps, end - start);
                self.pacer.advanced(u64::from(steps));
                self.now.step += u64::from(steps);
                self.unpublished = true;
                self.worker.board.set_progress(self.now.step, self.speed.record(u64::from(steps), end));
            }
            Err(error) => self.fail(error),
        }
    }

    /// The simulation stands still: what it is now is shown first, then that it stands.
    fn settle(&mut self, status: Status) {
        if self.simulation.is_none() {
            return;
        }
        self.speed.stand();
        self.worker.board.set_progress(self.now.step, 0.0);
        if self.unpublished || self.frame.is_some() {
            self.publish();
        }
        if self.simulation.is_some() {
            self.worker.board.set_status(status);
        }
    }

    fn publish_when_due(&mut self) {
        if self.unpublished && Instant::now() >= self.publish_at {
            // A frame is answered when all its steps are done, by `settle`.
            let frame = self.frame.take();
            self.publish();
            match self.simulation {
                Some(_) => self.frame = frame,
                None => answer(frame, Err(RunnerError::Sim(self.failure()))),
            }
        }
    }

    /// Publishes what is requested, and answers who waits for it.
    fn publish(&mut self) {
        let Some(simulation) = &mut self.simulation else { return };
        let start = Instant::now();
        let (request, buffer) = (&self.worker.request, self.worker.publisher.buffer());
        match flat(guard(|| simulation.observe(request, buffer))) {
            Ok(()) => {
                self.now.step = buffer.step;
                let generation = self.worker.publisher.publish(&self.worker.board);
                self.unpublished = false;
                answer(self.frame.take(), Ok(generation));
            }
            Err(error) => self.fail(error),
        }
        let end = Instant::now();
        self.publish_at = end + self.worker.settings.publish_interval.max((end - start) * PUBLISH_WAIT);
    }

    /// Carries out `first` and all orders that wait; of several scenes in a row only the last.
    fn obey_all(&mut self, first: Option<Order>) {
        let mut held = first;
        for _ in 0..ORDERS_AT_ONCE {
            let next = self.worker.orders.try_recv().ok();
            match held.take() {
                Some(Order::Adopt(_)) if matches!(next, Some(Order::Adopt(_))) => {}
                Some(order) => self.obey(order),
                None if next.is_none() => return,
                None => {}
            }
            held = next;
            if self.stopped() {
                return;
            }
        }
        if let Some(order) = held {
            self.obey(order);
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::SetPace(pace) => {
                answer(self.frame.take(), Err(RunnerError::Cancelled));
                self.pacer.set(pace, Instant::now());
            }
            Order::Adopt(scene) => self.adopt(*scene),
            Order::Observe(request) => {
                self.worker.request = request;
                self.unpublished = true;
            }
            Order::Save(reply) => self.save(reply),
            Order::Load(checkpoint) => self.load(&checkpoint),
            Order::Restart => self.build(),
            Order::AdvanceAndPublish { steps, reply } => {
                answer(self.frame.take(), Err(RunnerError::Cancelled));
                if self.simulation.is_some() {
                    self.pacer.set(Pace::Steps(u64::from(steps)), Instant::now());
                    self.frame = Some(reply);
                } else {
                    answer(Some(reply), Err(RunnerError::Sim(self.failure())));
                }
            }
            Order::Stop => self.worker.stop.store(true, Ordering::Release),
        }
    }

    /// Builds the simulation of the scene. The old one goes first, so that memory is not needed twice.
    fn build(&mut self) {
        self.worker.board.set_status(Status::Building);
        self.discard();
        let worker = &self.worker;
        match flat(guard(|| (worker.factory)(&worker.scene))) {
            Ok(simulation) => {
                self.simulation = Some(simulation);
                self.slicer = Slicer::new();
                self.worker.board.accepted();
                self.refresh();
            }
            Err(error) => self.fail(error),
        }
    }

    fn adopt(&mut self, scene: Scene) {
        let Some(simulation) = &mut self.simulation else {
            self.worker.scene = scene;
            return self.build();
        };
        match guard(|| simulation.adopt(&scene)) {
            Ok(Ok(impact)) => {
                self.worker.scene = scene;
                self.worker.board.adopted(impact);
                self.refresh();
            }
            Ok(Err(error)) => self.worker.board.refused(error),
            Err(fault) => self.fail(fault),
        }
    }

    fn save(&mut self, reply: Reply<Checkpoint>) {
        let result = match &mut self.simulation {
            Some(simulation) => match guard(|| simulation.save()) {
                Ok(result) => result,
                Err(fault) => {
                    self.fail(fault.clone());
                    Err(fault)
                }
            },
            None => Err(self.failure()),
        };
        answer(Some(reply), result.map_err(RunnerError::Sim));
    }

    fn load(&mut self, checkpoint: &Checkpoint) {
        if self.simulation.is_none() {
            self.build();
        }
        let Some(simulation) = &mut self.simulation else { return };
        match guard(|| simulation.load(checkpoint)) {
            Ok(Ok(())) => {
                self.worker.board.accepted();
                self.refresh();
            }
            Ok(Err(error)) => self.worker.board.refused(error),
            Err(fault) => self.fail(fault),
        }
    }

    /// Asks where the simulation stands after it was changed, and shows it.
    fn refresh(&mut self) {
        let Some(simulation) = &mut self.simulation else { return };
        let now = &mut self.now;
        if let Err(error) = flat(guard(|| simulation.observe(&Request::default(), now))) {
            return self.fail(error);
        }
        self.pacer.restart_clock(Instant::now());
        self.speed.stand();
        self.worker.board.set_progress(self.now.step, 0.0);
        self.unpublished = true;
        self.publish_at = Instant::now();
        self.publish_when_due();
    }

    /// The simulation is lost; the thread stays, and builds another when it is told to.
    fn fail(&mut self, error: SimError) {
        self.discard();
        self.speed.stand();
        self.unpublished = false;
        answer(self.frame.take(), Err(RunnerError::Sim(error.clone())));
        self.worker.board.set_progress(self.now.step, 0.0);
        self.worker.board.set_status(Status::Failed(error));
    }

    /// Why there is no simulation.
    fn failure(&self) -> SimError {
        match &self.worker.board.read().status {
            Status::Failed(error) => error.clone(),
            _ => SimError::Device("there is no simulation: restart it".into()),
        }
    }

    fn discard(&mut self) {
        let simulation = self.simulation.take();
        // A panic while it is dropped has been printed by the panic hook, and there is nothing left to save.
        let _ = guard(|| drop(simulation));
    }
}

/// Answers, if someone waits; whoever has left needs no answer.
fn answer<T>(reply: Option<Reply<T>>, result: Result<T, RunnerError>) {
    if let Some(reply) = reply {
        let _ = reply.try_send(result);
    }
}

/// Runs code of a simulation; a panic in it becomes an error. What it was working on is thrown away then.
fn guard<T>(code: impl FnOnce() -> T) -> Result<T, SimError> {
    catch_unwind(AssertUnwindSafe(code)).map_err(|payload| {
        SimError::Device(format!(
            "the simulation stopped by a fault inside the program ({}): restart it, and please report this with the \
             scene",
            panic_text(payload.as_ref())
        ))
    })
}

fn flat<T>(result: Result<Result<T, SimError>, SimError>) -> Result<T, SimError> {
    result.and_then(|result| result)
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "no further message",
    }
}
