//! The narrow waist: what every simulation offers, and the plain values that cross it.
//! Must not know who implements it or who draws it.

pub mod checkpoint;
pub mod error;
pub mod paint;
pub mod snapshot;

pub use checkpoint::Checkpoint;
pub use error::SimError;
pub use paint::Paint;
pub use snapshot::*;

use crate::scene::{Impact, Scene};

/// One simulation on one device (or several). Built, used and dropped on the runner's thread.
pub trait Simulation {
    /// Computes `steps` time steps.
    fn advance(&mut self, steps: u32) -> Result<(), SimError>;

    /// Goes on with a changed scene, and says what that cost. After an error the old scene still holds.
    fn adopt(&mut self, scene: &Scene) -> Result<Impact, SimError>;

    /// Fills `into` with what `request` asks for; buffers already in `into` are reused.
    fn observe(&mut self, request: &Request, into: &mut Snapshot) -> Result<(), SimError>;

    /// The complete state.
    fn save(&mut self) -> Result<Checkpoint, SimError>;

    /// Returns to a saved state; the run then continues with the same bits as if it had never stopped. After an error
    /// the old state still holds.
    fn load(&mut self, state: &Checkpoint) -> Result<(), SimError>;
}

/// Builds a simulation of a scene: what the runner and the view are handed, so that neither names a device.
pub type Factory = Box<dyn Fn(&Scene) -> Result<Box<dyn Simulation>, SimError> + Send>;
