//! `knudsen check`: what a scene means, before it is run.
//! Must not run anything; formulas come from physics.

use super::common::open_scene;
use crate::device::gas::{Body, GasSetup, Record, gas_scene};
use crate::device::memory;
use crate::physics::resolution::{CellGas, judge, shock_ratios};
use crate::physics::species::MeanFreePath;
use crate::scene::{Sampling, Scene, Velocity, shape};
use crate::units::si;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `knudsen check`.
#[derive(Args)]
pub struct CheckArgs {
    /// Scene file (RON).
    scene: PathBuf,
}

/// Validates a scene and prints what it means.
pub fn run(args: &CheckArgs) -> anyhow::Result<()> {
    let scene = open_scene(&args.scene)?;
    memory::check_cells(&scene)?;
    let setup =
        GasSetup::new(&scene).with_context(|| format!("{}: cannot be simulated", args.scene.display()))?;
    memory::check(&setup)?;
    say!("{}: the scene is valid", args.scene.display());
    if !scene.about.is_empty() {
        say!("  {}", scene.about);
    }
    print_gas(&setup);
    print_bodies(&scene, &setup)?;
    print_resolution(&setup);
    print_size(&setup);
    Ok(())
}

fn print_gas(setup: &GasSetup) {
    let stream = &setup.stream;
    let gas = &setup.gas().gas;
    say!("\ngas");
    for species in &gas.species {
        say!(
            "  {}, {:.4e} kg, {} rotational degrees of freedom",
            species.name,
            species.mass_kg,
            species.rotational_dof
        );
        if species.rotational_dof > 0 && setup.heavy_from.is_some() {
            say!("  note: collisions between molecules leave the rotational energy alone in this version");
        }
    }
    say!(
        "  n {:.4e} 1/m^3, T {:.1} K, p {}, rho {:.4e} kg/m^3",
        stream.number_density,
        stream.temperature,
        si(stream.pressure, "Pa"),
        stream.density
    );
    let given = match setup.gas().stream.velocity {
        Velocity::Mach(_) => "Mach number as given",
        Velocity::MetersPerSecond(_) => "speed as given",
    };
    say!(
        "  speed {:.2} m/s, Mach {:.3}, speed ratio {:.3} ({given}), along ({:.3}, {:.3}, {:.3})",
        stream.speed,
        stream.mach,
        stream.speed_ratio,
        stream.direction[0],
        stream.direction[1],
        stream.direction[2]
    );
    say!("  mean free path of the stream:");
    for kind in MeanFreePath::ALL {
        let lambda = kind.of(&gas.species[0], stream.number_density, stream.temperature);
        let length = setup.reference_length();
        say!(
            "    {:<34} {:>11}   Knudsen number {:.4} (by the length {})",
            kind.name(),
            si(lambda, "m"),
            lambda / length,
            si(length, "m")
        );
    }
    say!("  mean collision time {}", si(1.0 / stream.collision_frequency, "s"));
}

fn print_bodies(scene: &Scene, setup: &GasSetup) -> anyhow::Result<()> {
    for (obstacle, body) in gas_scene(scene).obstacles.iter().zip(&setup.bodies) {
        say!("\n{}", body.name);
        say!(
            "  {} triangles, reference area {}, length {}",
            body.mesh.triangles.len(),
            si(body.reference_area_m2, "m^2"),
            si(body.reference_length_m, "m")
        );
        for remark in remarks(body, setup) {
            say!("  note: {remark}");
        }
        if let Some(drag) = body.free_molecular_drag {
            say!("  free-molecular drag coefficient of these triangles {drag:.4}");
        }
        for report in shape::placed(obstacle, &scene.folder)?.reports {
            for line in report.to_string().lines() {
                say!("  {line}");
            }
        }
    }
    Ok(())
}

