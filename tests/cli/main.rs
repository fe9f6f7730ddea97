//! The program from end to end: the built binary, run in temporary folders on small scenes.
//! Must not know how the commands work inside: it sees arguments, files, messages and exit codes.

// Helpers of tests may fall over as tests do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod adopt;
mod commands;
mod devices;
mod odd;
#[cfg(feature = "view")]
mod record;
mod refusals;
mod resume;
mod run;
mod support;
