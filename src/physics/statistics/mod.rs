//! Statistics of a run: errors by batch means, when a flow is steady, goodness of fit.
//! Knows nothing of gases, particles or devices.

pub mod batch;
pub mod chi_square;
pub mod steady;

pub use batch::{BatchMeans, Mean};
pub use chi_square::ChiSquare;
pub use steady::{Decision, SteadyDetector};
