//! Runs a simulation on a thread of its own: orders go in, snapshots and the state come out, nobody waits.
//! Must not know Bevy, CUDA, physics or files.
//!
//! ```text
//!   onlooker (window, command line)              thread "knudsen-simulation"
//!   order()      -- bounded channel -->          obeys between two slices of steps, at least 30 times a second
//!   snapshot()   <-- triple buffer ---           observe() into a free buffer, then publish
//!   state()      <-- board (a lock) ---          building, running, paused, finished, failed
//! ```
//!
//! An order is looked at within 1/30 s as long as a single time step, and an observation, take less than that. While
//! running, observing takes at most a fortieth of the time, whatever is requested; standing still, a new request is
//! answered at once.

mod exchange;
mod orders;
mod pace;
mod thread;

pub use exchange::{Event, Status};
pub use orders::{Order, Reply, RunnerError, reply};
pub use pace::Pace;

use crate::scene::Scene;
use crate::sim::{Checkpoint, Factory, Request, SimError, Snapshot};
use exchange::{Board, Seen, Viewer, exchange};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use thread::Worker;

/// How a runner works; what is simulated is the scene's affair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Pace once the simulation is built.
    pub pace: Pace,
    /// Shortest time between two snapshots while running. It grows where observing would take more than a fortieth of
    /// the time: an observation of 10 ms comes every 200 ms.
    pub publish_interval: Duration,
    /// Orders that may wait at most, at least 1.
    pub order_capacity: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { pace: Pace::Paused, publish_interval: Duration::from_secs(1) / 30, order_capacity: 64 }
    }
}

/// Where the answer to an ordered frame comes: the generation of its snapshot. See [`receive`].
pub type Answer = Receiver<Result<u64, RunnerError>>;

/// A simulation on its thread. Dropping it stops the thread after the slice of steps that it is in.
#[derive(Debug)]
pub struct Runner {
    orders: SyncSender<Order>,
    viewer: Viewer,
    board: Arc<Board>,
    seen: Seen,
    stop: Arc<AtomicBool>,
    order_capacity: usize,
    thread: Option<JoinHandle<()>>,
}

impl Runner {
    /// Starts a paused simulation of `scene`; its snapshots hold what is requested.
    ///
    /// # Errors
    /// Only if there is no thread to be had: whether the simulation can be built is told by [`Runner::state`].
    pub fn start(scene: Scene, factory: Factory, request: Request) -> Result<Self, RunnerError> {
        Self::start_with(scene, factory, request, Settings::default())
    }

    /// As [`Runner::start`], with other settings.
    pub fn start_with(
        scene: Scene,
        factory: Factory,
        request: Request,
        settings: Settings,
    ) -> Result<Self, RunnerError> {
        check(&settings.pace)?;
        let order_capacity = settings.order_capacity.max(1);
        let (orders, receiver) = sync_channel(order_capacity);
        let (publisher, viewer) = exchange();
        let board = Arc::new(Board::new());
        let stop = Arc::new(AtomicBool::new(false));
        let worker = Worker {
            factory,
            scene,
            request,
            settings,
            orders: receiver,
            stop: Arc::clone(&stop),
            board: Arc::clone(&board),
            publisher,
        };
        let thread = std::thread::Builder::new()
            .name("knudsen-simulation".into())
            .spawn(move || worker.run())
            .map_err(RunnerError::Spawn)?;
        Ok(Self { orders, viewer, board, seen: Seen::default(), stop, order_capacity, thread: Some(thread) })
    }

    /// Hands an order over. Never waits.
    ///
    /// # Errors
    /// [`RunnerError::Full`] if too many wait already, [`RunnerError::Stopped`] if the thread has ended,
    /// [`RunnerError::Rate`] for an impossible pace.
    pub fn order(&self, order: Order) -> Result<(), RunnerError> {
        if let Order::SetPace(pace) = &order {
            check(pace)?;
        }
        self.orders.try_send(order).map_err(|error| match error {
            TrySendError::Full(_) => RunnerError::Full(self.order_capacity),
            TrySendError::Disconnected(_) => RunnerError::Stopped,
        })
    }

    /// The newest snapshot; `None` before the first. Never waits.
    pub fn snapshot(&mut self) -> Option<&Snapshot> {
        Some(self.viewer.read()).filter(|snapshot| snapshot.generation > 0)
    }

    /// What the thread does.
    pub fn state(&self) -> Status {
        self.board.read().status.clone()
    }

    /// Steps done; ahead of the newest snapshot while running.
    pub fn step(&self) -> u64 {
        self.board.read().step
    }

    /// Steps a second, averaged over about a second; 0 while standing still.
    pub fn steps_per_s(&self) -> f64 {
        self.board.read().steps_per_s
    }

    /// Why the last `Adopt` or `Load` was refused; `None` once one is accepted.
    pub fn refusal(&self) -> Option<SimError> {
        self.board.read().refusal.clone()
    }

    /// Waits until something happens, for command lines and tests. Snapshots and states that were overtaken by newer
    /// ones are not told; the snapshot that belongs to a state is always told before it.
    pub fn wait(&mut self, timeout: Duration) -> Event {
        self.board.wait(&mut self.seen, timeout)
    }

    /// Recording: computes exactly `steps` steps, waits for them and returns the state after them; paused then. With 0
    /// steps the state as it is, by the request that was ordered last.
    pub fn frame(&mut self, steps: u32, timeout: Duration) -> Result<&Snapshot, RunnerError> {
        let answer = self.order_frame(steps)?;
        receive(&answer, timeout)?;
        // Paused since it was published: nothing newer can have taken its place.
        Ok(self.viewer.read())
    }

    /// As [`Runner::frame`], without waiting: the answer comes when the snapshot after the steps is there.
    pub fn order_frame(&self, steps: u32) -> Result<Answer, RunnerError> {
        let (reply, answer) = reply();
        self.order(Order::AdvanceAndPublish { steps, reply })?;
        Ok(answer)
    }

    /// Waits for the complete state.
    pub fn save(&self, timeout: Duration) -> Result<Checkpoint, RunnerError> {
        let (reply, answer) = reply();
        self.order(Order::Save(reply))?;
        receive(&answer, timeout)
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // Wakes a thread that waits for orders; if the channel is full it does not wait, and sees the flag.
        let _ = self.orders.try_send(Order::Stop);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been turned into a state already.
            let _ = thread.join();
        }
    }
}

fn check(pace: &Pace) -> Result<(), RunnerError> {
    match *pace {
        Pace::RealTime { rate } if !(rate > 0.0 && rate.is_finite()) => Err(RunnerError::Rate { rate }),
        _ => Ok(()),
    }
}

/// Waits for an answer.
///
/// # Errors
/// What the order failed with, [`RunnerError::TimedOut`], or [`RunnerError::Stopped`].
pub fn receive<T>(answer: &Receiver<Result<T, RunnerError>>, timeout: Duration) -> Result<T, RunnerError> {
    match answer.recv_timeout(timeout) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => Err(RunnerError::TimedOut { seconds: timeout.as_secs_f64() }),
        Err(RecvTimeoutError::Disconnected) => Err(RunnerError::Stopped),
    }
}
