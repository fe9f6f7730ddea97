//! The arrays of a run in the card's memory: two states, what a step works with, books.
//! Knows nothing of what the kernels do with them.

#![allow(unsafe_code)]

use super::abi::{BINS, COUNTS, Control, FarRecord, SPREAD, State, Work};
use crate::device::cuda::CudaError;
use bytemuck::Pod;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr};
use std::sync::Arc;

/// Threads of a block of the plan.
pub const PLAN_THREADS: u32 = 256;
/// Steps that the log holds.
pub const LOG_SLOTS: u32 = 64;
/// Far flights that a word can number beside the bin.
const MOST_FAR: u32 = (1 << 27) - 1;

/// An array of bytes in the card's memory.
#[derive(Debug)]
pub struct Array {
    slice: CudaSlice<u8>,
    stream: Arc<CudaStream>,
}

impl Array {
    /// Takes memory for `length` values of `size` bytes; what is in it is not known.
    pub fn new(stream: &Arc<CudaStream>, length: usize, size: usize) -> Result<Self, CudaError> {
        // SAFETY: nothing reads it before a kernel or a copy has written it.
        let slice = unsafe { stream.alloc::<u8>((length * size).max(16)) }?;
        Ok(Self { slice, stream: stream.clone() })
    }

    /// The same, filled with zeros.
    pub fn zeros(stream: &Arc<CudaStream>, length: usize, size: usize) -> Result<Self, CudaError> {
        let slice = stream.alloc_zeros::<u8>((length * size).max(16))?;
        Ok(Self { slice, stream: stream.clone() })
    }

    /// An array with these values.
    pub fn from_slice<T: Pod>(stream: &Arc<CudaStream>, values: &[T]) -> Result<Self, CudaError> {
        let mut array = Self::new(stream, values.len(), size_of::<T>())?;
        array.write(0, values)?;
        Ok(array)
    }

    /// Address on the card.
    pub fn address(&self) -> u64 {
        self.slice.device_ptr(&self.stream).0
    }

    /// Bytes.
    pub fn bytes(&self) -> usize {
        self.slice.len()
    }

    /// Fills with zeros, in the order of the stream.
    pub fn clear(&mut self) -> Result<(), CudaError> {
        Ok(self.stream.memset_zeros(&mut self.slice)?)
    }

    /// Writes values from the byte `start` on.
    pub fn write<T: Pod>(&mut self, start: usize, values: &[T]) -> Result<(), CudaError> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        if !bytes.is_empty() {
            self.stream.memcpy_htod(bytes, &mut self.slice.slice_mut(start..start + bytes.len()))?;
        }
        Ok(())
    }

    /// Reads `length` values from the byte `start` on, when all work before is done.
    pub fn read<T: Pod>(&self, start: usize, length: usize) -> Result<Vec<T>, CudaError> {
        let mut values = vec![T::zeroed(); length];
        self.read_into(start, &mut values)?;
        Ok(values)
    }

    /// Reads into values from the byte `start` on.
    pub fn read_into<T: Pod>(&self, start: usize, values: &mut [T]) -> Result<(), CudaError> {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
        if !bytes.is_empty() {
            let end = start + bytes.len();
            self.stream.memcpy_dtoh(&self.slice.slice(start..end), bytes)?;
            self.stream.synchronize()?;
        }
        Ok(())
    }

    /// Copies the first bytes of another array.
    pub fn copy_from(&mut self, other: &Self, bytes: usize) -> Result<(), CudaError> {
        Ok(self.stream.memcpy_dtod(&other.slice.slice(..bytes), &mut self.slice.slice_mut(..bytes))?)
    }
}

/// Sizes of the arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Cells.
    pub cells: usize,
    /// Room for particles in each state.
    pub particles: u32,
    /// Room for far flights.
    pub far: u32,
    /// Room for slots of giant cells.
    pub scratch: u32,
    /// Cell faces through which gas enters.
    pub sites: u32,
    /// Bodies.
    pub bodies: usize,
    /// Triangles.
    pub triangles: usize,
    /// Whether molecules rotate.
    pub rotational: bool,
    /// Whether ends of bins have 32 bits.
    pub wide: bool,
}

impl Sizes {
    /// Bytes of a particle in one state.
    pub fn particle_bytes(&self) -> usize {
        24 + if self.rotational { 4 } else { 0 }
    }

