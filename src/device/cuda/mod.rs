//! The CUDA device: the driver, NVRTC, the kernels, and (in `gas`) the simulation on the GPU.
//! Must not know the view, the runner or the command line.

pub mod abi;
pub mod compile;
pub mod context;
pub mod error;
pub mod nvrtc;
pub mod source;

pub use compile::{Code, Module, Target};
pub use context::{Context, Gpu};
pub use error::{CudaError, During};
pub use source::{KernelSource, Sources, Watcher, assemble};

/// What a simulation on CUDA is built with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Which GPU, from 0, as the driver counts them.
    pub ordinal: usize,
    /// Where the kernels come from.
    pub kernels: KernelSource,
}
