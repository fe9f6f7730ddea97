//! The CUDA device.
//! Must not know the view, the runner or files.

pub mod bench;
