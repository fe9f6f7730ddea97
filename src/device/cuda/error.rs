//! What can be missing or go wrong with CUDA, each in plain words with what to do.
//! Knows nothing of simulations.

use crate::sim::SimError;
use cudarc::driver::DriverError;
use thiserror::Error;

/// Why CUDA cannot be used, or failed.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CudaError {
    /// No libcuda.
    #[error(
        "there is no NVIDIA driver here (libcuda.so.1 was not found): install the driver of your GPU, or use --device cpu"
    )]
    NoDriver,
    /// The driver is older than the program needs.
    #[error(
        "the NVIDIA driver is too old: it supports CUDA {found}, CUDA {needed} or newer is needed; update the driver, or \
         use --device cpu"
    )]
    OldDriver {
        /// Version of CUDA that the driver supports.
        found: String,
        /// Version needed.
        needed: String,
    },
    /// A driver, but no GPU.
    #[error("the NVIDIA driver finds no GPU: is it switched on and visible (CUDA_VISIBLE_DEVICES)? Or use --device cpu")]
    NoDevice,
    /// No GPU of that number.
    #[error("there is no GPU {ordinal}, only {count}, counted from 0: `knudsen devices` lists them")]
    NoSuchDevice {
        /// Number asked for.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },
    /// No NVRTC.
    #[error(
        "the NVIDIA driver is there, but not NVRTC, which compiles the kernels: pip install nvidia-cuda-nvrtc==13.0.88, \
         or install the CUDA toolkit 13, or name the file in KNUDSEN_NVRTC; or use --device cpu. Looked for {looked_for}"
    )]
    NoNvrtc {
        /// Where it was looked for.
        looked_for: String,
    },
    /// The kernels do not compile.
    #[error("the kernels do not compile for {arch}:\n{log}")]
    Compile {
        /// Architecture.
        arch: String,
        /// The compiler's words.
        log: String,
    },
    /// A kernel is missing.
    #[error("there is no kernel {0} in the compiled program: is the folder of --kernels complete?")]
    NoKernel(String),
    /// A file of kernels cannot be read.
    #[error("cannot read the kernels: {0}")]
    Source(String),
    /// Out of memory.
    #[error(
        "the memory of the GPU is full: take fewer particles_per_cell or cells, close other programs that use the GPU, or \
         use --device cpu"
    )]
    OutOfMemory,
    /// Any other failure of the driver.
    #[error(
        "the GPU failed ({0}); what was computed since the last checkpoint is lost. Start again from the checkpoint \
         (--resume); if it happens again, `knudsen verify --device cuda` tells whether the GPU works"
    )]
    Driver(String),
}

impl From<DriverError> for CudaError {
    fn from(error: DriverError) -> Self {
        use cudarc::driver::sys::CUresult;
        match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Self::OutOfMemory,
            CUresult::CUDA_ERROR_NO_DEVICE => Self::NoDevice,
            _ => Self::Driver(format!("{:?}", error.0)),
        }
    }
}

impl From<CudaError> for SimError {
    fn from(error: CudaError) -> Self {
        Self::Device(error.to_string())
    }
}
