//! The scenes of `knudsen bench`: SPARTA's benchmarks and the seed's sphere, at any number of particles.
//! Must not know devices or clocks.

use crate::scene::{
    Collisions, Density, Domain, Face, Faces, Gas, GasScene, Model, Obstacle, Reference, Sampling, Scene,
    Scheme, Shape, Species, Start, Stream, TimeStep, Velocity, Wall,
};

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

/// SPARTA's COLLIDE: a closed box of argon at rest, 10 particles a cell.
pub fn argon_box(particles: u64, scheme: Scheme) -> Scene {
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

/// SPARTA's SPHERE: argon past a sphere, 10 particles a cell; a larger one has smaller cells.
pub fn argon_sphere(particles: u64) -> Scene {
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

/// The seed's sphere with as many cells as give the wanted number of particles. All lengths grow with the number of cells, so
/// that a cell always has the seed's 2 cm, and a particle flies as many cells a step.
pub fn seed_sphere(particles: u64, particles_per_cell: f64) -> Scene {
    let edge = (particles as f64 / particles_per_cell).cbrt().round().max(8.0);
    let scale = edge / 50.0;
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
            domain: Domain { corner_m: [0.0; 3], size_m: [scale; 3], cells: [edge as u32; 3] },
            particles_per_cell,
            time_step: TimeStep::Seconds(1e-5),
            steps: 2000,
            sampling: Sampling::Auto,
            collisions: Collisions::default(),
            start: Start::Filled,
            faces: Faces::default(),
            reference: Reference::Auto,
            obstacles: vec![sphere(0.15 * scale, [0.6, 0.6, 0.5].map(|place| place * scale))],
        },
    )
}
