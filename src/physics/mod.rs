//! Pure functions and plain data of the two models: nothing here has threads, clocks, files or a device.
//! May import only `scene` and `units`.

pub mod collide;
pub mod constants;
pub mod geometry;
pub mod grid;
pub mod inflow;
pub mod moments;
pub mod motion;
pub mod particle;
pub mod resolution;
pub mod rng;
pub mod sample;
pub mod species;
pub mod statistics;
pub mod stream;
pub mod theory;
pub mod wall;
