//! What the simulation thread shows: snapshots through a triple buffer, and a small board with the state.
//! Must not know the simulation or who looks.
//!
//! Neither side of the triple buffer ever waits. The board is behind a lock that is held for a copy of a few words.

use crate::scene::Impact;
use crate::sim::{SimError, Snapshot};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What the simulation thread does.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// Builds the simulation.
    Building,
    /// Computes steps, or waits for the next one that is due.
    Running,
    /// Stands still.
    Paused,
    /// Has reached this step, the goal of `Pace::Until` (or was beyond it already).
    Finished(u64),
    /// The simulation failed and is gone; `Restart`, `Adopt` and `Load` build it anew.
    Failed(SimError),
    /// The thread has ended.
    Stopped,
}

/// What has happened since the last look.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An order was refused; the simulation goes on as before.
    Refused(SimError),
    /// A changed scene was adopted, at this cost.
    Adopted(Impact),
    /// A new snapshot is there.
    Snapshot,
    /// The state changed to this.
    Status(Status),
    /// Nothing within the time.
    Timeout,
}

/// The state as posted by the thread; the counters tell a watcher what is new.
#[derive(Debug, Clone)]
pub(super) struct Posted {
    pub(super) status: Status,
    pub(super) step: u64,
    pub(super) steps_per_s: f64,
    pub(super) generation: u64,
    pub(super) refusal: Option<SimError>,
    adopted: Impact,
    seen: Seen,
}

/// How much of each kind there was.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    statuses: u64,
    refusals: u64,
    adoptions: u64,
    generation: u64,
}

impl Posted {
    /// The next thing that `seen` lacks; it counts as seen then.
    fn next(&self, seen: &mut Seen) -> Option<Event> {
        if seen.refusals != self.seen.refusals {
            seen.refusals = self.seen.refusals;
            // A later success took the refusal off the board: then there is nothing to show any more.
            if let Some(error) = &self.refusal {
                return Some(Event::Refused(error.clone()));
            }
        }
        if seen.adoptions != self.seen.adoptions {
            seen.adoptions = self.seen.adoptions;
            return Some(Event::Adopted(self.adopted));
        }
        if seen.generation != self.seen.generation {
            seen.generation = self.seen.generation;
            return Some(Event::Snapshot);
        }
        if seen.statuses != self.seen.statuses {
            seen.statuses = self.seen.statuses;
            return Some(Event::Status(self.status.clone()));
        }
        None
    }
}

/// Where the thread posts its state.
#[derive(Debug)]
pub(super) struct Board {
    posted: Mutex<Posted>,
    changed: Condvar,
}

impl Board {
    pub(super) fn new() -> Self {
        let posted = Posted {
            status: Status::Building,
            step: 0,
            steps_per_s: 0.0,
            generation: 0,
            refusal: None,
            adopted: Impact::Nothing,
            seen: Seen::default(),
        };
        Self { posted: Mutex::new(posted), changed: Condvar::new() }
    }

    /// The lock; a panic elsewhere leaves whole values behind, so poison means nothing here.
    pub(super) fn read(&self) -> MutexGuard<'_, Posted> {
        self.posted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn post(&self, change: impl FnOnce(&mut Posted)) {
        change(&mut self.read());
        self.changed.notify_all();
    }

    pub(super) fn set_status(&self, status: Status) {
        if self.read().status == status {
            return;
        }
        self.post(|posted| {
            posted.status = status;
            posted.seen.statuses += 1;
        });
    }

    pub(super) fn set_progress(&self, step: u64, steps_per_s: f64) {
        let mut posted = self.read();
        posted.step = step;
        posted.steps_per_s = steps_per_s;
    }

    pub(super) fn refused(&self, error: SimError) {
        self.post(|posted| {
            posted.refusal = Some(error);
            posted.seen.refusals += 1;
        });
    }

    pub(super) fn adopted(&self, impact: Impact) {
        self.post(|posted| {
            posted.refusal = None;
            posted.adopted = impact;
            posted.seen.adoptions += 1;
        });
    }

    pub(super) fn accepted(&self) {
        self.read().refusal = None;
    }

    fn published(&self, generation: u64) {
        self.post(|posted| {
            posted.generation = generation;
            posted.seen.generation = generation;
        });
    }

    /// Waits for something that `seen` lacks.
    pub(super) fn wait(&self, seen: &mut Seen, timeout: Duration) -> Event {
        let start = Instant::now();
        let mut posted = self.read();
        loop {
            if let Some(event) = posted.next(seen) {
                return event;
            }
            let Some(left) = timeout.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) else {
                return Event::Timeout;
            };
            posted = self.changed.wait_timeout(posted, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The thread's end of the exchange.
#[derive(Debug)]
pub(super) struct Publisher {
    buffer: triple_buffer::Input<Snapshot>,
    generation: u64,
}

impl Publisher {
    /// A buffer to fill. It holds an older snapshot, whose memory can be used again.
    pub(super) fn buffer(&mut self) -> &mut Snapshot {
        self.buffer.input_buffer_mut()
    }

    /// Shows the buffer as it is now; returns its generation.
    pub(super) fn publish(&mut self, board: &Board) -> u64 {
        self.generation += 1;
        self.buffer.input_buffer_mut().generation = self.generation;
        self.buffer.publish();
        board.published(self.generation);
        self.generation
    }
}

/// The onlooker's end of the exchange.
pub(super) type Viewer = triple_buffer::Output<Snapshot>;

/// Both ends of a new exchange.
pub(super) fn exchange() -> (Publisher, Viewer) {
    let (buffer, viewer) = triple_buffer::triple_buffer(&Snapshot::default());
    (Publisher { buffer, generation: 0 }, viewer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_snapshot_wins_and_generations_grow() {
        let board = Board::new();
        let (mut publisher, mut viewer) = exchange();
        assert_eq!(viewer.read().generation, 0);
        for step in 1..=5 {
            publisher.buffer().step = step;
            assert_eq!(publisher.publish(&board), step);
        }
        assert_eq!((viewer.read().step, viewer.read().generation), (5, 5));
        assert_eq!(board.read().generation, 5);
        // A buffer being filled is not seen.
        publisher.buffer().step = 99;
        assert_eq!(viewer.read().step, 5);
    }

    #[test]
    fn every_kind_of_event_is_told_once() {
        let board = Board::new();
        let mut seen = Seen::default();
        let mut look = || board.wait(&mut seen, Duration::ZERO);
        assert_eq!(look(), Event::Timeout);
        let error = SimError::Scene("no".into());
        board.set_status(Status::Running);
        board.set_status(Status::Running);
        board.published(1);
        board.refused(error.clone());
        assert_eq!(look(), Event::Refused(error.clone()));
        assert_eq!(look(), Event::Snapshot);
        assert_eq!(look(), Event::Status(Status::Running));
        assert_eq!(look(), Event::Timeout);
        assert_eq!(board.read().refusal, Some(error));
        board.adopted(Impact::Live);
        assert_eq!(look(), Event::Adopted(Impact::Live));
        assert_eq!(board.read().refusal, None);
        assert_eq!(look(), Event::Timeout);
    }
}
