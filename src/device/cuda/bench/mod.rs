//! What `knudsen bench` measures on a GPU beside the product's step: the memory, and peers of the step.
//! Must not know the product's step, or what is printed.

pub mod card;
pub mod layout;
pub mod peer;
pub mod roofline;
pub mod variants;

/// Bytes that the product's step is designed to move a particle: 24 bytes of state, read once and written once.
pub const STEP_BYTES: f64 = 48.0;
