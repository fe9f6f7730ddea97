//! The flow that the cases on bookkeeping, bits and two devices share: Mach 4 past a small sphere, both schemes at work.
//! Must not know what is compared.

use super::scenes::{TEMPERATURE_K, argon, diffuse, document, empty_box};
use crate::physics::species::most_probable_speed;
use crate::scene::{
    Collisions, Density, Domain, Face, Faces, GasScene, Obstacle, Reference, Sampling, Scene, Scheme, Shape,
    Stream, TimeStep, Velocity, Wall,
};
use std::path::Path;

/// Cells along x, y, z; they are cubes of 1/16 m.
pub const CELLS: [u32; 3] = [16, 12, 12];
/// Particles of undisturbed gas a cell: the shock is denser, and the scheme changes between.
const PER_CELL: f64 = 10.0;

/// The scene, in an open box. `cells_a_step` is how far the stream flies in a step.
pub fn mach_four(seed: u64, cells_a_step: f64, sampling: Sampling) -> Scene {
    let species = argon(0);
    let sound = most_probable_speed(species.mass_kg, TEMPERATURE_K) * (5.0_f64 / 6.0).sqrt();
    let edge = 1.0 / 16.0;
    let domain = Domain { corner_m: [-0.375; 3], size_m: CELLS.map(|n| f64::from(n) * edge), cells: CELLS };
    let stream = Stream {
        velocity: Velocity::Mach(4.0),
        // Mean free path 0.1 m: the sphere's Knudsen number is 0.3.
        density: Density::PerCubicMeter(1.2e19),
        temperature_k: TEMPERATURE_K,
        incidence_deg: 5.0,
        sideslip_deg: 0.0,
    };
    let mut gas = empty_box(stream, domain, Faces::default(), cells_a_step * edge / (4.0 * sound));
    gas.time_step = TimeStep::Seconds(cells_a_step * edge / (4.0 * sound));
    gas.particles_per_cell = PER_CELL;
    gas.sampling = sampling;
    gas.collisions = Collisions { scheme: Scheme::Mixed, heavy_cell_threshold: 13 };
    gas.reference = Reference::Auto;
    gas.obstacles = vec![body("sphere", Shape::Sphere { radius_m: 0.15 }, [0.0; 3], diffuse(2.0))];
    document("Mach 4 past a sphere", seed, gas, Path::new(""))
}

/// The same between faces of every kind, past a thin plate too, with rotation.
pub fn every_face(seed: u64, cells_a_step: f64, sampling: Sampling) -> Scene {
    let mut scene = mach_four(seed, cells_a_step, sampling);
    let gas = model(&mut scene);
    gas.gas.species = vec![argon(2)];
    gas.faces = Faces {
        x_min: Face::Stream,
        x_max: Face::Vacuum,
        y_min: Face::Diffuse { temperature_k: TEMPERATURE_K },
        y_max: Face::Specular,
        z_min: Face::Periodic,
        z_max: Face::Periodic,
    };
    let plate = Shape::Plate { chord_m: 0.4, span_m: 0.5 };
    gas.obstacles.push(body("plate", plate, [0.35, 0.0, 0.0], Wall::Specular));
    scene
}

/// The gas of a scene.
pub fn model(scene: &mut Scene) -> &mut GasScene {
    let crate::scene::Model::Gas(gas) = &mut scene.model;
    gas
}

fn body(name: &str, shape: Shape, position_m: [f64; 3], wall: Wall) -> Obstacle {
    Obstacle { name: name.into(), shape, position_m, rotation_deg: [0.0, 0.0, 17.0], wall }
}
