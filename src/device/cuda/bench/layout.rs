//! What the host hands to the kernels of `variants.cu`, field by field the same structs; and the gas and size of a peer.
//! Must not know how the kernels are launched.

#![allow(unsafe_code)]

use crate::physics::constants::{AVOGADRO, BOLTZMANN};
use bytemuck::{Pod, Zeroable};
use std::f64::consts::{PI, SQRT_2};

/// `Setup` of `variants.cu`: lengths in cells, times in steps.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Setup {
    pub cells: [i32; 3],
    pub cell_count: i32,
    pub open: i32,
    pub particles_a_cell: i32,
    pub seed: u32,
    pub step: u32,
    pub sample: i32,
    pub spread: f32,
    pub drift: f32,
    pub pair_rate: f32,
    pub accept_squared: f32,
    pub center: [f32; 3],
    pub radius: f32,
    pub wall_spread: f32,
    pub reach: f32,
    pub overflow_most: u32,
    pub heavy_from: u32,
    pub capacity: u32,
}

/// `Overflow`: addresses on the card.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Overflow {
    pub values: u64,
    pub next: u64,
    pub head: u64,
    pub count: u64,
}

/// `Buffers`: addresses on the card, 0 for none.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Buffers {
    pub from: u64,
    pub to: u64,
    pub start: u64,
    pub count: u64,
    pub next_start: u64,
    pub next_count: u64,
    pub key: u64,
    pub rank: u64,
    pub order: u64,
    pub slots: u64,
    pub overflow: Overflow,
    pub next_overflow: Overflow,
    pub stats: u64,
    pub moments: u64,
}

/// `Stats`: counted since the start, but for the sums of the last check from `particles` on.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Stats {
    pub collisions: [u64; 1024],
    pub removed: [u64; 64],
    pub entered: [u64; 64],
    pub particles: f64,
    pub momentum: [f64; 3],
    pub energy: f64,
    pub misplaced: u32,
    pub errors: u32,
    pub heaviest: u32,
    pub overflow_peak: u32,
}

// SAFETY: plain numbers in the order and with the sizes of the structs of the same names in variants.cu.
unsafe impl cudarc::driver::DeviceRepr for Setup {}
// SAFETY: as above; addresses are 64 bits on both sides.
unsafe impl cudarc::driver::DeviceRepr for Buffers {}

/// The seed's gas at rest or in its stream, in a cube of cells of 2 cm, 1e-5 s a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// Cells along an edge.
    pub edge: u32,
    /// Particles of an undisturbed cell.
    pub per_cell: u32,
    /// The sphere in a stream; else a periodic box at rest.
    pub open: bool,
}

impl Case {
    /// Cells.
    pub fn cells(&self) -> u32 {
        self.edge.saturating_pow(3)
    }

    /// The kernels' setup without what depends on the variant.
    pub(super) fn setup(&self) -> Setup {
        let (spread, edge) = (self.spread(), f64::from(self.edge));
        let drift = if self.open { 4.0 * (5.0_f64 / 3.0).sqrt() * spread } else { 0.0 };
        let wall_spread = spread * (300.0_f64 / 200.0).sqrt();
        Setup {
            cells: [self.edge as i32; 3],
            cell_count: self.cells() as i32,
            open: i32::from(self.open),
            particles_a_cell: self.per_cell as i32,
            seed: 1,
            spread: spread as f32,
            drift: drift as f32,
            pair_rate: (self.majorant() / f64::from(self.per_cell)) as f32,
            accept_squared: (1.0 / (FASTEST * spread)) as f32,
            center: [0.6 * edge, 0.6 * edge, 0.5 * edge].map(|place| place as f32),
            radius: (0.15 * edge) as f32,
            wall_spread: wall_spread as f32,
            // The fastest that matter: the stream, and seven deviations of what the wall sends back.
            reach: (drift + 7.0 * wall_spread + 1.0) as f32,
            ..Setup::default()
        }
    }

    /// sqrt(kT/m) in cells a step.
    fn spread(&self) -> f64 {
        (BOLTZMANN * TEMPERATURE_K / (0.040 / AVOGADRO)).sqrt() * TIME_STEP_S / CELL_M
    }

    /// Candidates that a particle of the undisturbed gas would have among all others: n (sigma c_r)max dt.
    ///
    /// The seed's VHS, omega = 0.75, without Bird's 1/Gamma: sigma c_r = pi d^2 sqrt(2 s c_r), s = sqrt(kT/m); its greatest
    /// is taken at 40.5 s, beyond all in a stream of Mach 4.
    fn majorant(&self) -> f64 {
        let density = 0.1 / (BOLTZMANN * TEMPERATURE_K);
        let speed = self.spread() * CELL_M / TIME_STEP_S;
        density * PI * DIAMETER_M.powi(2) * (2.0 * FASTEST).sqrt() * speed * TIME_STEP_S
    }

    /// Collisions a particle and step of the gas at rest: half of n dt times the mean of sigma c_r over a Maxwellian,
    /// in which c_r has the spread sqrt(2) s: <c_r^(1/2)> = (2 s)^(1/2) Gamma(7/4)/Gamma(3/2).
    pub fn expected_collisions(&self) -> f64 {
        let mean_root = SQRT_2 * libm::tgamma(1.75) / libm::tgamma(1.5);
        0.5 * self.majorant() * mean_root / FASTEST.sqrt()
    }

    /// Particles that enter in a step: through x = 0, and through each face along the stream. Bird (1994), eq. 4.22.
    pub(super) fn inflow(&self) -> (f64, f64) {
        if !self.open {
            return (0.0, 0.0);
        }
        let setup = self.setup();
        let (spread, drift) = (f64::from(setup.spread), f64::from(setup.drift));
        let ratio = drift / spread;
        let face = f64::from(self.per_cell) * f64::from(self.edge).powi(2);
        let still = spread / (2.0 * PI).sqrt();
        let front = still * (-0.5 * ratio * ratio).exp() + 0.5 * drift * libm::erfc(-ratio / SQRT_2);
        (face * front, face * still)
    }
}

const TEMPERATURE_K: f64 = 200.0;
const DIAMETER_M: f64 = 4.0e-10;
const TIME_STEP_S: f64 = 1e-5;
const CELL_M: f64 = 0.02;
/// Relative speed of the majorant, in units of sqrt(kT/m).
const FASTEST: f64 = 40.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_kernels() {
        assert_eq!((size_of::<Setup>(), size_of::<Buffers>(), size_of::<Stats>()), (88, 160, 9272));
    }

    /// Against the collision rate of this gas by its mean free path, Bird (1994) eq. 4.64, with the equivalent diameter.
    #[test]
    fn the_expected_collisions_are_those_of_the_gas() {
        let case = Case { edge: 10, per_cell: 100, open: false };
        let (mass, omega) = (0.040 / AVOGADRO, 0.75);
        let density = 0.1 / (BOLTZMANN * TEMPERATURE_K);
        let diameter = DIAMETER_M * libm::tgamma(2.5 - omega).sqrt();
        // Collision frequency of a molecule, n times <sigma c_r>, at the reference temperature itself.
        let frequency = 4.0 * diameter.powi(2) * density * (PI * BOLTZMANN * TEMPERATURE_K / mass).sqrt();
        let expected = 0.5 * frequency * TIME_STEP_S;
        assert!((case.expected_collisions() / expected - 1.0).abs() < 1e-6);
    }
}
