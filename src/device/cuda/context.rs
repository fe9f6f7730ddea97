//! Finds the driver and the GPUs, and opens one.
//! Must not know kernels or the simulation.

// The driver's library is asked for before any other call: cudarc panics when it is not there.
#![allow(unsafe_code)]

use super::error::{CudaError, words};
use super::nvrtc::{Need, Nvrtc};
use cudarc::driver::sys::CUdevice_attribute as Attribute;
use cudarc::driver::{CudaContext, CudaStream, result, sys};
use std::sync::{Arc, OnceLock};

/// The least CUDA version of the driver, as the driver counts: 1000 major + 10 minor.
const LEAST_DRIVER: i32 = 12_000;

/// A GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu {
    /// Its number, from 0, as the driver counts.
    pub ordinal: usize,
    /// "NVIDIA H200".
    pub name: String,
    /// Compute capability, major and minor: (9, 0).
    pub capability: (u32, u32),
    /// Its memory, bytes.
    pub memory_bytes: u64,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Threads that a multiprocessor holds.
    pub threads_per_multiprocessor: u32,
    /// Most shared memory of a block, bytes.
    pub shared_bytes_per_block: u32,
    /// CUDA version of the driver, major and minor: (13, 0).
    pub driver: (i32, i32),
    /// Place on the PCI bus: "0000:1b:00.0".
    pub pci: String,
    /// The GPU's own number: "GPU-0f8c...", as nvidia-smi prints it.
    pub uuid: String,
}

impl Gpu {
    /// What the compiler calls it: "sm_90".
    pub fn arch(&self) -> String {
        format!("sm_{}", self.arch_number())
    }

    /// The same as a number: 90.
    pub fn arch_number(&self) -> u32 {
        self.capability.0 * 10 + self.capability.1
    }

    /// What NVRTC must be able to do for it.
    pub fn need(&self) -> Need {
        Need { driver: Some(self.driver), arch: Some(self.arch_number()) }
    }
}

/// True if the library of the driver can be loaded.
pub fn has_driver() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    // SAFETY: loads libcuda, whose initialisers are those of the installed driver.
    *HAS.get_or_init(|| unsafe { sys::is_culib_present() })
}

/// 13000 is CUDA 13.0.
fn version(number: i32) -> (i32, i32) {
    (number / 1000, number % 1000 / 10)
}

/// "13.0".
pub fn version_text((major, minor): (i32, i32)) -> String {
    format!("{major}.{minor}")
}

/// Refuses a driver older than [`LEAST_DRIVER`].
fn check_version(number: i32) -> Result<(i32, i32), CudaError> {
    if number < LEAST_DRIVER {
        let (found, needed) = (version_text(version(number)), version_text(version(LEAST_DRIVER)));
        return Err(CudaError::OldDriver { found, needed });
    }
    Ok(version(number))
}

/// Starts the driver and asks its CUDA version.
fn start() -> Result<(i32, i32), CudaError> {
    if !has_driver() {
        return Err(CudaError::NoDriver);
    }
    let mut number = 0;
    // SAFETY: the library is there; the pointer is to an int. This call is allowed before `cuInit`.
    unsafe { sys::cuDriverGetVersion(&mut number) }.result()?;
    let version = check_version(number)?;
    result::init().map_err(|error| match error.0 {
        sys::CUresult::CUDA_ERROR_NO_DEVICE => CudaError::NoDevice,
        sys::CUresult::CUDA_ERROR_STUB_LIBRARY => CudaError::NoDriver,
        _ => CudaError::Driver(words(error)),
    })?;
    Ok(version)
}

/// All GPUs; at least one. Opens none of them: how much memory is free is not known.
pub fn list() -> Result<Vec<Gpu>, CudaError> {
    let driver = start()?;
    let count = result::device::get_count()?;
    if count < 1 {
        return Err(CudaError::NoDevice);
    }
    (0..count).map(|ordinal| describe(ordinal, driver)).collect()
}

