//! `knudsen bench`: particle-steps a second, the share of each phase, bytes a particle, the seed's scaling table.
//! Prints what it ran; judges nothing.

use crate::device::cpu::CpuGas;
use crate::scene::{
    Collisions, Density, Domain, Face, Faces, Gas, GasScene, Model, Obstacle, Reference, Sampling, Scene,
    Scheme, Shape, Species, Start, Stream, TimeStep, Velocity, Wall,
};
use crate::sim::Simulation;
use anyhow::Context;
use clap::{Args, ValueEnum};
use std::time::Instant;

#[cfg(feature = "view")]
mod view;

/// Arguments of `knudsen bench`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BenchArgs {
    #[cfg(feature = "view")]
    #[command(subcommand)]
    other: Option<Other>,
    /// What to measure.
    #[arg(long, value_enum, default_value_t = Case::All)]
    case: Case,
    /// Particles, about.
    #[arg(long, default_value_t = 1_000_000)]
    particles: u64,
    /// Threads of the CPU; 0: measure one thread and all cores.
    #[arg(long, default_value_t = 0, value_parser = super::common::threads())]
    threads: usize,
    /// Measured steps, after a quarter as many for warming up.
    #[arg(long, default_value_t = 60)]
    steps: u32,
    /// Measure with the cells sampled in every step too.
    #[arg(long)]
    sampled: bool,
}

