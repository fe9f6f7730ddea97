//! Devices: what computes a scene, and how one is chosen.
//! Must not know the view, the runner or files.

pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod gas;
pub mod memory;
pub mod observe;
pub mod subject;

use crate::scene::Scene;
use crate::sim::{Factory, SimError, Simulation};
use std::path::Path;
use subject::Subject;

/// Which device the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// The fastest there is.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// An NVIDIA GPU, by its number.
    Cuda(usize),
}

/// A device that was found.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// Name and size: "CPU, 2 threads".
    pub name: String,
    /// What the user must be told about the choice; empty if nothing.
    pub remark: String,
    threads: usize,
    #[cfg(feature = "cuda")]
    cuda: Option<cuda::Options>,
}

/// Finds the device for a choice; `threads` is for the CPU, 0 for one a core. Opens no GPU.
///
/// # Errors
/// The GPU that was asked for cannot be used; the message says why and what to do.
pub fn choose(choice: Choice, threads: usize) -> Result<Chosen, SimError> {
    match choice {
        Choice::Cpu => Ok(cpu(threads, String::new())),
        Choice::Auto => Ok(gpu(0).unwrap_or_else(|refusal| {
            cpu(threads, format!("no CUDA: {}; `knudsen devices` says more", refusal.brief))
        })),
        Choice::Cuda(ordinal) => gpu(ordinal).map_err(|refusal| SimError::Device(refusal.whole)),
    }
}

/// Why a GPU cannot be used.
struct Refusal {
    /// In a few words.
    brief: String,
    /// With what to do.
    whole: String,
}

fn cpu(threads: usize, remark: String) -> Chosen {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = if threads == 0 { cores } else { threads };
    Chosen {
        name: format!("CPU, {threads} thread{}", if threads == 1 { "" } else { "s" }),
        remark,
        threads,
        #[cfg(feature = "cuda")]
        cuda: None,
    }
}

/// The GPU, or why it cannot be used. The driver, the GPU and NVRTC are there if this succeeds.
#[cfg(feature = "cuda")]
fn gpu(ordinal: usize) -> Result<Chosen, Refusal> {
    let refuse = |error: cuda::CudaError| Refusal { brief: error.brief(), whole: error.to_string() };
    let (gpu, _) = cuda::probe(ordinal).map_err(refuse)?;
    Ok(Chosen {
        name: format!("GPU {}: {}", gpu.ordinal, gpu.name),
        remark: String::new(),
        threads: 1,
        cuda: Some(cuda::Options { ordinal, ..cuda::Options::default() }),
    })
}

#[cfg(not(feature = "cuda"))]
fn gpu(_ordinal: usize) -> Result<Chosen, Refusal> {
    Err(Refusal {
        brief: "this program was built without it".to_string(),
        whole: "this program was built without CUDA (cargo feature `cuda`): build it with --features cuda, or use \
                --device cpu"
            .to_string(),
    })
}

impl Chosen {
    /// Builds simulations on this device.
    pub fn factory(&self) -> Factory {
        let threads = self.threads;
        #[cfg(feature = "cuda")]
        if let Some(options) = self.cuda.clone() {
            return Box::new(move |scene: &Scene| {
                let simulation: Box<dyn Simulation> = Box::new(cuda::CudaGas::new(scene, &options)?);
                Ok(simulation)
            });
        }
        Box::new(move |scene: &Scene| {
            let simulation: Box<dyn Simulation> = Box::new(cpu::CpuGas::new(scene, threads)?);
            Ok(simulation)
        })
    }

    /// Builds a simulation for the self-test.
    ///
    /// # Errors
    /// The scene cannot be computed.
    pub fn make_subject(&self, scene: &Scene) -> Result<Box<dyn Subject>, SimError> {
        #[cfg(feature = "cuda")]
        if let Some(options) = &self.cuda {
            return Ok(Box::new(cuda::CudaGas::new(scene, options)?));
        }
        Ok(Box::new(cpu::CpuGas::new(scene, self.threads)?))
    }

    /// Takes the kernels of a GPU from a folder, which is looked at now; `None` changes nothing.
    ///
    /// # Errors
    /// The device is the CPU, or the folder is not one of kernels.
    pub fn with_kernels(self, folder: Option<&Path>) -> Result<Self, SimError> {
        let Some(folder) = folder else { return Ok(self) };
        #[cfg(feature = "cuda")]
        if let Some(options) = self.cuda.clone() {
            let kernels = cuda::KernelSource::Folder(folder.to_path_buf());
            kernels.assemble("")?;
            return Ok(Self { cuda: Some(cuda::Options { kernels, ..options }), ..self });
        }
        let why = if self.remark.is_empty() { String::new() } else { format!(" ({})", self.remark) };
        Err(SimError::Device(format!(
            "--kernels {}: only a GPU has kernels, and this is {}{why}; leave it out, or use --device cuda",
            folder.display(),
            self.name
        )))
    }

    /// How the GPU is used; `None` for the CPU.
    #[cfg(feature = "cuda")]
    pub fn cuda(&mut self) -> Option<&mut cuda::Options> {
        self.cuda.as_mut()
    }

    /// Whether this is the CPU.
    pub fn is_cpu(&self) -> bool {
        #[cfg(feature = "cuda")]
        return self.cuda.is_none();
        #[cfg(not(feature = "cuda"))]
        true
    }

    /// Threads of the CPU device.
    pub fn threads(&self) -> usize {
        self.threads
    }
}
