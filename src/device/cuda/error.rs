//! What can go wrong with the driver, the GPU and the compiler of the kernels, each with what to do next.
//! Must not know the simulation.

use crate::sim::SimError;
use cudarc::driver::{DriverError, sys::CUresult};
use thiserror::Error;

/// How NVRTC is had, for messages.
pub const GET_NVRTC: &str = "pip install 'nvidia-cuda-nvrtc==13.*' (into the active virtual environment, or with --user), or \
     nvidia-cuda-nvrtc-cu12 for a driver of CUDA 12, or install the CUDA toolkit (Debian: nvidia-cuda-toolkit), or name the \
     file: KNUDSEN_NVRTC=/path/to/libnvrtc.so.13";

/// An error of the CUDA device.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CudaError {
    /// The library of the driver is not there.
    #[error(
        "no NVIDIA driver: libcuda.so.1 cannot be loaded; install the driver of your GPU (Debian: nvidia-driver and \
         libcuda1, or https://www.nvidia.com/drivers), or use --device cpu"
    )]
    NoDriver,
    /// The driver is of before CUDA 12.
    #[error(
        "the NVIDIA driver is too old: it knows CUDA {found}, and CUDA {needed} is needed (driver 525 or newer); update the \
         driver, or use --device cpu"
    )]
    OldDriver {
        /// CUDA version of the driver.
        found: String,
        /// The least that will do.
        needed: String,
    },
    /// There is a driver, but it does not start.
    #[error(
        "the NVIDIA driver does not start: {0}; see whether nvidia-smi works, restart the machine, or use --device cpu"
    )]
    Driver(String),
    /// The driver sees no GPU.
    #[error(
        "the NVIDIA driver finds no GPU: see nvidia-smi, and whether CUDA_VISIBLE_DEVICES hides it, or use --device cpu"
    )]
    NoDevice,
    /// The GPU asked for is not there.
    #[error(
        "there is no GPU {ordinal}: the driver finds {count}, counted from 0; `knudsen devices` lists them"
    )]
    NoSuchDevice {
        /// Asked for.
        ordinal: usize,
        /// GPUs there are.
        count: usize,
    },
    /// NVRTC, which compiles the kernels, is not there, or none that was found will do.
    #[error("no NVRTC, which compiles the kernels for the GPU{}: {GET_NVRTC}\n  looked in: {}", found(.rejected), .searched.join(", "))]
    NoNvrtc {
        /// Where it was looked for.
        searched: Vec<String>,
        /// Those that were found, and what is wrong with each.
        rejected: Vec<String>,
    },
    /// NVRTC is there and fails by itself.
    #[error("NVRTC at {path} fails: {cause}; install it anew: {GET_NVRTC}")]
    Nvrtc {
        /// The library.
        path: String,
        /// What it said.
        cause: String,
    },
    /// A folder given with `--kernels` cannot be used.
    #[error("{path}: {cause}; --kernels takes a folder with the files of knudsen's kernels/")]
    Kernels {
        /// Folder or file.
        path: String,
        /// What is wrong.
        cause: String,
    },
    /// A file of kernels is missing.
    #[error("{0} is not there; --kernels takes a folder with the files of knudsen's kernels/")]
    NoKernelFile(String),
    /// A kernel includes a file that there is not.
    #[error(
        "{file}:{line}: there is no {name} among the kernels: mend the #include, or add the file beside it"
    )]
    Include {
        /// The file with the `#include`.
        file: String,
        /// Its line, from 1.
        line: usize,
        /// The file included.
        name: String,
    },
    /// The kernels do not compile.
    #[error(
        "the kernels do not compile for {arch}:\n{log}\nmend the line named there; if you did not change the kernels, this is \
         a fault of knudsen: please report it, and use --device cpu"
    )]
    Compile {
        /// The GPU they were compiled for: "sm_90".
        arch: String,
        /// The compiler's messages, with files and lines.
        log: String,
    },
    /// The compiled kernels lack a function.
    #[error("the kernels have no function {0}: with --kernels, take the folder of this version of knudsen")]
    NoFunction(String),
    /// The GPU has no memory left.
    #[error(
        "the memory of the GPU is full: take fewer particles_per_cell or cells, end other programs on the GPU (nvidia-smi lists \
         them), or use --device cpu"
    )]
    OutOfMemory,
    /// A kernel broke down; nothing more can be done with the GPU in this process.
    #[error(
        "the GPU broke off: {0}; what was computed since the last checkpoint is lost, and this program cannot use the GPU any \
         more: start it again from the checkpoint (--resume); if it happens again, `knudsen verify --device cuda` tells whether \
         the GPU works"
    )]
    Lost(String),
    /// Any other refusal of the driver.
    #[error(
        "CUDA refused: {0}; start again (--resume continues from a checkpoint), or use --device cpu; if it happens again, \
         please report it"
    )]
    Refused(String),
}

/// What was found of NVRTC, in words.
fn found(rejected: &[String]) -> String {
    if rejected.is_empty() {
        String::new()
    } else {
        format!(" (found, but of no use: {})", rejected.join("; "))
    }
}

