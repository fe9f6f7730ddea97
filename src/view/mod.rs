//! The picture of a flow, in Bevy: one file a feature, `draw/` one file a drawn thing.
//! Must not know devices or physics: it is handed a factory, and sees snapshots.
//!
//! | file | is |
//! |---|---|
//! | [`flow`] | the runner as a resource: the newest snapshot, read in place |
//! | [`stage`] | how metres become units of the picture; light, camera, and its orbit |
//! | `draw/` | particles, field slice, body surfaces, domain |
//! | [`legend`] | colour bars, title and time, drawn over the finished frame |
//! | [`headless`] | an app without a window whose frames are handed back |
//! | [`video`] | mp4 without an external program |
//! | [`record`] | a flow to a video, each frame waiting for its steps |

pub mod draw;
pub mod flow;
pub mod headless;
pub mod legend;
pub mod record;
pub mod stage;
pub mod video;
