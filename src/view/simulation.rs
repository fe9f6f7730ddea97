//! The simulation in the app: what the window orders from it, and what it says of itself. Never waits.
//! Must not know devices or physics: it is handed what builds simulations.

use crate::sim::Request;
use bevy::prelude::*;

/// What the drawn things and panels need of the snapshots. Everybody who needs something says so in every frame, in
/// `Update`; what nobody asks for is not computed.
#[derive(Debug, Clone, Copy, PartialEq, Resource, Default)]
pub struct Wanted(pub Request);

/// Whether every frame must show its snapshot exactly: then long computations of drawn things are waited for. Set in
/// apps without a window; in a window no frame waits, and such things follow when they are ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Resource, Default)]
pub struct Exact(pub bool);
