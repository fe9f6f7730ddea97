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
    /// Species in the upper 5 bits, what it touched last in the next 3, a random tag for stable subsets in the lower
    /// 24.
    pub tag: u32,
}

/// Bits of a random tag.
const TAG_BITS: u32 = 24;
/// Bits of what was touched last.
const ORIGIN_BITS: u32 = 3;
const ORIGIN_MASK: u32 = ((1 << ORIGIN_BITS) - 1) << TAG_BITS;

impl Particle {
    /// Index of the species.
    #[inline]
    pub fn species(&self) -> usize {
        (self.tag >> (TAG_BITS + ORIGIN_BITS)) as usize
    }

    /// What the molecule touched last: 0 nothing since the start, 1 to 6 the face x_min, x_max, y_min ... z_max through
    /// which it came in or which is a diffuse wall that it hit, 7 a body. Specular and periodic faces do not count: they
    /// stand for more of the same flow.
    #[inline]
    pub fn origin(&self) -> u32 {
        (self.tag & ORIGIN_MASK) >> TAG_BITS
    }

    /// Notes that the molecule touched the face of that index, 0 to 5.
    #[inline]
    pub fn touch_face(&mut self, face: usize) {
        self.tag = (self.tag & !ORIGIN_MASK) | ((face as u32 + 1) << TAG_BITS);
    }

    /// Notes that the molecule touched a body.
    #[inline]
    pub fn touch_body(&mut self) {
        self.tag |= ORIGIN_MASK;
    }

    /// The random part of the tag: uniform in `0..TAG_RANGE`, and the same for the whole life of the particle.
    #[inline]
    pub fn random_tag(&self) -> u32 {
        self.tag & (Self::TAG_RANGE - 1)
    }

    /// One more than the largest [`Particle::random_tag`].
    pub const TAG_RANGE: u32 = 1 << TAG_BITS;

    /// A tag for a particle of this species from random bits. The data structure holds 32 species.
    #[inline]
    pub fn make_tag(species: u32, bits: u32) -> u32 {
        (species << (TAG_BITS + ORIGIN_BITS)) | (bits >> (32 - TAG_BITS))
    }
}
