//! Constants of nature used by the gas model.
//! Knows nothing else.

/// Boltzmann constant k, J/K (exact, SI 2019).
pub const BOLTZMANN: f64 = 1.380_649e-23;

/// Avogadro constant, 1/mol (exact, SI 2019).
pub const AVOGADRO: f64 = 6.022_140_76e23;
