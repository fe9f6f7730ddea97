//! The card that `bench` measures: launching, memory and times, thinly over the CUDA context.
//! Must not know what is measured.

#![allow(unsafe_code)]

use crate::device::cuda::{Context, CudaError, Module};
use crate::sim::SimError;
use cudarc::driver::sys::{CUdevice_attribute, CUevent_flags, CUfunction_attribute_enum};
use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DevicePtr, DriverError, LaunchConfig};

/// An opened card.
pub struct Card(Context);

/// Compiled kernels by name.
pub struct Kernels(Vec<(&'static str, CudaFunction)>);

/// A moment on the card's stream.
pub struct Mark(cudarc::driver::CudaEvent);

/// Memory of the card, given back when dropped.
#[derive(Default)]
pub struct Memory {
    held: Vec<CudaSlice<u8>>,
}

/// An error of the driver, in the words of the device.
pub fn failed(error: DriverError) -> SimError {
    CudaError::from(error).into()
}

impl Card {
    /// Opens the card of this number.
    ///
    /// # Errors
    /// No driver, no NVRTC, no such card.
    pub fn open(ordinal: usize) -> Result<Self, SimError> {
        Ok(Self(Context::open(ordinal)?))
    }

    fn attribute(&self, which: CUdevice_attribute) -> Result<u32, SimError> {
        let value = self.0.driver().attribute(which).map_err(failed)?;
        Ok(value.max(0) as u32)
    }

    /// Multiprocessors.
    ///
    /// # Errors
    /// The card failed.
    pub fn multiprocessors(&self) -> Result<u32, SimError> {
        self.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
    }

    /// Shared memory that a block may ask for, bytes.
    ///
    /// # Errors
    /// The card failed.
    pub fn shared_bytes(&self) -> Result<u32, SimError> {
        self.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
    }

    /// Free memory, bytes.
    ///
    /// # Errors
    /// The card failed.
    pub fn free_bytes(&self) -> Result<u64, SimError> {
        Ok(self.0.free_bytes()?)
    }

    /// Compiles kernels for this card; `name` stands in the compiler's messages.
    ///
    /// # Errors
    /// The compiler's messages.
    pub fn compile(
        &self,
        name: &str,
        source: &str,
        defines: &[String],
        kernels: &[&'static str],
    ) -> Result<Kernels, SimError> {
        let options: Vec<_> = defines.iter().map(|define| format!("-D{define}")).collect();
        let module =
            Module::compile(&self.0, &format!("#line 1 \"kernels/bench/{name}\"\n{source}"), &options)?;
        let load = |&kernel: &&'static str| Ok((kernel, module.function(kernel)?));
        Ok(Kernels(kernels.iter().map(load).collect::<Result<_, SimError>>()?))
    }

    /// Waits until all is done.
    ///
    /// # Errors
    /// The card failed.
    pub fn wait(&self) -> Result<(), SimError> {
        self.0.stream.synchronize().map_err(failed)
    }

    /// A moment between two pieces of work.
    ///
    /// # Errors
    /// The card failed.
    pub fn mark(&self) -> Result<Mark, SimError> {
        let event = self.0.stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
        Ok(Mark(event.map_err(failed)?))
    }

    /// Time that some work takes on the card, s.
    ///
    /// # Errors
    /// The card failed.
    pub fn time_s(&self, work: &dyn Fn() -> Result<(), SimError>) -> Result<f64, SimError> {
        let begin = self.mark()?;
        work()?;
        begin.until(&self.mark()?)
    }

    /// Copies bytes within the card.
    ///
    /// # Errors
    /// The card failed.
    pub fn copy(&self, from: u64, to: u64, bytes: u64) -> Result<(), SimError> {
        // SAFETY: the addresses come from `Memory::take` with at least `bytes`, and the two do not overlap.
        unsafe {
            cudarc::driver::result::memcpy_dtod_async(to, from, bytes as usize, self.0.stream.cu_stream())
        }
        .map_err(failed)
    }

    /// Sets bytes to a value.
    ///
    /// # Errors
    /// The card failed.
    pub fn set(&self, at: u64, value: u8, bytes: u64) -> Result<(), SimError> {
        // SAFETY: the address comes from `Memory::take` with at least `bytes` behind it.
        unsafe {
            cudarc::driver::result::memset_d8_async(at, value, bytes as usize, self.0.stream.cu_stream())
        }
        .map_err(failed)
    }

    /// Bytes from the card, behind all work so far.
    ///
    /// # Errors
    /// The card failed.
    pub fn read(&self, at: u64, to: &mut [u8]) -> Result<(), SimError> {
        self.wait()?;
        // SAFETY: the address comes from `Memory::take` with at least as many bytes; the copy is done when this returns.
        unsafe { cudarc::driver::result::memcpy_dtoh_sync(to, at) }.map_err(failed)
    }

    /// The stream, for [`launch`].
    pub fn stream(&self) -> &CudaStream {
        &self.0.stream
    }
}

impl Mark {
    /// Seconds to a later mark; waits for it.
    ///
    /// # Errors
    /// The card failed.
    pub fn until(&self, later: &Self) -> Result<f64, SimError> {
        let ms = self.0.elapsed_ms(&later.0).map_err(failed)?;
        Ok(f64::from(ms) * 1e-3)
    }
}

impl Kernels {
    /// A kernel by its name.
    ///
    /// # Errors
    /// None of this name was compiled.
    pub fn get(&self, name: &str) -> Result<&CudaFunction, SimError> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, function)| function)
            .ok_or_else(|| SimError::Device(format!("kernel {name} was not compiled: please report it")))
    }

    /// Lets a kernel ask for so many bytes of shared memory.
    ///
    /// # Errors
    /// More than the card has.
    pub fn allow_shared(&self, name: &str, bytes: u32) -> Result<(), SimError> {
        let which = CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        self.get(name)?.set_attribute(which, bytes as i32).map_err(failed)
    }
}