    fn bin_bytes(&self) -> usize {
        if self.wide { 4 } else { 2 }
    }

    fn slot_words(&self) -> usize {
        if self.rotational { 8 } else { 7 }
    }

    /// Room for far flights beside so many particles: a quarter, all of them where the gas crosses cells in a step.
    pub fn far_for(particles: u32, fast: bool) -> u32 {
        let part = if fast { particles } else { particles / 4 };
        part.clamp(4096, MOST_FAR)
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        let (particles, cells) = (u64::from(self.particles), self.cells as u64);
        let per_cell = 2 * BINS as u64 * self.bin_bytes() as u64 + 8 + 8 + 20 + 8 + 4 + 56 + 4 + 4;
        4 * particles
            + 2 * particles * self.particle_bytes() as u64
            + 20 * u64::from(self.far)
            + 4 * u64::from(self.scratch) * self.slot_words() as u64
            + cells * per_cell
            + 4 * u64::from(self.sites)
            + 40 * self.triangles as u64
    }
}

/// One of the two states.
#[derive(Debug)]
pub struct StateArrays {
    pub velocity: Array,
    pub place: Array,
    pub rotation: Option<Array>,
    pub ends: Array,
    pub offset: Array,
}

impl StateArrays {
    fn new(stream: &Arc<CudaStream>, sizes: &Sizes) -> Result<Self, CudaError> {
        let particles = sizes.particles as usize;
        Ok(Self {
            velocity: Array::new(stream, particles, 16)?,
            place: Array::new(stream, particles, 8)?,
            rotation: sizes.rotational.then(|| Array::new(stream, particles, 4)).transpose()?,
            ends: Array::zeros(stream, BINS * sizes.cells, sizes.bin_bytes())?,
            offset: Array::zeros(stream, sizes.cells + 1, 4)?,
        })
    }

    /// Addresses for the kernels.
    pub fn view(&self) -> State {
        State {
            velocity: self.velocity.address(),
            place: self.place.address(),
            rotation: self.rotation.as_ref().map_or(0, Array::address),
            ends: self.ends.address(),
            offset: self.offset.address(),
        }
    }

    /// Throws the particles away and takes room for more.
    fn enlarge(&mut self, stream: &Arc<CudaStream>, particles: usize) -> Result<(), CudaError> {
        // First give back, then take: both would not fit beside each other.
        self.velocity = Array::new(stream, 0, 16)?;
        self.place = Array::new(stream, 0, 8)?;
        let rotational = self.rotation.take().is_some();
        stream.synchronize()?;
        self.velocity = Array::new(stream, particles, 16)?;
        self.place = Array::new(stream, particles, 8)?;
        self.rotation = rotational.then(|| Array::new(stream, particles, 4)).transpose()?;
        Ok(())
    }

    fn room(&self) -> u32 {
        (self.place.bytes() / 8) as u32
    }
}

/// All arrays of a run.
#[derive(Debug)]
pub struct Buffers {
    stream: Arc<CudaStream>,
    /// Sizes as wanted; a state that has not been written since they grew may be smaller.
    pub sizes: Sizes,
    /// The states.
    pub states: [StateArrays; 2],
    /// Which state is the present one.
    pub parity: usize,
    pub control: Array,
    pub majorants: Array,
    pub sums: Array,
    pub log: Array,
    pub tallies: Array,
    pub body_sums: Array,
    counts: Array,
    block_sums: Array,
    pub far_records: Array,
    far_count: Array,
    far_offset: Array,
    far_index: Array,
    site_counts: Array,
    lists: Array,
    edges: Array,
    cores: Array,
    numbers: Array,
    words: Array,
    queue: Array,
    cell_kinds: [u32; 2],
    scratch: Array,
    scratch_at: Array,
}