#[cfg(feature = "view")]
#[derive(clap::Subcommand)]
enum Other {
    /// Measure what the picture costs: CPU time a frame, GPU buffers, steps of a watched simulation.
    View(view::ViewArgs),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Case {
    /// All of them.
    All,
    /// Closed box of argon, 10 particles a cell, nu dt = 0.14 (SPARTA's COLLIDE).
    Collide,
    /// The same without collisions (SPARTA's FREE).
    Free,
    /// Argon past a sphere, 10 particles a cell (SPARTA's SPHERE).
    Sphere,
    /// The seed's sphere at 10, 50, 100, 200 and 300 particles a cell.
    Table,
}

/// Runs the benchmark.
pub fn run(args: &BenchArgs) -> anyhow::Result<()> {
    #[cfg(feature = "view")]
    if let Some(Other::View(args)) = &args.other {
        return view::run(args);
    }
    anyhow::ensure!(
        args.particles >= 1000,
        "--particles {} is too few to measure: at least 1000",
        args.particles
    );
    anyhow::ensure!(args.steps >= 4, "--steps {} is too few to measure: at least 4", args.steps);
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = match args.threads {
        0 if cores > 1 => vec![1, cores],
        0 => vec![1],
        n => vec![n],
    };
    say!("device CPU ({cores} cores), particles f32 with f64 sums, version {}", env!("CARGO_PKG_VERSION"));
    say!("{} steps a row after {} for warming up\n", args.steps, args.steps / 4);
    say!(
        "{:<14} {:>7} {:>10} {:>9} {:>7} {:>10}  {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}",
        "case",
        "threads",
        "particles",
        "cells",
        "a cell",
        "M steps/s",
        "collide",
        "sample",
        "move",
        "inflow",
        "sort",
        "bytes"
    );
    let wants = |case| args.case == case || args.case == Case::All;
    for &threads in &threads {
        let measure = |name: &str, scene: &Scene| measure(name, scene, threads, args);
        if wants(Case::Collide) {
            measure("collide", &argon_box(args.particles, Scheme::Ntc))?;
        }
        if wants(Case::Free) {
            measure("free", &argon_box(args.particles, Scheme::Off))?;
        }
        if wants(Case::Sphere) {
            measure("sphere", &argon_sphere(args.particles))?;
        }
        if wants(Case::Table) {
            for per_cell in [10.0, 50.0, 100.0, 200.0, 300.0] {
                measure(&format!("seed {per_cell}"), &seed_sphere(args.particles, per_cell))?;
            }
        }
    }
    say!(
        "\nM steps/s: millions of particle-steps a second, whole steps; phases in % of the time; bytes a particle."
    );
    Ok(())
}

fn measure(name: &str, scene: &Scene, threads: usize, args: &BenchArgs) -> anyhow::Result<()> {
    let mut scene = scene.clone();
    let Model::Gas(gas) = &mut scene.model;
    let from = if args.sampled { 0 } else { u64::MAX };
    gas.sampling = Sampling::From { from, every: 1 };
    let per_cell = gas.particles_per_cell;
    let mut simulation = CpuGas::new(&scene, threads).with_context(|| format!("bench case {name}"))?;
    simulation.advance(args.steps / 4)?;
    let (before, phases_before) = (simulation.counters().particle_steps, simulation.timings());
    let started = Instant::now();
    simulation.advance(args.steps)?;
    let elapsed = started.elapsed().as_secs_f64();
    let done = simulation.counters().particle_steps - before;
    let phases: Vec<f64> = simulation.timings().iter().zip(&phases_before).map(|(a, b)| a.1 - b.1).collect();
    let total: f64 = phases.iter().sum();
    let share = |i: usize| 100.0 * phases[i] / total;
    let particles = simulation.particles().len();
    say!(
        "{:<14} {:>7} {:>10} {:>9} {:>7} {:>10.2}  {:>7.1} {:>7.1} {:>7.1} {:>7.1} {:>7.1} {:>7.1}",
        name,
        threads,
        particles,
        simulation.setup().motion.grid.len(),
        per_cell,
        done as f64 / elapsed / 1e6,
        share(0),
        share(1),
        share(2),
        share(3),
        share(4),
        simulation.state_bytes() as f64 / particles as f64
    );
    Ok(())
}

fn argon() -> Gas {
    Gas {
        species: vec![Species {
            name: "Ar".into(),
            mass_kg: 6.63e-26,
            diameter_m: 4.11e-10,
            omega: 0.81,
            reference_temperature_k: 273.15,
            alpha: 1.4,
            rotational_dof: 0,
            fraction: 1.0,
        }],
    }
}

fn scene(name: &str, gas: GasScene) -> Scene {
    Scene {
        name: name.into(),
        about: String::new(),
        seed: 1,
        model: Model::Gas(gas),
        view: Default::default(),
        folder: ".".into(),
    }
}

/// SPARTA's COLLIDE: a closed box of argon at rest.
fn argon_box(particles: u64, scheme: Scheme) -> Scene {
    let edge = (particles as f64 / 10.0).cbrt().round().max(2.0);
    let stream = Stream {
        velocity: Velocity::MetersPerSecond(0.0),
        density: Density::PerCubicMeter(7.07043e22),
        temperature_k: 273.15,
        incidence_deg: 0.0,
        sideslip_deg: 0.0,
    };
    let face = Face::Specular;
    scene(
        "argon box",
        GasScene {
            gas: argon(),
            stream,
            domain: Domain { corner_m: [0.0; 3], size_m: [edge * 1e-5; 3], cells: [edge as u32; 3] },
            particles_per_cell: 10.0,
            time_step: TimeStep::Seconds(7e-9),
            steps: 1000,
            sampling: Sampling::Auto,
            collisions: Collisions { scheme, ..Collisions::default() },
            start: Start::Filled,
            faces: Faces { x_min: face, x_max: face, y_min: face, y_max: face, z_min: face, z_max: face },
            reference: Reference::Auto,
            obstacles: vec![],
        },
    )
}

fn sphere(radius_m: f64, position_m: [f64; 3]) -> Obstacle {
    Obstacle {
        name: "sphere".into(),
        shape: Shape::Sphere { radius_m },
        position_m,
        rotation_deg: [0.0; 3],
        wall: Wall::default(),
    }
}

/// SPARTA's SPHERE: argon past a sphere.
fn argon_sphere(particles: u64) -> Scene {
    let edge = (particles as f64 / 10.0).cbrt().round().max(4.0);
    let stream = Stream {
        velocity: Velocity::MetersPerSecond(2500.0),
        density: Density::PerCubicMeter(7.03e18),
        temperature_k: 300.0,
        incidence_deg: 0.0,
        sideslip_deg: 0.0,
    };
    scene(
        "argon sphere",
        GasScene {
            gas: argon(),
            stream,
            domain: Domain { corner_m: [-5.0; 3], size_m: [10.0; 3], cells: [edge as u32; 3] },
            particles_per_cell: 10.0,
            time_step: TimeStep::Seconds(1e-5),
            steps: 1000,
            sampling: Sampling::Auto,
            collisions: Collisions::default(),
            start: Start::Filled,
            faces: Faces::default(),
            reference: Reference::Auto,
            obstacles: vec![sphere(1.0, [0.0; 3])],
        },
    )
}

/// The seed's sphere with as many cells as give the wanted number of particles.
fn seed_sphere(particles: u64, particles_per_cell: f64) -> Scene {
    let edge = (particles as f64 / particles_per_cell).cbrt().round().max(8.0);
    let stream = Stream {
        velocity: Velocity::Mach(4.0),
        density: Density::PressurePa(0.1),
        temperature_k: 200.0,
        incidence_deg: 0.0,
        sideslip_deg: 0.0,
    };
    let species = Species {
        name: "seed".into(),
        mass_kg: 0.040 / 6.02214076e23,
        diameter_m: 3.835e-10,
        omega: 0.75,
        reference_temperature_k: 200.0,
        alpha: 1.0,
        rotational_dof: 0,
        fraction: 1.0,
    };
    scene(
        "seed sphere",
        GasScene {
            gas: Gas { species: vec![species] },
            stream,
            domain: Domain { corner_m: [0.0; 3], size_m: [1.0; 3], cells: [edge as u32; 3] },
            particles_per_cell,
            time_step: TimeStep::Seconds(1e-5),
            steps: 2000,
            sampling: Sampling::Auto,
            collisions: Collisions::default(),
            start: Start::Filled,
            faces: Faces::default(),
            reference: Reference::Auto,
            obstacles: vec![sphere(0.15, [0.6, 0.6, 0.5])],
        },
    )
}
