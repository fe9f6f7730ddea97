//! What can go wrong in a simulation, each with what to do next.
//! Must not know devices or files.

use crate::units::si;
use thiserror::Error;

/// An error of a simulation. Every message says what to do next.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SimError {
    /// The scene cannot be simulated.
    #[error("{0}")]
    Scene(String),
    /// Not enough memory; estimated before anything was taken.
    #[error(
        "not enough memory: this scene needs {} and {} are free; {suggestion}",
        si(*needed_bytes as f64, "B"),
        si(*available_bytes as f64, "B")
    )]
    Memory {
        /// Estimated need, bytes.
        needed_bytes: u64,
        /// Free, bytes.
        available_bytes: u64,
        /// The largest size that fits, in words.
        suggestion: String,
    },
    /// The device is missing or failed.
    #[error("{0}")]
    Device(String),
    /// A checkpoint does not fit or is damaged.
    #[error("{0}")]
    Checkpoint(String),
    /// The state became impossible (NaN, energy without bound).
    #[error("{0}")]
    Numerical(String),
}
