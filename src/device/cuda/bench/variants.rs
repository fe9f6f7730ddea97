//! The seed's choices as options to measure: who collides a cell, from when on by Half-Split-Shuffle, sorting, layouts.
//! Must not know the product's step, or what is printed.

use super::card::{Card, Kernels};
use super::layout::{Case, Stats};
use super::peer::{ALL, APART, Peer};
use crate::sim::SimError;

/// One program; later files use what is in earlier ones.
const SOURCES: [(&str, &str); 3] = [
    ("variants.cu", include_str!("../../../../kernels/bench/variants.cu")),
    ("variants_apart.cu", include_str!("../../../../kernels/bench/variants_apart.cu")),
    ("variants_fused.cu", include_str!("../../../../kernels/bench/variants_fused.cu")),
];

/// How a particle lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Six arrays of numbers: the seed's.
    SixArrays,
    /// One array of records of 24 bytes.
    Records,
    /// Two arrays of three numbers: positions, velocities.
    Float3,
    /// Two arrays of four numbers, a fourth of them unused.
    Float4,
    /// 16 bytes: the velocity, and 10 bits a coordinate within the cell.
    Packed,
}

impl Layout {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::SixArrays, Self::Records, Self::Float3, Self::Float4, Self::Packed];

    /// A word for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::SixArrays => "six arrays",
            Self::Records => "24-byte records",
            Self::Float3 => "two float3",
            Self::Float4 => "two float4",
            Self::Packed => "16 bytes",
        }
    }

    /// Bytes of a particle.
    pub fn bytes(self) -> u64 {
        match self {
            Self::SixArrays | Self::Records | Self::Float3 => 24,
            Self::Float4 => 32,
            Self::Packed => 16,
        }
    }

    /// Whether the position is known without the cell, as peers with a kernel a phase need.
    pub fn is_absolute(self) -> bool {
        self != Self::Packed
    }
}

/// Who collides a cell, and how particles get to their new cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// A thread a cell (No-Time-Counter); move, scan and sort in kernels of their own. The seed's way in light cells.
    Threads,
    /// Warps take cells from a queue, the heaviest first; else as before.
    Queue,
    /// One kernel collides, samples, moves and places, in an order that atomics decide.
    Fused,
}

/// A variant of the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// How it collides and places.
    pub placement: Placement,
    /// How particles lie in memory.
    pub layout: Layout,
    /// With [`Placement::Queue`]: cells of so many particles and more collide by Half-Split-Shuffle.
    pub heavy_from: u32,
    /// Without [`Placement::Fused`]: particles are sorted in memory every so many steps, and by index between.
    pub sort_every: u32,
    /// With [`Placement::Fused`]: threads a cell, 32, 64, 128 or 256.
    pub threads: u32,
}

/// The card with the kernels of all layouts.
pub struct Variants {
    card: Card,
    kernels: Vec<(Layout, Kernels)>,
}

/// What a variant took, and whether it was right.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Particles, on average over the measured steps.
    pub particles: f64,
    /// Particle-steps a second of each repeat, sorted.
    pub rates: Vec<f64>,
    /// Time of a step, s, on average.
    pub step_s: f64,
    /// Phases and their times, s a step, of some steps after the measured ones.
    pub phases: Vec<(&'static str, f64)>,
    /// All buffers, bytes a particle.
    pub bytes: f64,
    /// The checks.
    pub checks: Checks,
}

/// Checks over the measured steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Checks {
    /// Particles there, less those that should be by what entered and left: 0.
    pub balance: f64,
    /// Particles not in the cell they are listed in, or inside the sphere: 0.
    pub misplaced: u32,
    /// Lists or cells that could not hold their particles: 0.
    pub errors: u32,
    /// Relative change of the energy; of a closed box only.
    pub energy: f64,
    /// Collisions against those of the gas at rest; of a closed box only.
    pub collisions: f64,
    /// Statistical error of `collisions`.
    pub collisions_sigma: f64,
    /// Most particles that found their region full at one time.
    pub overflow_peak: u32,
    /// Most particles in a cell at the end.
    pub heaviest: u32,
}

