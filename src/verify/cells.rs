//! What the cases on collisions share: gas in frozen cells, a closed box on a device, reference tables.
//! Must not know what is compared.

use super::Bed;
use crate::device::subject::{Molecule, Subject};
use crate::physics::collide::{CollisionCounts, PairTable, half_split_shuffle, no_time_counter};
use crate::physics::constants::BOLTZMANN;
use crate::physics::particle::Particle;
use crate::physics::rng::{Purpose, Stream as Random};
use crate::physics::sample::{direction, gauss_triple};
use crate::scene::{
    Collisions, Density, Domain, Face, Faces, Gas, GasScene, Model, Reference, Sampling, Scene, Scheme,
    Species, Start, Stream, TimeStep, Velocity,
};
use crate::sim::SimError;
use rayon::prelude::*;
use std::collections::HashMap;

/// Independent groups of cells from whose scatter errors are taken; the error itself is then known within 4 %.
pub const GROUPS: usize = 256;

/// How pairs are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// No-Time-Counter.
    NoTimeCounter,
    /// Half-Split-Shuffle with as many passes as the solver takes.
    HalfSplit,
    /// Half-Split-Shuffle held to one pass a step, as the references of scheme H are computed.
    OnePass,
}

impl Pairing {
    /// Short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoTimeCounter => "NTC",
            Self::HalfSplit => "HSS",
            Self::OnePass => "HSS, one pass",
        }
    }
}

/// Gas in cells whose particles neither move nor change cells.
#[derive(Debug, Clone)]
pub struct FrozenGas {
    /// Molecules.
    pub species: Species,
    /// Temperature, K.
    pub temperature: f64,
    /// Particles in each cell.
    pub particles: usize,
    /// F_N dt / V, s/m^3.
    pub exposure: f64,
    /// Scheme.
    pub pairing: Pairing,
    /// Factor on the majorant that the solver would start with.
    pub majorant_factor: f32,
    /// Seed.
    pub seed: u64,
}

/// Sums over each group of cells of what a probe added up.
#[derive(Debug, Clone)]
pub struct Groups {
    /// One list of sums a group.
    pub sums: Vec<Vec<f64>>,
    /// What the collisions did, all cells together.
    pub counts: CollisionCounts,
    /// Cells in all groups together.
    pub cells: usize,
}

/// Argon as a variable hard sphere of the given viscosity exponent, its diameter that at 300 K.
pub fn argon(omega: f64) -> Species {
    Species {
        name: "Ar".into(),
        mass_kg: 6.63e-26,
        diameter_m: 4.17e-10,
        omega,
        reference_temperature_k: 300.0,
        alpha: 1.0,
        rotational_dof: 0,
        fraction: 1.0,
    }
}

impl FrozenGas {
    /// Argon-like molecules at 300 K with nu dt collisions of a molecule in a step (of the continuum: n times the mean
    /// of sigma c_r in equilibrium).
    pub fn new(omega: f64, particles: usize, nu_dt: f64, pairing: Pairing, seed: u64) -> Self {
        let species = argon(omega);
        let exposure = nu_dt / (particles as f64 * species.self_pair().mean_sigma_c(300.0));
        Self { species, temperature: 300.0, particles, exposure, pairing, majorant_factor: 1.0, seed }
    }

    /// sqrt(k T/m), m/s.
    pub fn thermal_speed(&self) -> f64 {
        (BOLTZMANN * self.temperature / self.species.mass_kg).sqrt()
    }

    /// Expected collisions of a cell in a step in equilibrium: N (N - 1)/2 times exposure times the mean of sigma c_r.
    pub fn expected_collisions(&self) -> f64 {
        let n = self.particles as f64;
        0.5 * n * (n - 1.0) * self.exposure * self.species.self_pair().mean_sigma_c(self.temperature)
    }

