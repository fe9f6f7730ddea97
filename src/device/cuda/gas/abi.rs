//! The structs that host and kernels share, byte for byte: kernels/gas.cuh in Rust.
//! Knows nothing of launches or memory.

#![allow(unsafe_code)]

use crate::device::cuda::walls::WallsView;
use bytemuck::{Pod, Zeroable};
use cudarc::driver::DeviceRepr;

/// Bins of a region: 27 directions and far flights.
pub const BINS: usize = 28;
/// Bin of far flights.
pub const FAR: usize = 27;
/// Bin of the particles that stay in their cell.
pub const HOME: usize = 13;
/// Counters of a step.
pub const COUNTS: usize = 16;
/// Copies of the counters.
pub const SPREAD: usize = 32;
/// Bits of a lattice coordinate in a cell.
pub const PLACE_BITS: u32 = 21;

/// Indices of the counters of a step.
pub mod count {
    /// Particles at the beginning of the step.
    pub const PARTICLES: usize = 0;
    /// Pairs tried.
    pub const CANDIDATES: usize = 1;
    /// Pairs that collided.
    pub const COLLISIONS: usize = 2;
    /// Pairs above the majorant.
    pub const EXCEEDED: usize = 3;
    /// Half-Split-Shuffle pairs above probability 1.
    pub const CLIPPED: usize = 4;
    /// Particles that left.
    pub const LEFT: usize = 5;
    /// Particles that entered.
    pub const ENTERED: usize = 6;
    /// Hits on obstacles.
    pub const WALL_HITS: usize = 7;
    /// Flights stopped by the bounce limit.
    pub const BOUNCE_LIMIT: usize = 9;
    /// Hits whose particle was put back.
    pub const PUT_BACK: usize = 10;
    /// Particles lost.
    pub const LOST: usize = 11;
    /// Kinetic energy, fixed point.
    pub const ENERGY: usize = 12;
    /// Particles at the end of the step.
    pub const KEPT: usize = 14;
}

/// Why a step could not begin: bits of [`Control::stalled`].
pub mod stall {
    /// Too little room for particles.
    pub const PARTICLES: u32 = 1;
    /// Too little room for far flights.
    pub const FAR: u32 = 2;
    /// Too little room for the slots of giant cells.
    pub const SCRATCH: u32 = 4;
    /// A cell with more particles than 16 bits count.
    pub const BINS: u32 = 8;
    /// Far flights were lost: the state is not whole any more.
    pub const LOST: u32 = 16;
}

/// What the device knows of the run.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Control {
    /// Steps done.
    pub step: u64,
    /// Why the next step could not begin; see [`stall`].
    pub stalled: u32,
    /// Particles that the next step needs room for.
    pub needed: u32,
    /// Records of far flights of each state.
    pub far_total: [u32; 2],
    /// Cells in each list.
    pub listed: [u32; 8],
    /// Cells that were taken, by kernel.
    pub taken: [u32; 16],
    /// Slots of the giant cells.
    pub scratch: u32,
    /// Not used.
    pub spare: u32,
}

/// A cross-section; see `PairModel` of the physics.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct PairModel {
    /// SI units.
    pub coefficient: f32,
    /// 1 - omega.
    pub exponent: f32,
    /// 1 / alpha.
    pub inverse_alpha: f32,
    /// m_2 / (m_1 + m_2).
    pub first_share: f32,
}

/// A wall's law; see `WallLaw` of the physics.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct WallLaw {
    /// Share of the molecules that accommodate.
    pub accommodation: f32,
    /// sqrt(k T_wall / m), m/s.
    pub thermal_speed: f32,
    /// Whether molecules rotate.
    pub rotational: u32,
}

