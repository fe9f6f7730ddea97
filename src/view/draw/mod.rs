//! The drawn things, one file each, each with its settings component on an entity of its own.
//! Each is fed plain values from snapshots. Must not know devices or physics.
//!
//! A drawn thing appears by spawning its settings component, and goes with its entity. Its plugin reads the newest
//! snapshot through [`super::flow::Flow`], says through [`super::simulation::Wanted`] what snapshots must hold for it,
//! and keeps a [`color::ColorBar`] beside the settings.

pub mod background;
pub mod clip;
pub mod color;
pub mod domain;
pub mod glyph;
pub mod isosurface;
pub mod keep;
pub mod particles;
pub mod sample;
pub mod slice;
pub mod streamline;
pub mod surface;

pub use color::{ColorBar, ColorScale, Colors, Range};