    /// Runs at least `cells` cells, each alone from its start. `start` gives velocities in units of sqrt(k T/m);
    /// `probe` sees each cell before the first step (step 0) and after each, with the counts of that step, and adds to
    /// the `quantities` sums of its group.
    pub fn run(
        &self,
        cells: usize,
        steps: u32,
        quantities: usize,
        start: impl Fn(&mut Random) -> [f64; 3] + Sync,
        probe: impl Fn(u32, &[Particle], CollisionCounts, &mut [f64]) + Sync,
    ) -> Groups {
        let species = std::slice::from_ref(&self.species);
        let pairs = PairTable::new(species);
        let first_majorant = pairs.majorant(species, self.temperature) * self.majorant_factor;
        // One pass: the solver derives the number of passes from how far the majorant is above the mean.
        let ratio = if self.pairing == Pairing::OnePass { f32::MAX } else { pairs.majorant_ratio() };
        let ratio = if self.pairing == Pairing::OnePass { ratio } else { ratio * self.majorant_factor };
        let thermal = self.thermal_speed();
        let a_group = cells.div_ceil(GROUPS);
        let group = |group: usize| {
            let mut sums = vec![0.0; quantities];
            let mut total = CollisionCounts::default();
            let mut particles = vec![Particle::default(); self.particles];
            let mut order = Vec::new();
            for cell in group * a_group..(group + 1) * a_group {
                let cell = cell as u32;
                let mut majorant = first_majorant;
                let mut rng = Random::new(self.seed, 0, Purpose::Test, cell);
                for particle in &mut particles {
                    particle.velocity = start(&mut rng).map(|v| (v * thermal) as f32);
                }
                probe(0, &particles, CollisionCounts::default(), &mut sums);
                for step in 1..=steps {
                    let mut rng = Random::new(self.seed, u64::from(step), Purpose::Test, cell);
                    let mut counts = CollisionCounts::default();
                    if self.pairing == Pairing::NoTimeCounter {
                        let exposure = self.exposure;
                        no_time_counter(
                            &mut particles,
                            &pairs,
                            exposure,
                            &mut majorant,
                            &mut rng,
                            &mut counts,
                        );
                    } else {
                        half_split_shuffle(
                            &mut particles,
                            &pairs,
                            self.exposure,
                            &mut majorant,
                            ratio,
                            &mut order,
                            &mut rng,
                            &mut counts,
                        );
                    }
                    probe(step, &particles, counts, &mut sums);
                    total += counts;
                }
            }
            (sums, total)
        };
        let groups: Vec<(Vec<f64>, CollisionCounts)> = (0..GROUPS).into_par_iter().map(group).collect();
        let mut counts = CollisionCounts::default();
        let sums = groups
            .into_iter()
            .map(|(sums, of_group)| {
                counts += of_group;
                sums
            })
            .collect();
        Groups { sums, counts, cells: a_group * GROUPS }
    }
}

impl Groups {
    /// Mean over the cells of a sum, with its error.
    pub fn mean(&self, quantity: usize) -> (f64, f64) {
        let a_group = self.cells as f64 / GROUPS as f64;
        ratio(self.sums.iter().map(|sums| (sums[quantity], a_group)))
    }

    /// Ratio of two sums, with its error.
    pub fn ratio(&self, above: usize, below: usize) -> (f64, f64) {
        ratio(self.sums.iter().map(|sums| (sums[above], sums[below])))
    }

    /// Sum over all groups.
    pub fn total(&self, quantity: usize) -> f64 {
        self.sums.iter().map(|sums| sums[quantity]).sum()
    }
}

/// Ratio of sums over independent samples of pairs, and its standard deviation by the scatter of what is left over.
pub fn ratio(samples: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let (above, below, count) =
        samples.clone().fold((0.0, 0.0, 0.0), |(a, b, n), (x, y)| (a + x, b + y, n + 1.0));
    let value = above / below;
    let scatter: f64 = samples.map(|(a, b)| (a - value * b).powi(2)).sum();
    (value, (scatter * count / (count - 1.0)).sqrt() / below)
}

/// Velocity of equilibrium, in units of sqrt(k T/m).
pub fn maxwellian(rng: &mut Random) -> [f64; 3] {
    gauss_triple(rng).map(f64::from)
}

/// A velocity of that speed in a random direction.
pub fn isotropic(speed: f64, rng: &mut Random) -> [f64; 3] {
    let towards = direction(rng).map(f64::from);
    let norm = towards.iter().map(|c| c * c).sum::<f64>().sqrt();
    towards.map(|c| speed * c / norm)
}

/// Runs `work` on a pool of `threads` threads (0: one a core).
pub fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T, SimError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        SimError::Device(format!("cannot start {threads} threads ({error}); ask for fewer with --threads"))
    })?;
    Ok(pool.install(work))
}

