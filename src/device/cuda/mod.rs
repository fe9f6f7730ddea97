//! CUDA devices: the driver and NVRTC found at run time, kernels compiled for the scene and the card, simulations on it.
//! Must not know the runner, the view or files of scenes. The only place with `unsafe`.

#[macro_use]
mod abi;
pub mod bench;
mod compile;
mod context;
mod error;
pub mod gas;
mod nvrtc;
mod source;
pub mod walls;

pub use compile::{Code, Module, Target, compile, compile_in};
pub use context::{Context, Gpu, free_bytes, list, probe, version_text};
pub use error::CudaError;
pub use gas::CudaGas;
pub use nvrtc::{Need, Nvrtc};
pub use source::{KernelSource, Watcher};

/// How a CUDA device shall be used.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Which of the GPUs.
    pub ordinal: usize,
    /// Where the kernels come from.
    pub kernels: KernelSource,
    /// Blocks of the warp-a-cell kernel on a multiprocessor; for measurements.
    pub step_blocks: Option<u32>,
    /// Size class whose kernel goes over all cells; for measurements.
    pub direct_class: Option<u32>,
}
