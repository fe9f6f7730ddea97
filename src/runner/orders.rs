//! What may be asked of a running simulation, and what comes back.
//! Must not know how the thread carries it out.

use super::Pace;
use crate::scene::Scene;
use crate::sim::{Checkpoint, Request, SimError};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use thiserror::Error;

/// Where the answer to an order goes.
pub type Reply<T> = SyncSender<Result<T, RunnerError>>;

/// A reply channel and the end at which to wait for the answer. The receiver fails when the order was dropped with
/// the runner.
pub fn reply<T>() -> (Reply<T>, Receiver<Result<T, RunnerError>>) {
    sync_channel(1)
}

/// An order to the simulation thread; orders are carried out in turn, between two time steps.
#[derive(Debug)]
pub enum Order {
    /// Goes on at another pace.
    SetPace(Pace),
    /// Goes on with a changed scene. Of several in a row only the last is carried out. Builds anew if there is no
    /// simulation (the last one failed). A refusal leaves the old simulation as it is.
    Adopt(Box<Scene>),
    /// From now on snapshots hold what is requested; one is published soon.
    Observe(Request),
    /// Asks for the complete state.
    Save(Reply<Checkpoint>),
    /// Returns to a saved state. A refusal leaves the old simulation as it is.
    Load(Box<Checkpoint>),
    /// Builds the simulation of the current scene anew; the pace stays.
    Restart,
    /// Recording: computes exactly `steps` steps, publishes, answers with the generation of that snapshot, and pauses.
    /// Another pace in between cancels it.
    AdvanceAndPublish {
        /// Steps to the frame; 0 publishes the state as it is.
        steps: u32,
        /// Gets the generation of the snapshot.
        reply: Reply<u64>,
    },
    /// Ends the thread.
    Stop,
}

/// Why an order was not taken or not carried out.
#[derive(Debug, Error)]
pub enum RunnerError {
    /// The bounded channel is full.
    #[error("the simulation is busy and {0} orders wait for it already: try again when it has caught up")]
    Full(usize),
    /// The thread has ended.
    #[error("the simulation has been stopped: start it anew")]
    Stopped,
    /// The system gave no thread.
    #[error("the simulation thread cannot be started ({0}): close other programs and try again")]
    Spawn(std::io::Error),
    /// The pace makes no sense.
    #[error("a pace of {rate} simulated seconds a second is not possible: give a positive number")]
    Rate {
        /// What was asked for.
        rate: f64,
    },
    /// A frame was cancelled by another order.
    #[error("the frame was cancelled, since another pace was ordered before it was done: order it again")]
    Cancelled,
    /// No answer in time.
    #[error("the simulation did not answer within {seconds} s: wait longer, or order fewer steps at once")]
    TimedOut {
        /// How long was waited.
        seconds: f64,
    },
    /// The simulation itself failed or refused.
    #[error(transparent)]
    Sim(#[from] SimError),
}
