//! The driver and its GPUs: what is there, and one of them opened.
//! Knows nothing of kernels' sources or of simulations.

#![allow(unsafe_code)]

use super::{Compiler, CudaError, nvrtc};
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaStream, result, sys};
use cudarc::nvrtc::Ptx;
use std::sync::Arc;
use sys::CUdevice_attribute as Attribute;

/// A GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct Gpu {
    /// Its number, from 0.
    pub ordinal: usize,
    /// Its name.
    pub name: String,
    /// Compute capability.
    pub capability: (u32, u32),
    /// Its memory, bytes.
    pub memory_bytes: u64,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Threads that a multiprocessor holds.
    pub threads_per_multiprocessor: u32,
    /// Most shared memory of a block, bytes.
    pub shared_bytes_per_block: u32,
    /// Version of CUDA that the driver supports: 13000 for 13.0.
    pub driver: i32,
}

impl Gpu {
    /// "sm_90".
    pub fn arch(&self) -> String {
        format!("sm_{}{}", self.capability.0, self.capability.1)
    }
}

/// The oldest driver that runs what NVRTC 13 makes and has what is called here: CUDA 12.0.
const OLDEST_DRIVER: i32 = 12_000;

/// "13.0" for 13000.
pub fn version(number: i32) -> String {
    format!("{}.{}", number / 1000, number % 1000 / 10)
}

/// Checks that there is a driver, not too old; its version.
fn driver() -> Result<i32, CudaError> {
    // SAFETY: only tries to open the library. Any other call would panic without it.
    if !unsafe { sys::is_culib_present() } {
        return Err(CudaError::NoDriver);
    }
    result::init()?;
    let mut found = 0;
    // SAFETY: the pointer is to a number that lives during the call.
    unsafe { sys::cuDriverGetVersion(&raw mut found) }.result()?;
    if found < OLDEST_DRIVER {
        return Err(CudaError::OldDriver { found: version(found), needed: version(OLDEST_DRIVER) });
    }
    Ok(found)
}

/// All GPUs.
pub fn list() -> Result<Vec<Gpu>, CudaError> {
    let driver = driver()?;
    let count = CudaContext::device_count()?;
    if count == 0 {
        return Err(CudaError::NoDevice);
    }
    (0..count as usize).map(|ordinal| describe(&*CudaContext::new(ordinal)?, driver)).collect()
}

fn describe(context: &CudaContext, driver: i32) -> Result<Gpu, CudaError> {
    let (major, minor) = context.compute_capability()?;
    let attribute = |which| context.attribute(which).map(|value| value as u32);
    Ok(Gpu {
        ordinal: context.ordinal(),
        name: context.name()?,
        capability: (major as u32, minor as u32),
        memory_bytes: context.total_mem()? as u64,
        multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        threads_per_multiprocessor: attribute(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
        )?,
        shared_bytes_per_block: attribute(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?,
        driver,
    })
}

/// An opened GPU.
#[derive(Debug, Clone)]
pub struct Context {
    /// The GPU.
    pub gpu: Gpu,
    /// Where kernels run, in order.
    pub stream: Arc<CudaStream>,
    /// The compiler.
    pub compiler: Compiler,
    context: Arc<CudaContext>,
}

impl Context {
    /// Opens a GPU, with the compiler for it.
    pub fn open(ordinal: usize) -> Result<Self, CudaError> {
        let driver = driver()?;
        let count = CudaContext::device_count()? as usize;
        if count == 0 {
            return Err(CudaError::NoDevice);
        }
        if ordinal >= count {
            return Err(CudaError::NoSuchDevice { ordinal, count });
        }
        let compiler = nvrtc::find()?;
        let context = CudaContext::new(ordinal)?;
        // SAFETY: arrays are used on one stream; the copies on others are ordered by events of ours.
        unsafe { context.disable_event_tracking() };
        let gpu = describe(&context, driver)?;
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

/// A compiled program on a GPU.
#[derive(Debug, Clone)]
pub struct Module {
    module: Arc<CudaModule>,
}

impl Module {
    /// Compiles a source for a GPU, or takes it from the cache, and loads it.
    pub fn compile(context: &Context, source: &str, options: &[String]) -> Result<Self, CudaError> {
        let cubin = nvrtc::cached(&context.compiler, source, options, &context.gpu)?;
        let module = context.context.load_module(Ptx::from_binary(cubin))?;
        Ok(Self { module })
    }

    /// A kernel of the program.
    pub fn function(&self, name: &str) -> Result<CudaFunction, CudaError> {
        self.module.load_function(name).map_err(|_| CudaError::NoKernel(name.to_string()))
    }
}