fn describe(ordinal: i32, driver: (i32, i32)) -> Result<Gpu, CudaError> {
    let device = result::device::get(ordinal)?;
    let attribute = |which: Attribute| {
        // SAFETY: the device was just handed out by the driver.
        unsafe { result::device::get_attribute(device, which) }.map(i32::unsigned_abs)
    };
    // SAFETY: as above.
    let memory_bytes = unsafe { result::device::total_mem(device) }? as u64;
    let pci = [
        attribute(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?,
        attribute(Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?,
        attribute(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?,
    ];
    Ok(Gpu {
        ordinal: ordinal.unsigned_abs() as usize,
        name: result::device::get_name(device)?,
        capability: (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        memory_bytes,
        multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        threads_per_multiprocessor: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        shared_bytes_per_block: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        driver,
        pci: format!("{:04x}:{:02x}:{:02x}.0", pci[0], pci[1], pci[2]),
        uuid: uuid_text(&result::device::get_uuid(device)?.bytes.map(|byte| byte as u8)),
    })
}

/// As nvidia-smi prints it.
fn uuid_text(bytes: &[u8; 16]) -> String {
    let mut text = String::from("GPU-");
    for (index, byte) in bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&index) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// The GPU of this number.
pub fn get(ordinal: usize) -> Result<Gpu, CudaError> {
    let mut gpus = list()?;
    let count = gpus.len();
    if ordinal >= count {
        return Err(CudaError::NoSuchDevice { ordinal, count });
    }
    Ok(gpus.swap_remove(ordinal))
}

/// The GPU of this number and the NVRTC that compiles for it: all that CUDA needs is there. Opens neither.
pub fn probe(ordinal: usize) -> Result<(Gpu, &'static Nvrtc), CudaError> {
    let gpu = get(ordinal)?;
    let nvrtc = Nvrtc::find(gpu.need())?;
    Ok((gpu, nvrtc))
}

/// An opened GPU.
#[derive(Debug, Clone)]
pub struct Context {
    /// The GPU.
    pub gpu: Gpu,
    /// Where kernels run, in order.
    pub stream: Arc<CudaStream>,
    /// The compiler.
    pub compiler: &'static Nvrtc,
    context: Arc<CudaContext>,
}

impl Context {
    /// Opens a GPU, with the compiler for it; takes a few hundred milliseconds, and a few hundred megabytes of its memory.
    pub fn open(ordinal: usize) -> Result<Self, CudaError> {
        let (gpu, compiler) = probe(ordinal)?;
        let context = CudaContext::new(ordinal)?;
        // SAFETY: arrays are used on one stream; the copies on others are ordered by events of ours.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream()?;
        Ok(Self { gpu, stream, compiler, context })
    }

    /// Memory that is free now, bytes.
    pub fn free_bytes(&self) -> Result<u64, CudaError> {
        Ok(self.context.mem_get_info()?.0 as u64)
    }

    /// The context of the driver.
    pub fn driver(&self) -> &Arc<CudaContext> {
        &self.context
    }
}

/// Memory of a GPU that is free now, bytes. Opens it for a moment.
pub fn free_bytes(ordinal: usize) -> Result<u64, CudaError> {
    get(ordinal)?;
    Ok(CudaContext::new(ordinal)?.mem_get_info()?.0 as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_the_driver() {
        assert_eq!(version(13_000), (13, 0));
        assert_eq!(version(12_080), (12, 8));
        assert_eq!(check_version(12_000), Ok((12, 0)));
        let old = check_version(11_080).map_err(|error| error.to_string());
        let told = old.err().unwrap_or_default();
        assert!(told.contains("it knows CUDA 11.8, and CUDA 12.0 is needed"), "{told}");
    }

    #[test]
    fn uuids_read_as_in_nvidia_smi() {
        let bytes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255];
        assert_eq!(uuid_text(&bytes), "GPU-00010203-0405-0607-0809-0a0b0c0d0eff");
    }

    #[test]
    fn a_machine_without_a_driver_is_told_apart_and_nothing_panics() {
        // With or without a GPU: an answer, or an error in words; never a panic.
        match list() {
            Ok(gpus) => assert!(!gpus.is_empty() && gpus[0].ordinal == 0 && gpus[0].memory_bytes > 0),
            Err(error) => assert!(error.to_string().contains("--device cpu"), "{error}"),
        }
    }
}