impl CudaError {
    /// The reason in a few words, for the remark that the CPU computes instead.
    pub fn brief(&self) -> String {
        match self {
            Self::NoDriver => "no NVIDIA driver".into(),
            Self::OldDriver { found, .. } => format!("the NVIDIA driver is too old: CUDA {found}"),
            Self::Driver(_) => "the NVIDIA driver does not start".into(),
            Self::NoDevice | Self::NoSuchDevice { .. } => "no NVIDIA GPU".into(),
            Self::NoNvrtc { rejected, .. } if !rejected.is_empty() => {
                "NVRTC does not fit the GPU or its driver".into()
            }
            Self::NoNvrtc { .. } => "no NVRTC, which compiles for the GPU".into(),
            other => other.to_string().lines().next().unwrap_or_default().to_string(),
        }
    }
}

/// Errors after which every call in the process fails (CUDA driver API, `CUresult`: "the process must be terminated").
fn is_lost(code: CUresult) -> bool {
    use CUresult::*;
    matches!(
        code,
        CUDA_ERROR_ILLEGAL_ADDRESS
            | CUDA_ERROR_LAUNCH_FAILED
            | CUDA_ERROR_LAUNCH_TIMEOUT
            | CUDA_ERROR_ASSERT
            | CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUDA_ERROR_MISALIGNED_ADDRESS
            | CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUDA_ERROR_INVALID_PC
            | CUDA_ERROR_ECC_UNCORRECTABLE
            | CUDA_ERROR_CONTEXT_IS_DESTROYED
    )
}

/// The name of an error and the driver's words for it; its name alone where there is no driver to ask (tests).
pub fn words(error: DriverError) -> String {
    let name = format!("{:?}", error.0);
    if !super::context::has_driver() {
        return name;
    }
    let words = error.error_string().ok().and_then(|text| text.to_str().ok()).unwrap_or_default();
    if words.is_empty() { name } else { format!("{words} ({name})") }
}

impl From<DriverError> for CudaError {
    fn from(error: DriverError) -> Self {
        match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Self::OutOfMemory,
            CUresult::CUDA_ERROR_NO_DEVICE => Self::NoDevice,
            code if is_lost(code) => Self::Lost(words(error)),
            _ => Self::Refused(words(error)),
        }
    }
}

impl From<CudaError> for SimError {
    fn from(error: CudaError) -> Self {
        Self::Device(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What each message must say: the fault, and what to do.
    #[test]
    fn every_message_says_what_to_do() {
        let text = String::from;
        let cases: [(CudaError, &[&str]); 16] = [
            (CudaError::NoDriver, &["libcuda.so.1", "install the driver", "--device cpu"]),
            (
                CudaError::OldDriver { found: text("11.4"), needed: text("12.0") },
                &["CUDA 11.4", "CUDA 12.0 is needed", "update the driver"],
            ),
            (
                CudaError::Driver(text("system not ready")),
                &["system not ready", "nvidia-smi", "--device cpu"],
            ),
            (CudaError::NoDevice, &["finds no GPU", "CUDA_VISIBLE_DEVICES", "--device cpu"]),
            (CudaError::NoSuchDevice { ordinal: 3, count: 2 }, &["no GPU 3", "finds 2", "knudsen devices"]),
            (
                CudaError::NoNvrtc { searched: vec![text("/usr/local/cuda/lib64")], rejected: vec![] },
                &[
                    "no NVRTC, which compiles the kernels for the GPU: pip install 'nvidia-cuda-nvrtc==13.*'",
                    "nvidia-cuda-nvrtc-cu12",
                    "Debian: ",
                    "KNUDSEN_NVRTC=",
                    "looked in: /usr/local/cuda/lib64",
                ],
            ),
            (
                CudaError::NoNvrtc { searched: vec![], rejected: vec![text("/x is too new")] },
                &["(found, but of no use: /x is too new)"],
            ),
            (
                CudaError::Nvrtc { path: text("/x/libnvrtc.so.13"), cause: text("no builtins") },
                &["/x/libnvrtc.so.13", "no builtins", "install it anew: pip"],
            ),
            (
                CudaError::Kernels { path: text("k"), cause: text("has no file *.cu") },
                &["k: has no file *.cu", "--kernels takes a folder"],
            ),
            (
                CudaError::NoKernelFile(text("k/step.cu")),
                &["k/step.cu is not there", "--kernels takes a folder"],
            ),
            (
                CudaError::Include { file: text("a.cu"), line: 7, name: text("b.cuh") },
                &["a.cu:7: there is no b.cuh", "mend the #include"],
            ),
            (
                CudaError::Compile { arch: text("sm_90"), log: text("a.cu(3): error: x") },
                &["for sm_90:\na.cu(3): error: x\n", "mend the line", "please report it"],
            ),
            (CudaError::NoFunction(text("step")), &["no function step", "--kernels"]),
            (
                CudaError::from(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)),
                &["is full", "particles_per_cell", "--device cpu"],
            ),
            (
                CudaError::from(DriverError(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS)),
                &["broke off", "CUDA_ERROR_ILLEGAL_ADDRESS", "checkpoint", "--resume"],
            ),
            (
                CudaError::from(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE)),
                &["CUDA refused: ", "CUDA_ERROR_INVALID_VALUE", "report it"],
            ),
        ];
        for (error, parts) in cases {
            let told = error.to_string();
            for part in parts {
                assert!(told.contains(part), "{part:?} is not in {told}");
            }
            assert!(!error.brief().contains('\n') && !error.brief().is_empty());
            assert_eq!(SimError::from(error).to_string(), told);
        }
    }
}
