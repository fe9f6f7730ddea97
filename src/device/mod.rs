//! Devices: what computes a scene, and how one is chosen.
//! Must not know the view, the runner or files.

pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod gas;
pub mod memory;
pub mod observe;

use crate::scene::Scene;
use crate::sim::{Factory, SimError, Simulation};

/// Which device the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// The fastest there is.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
}

/// A device that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// Name and size: "CPU, 2 threads".
    pub name: String,
    /// What the user must be told about the choice; empty if nothing.
    pub remark: String,
    threads: usize,
}

/// Finds the device for a choice; `threads` is for the CPU, 0 for one a core.
pub fn choose(choice: Choice, threads: usize) -> Result<Chosen, SimError> {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = if threads == 0 { cores } else { threads };
    let cpu = |remark: &str| Chosen {
        name: format!("CPU, {threads} thread{}", if threads == 1 { "" } else { "s" }),
        remark: remark.into(),
        threads,
    };
    match choice {
        Choice::Cpu => Ok(cpu("")),
        Choice::Auto => Ok(cpu("this version has no CUDA device yet")),
        Choice::Cuda => Err(SimError::Device(
            "this version has no CUDA device yet: use --device cpu, or --device auto".to_string(),
        )),
    }
}

impl Chosen {
    /// Builds simulations on this device.
    pub fn factory(&self) -> Factory {
        let threads = self.threads;
        Box::new(move |scene: &Scene| {
            let simulation: Box<dyn Simulation> = Box::new(cpu::CpuGas::new(scene, threads)?);
            Ok(simulation)
        })
    }

    /// Whether it is an NVIDIA GPU.
    pub fn is_cuda(&self) -> bool {
        false
    }

    /// Threads of the CPU device.
    pub fn threads(&self) -> usize {
        self.threads
    }
}
