//! The simulated particle: plain data, the same bytes on every device.
//! Knows nothing of grids, walls or gases.

use bytemuck::{Pod, Zeroable};

/// A simulated particle, 28 bytes. Rotational energy, where the gas has any, is kept in an array beside.
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Particle {
    /// Position relative to the domain's lower corner, m.
    pub position: [f32; 3],
    /// Velocity, m/s.
    pub velocity: [f32; 3],
    /// Species in the upper 8 bits, a random tag for stable subsets in the lower 24.
    pub tag: u32,
}

impl Particle {
    /// Index of the species.
    #[inline]
    pub fn species(&self) -> usize {
        (self.tag >> 24) as usize
    }

    /// A tag for a particle of this species from random bits.
    #[inline]
    pub fn make_tag(species: u32, bits: u32) -> u32 {
        (species << 24) | (bits >> 8)
    }
}
