//! The picture of a flow, in Bevy: one file a feature, `draw/` one file a drawn thing, `panel/` one file a panel.
//! Must not know devices or physics: it is handed a factory, and sees snapshots.
//!
//! | file | is |
//! |---|---|
//! | [`flow`] | the runner as a resource: the newest snapshot, read in place |
//! | [`simulation`] | orders to the simulation, and what it says of itself |
//! | [`document`] | the scene as entities: open, edit, undo, save |
//! | [`stage`] | how metres become units of the picture; light |
//! | [`camera`] | where the flow is seen from: rig, presets, bookmarks, path |
//! | [`draw`] | particles, field slices, arrows, streamlines, isosurface, body surfaces, domain |
//! | [`look`] | what is drawn at first, and in recordings |
//! | [`pick`] | selecting a body, and the gizmo that moves it |
//! | [`probe`] | the value under the cursor, and the velocities of a clicked cell |
//! | [`panel`] | the panels around the flow |
//! | [`keys`], [`actions`] | which key does what, and what it sets in motion |
//! | [`legend`] | colour bars, title and time, drawn over the finished frame |
//! | [`capture`], [`headless`] | finished frames as bytes; an app without a window |
//! | [`video`], [`record`] | mp4 without an external program; a flow to a video, each frame waiting for its steps |
//! | [`bench`] | what the picture costs |
//! | [`display`], [`window`] | whether there is a display; all plugins together on it |

pub mod actions;
pub mod bench;
pub mod camera;
pub mod capture;
pub mod display;
pub mod document;
pub mod draw;
pub mod flow;
pub mod headless;
pub mod keys;
pub mod legend;
pub mod look;
pub mod panel;
pub mod pick;
pub mod probe;
pub mod record;
pub mod simulation;
pub mod stage;
#[cfg(test)]
pub mod testing;
pub mod video;
pub mod window;
