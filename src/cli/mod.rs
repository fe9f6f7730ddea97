//! cli
pub mod plot;
