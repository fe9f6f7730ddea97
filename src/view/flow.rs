//! The simulation as the picture sees it: its runner, and the newest snapshot, read where it lies.
//! Must not know devices, physics or what is drawn.

use crate::runner::Runner;
use crate::sim::Snapshot;
use bevy::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// The running simulation, or a snapshot that stands still. The lock is for Bevy's sake, which may read a resource from
/// several threads; it is held for as long as a snapshot is read, and never while the simulation computes.
#[derive(Resource)]
pub struct Flow {
    source: Mutex<Source>,
    /// Which of the flows of this process this is.
    epoch: u32,
}

enum Source {
    Runs(Runner),
    Still(Box<Snapshot>),
}

/// What tells one snapshot from every other of this process: drawn things keep it to see whether there is a newer one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Stamp {
    epoch: u32,
    generation: u64,
}

impl Flow {
    /// Takes over a runner.
    pub fn new(runner: Runner) -> Self {
        Self::of(Source::Runs(runner))
    }

    /// A snapshot that stands still, for tests and pictures of saved states.
    pub fn still(snapshot: Snapshot) -> Self {
        Self::of(Source::Still(Box::new(snapshot)))
    }

    fn of(source: Source) -> Self {
        // 0 is left to the default stamp, which belongs to no snapshot.
        static EPOCH: AtomicU32 = AtomicU32::new(1);
        Self { source: Mutex::new(source), epoch: EPOCH.fetch_add(1, Ordering::Relaxed) }
    }

    /// Reads the newest snapshot in place; `None` before the first.
    pub fn read<T>(&self, read: impl FnOnce(&Snapshot) -> T) -> Option<T> {
        self.newest(|_, snapshot| read(snapshot))
    }

    /// Reads the newest snapshot in place if it is another than that of `seen`, which becomes its stamp.
    pub fn read_new<T>(&self, seen: &mut Stamp, read: impl FnOnce(&Snapshot) -> T) -> Option<T> {
        self.newest(|stamp, snapshot| {
            let new = *seen != stamp;
            *seen = stamp;
            new.then(|| read(snapshot))
        })
        .flatten()
    }

    /// The stamp of the newest snapshot; the default one before the first.
    pub fn stamp(&self) -> Stamp {
        self.newest(|stamp, _| stamp).unwrap_or_default()
    }

    /// Gives orders to the runner; `None` for a snapshot that stands still.
    pub fn with<T>(&self, order: impl FnOnce(&mut Runner) -> T) -> Option<T> {
        match &mut *self.source.lock().unwrap_or_else(PoisonError::into_inner) {
            Source::Runs(runner) => Some(order(runner)),
            Source::Still(_) => None,
        }
    }

    /// Another snapshot in the place of one that stands still, as if a simulation had gone on.
    #[cfg(test)]
    pub fn stand(&self, snapshot: Snapshot) {
        *self.source.lock().unwrap_or_else(PoisonError::into_inner) = Source::Still(Box::new(snapshot));
    }

    fn newest<T>(&self, read: impl FnOnce(Stamp, &Snapshot) -> T) -> Option<T> {
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = match &mut *source {
            Source::Runs(runner) => runner.snapshot()?,
            Source::Still(snapshot) => snapshot,
        };
        Some(read(Stamp { epoch: self.epoch, generation: snapshot.generation }, snapshot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_new_once_and_never_that_of_another_flow() {
        let (one, other) = (Flow::still(Snapshot::default()), Flow::still(Snapshot::default()));
        let mut seen = Stamp::default();
        assert_eq!(one.read_new(&mut seen, |snapshot| snapshot.step), Some(0));
        assert_eq!(one.read_new(&mut seen, |snapshot| snapshot.step), None);
        assert_eq!(other.read_new(&mut seen, |snapshot| snapshot.step), Some(0));
        assert_ne!(one.stamp(), other.stamp());
    }
}
