//! The simulation as the picture sees it: its runner, and the newest snapshot, read where it lies.
//! Must not know devices, physics or what is drawn.

use crate::runner::Runner;
use crate::sim::Snapshot;
use bevy::prelude::*;
use std::sync::{Mutex, PoisonError};

/// The running simulation. The lock is for Bevy's sake, which may read a resource from several threads; it is held for
/// as long as a snapshot is read, and never while the simulation computes.
#[derive(Resource)]
pub struct Flow(Mutex<Runner>);

impl Flow {
    /// Takes over a runner.
    pub fn new(runner: Runner) -> Self {
        Self(Mutex::new(runner))
    }

    /// Reads the newest snapshot in place; `None` before the first.
    pub fn read<T>(&self, read: impl FnOnce(&Snapshot) -> T) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).snapshot().map(read)
    }

    /// Gives orders to the runner.
    pub fn with<T>(&self, order: impl FnOnce(&mut Runner) -> T) -> T {
        order(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