impl Variants {
    /// Compiles the kernels for the card of this number.
    ///
    /// # Errors
    /// No card, no compiler.
    pub fn new(ordinal: usize) -> Result<Self, SimError> {
        let card = Card::open(ordinal)?;
        let source: String = (SOURCES.iter())
            .map(|(name, text)| format!("#line 1 \"kernels/bench/{name}\"\n{text}\n"))
            .collect();
        let compile = |(number, layout): (usize, Layout)| {
            let names: Vec<_> =
                ALL.iter().chain(if layout.is_absolute() { APART } else { &[] }).copied().collect();
            Ok((layout, card.compile("variants.cu", &source, &[format!("LAYOUT={number}")], &names)?))
        };
        let kernels = Layout::ALL.into_iter().enumerate().map(compile).collect::<Result<_, SimError>>()?;
        Ok(Self { card, kernels })
    }

    /// Runs a variant: `warm` steps, then `repeat` times `steps`; the clock of the card counts.
    ///
    /// # Errors
    /// The card failed, or has too little memory; a variant that does not exist.
    pub fn measure(
        &self,
        case: Case,
        variant: Variant,
        warm: u32,
        steps: u32,
        repeat: u32,
    ) -> Result<Measured, SimError> {
        if variant.placement != Placement::Fused && !variant.layout.is_absolute() {
            return Err(SimError::Scene(format!(
                "the layout of {} has no kernel a phase: measure it fused",
                variant.layout.name()
            )));
        }
        let found = self.kernels.iter().find(|(layout, _)| *layout == variant.layout);
        let (_, kernels) =
            found.ok_or_else(|| SimError::Device("a layout was not compiled: please report it".into()))?;
        let mut peer = Peer::new(&self.card, kernels, case, variant)?;
        for _ in 0..warm {
            peer.step()?;
        }
        let before = peer.check()?;
        let mut times = vec![];
        for _ in 0..repeat {
            let begin = self.card.mark()?;
            for _ in 0..steps {
                peer.step()?;
            }
            times.push(begin.until(&self.card.mark()?)?);
        }
        let after = peer.check()?;
        let phases = peer.profile(PROFILED)?;
        let particles = 0.5 * (before.particles + after.particles);
        let done = f64::from(steps) * f64::from(repeat);
        let mut rates: Vec<f64> =
            times.iter().map(|time| particles * f64::from(steps) / time.max(1e-9)).collect();
        rates.sort_by(f64::total_cmp);
        Ok(Measured {
            particles,
            rates,
            step_s: times.iter().sum::<f64>() / done.max(1.0),
            phases,
            bytes: peer.bytes() as f64 / particles.max(1.0),
            checks: Checks::of(case, &before, &after, particles * done),
        })
    }
}

/// Steps of which the phases are timed.
const PROFILED: u32 = 20;

impl Checks {
    fn of(case: Case, before: &Stats, after: &Stats, particle_steps: f64) -> Self {
        let counted = |of: fn(&Stats) -> &[u64]| {
            (of(after).iter().sum::<u64>() - of(before).iter().sum::<u64>()) as f64
        };
        let (entered, left) = (counted(|stats| &stats.entered), counted(|stats| &stats.removed));
        let collisions = counted(|stats| &stats.collisions);
        let (cells, per_cell) = (f64::from(case.cells()), f64::from(case.per_cell));
        // Beside that of the count: the temperature that the particles happen to have (the rate goes with its fourth root),
        // and the pairs that there are at one moment, with as many particles and Poisson's numbers in the cells.
        let temperature = 2.0 / (3.0 * after.particles.max(1.0)) / 16.0;
        let pairs = 2.0 / (cells * per_cell * per_cell);
        Self {
            balance: after.particles - before.particles - entered + left,
            misplaced: after.misplaced,
            errors: after.errors,
            energy: after.energy / before.energy - 1.0,
            collisions: collisions / (particle_steps * case.expected_collisions()),
            collisions_sigma: (1.0 / collisions.max(1.0) + temperature + pairs).sqrt(),
            overflow_peak: after.overflow_peak,
            heaviest: after.heaviest,
        }
    }
}
