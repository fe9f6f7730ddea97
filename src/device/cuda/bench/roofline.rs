//! Copy and read rates of a card's memory: the limit that a step is held against.
//! Must not know a gas.

#![allow(unsafe_code)]

use super::card::{Card, Memory, launch};
use crate::sim::SimError;

const SOURCE: &str = include_str!("../../../../kernels/bench/roofline.cu");

/// Bytes of each of the two buffers; far above any cache.
const BYTES: u64 = 1 << 30;
const REPEATS: usize = 15;

/// Rates of a card, bytes a second; a copied byte counts twice, for it is read and written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Kernel, 16 bytes a thread.
    pub copy_float4: f64,
    /// The driver's copy from device to device.
    pub copy_driver: f64,
    /// Kernel that copies six arrays of numbers, as particles kept as a structure of arrays.
    pub copy_six: f64,
    /// Kernel that only reads, 16 bytes a thread.
    pub read_float4: f64,
}

impl Rates {
    /// Names and values.
    pub fn rows(&self) -> [(&'static str, f64); 4] {
        [
            ("copy, kernel, float4", self.copy_float4),
            ("copy, driver", self.copy_driver),
            ("copy, kernel, six arrays of float", self.copy_six),
            ("read, kernel, float4", self.read_float4),
        ]
    }
}

/// Measures; takes two buffers of 1 GiB, or what fits on a small card, for a moment.
///
/// # Errors
/// No card, no compiler, or too little memory.
pub fn measure(ordinal: usize) -> Result<Rates, SimError> {
    let card = Card::open(ordinal)?;
    let kernels =
        card.compile("roofline.cu", SOURCE, &[], &["fill", "copy_float4", "copy_six", "read_float4"])?;
    let bytes = BYTES.min(card.free_bytes()? / 4 / 96 * 96);
    let mut memory = Memory::default();
    let (from, to) = (memory.take(&card, bytes)?, memory.take(&card, bytes)?);
    let quads = bytes / 16;
    // Six arrays of so many numbers, each at a multiple of 16 bytes.
    let sixth = bytes / 4 / 6 / 4 * 4;
    let grid = card.multiprocessors()? * 16;
    let run = |name: &str, counted: f64, work: &dyn Fn() -> Result<(), SimError>| {
        work()?;
        let mut times = vec![];
        for _ in 0..REPEATS {
            times.push(card.time_s(work)?);
        }
        times.sort_by(f64::total_cmp);
        let time = times[REPEATS / 2];
        if time > 0.0 {
            return Ok(counted / time);
        }
        Err(SimError::Device(format!("the card measured no time for {name}: run bench again")))
    };
    let kernel = |name: &str, count: u64| {
        // SAFETY: the kernels write below `count` records of `to` and read as many of `from`; both buffers hold them.
        unsafe { launch!(card, kernels, name, grid, 256, 0, from, to, count) }
    };
    // SAFETY: `fill` writes `quads` records of the buffer, which holds them.
    unsafe { launch!(card, kernels, "fill", grid, 256, 0, from, quads) }?;
    Ok(Rates {
        copy_float4: run("copying", 2.0 * bytes as f64, &|| kernel("copy_float4", quads))?,
        copy_driver: run("copying", 2.0 * bytes as f64, &|| card.copy(from, to, bytes))?,
        copy_six: run("copying", 2.0 * 24.0 * sixth as f64, &|| kernel("copy_six", sixth))?,
        read_float4: run("reading", bytes as f64, &|| kernel("read_float4", quads))?,
    })
}
