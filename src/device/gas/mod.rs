//! What every device needs to simulate gas: the scene made ready, averages, tallies, history, the schedule.
//! Knows nothing of how a device stores particles or runs a step.

mod averages;
mod body;
mod history;
mod record;
mod setup;
mod tallies;

pub use averages::Averages;
pub use body::Body;
pub use record::Record;
pub use setup::{GasSetup, gas_scene};
pub use tallies::{BodyTotals, Tallies, body_totals};