/// Constants of a run.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Gas {
    /// Cells along each axis.
    pub cells: [u32; 3],
    /// All cells.
    pub cell_count: u32,
    /// m a lattice unit.
    pub step: [f64; 3],
    /// Lattice units a time step, for 1 m/s.
    pub advance: [f32; 3],
    /// Time step, s.
    pub time_step: f32,
    /// Seed.
    pub seed: u64,
    /// Cross-section.
    pub pair: PairModel,
    /// How far majorants are above the mean.
    pub majorant_ratio: f32,
    /// Particles from which on a cell uses Half-Split-Shuffle.
    pub heavy_from: u32,
    /// F_N dt / V, s/m^3.
    pub exposure: f64,
    /// 0 open, 1 periodic, 2 wall.
    pub faces: [u32; 6],
    /// Laws of the faces that are walls.
    pub face_laws: [WallLaw; 6],
    /// Velocity of the stream, m/s.
    pub stream: [f32; 3],
    /// Most probable speed of the stream, m/s.
    pub inflow_speed: f32,
    /// Particles through one cell of each face in a step.
    pub inflow_mean: [f64; 6],
    /// First site of each face.
    pub inflow_base: [u32; 6],
    /// Sites.
    pub site_count: u32,
    /// Bodies.
    pub body_count: u32,
    /// Fixed-point units a m/s.
    pub impulse_scale: f64,
    /// Fixed-point units a m^2/s.
    pub moment_scale: f64,
    /// Fixed-point units a J/kg.
    pub energy_scale: f64,
    /// Fixed-point units a J/kg, for the sum over all particles.
    pub kinetic_scale: f64,
    /// Particles a cell at the start.
    pub fill_mean: f32,
    /// sqrt(k T / m) of the stream, m/s.
    pub thermal_speed: f32,
    /// Obstacles.
    pub walls: WallsView,
    /// Address of a `WallLaw` a body.
    pub laws: u64,
    /// Address of three f64 a body.
    pub origins: u64,
    /// Address of five i64 a triangle.
    pub tallies: u64,
    /// Address of eight i64 a body, SPREAD times.
    pub body_sums: u64,
}

/// Addresses of a state.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    /// float4 a particle.
    pub velocity: u64,
    /// uint2 a particle.
    pub place: u64,
    /// float a particle, if molecules rotate.
    pub rotation: u64,
    /// Ends of the bins.
    pub ends: u64,
    /// First particle of each region.
    pub offset: u64,
}

/// Addresses of what a step works with.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Work {
    /// `Control`.
    pub control: u64,
    /// Sums of the blocks of the plan.
    pub block_sums: u64,
    /// Records of far flights.
    pub far_records: u64,
    /// Far arrivals of each cell.
    pub far_count: u64,
    /// First far arrival of each cell.
    pub far_offset: u64,
    /// Indices of far arrivals.
    pub far_index: u64,
    /// Particles that enter through each site.
    pub site_counts: u64,
    /// Cells of each size class.
    pub lists: u64,
    /// Cells at a face of the domain or near a wall.
    pub edges: u64,
    /// The other cells.
    pub cores: u64,
    /// Particles of the cells at edges, between the parts of their step.
    pub numbers: u64,
    /// Where those particles go.
    pub words: u64,
    /// Slots of giant cells.
    pub scratch: u64,
    /// First slot of each giant cell.
    pub scratch_at: u64,
    /// Majorants, m^3/s.
    pub majorants: u64,
    /// Sums of the cells.
    pub sums: u64,
    /// Counters.
    pub counts: u64,
    /// Log of the steps.
    pub log: u64,
    /// Room for particles.
    pub capacity: u32,
    /// Room for far flights.
    pub far_capacity: u32,
    /// Room for slots of giant cells.
    pub scratch_capacity: u32,
    /// Which state is read.
    pub parity: u32,
    /// Cells in `edges`.
    pub edge_count: u32,
    /// Cells in `cores`.
    pub core_count: u32,
}

/// What is asked of a step.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Orders {
    /// Slot of the log.
    pub slot: u32,
    /// Whether cells are sampled.
    pub sample: u32,
    /// Whether the kinetic energy is summed.
    pub energy: u32,
    /// Whether triangles are tallied.
    pub tally: u32,
}

/// A flight farther than the neighbours.
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct FarRecord {
    /// Index of the particle.
    pub index: u32,
    /// Its cell.
    pub cell: u32,
}

/// Limits of the size classes of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C, align(16))]
pub struct Limits(pub [u32; 4]);

// SAFETY: plain data without padding (Pod), laid out as in kernels/gas.cuh, which the compile-time checks prove.
unsafe impl DeviceRepr for Gas {}
// SAFETY: as above.
unsafe impl DeviceRepr for State {}
// SAFETY: as above.
unsafe impl DeviceRepr for Work {}
// SAFETY: as above.
unsafe impl DeviceRepr for Orders {}
// SAFETY: four words, as uint4.
unsafe impl DeviceRepr for Limits {}
