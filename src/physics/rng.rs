//! Counter-based random numbers: Philox4x32-10, the same in Rust and in CUDA, with no state in memory.
//! Knows nothing of what the numbers are used for beyond the name of a purpose.

/// What a random number is drawn for; keeps the streams of one step apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Purpose {
    /// Initial state, by cell.
    Fill = 1,
    /// Collisions, by cell.
    Collide = 2,
    /// Walls and faces, by particle.
    Wall = 3,
    /// Inflow, by row of a face.
    Inflow = 4,
    /// Tests and self-tests.
    Test = 5,
}

/// One block of Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011): four words from a counter and a key.
#[inline]
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let [mut c0, mut c1, mut c2, mut c3] = counter;
    let [mut k0, mut k1] = key;
    for _ in 0..10 {
        let p0 = 0xD251_1F53_u64 * u64::from(c0);
        let p1 = 0xCD9E_8D57_u64 * u64::from(c2);
        (c0, c1, c2, c3) = ((p1 >> 32) as u32 ^ c1 ^ k0, p1 as u32, (p0 >> 32) as u32 ^ c3 ^ k1, p0 as u32);
        k0 = k0.wrapping_add(0x9E37_79B9);
        k1 = k1.wrapping_add(0xBB67_AE85);
    }
    [c0, c1, c2, c3]
}

/// The random numbers of one (seed, step, purpose, index): a cell, a particle, a row of a face.
#[derive(Debug, Clone)]
pub struct Stream {
    key: [u32; 2],
    counter: [u32; 4],
    block: [u32; 4],
    used: u32,
}

impl Stream {
    /// Starts the stream; `step` may use 56 bits.
    #[inline]
    pub fn new(seed: u64, step: u64, purpose: Purpose, index: u32) -> Self {
        Self {
            key: [seed as u32, (seed >> 32) as u32],
            counter: [0, index, step as u32, ((step >> 32) as u32 & 0x00FF_FFFF) | ((purpose as u32) << 24)],
            block: [0; 4],
            used: 4,
        }
    }

    /// 32 random bits.
    #[inline]
    pub fn bits(&mut self) -> u32 {
        if self.used == 4 {
            self.block = philox(self.counter, self.key);
            self.counter[0] += 1;
            self.used = 0;
        }
        let bits = self.block[self.used as usize];
        self.used += 1;
        bits
    }

    /// Uniform in the open interval (0, 1), on a lattice of 2^-23: never 0, never 1, mean exactly 1/2.
    #[inline]
    pub fn unit(&mut self) -> f32 {
        ((self.bits() >> 9) as f32 + 0.5) * (1.0 / 8_388_608.0)
    }

    /// Uniform in the open interval (0, 1), on a lattice of 2^-32.
    #[inline]
    pub fn unit_f64(&mut self) -> f64 {
        (f64::from(self.bits()) + 0.5) * (1.0 / 4_294_967_296.0)
    }

    /// Uniform among 0..n; biased by at most n / 2^32.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.bits()) * u64::from(n)) >> 32) as u32
    }

    /// `x` rounded to a whole number so that its mean is `x`.
    #[inline]
    pub fn round(&mut self, x: f64) -> u32 {
        let whole = x.floor();
        whole as u32 + u32::from(self.unit_f64() < x - whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers published with the generator (Random123, `kat_vectors`, philox4x32 10 rounds).
    #[test]
    fn known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]);
        assert_eq!(
            philox([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0]),
            [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]
        );
    }

    #[test]
    fn streams_differ_and_repeat() {
        let draw = |seed, step, purpose, index| {
            let mut stream = Stream::new(seed, step, purpose, index);
            [stream.bits(), stream.bits(), stream.bits(), stream.bits(), stream.bits()]
        };
        let base = draw(1, 2, Purpose::Collide, 3);
        assert_eq!(base, draw(1, 2, Purpose::Collide, 3));
        for other in [
            draw(1 << 40, 2, Purpose::Collide, 3),
            draw(1, 2 + (1 << 40), Purpose::Collide, 3),
            draw(1, 2, Purpose::Wall, 3),
            draw(1, 2, Purpose::Collide, 4),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn unit_has_the_moments_of_a_uniform() {
        let mut stream = Stream::new(7, 0, Purpose::Test, 0);
        let n = 1_000_000;
        let (mut sum, mut square) = (0.0_f64, 0.0_f64);
        for _ in 0..n {
            let u = f64::from(stream.unit());
            assert!(u > 0.0 && u < 1.0);
            sum += u;
            square += u * u;
        }
        let n = f64::from(n);
        assert!((sum / n - 0.5).abs() < 4.0 * (1.0 / 12.0 / n).sqrt());
        assert!((square / n - 1.0 / 3.0).abs() < 4.0 * (4.0 / 45.0 / n).sqrt());
    }
}
