//! knudsen: an interactive wind tunnel for rarefied gas, and a laboratory for gravity.
//! This file only lists the modules; a module imports what lies below it, and nothing else.
//!
//! ```text
//!                 main
//!                  |
//!                 cli --------- verify          the composition root and the physics self-test
//!                  |     \        |
//!               app [view]  +-----+
//!                  |              |
//!               view/* [view]     |
//!                  |              |
//!     output    runner         device --> physics
//!         \        |              |          |
//!          +----> sim <-----------+          |
//!                  |                         |
//!                scene <---------------------+
//!                  |
//!                units
//! ```
//!
//! | module | is |
//! |---|---|
//! | [`units`] | quantities: name, symbol, SI unit, how to print "1.2 kPa" |
//! | [`scene`] | the document: RON in and out, validation, shapes, triangle files, what a change means |
//! | [`physics`] | pure functions and plain data: random numbers, collisions, walls, geometry, moments |
//! | [`sim`] | the narrow waist: trait `Simulation`, `Snapshot`, `Checkpoint`, `SimError` |
//! | [`device`] | implementations of `Simulation`; what devices there are |
//! | [`runner`] | the simulation thread: bounded orders, pace, double-buffered snapshots |
//! | [`output`] | files: ParaView, CSV, JSON, PNG, the seed's `fields_avg.dat` |
//! | [`verify`] | the physics self-test: value, reference, sigma, verdict |
//! | [`cli`] | the commands |
//!
//! `tests/layers.rs` holds this picture against the sources.

#[cfg(feature = "view")]
pub mod app;
pub mod cli;
pub mod device;
pub mod output;
pub mod physics;
pub mod runner;
pub mod scene;
pub mod sim;
pub mod units;
pub mod verify;
#[cfg(feature = "view")]
pub mod view;