impl Memory {
    /// Takes bytes, all zero; their address holds until this is dropped.
    ///
    /// # Errors
    /// Not enough memory is free.
    pub fn take(&mut self, card: &Card, bytes: u64) -> Result<u64, SimError> {
        let free = card.free_bytes()?;
        let slice =
            card.0.stream.alloc_zeros::<u8>(bytes.max(16) as usize).map_err(
                |error| match CudaError::from(error) {
                    CudaError::OutOfMemory => SimError::Memory {
                        needed_bytes: bytes,
                        available_bytes: free,
                        suggestion: "measure fewer particles".into(),
                    },
                    other => other.into(),
                },
            )?;
        let address = slice.device_ptr(&card.0.stream).0;
        self.held.push(slice);
        Ok(address)
    }

    /// Bytes taken.
    pub fn bytes(&self) -> u64 {
        self.held.iter().map(|slice| slice.num_bytes() as u64).sum()
    }
}

/// Grid and block of a launch.
pub fn shape(grid: u32, block: u32, shared: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (grid, 1, 1), block_dim: (block, 1, 1), shared_mem_bytes: shared }
}

/// Launches a kernel: `launch!(card, kernels, name, grid, block, shared bytes, arguments...)`. Unsafe: the arguments must be
/// those of the kernel, and their addresses hold what it reads and writes.
macro_rules! launch {
    ($card:expr, $kernels:expr, $name:expr, $grid:expr, $block:expr, $shared:expr $(, $argument:expr)*) => {
        $kernels.get($name).and_then(|kernel| {
            use cudarc::driver::PushKernelArg;
            let mut builder = $card.stream().launch_builder(kernel);
            $(builder.arg(&$argument);)*
            builder
                .launch($crate::device::cuda::bench::card::shape($grid, $block, $shared))
                .map(|_| ())
                .map_err($crate::device::cuda::bench::card::failed)
        })
    };
}
pub(crate) use launch;
