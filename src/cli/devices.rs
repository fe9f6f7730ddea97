//! `knudsen devices`: the CPU, the GPUs, and what is missing to compute on them, in plain words.
//! Must not know formulas or simulations.

use crate::device::{Choice, choose, memory};
use crate::units::si;

/// Lists what there is; nothing that is missing is an error.
pub fn run() {
    cpu();
    gpus();
    match choose(Choice::Auto, 0) {
        Ok(device) if device.is_cpu() => say!("\n--device auto takes the CPU"),
        Ok(device) => say!("\n--device auto takes {}", device.name),
        Err(error) => say!("\n--device auto finds nothing: {error}"),
    }
}

fn cpu() {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let model = model_of_cpu().map_or(String::new(), |name| format!("{name}, "));
    say!("CPU     {model}{cores} thread{}", if cores == 1 { "" } else { "s" });
    if let (Some(total), Some(free)) = (memory::total(), memory::available()) {
        say!("        memory {}, {} free", si(total as f64, "B"), si(free as f64, "B"));
    }
}

/// The name of the processor, where the system tells (Linux).
fn model_of_cpu() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

#[cfg(not(feature = "cuda"))]
fn gpus() {
    say!("GPU     none can be used: this program was built without CUDA (cargo feature `cuda`)");
}

#[cfg(feature = "cuda")]
fn gpus() {
    use crate::device::cuda::{Gpu, Need, free_bytes, list, version_text};
    let needs: Vec<Need> = match list() {
        Ok(gpus) => {
            for gpu in &gpus {
                say!(
                    "GPU {:<3} {}, compute capability {}.{}, {} multiprocessors",
                    gpu.ordinal,
                    gpu.name,
                    gpu.capability.0,
                    gpu.capability.1,
                    gpu.multiprocessors
                );
                let free = match free_bytes(gpu.ordinal) {
                    Ok(free) => format!("{} free", si(free as f64, "B")),
                    Err(error) => format!("cannot be opened: {error}"),
                };
                say!("        memory {}, {free}", si(gpu.memory_bytes as f64, "B"));
                say!("        PCI {}, {}", gpu.pci, gpu.uuid);
            }
            if let Some(gpu) = gpus.first() {
                say!("driver  CUDA {}", version_text(gpu.driver));
            }
            gpus.iter().map(Gpu::need).collect()
        }
        Err(error) => {
            say!("GPU     {error}");
            vec![]
        }
    };
    compilers(&needs);
}

/// NVRTC for each GPU; without a GPU, any.
#[cfg(feature = "cuda")]
fn compilers(needs: &[crate::device::cuda::Need]) {
    use crate::device::cuda::{Need, Nvrtc, version_text};
    let mut told: Vec<String> = vec![];
    let any = [Need::default()];
    for need in if needs.is_empty() { &any } else { needs } {
        let text = match Nvrtc::find(*need) {
            Ok(nvrtc) => match nvrtc.check() {
                Ok(()) => format!("{}, {}", version_text(nvrtc.version), nvrtc.path),
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        if !told.contains(&text) {
            say!("NVRTC   {text}");
            told.push(text);
        }
    }
}
