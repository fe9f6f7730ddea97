//! What values of a scene are possible.
//! Must not know devices or running state, nor where a value stands in a file.

mod checker;
mod extent;
mod obstacles;
mod view;

use super::{
    Density, Face, Faces, GasScene, Model, Problem, Sampling, Scene, SceneError, Start, TimeStep, Velocity,
};
use super::{Reference, Species};
use checker::Checker;
pub use checker::Finding;
use std::collections::HashSet;

/// Cells of a domain at most: they are numbered with 32 bits, one of them left for marks.
const MAX_CELLS: f64 = (1_u64 << 31) as f64;
/// Particles of a simulation at most: they are numbered with 32 bits.
const MAX_PARTICLES: f64 = u32::MAX as f64;
/// Speed of light, m/s.
const LIGHT: f64 = 299_792_458.0;
/// Heavier than any molecule, kg: whoever exceeds it has written kg/mol, or grams.
const MAX_MOLECULE_KG: f64 = 1e-20;
/// Larger than any molecule, m: whoever exceeds it has written nanometres, or Angstrom.
const MAX_MOLECULE_M: f64 = 1e-7;
/// How far mole fractions may be from 1 together.
const FRACTION_TOLERANCE: f64 = 1e-6;

/// Validates a scene that was made or changed in memory.
///
/// # Errors
/// Every problem at once, without places; `file` is the name of the scene.
pub fn validate(scene: &Scene) -> Result<(), SceneError> {
    let findings = findings(scene, HashSet::new());
    if findings.is_empty() {
        return Ok(());
    }
    let name = if scene.name.is_empty() { "scene" } else { &scene.name };
    let problems =
        findings.into_iter().map(|finding| Problem::unplaced(name, finding.field, finding.message));
    Err(SceneError { problems: problems.collect() })
}

/// What is impossible in a scene. Fields in `bad` are known to be wrong already: nothing is said about them, nor
/// concluded from them.
pub fn findings(scene: &Scene, bad: HashSet<String>) -> Vec<Finding> {
    let mut check = Checker::new(bad);
    let Scene { name, about: _, seed: _, model, view, folder } = scene;
    check_name(&mut check, name);
    match model {
        Model::Gas(gas) => {
            check_species(&mut check, &gas.gas.species);
            check_stream(&mut check, gas);
            check_domain(&mut check, gas);
            check_steps(&mut check, gas);
            check_faces(&mut check, gas);
            if let Reference::Given { area_m2, length_m } = gas.reference {
                check.positive("model.reference.area_m2", area_m2, "m^2");
                check.positive("model.reference.length_m", length_m, "m");
            }
            obstacles::check(&mut check, gas, folder);
        }
    }
    view::check(&mut check, view);
    check.into_findings()
}

fn check_name(check: &mut Checker, name: &str) {
    const REFUSED: &str = "/\\:*?\"<>|";
    if name.trim().is_empty() {
        check.fail("name", "must not be empty: output folders and titles are named after it");
    } else if name.chars().any(|c| REFUSED.contains(c) || c.is_control()) || name.starts_with('.') {
        let message =
            "names an output folder: no leading dot, no line breaks and none of / \\ : * ? \" < > |";
        check.fail("name", message);
    } else if name.chars().count() > 100 {
        check.fail("name", "must not be longer than 100 characters: output folders are named after it");
    }
}

fn check_species(check: &mut Checker, species: &[Species]) {
    const LIST: &str = "model.gas.species";
    for (i, one) in species.iter().enumerate() {
        let field = |name: &str| format!("{LIST}[{i}].{name}");
        if one.name.trim().is_empty() {
            check.fail(field("name"), "must not be empty: write \"Ar\", for example");
        }
        check.positive(field("mass_kg"), one.mass_kg, "kg");
        if one.mass_kg.is_finite() && one.mass_kg > MAX_MOLECULE_KG {
            let message =
                "is the mass of one molecule in kg, such as 6.63e-26; from kg/mol, divide by 6.02214076e23";
            check.fail(field("mass_kg"), message);
        }
        check.positive(field("diameter_m"), one.diameter_m, "m");
        if one.diameter_m.is_finite() && one.diameter_m > MAX_MOLECULE_M {
            check.fail(field("diameter_m"), "is the diameter of one molecule in m, such as 4.17e-10");
        }
        check.between(field("omega"), one.omega, 0.5, 1.0, "0.5 is the hard sphere, 1 the Maxwell molecule");
        check.positive(field("reference_temperature_k"), one.reference_temperature_k, "K");
        check.between(field("alpha"), one.alpha, 1.0, 3.0, "1 is the hard, above it the soft sphere");
        if one.rotational_dof != 0 && one.rotational_dof != 2 {
            let message = format!("must be 0 (one atom) or 2 (two atoms), not {}", one.rotational_dof);
            check.fail(field("rotational_dof"), message);
        }
        check.between(field("fraction"), one.fraction, 0.0, 1.0, "it is a mole fraction");
    }
    let sum: f64 = species.iter().map(|one| one.fraction).sum();
    let clean = (0..species.len()).all(|i| check.clean(&[&format!("{LIST}[{i}].fraction")]));
    if clean && !species.is_empty() && (sum - 1.0).abs() > FRACTION_TOLERANCE {
        // One species alone is the usual case, and then there is one number to point at.
        let field = if species.len() == 1 { format!("{LIST}[0].fraction") } else { LIST.to_string() };
        check.fail(field, format!("the mole fractions add up to {sum}, and must add up to 1"));
    }
    match species.len() {
        0 => check.fail(LIST, "must not be empty: describe the molecule of the gas"),
        1 => {}
        n => check.also(LIST, format!("{n} species, but devices accept one for now: keep one")),
    }
}