/// A box of gas at rest with six equal faces, without averages.
#[derive(Debug, Clone)]
pub struct GasBox {
    /// Molecules.
    pub species: Species,
    /// Temperature, K.
    pub temperature: f64,
    /// Number density, 1/m^3.
    pub number_density: f64,
    /// Cells along each axis; they are cubes.
    pub cells: u32,
    /// Edge of a cell, m.
    pub cell_edge: f64,
    /// Particles a cell.
    pub particles_per_cell: f64,
    /// Time step, s.
    pub time_step: f64,
    /// Scheme.
    pub scheme: Scheme,
    /// All six faces.
    pub face: Face,
    /// Seed.
    pub seed: u64,
}

impl GasBox {
    /// The scene.
    pub fn scene(&self) -> Scene {
        let face = self.face;
        Scene {
            name: "box".into(),
            about: String::new(),
            seed: self.seed,
            view: Default::default(),
            folder: Default::default(),
            model: Model::Gas(GasScene {
                gas: Gas { species: vec![self.species.clone()] },
                stream: Stream {
                    velocity: Velocity::MetersPerSecond(0.0),
                    density: Density::PerCubicMeter(self.number_density),
                    temperature_k: self.temperature,
                    incidence_deg: 0.0,
                    sideslip_deg: 0.0,
                },
                domain: Domain {
                    corner_m: [0.0; 3],
                    size_m: [self.cell_edge * f64::from(self.cells); 3],
                    cells: [self.cells; 3],
                },
                particles_per_cell: self.particles_per_cell,
                time_step: TimeStep::Seconds(self.time_step),
                steps: 1_000_000,
                sampling: Sampling::From { from: u64::MAX / 2, every: 1 },
                collisions: Collisions { scheme: self.scheme, ..Collisions::default() },
                start: Start::Filled,
                faces: Faces { x_min: face, x_max: face, y_min: face, y_max: face, z_min: face, z_max: face },
                reference: Reference::Auto,
                obstacles: Vec::new(),
            }),
        }
    }

    /// The gas on the device, at rest and of exactly this temperature: drawn velocities, shifted and scaled.
    pub fn gas(&self, bed: &Bed<'_>) -> Result<Box<dyn Subject>, SimError> {
        self.gas_of(&self.scene(), bed)
    }

    /// The same of a scene of the same gas.
    pub fn gas_of(&self, scene: &Scene, bed: &Bed<'_>) -> Result<Box<dyn Subject>, SimError> {
        let mut gas = bed.make(scene)?;
        let mut drawn = gas.population()?.molecules;
        let count = drawn.len() as f64;
        let mean = momentum(&drawn).map(|sum| sum / count);
        let peculiar = 2.0 * energy(&drawn) - count * mean.iter().map(|m| m * m).sum::<f64>();
        let wanted = 3.0 * (count - 1.0) * BOLTZMANN * self.temperature / self.species.mass_kg;
        let scale = (wanted / peculiar).sqrt();
        for molecule in &mut drawn {
            let old = molecule.velocity;
            molecule.velocity = std::array::from_fn(|k| (scale * (f64::from(old[k]) - mean[k])) as f32);
        }
        gas.place(&drawn)?;
        Ok(gas)
    }
}

/// Sum of the velocities, m/s.
pub fn momentum(particles: &[Molecule]) -> [f64; 3] {
    particles.iter().fold([0.0; 3], |sum, p| std::array::from_fn(|k| sum[k] + f64::from(p.velocity[k])))
}

/// Kinetic energy per unit mass of a molecule, J/kg.
pub fn energy(particles: &[Molecule]) -> f64 {
    0.5 * particles.iter().flat_map(|p| p.velocity).map(|v| f64::from(v).powi(2)).sum::<f64>()
}

/// A line of a reference table by column.
pub struct Line(HashMap<String, String>);

impl Line {
    /// The text in a column; empty if there is none.
    pub fn text(&self, column: &str) -> &str {
        self.0.get(column).map_or("", String::as_str)
    }

    /// The number in a column; NaN, which fails every comparison, if there is none.
    pub fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or(f64::NAN)
    }
}

/// The lines of a reference table (comma-separated, with a header). A damaged table gives fewer lines, which the
/// tests of the cases count.
pub fn table(text: &str) -> Vec<Line> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().flatten().map(Line).collect()
}

/// Short name of a scheme.
pub fn scheme_name(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Off => "no collisions",
        Scheme::Ntc => "NTC",
        Scheme::HalfSplitShuffle => "HSS",
        Scheme::Mixed => "mixed",
    }
}
