//! The simulation in the app: what the window orders from it, and what it says of itself. Never waits.
//! Must not know devices or physics: it is handed what builds simulations.

use crate::sim::Request;
use bevy::prelude::*;

/// What the drawn things and panels need of the snapshots. Everybody who needs something says so in every frame, in
/// `Update`; what nobody asks for is not computed.
#[derive(Debug, Clone, Copy, PartialEq, Resource, Default)]
pub struct Wanted(pub Request);