fn check_stream(check: &mut Checker, gas: &GasScene) {
    let stream = &gas.stream;
    match stream.velocity {
        Velocity::Mach(mach) => check.not_negative("model.stream.velocity", mach, "Mach number"),
        Velocity::MetersPerSecond(speed) => {
            check.not_negative("model.stream.velocity", speed, "speed in m/s");
            if speed.is_finite() && speed >= LIGHT {
                check.fail("model.stream.velocity", "must be less than the speed of light, 299792458 m/s");
            }
        }
    }
    match stream.density {
        Density::PressurePa(pressure) => check.positive("model.stream.density", pressure, "Pa"),
        Density::PerCubicMeter(density) => check.positive("model.stream.density", density, "1/m^3"),
    }
    check.positive("model.stream.temperature_k", stream.temperature_k, "K");
    check.between("model.stream.incidence_deg", stream.incidence_deg, -180.0, 180.0, "it is in degrees");
    check.between("model.stream.sideslip_deg", stream.sideslip_deg, -90.0, 90.0, "it is in degrees");
}

fn check_domain(check: &mut Checker, gas: &GasScene) {
    let domain = &gas.domain;
    for axis in 0..3 {
        check.finite(format!("model.domain.corner_m[{axis}]"), domain.corner_m[axis]);
        check.positive(format!("model.domain.size_m[{axis}]"), domain.size_m[axis], "m");
        if domain.cells[axis] == 0 {
            check.fail(format!("model.domain.cells[{axis}]"), "must be at least 1 cell");
        }
    }
    let cells: f64 = domain.cells.iter().map(|n| f64::from(*n)).product();
    if check.clean(&["model.domain.cells"]) && cells > MAX_CELLS {
        let message = format!("{cells:.3e} cells together: at most 2147483648 (2^31) are possible");
        check.fail("model.domain.cells", message);
    }
    check.positive("model.particles_per_cell", gas.particles_per_cell, "particles");
    let particles = cells * gas.particles_per_cell;
    if check.clean(&["model.domain.cells", "model.particles_per_cell"]) && particles > MAX_PARTICLES {
        let message = format!(
            "{particles:.3e} particles in all cells together, but 4.29e9 are possible: at most {:.4e} a cell",
            MAX_PARTICLES / cells
        );
        check.fail("model.particles_per_cell", message);
    }
}

fn check_steps(check: &mut Checker, gas: &GasScene) {
    if let TimeStep::Seconds(step) = gas.time_step {
        check.positive("model.time_step", step, "s");
    }
    if gas.steps == 0 {
        check.fail("model.steps", "must be at least 1 step");
    }
    if let Sampling::From { from, every } = gas.sampling {
        if every == 0 {
            check.fail("model.sampling.every", "must be at least 1: a sample every step");
        }
        if from >= gas.steps && check.clean(&["model.sampling.from", "model.steps"]) {
            let message = format!(
                "the first sample would be at step {from}, but the run has {} steps: sample earlier",
                gas.steps
            );
            check.fail("model.sampling.from", message);
        }
    }
    if gas.collisions.heavy_cell_threshold == 0 {
        let message =
            "must be at least 1 particle; for Half-Split-Shuffle everywhere, write scheme: HalfSplitShuffle";
        check.fail("model.collisions.heavy_cell_threshold", message);
    }
}

fn check_faces(check: &mut Checker, gas: &GasScene) {
    let faces = gas.faces.as_array();
    for (i, face) in faces.iter().enumerate() {
        let (name, opposite) = (Faces::NAMES[i], Faces::NAMES[i ^ 1]);
        let (path, other) = (format!("model.faces.{name}"), format!("model.faces.{opposite}"));
        match face {
            Face::Diffuse { temperature_k } => {
                check.positive(format!("{path}.temperature_k"), *temperature_k, "K");
            }
            Face::Periodic if faces[i ^ 1] != Face::Periodic && check.clean(&[&path, &other]) => {
                check.also(path, format!("is periodic, but {opposite} is not: make both periodic, or none"));
            }
            Face::Periodic | Face::Stream | Face::Vacuum | Face::Specular => {}
        }
    }
    if gas.start == Start::Empty
        && !faces.contains(&Face::Stream)
        && check.clean(&["model.faces", "model.start"])
    {
        let message = "nothing is in the domain and nothing enters: start Filled, or give it a Stream face";
        check.fail("model.start", message);
    }
}