impl Buffers {
    /// Takes the memory of a run.
    pub fn new(
        stream: &Arc<CudaStream>,
        sizes: Sizes,
        edges: &[u32],
        cores: &[u32],
    ) -> Result<Self, CudaError> {
        let Sizes { cells, far, scratch, sites, bodies, triangles, .. } = sizes;
        let blocks = cells.div_ceil(PLAN_THREADS as usize);
        Ok(Self {
            states: [StateArrays::new(stream, &sizes)?, StateArrays::new(stream, &sizes)?],
            parity: 0,
            control: Array::zeros(stream, 1, size_of::<Control>())?,
            majorants: Array::zeros(stream, cells, 4)?,
            sums: Array::zeros(stream, cells, 56)?,
            log: Array::zeros(stream, LOG_SLOTS as usize * (COUNTS + 8 * bodies), 8)?,
            tallies: Array::zeros(stream, triangles, 40)?,
            body_sums: Array::zeros(stream, SPREAD * bodies, 64)?,
            counts: Array::zeros(stream, SPREAD * COUNTS, 8)?,
            block_sums: Array::zeros(stream, 2 * blocks, 4)?,
            far_records: Array::zeros(stream, far as usize, size_of::<FarRecord>())?,
            far_count: Array::zeros(stream, cells, 4)?,
            far_offset: Array::zeros(stream, cells + 1, 4)?,
            far_index: Array::zeros(stream, far as usize, 4)?,
            site_counts: Array::zeros(stream, sites as usize, 4)?,
            lists: Array::zeros(stream, 5 * cells, 4)?,
            edges: Array::from_slice(stream, edges)?,
            cores: Array::from_slice(stream, cores)?,
            numbers: Array::zeros(stream, cells, 4)?,
            words: Array::new(stream, sizes.particles as usize, 4)?,
            queue: Array::new(stream, far as usize, 8)?,
            cell_kinds: [edges.len() as u32, cores.len() as u32],
            scratch: Array::zeros(stream, scratch as usize, 4 * sizes.slot_words())?,
            scratch_at: Array::zeros(stream, cells, 4)?,
            stream: stream.clone(),
            sizes,
        })
    }

    /// Addresses of what a step works with; `parity` is that of the state that is read.
    pub fn work(&self, parity: usize) -> Work {
        Work {
            control: self.control.address(),
            block_sums: self.block_sums.address(),
            far_records: self.far_records.address(),
            far_count: self.far_count.address(),
            far_offset: self.far_offset.address(),
            far_index: self.far_index.address(),
            site_counts: self.site_counts.address(),
            lists: self.lists.address(),
            edges: self.edges.address(),
            cores: self.cores.address(),
            numbers: self.numbers.address(),
            words: self.words.address(),
            queue: self.queue.address(),
            queue_capacity: (self.queue.bytes() / 8) as u32,
            spare: 0,
            edge_count: self.cell_kinds[0],
            core_count: self.cell_kinds[1],
            scratch: self.scratch.address(),
            scratch_at: self.scratch_at.address(),
            majorants: self.majorants.address(),
            sums: self.sums.address(),
            counts: self.counts.address(),
            log: self.log.address(),
            // Room in the state that is written.
            capacity: self.states[parity ^ 1].room(),
            far_capacity: self.sizes.far,
            scratch_capacity: self.sizes.scratch,
            parity: parity as u32,
        }
    }

    /// The present state.
    pub fn present(&self) -> &StateArrays {
        &self.states[self.parity]
    }

    /// Makes room in the state that is not the present one.
    pub fn grow_spare(&mut self, particles: u32) -> Result<(), CudaError> {
        if particles > self.sizes.particles {
            self.words = Array::new(&self.stream, 0, 4)?;
            self.words = Array::new(&self.stream, particles as usize, 4)?;
            self.sizes.particles = particles;
        }
        self.states[self.parity ^ 1].enlarge(&self.stream, particles as usize)
    }

    /// Makes room for far flights; those that there are stay.
    pub fn grow_far(&mut self, far: u32) -> Result<(), CudaError> {
        let far = far.min(MOST_FAR);
        let mut records = Array::zeros(&self.stream, far as usize, size_of::<FarRecord>())?;
        records.copy_from(&self.far_records, self.far_records.bytes().min(records.bytes()))?;
        self.far_records = records;
        self.far_index = Array::zeros(&self.stream, far as usize, 4)?;
        self.sizes.far = far;
        Ok(())
    }

    /// Makes room for giant cells.
    pub fn grow_scratch(&mut self, slots: u32) -> Result<(), CudaError> {
        self.scratch = Array::new(&self.stream, 0, 4)?;
        self.scratch = Array::zeros(&self.stream, slots as usize, 4 * self.sizes.slot_words())?;
        self.sizes.scratch = slots;
        Ok(())
    }

    /// Forgets far flights, when all particles are put at home.
    pub fn forget_far(&mut self) -> Result<(), CudaError> {
        self.far_count.clear()
    }
}