/// What is probably not meant: a body that reaches out of the domain, that another one overlaps, or that no cell sees.
fn remarks(body: &Body, setup: &GasSetup) -> Vec<String> {
    let grid = &setup.motion.grid;
    let Some([low, high]) = body.mesh.bounds() else { return Vec::new() };
    let mut remarks = Vec::new();
    let inside = |a: usize| low[a] > grid.corner[a] && high[a] < grid.corner[a] + grid.size[a];
    if !(0..3).all(inside) {
        remarks.push(format!(
            "it reaches out of the domain (from {low:.3?} to {high:.3?} m): loads are those of the part inside"
        ));
    }
    let cell = grid.cell_size().into_iter().fold(f64::INFINITY, f64::min);
    if body.reference_length_m < cell {
        let (length, cell) = (si(body.reference_length_m, "m"), si(cell, "m"));
        remarks.push(format!("it is shorter ({length}) than a cell ({cell}): is the scale right?"));
    }
    for other in setup.bodies.iter().filter(|other| other.name != body.name) {
        if let Some([lower, upper]) = other.mesh.bounds()
            && (0..3).all(|a| low[a] < upper[a] && high[a] > lower[a])
        {
            remarks.push(format!("its bounding box and that of \"{}\" overlap: do the bodies?", other.name));
        }
    }
    remarks
}

fn print_resolution(setup: &GasSetup) {
    let (stream, grid, gas) = (&setup.stream, &setup.motion.grid, setup.gas());
    let size: Vec<f64> = (0..3).filter(|&a| grid.cells[a] > 1).map(|a| grid.cell_size()[a]).collect();
    let cell = |density: f64, temperature: f64, speed: f64| CellGas {
        number_density: stream.number_density * density,
        temperature: stream.temperature * temperature,
        speed,
        particles: gas.particles_per_cell * density,
    };
    let collide = setup.heavy_from.is_some();
    let mut states = vec![("in the stream", cell(1.0, 1.0, stream.speed))];
    if stream.mach > 1.0 && collide {
        let (density, temperature) = shock_ratios(stream.mach, stream.heat_ratio);
        states.push((
            "behind a normal shock, as before a blunt body",
            cell(density, temperature, stream.speed / density),
        ));
    }
    for (place, state) in states {
        say!("\nresolution {place}");
        for j in judge(&gas.gas, &size, setup.time_step_s, collide, [state]) {
            let sign = if j.upper { "<=" } else { ">=" };
            // A time step chosen to meet its limit meets it but for rounding.
            let missed = j.missed > 0.0 && (j.median / j.limit - 1.0).abs() > 1e-6;
            let verdict = match (missed, j.upper) {
                (false, _) => "ok".to_string(),
                (true, true) => format!("too large by {:.0} %", 100.0 * (j.median / j.limit - 1.0)),
                (true, false) => format!("too small by {:.0} %", 100.0 * (1.0 - j.median / j.limit)),
            };
            say!("  {:<30} {:>9.3}   {sign} {:<5} {verdict}", j.name, j.median, j.limit);
        }
    }
}

fn print_size(setup: &GasSetup) {
    let grid = &setup.motion.grid;
    let particles = setup.expected_particles();
    say!("\nsize");
    say!(
        "  {} x {} x {} = {} cells of {} x {} x {}",
        grid.cells[0],
        grid.cells[1],
        grid.cells[2],
        grid.len(),
        si(grid.cell_size()[0], "m"),
        si(grid.cell_size()[1], "m"),
        si(grid.cell_size()[2], "m")
    );
    say!("  {particles:.0} particles of undisturbed gas, each for {:.4e} molecules", setup.weight);
    say!(
        "  time step {}, {:.0} steps for the gas to cross the domain, {} planned",
        si(setup.time_step_s, "s"),
        setup.transit_steps(),
        setup.gas().steps
    );
    if setup.gas().sampling == Sampling::Auto {
        let earliest = Record::new(setup, 0).earliest_sampling();
        let enough = if earliest < setup.gas().steps { "" } else { ": too few, there would be no averages" };
        say!(
            "  averages (Auto) begin at step {earliest} at the earliest, {} are planned{enough}",
            setup.gas().steps
        );
    }
    let need = memory::estimate(grid.len() as u64, particles, setup.rotational);
    let free =
        memory::available().map_or_else(String::new, |free| format!(", {} are free", si(free as f64, "B")));
    say!("  memory: about {}{free}", si(need as f64, "B"));
}
