//! The picture of a flow, in Bevy: one file a feature, `draw/` one file a drawn thing, `panel/` one file a panel.
//! Must not know devices or physics: it is handed a factory, and sees snapshots.
//!
//! | file | is |
//! |---|---|
//! | [`flow`] | the runner as a resource: the newest snapshot, read in place |
//! | [`simulation`] | orders to the simulation, and what it says of itself |
//! | [`document`] | the scene as entities: open, edit, undo, save |
//! | [`stage`] | how metres become units of the picture; light |
//! | [`camera`] | where the flow is seen from |
//! | [`draw`] | particles, field slices, body surfaces, domain, ... |
//! | [`legend`] | colour bars, title and time, drawn over the finished frame |
//! | [`headless`] | an app without a window whose frames are handed back |
//! | [`bench`] | what the picture costs |
//! | [`video`] | mp4 without an external program |
//! | [`record`] | a flow to a video, each frame waiting for its steps |

pub mod bench;
pub mod camera;
pub mod document;
pub mod draw;
pub mod flow;
pub mod headless;
pub mod legend;
pub mod record;
pub mod simulation;
pub mod stage;
#[cfg(test)]
pub mod testing;
pub mod video;
