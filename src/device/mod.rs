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

/// Finds the device for a choice; `threads` is for the CPU, 0 for one a core.
pub fn choose(choice: Choice, threads: usize) -> Result<Chosen, SimError> {
    match choice {
        Choice::Cpu => Ok(cpu(threads, String::new())),
        Choice::Auto => Ok(gpu(0).unwrap_or_else(|why| cpu(threads, why))),
        Choice::Cuda(ordinal) => gpu(ordinal).map_err(SimError::Device),
    }
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

/// The GPU, or why it cannot be used.
#[cfg(feature = "cuda")]
fn gpu(ordinal: usize) -> Result<Chosen, String> {
    let context = cuda::Context::open(ordinal).map_err(|error| error.to_string())?;
    let gpu = context.gpu;
    Ok(Chosen {
        name: format!("GPU {}: {}", gpu.ordinal, gpu.name),
        remark: String::new(),
        threads: 1,
        cuda: Some(cuda::Options { ordinal, ..cuda::Options::default() }),
    })
}

#[cfg(not(feature = "cuda"))]
fn gpu(_ordinal: usize) -> Result<Chosen, String> {
    Err("this program was built without CUDA (cargo feature `cuda`): use --device cpu".to_string())
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
