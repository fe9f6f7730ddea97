//! The drawn things, one file each, each with its settings component on an entity of its own.
//! Each is fed plain values from snapshots. Must not know devices or physics.
//!
//! A drawn thing appears by spawning its settings component, and goes with its entity. Its plugin reads the newest
//! snapshot through [`super::flow::Flow`], says through [`super::simulation::Wanted`] what snapshots must hold for it,
//! and keeps a [`color::ColorBar`] beside the settings.

pub mod color;
pub mod domain;
pub mod particles;
pub mod slice;
pub mod surface;

pub use color::{Categories, ColorBar, ColorScale, Colors, Range};

use bevy::prelude::Resource;

/// While this is there, every frame shows the newest snapshot, and waits for the graphics driver where it must: for
/// recordings. Without it a frame never waits, and may show the particles of the frame before.
#[derive(Debug, Clone, Copy, Default, Resource)]
pub struct Exact;
