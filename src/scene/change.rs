//! What a change of a scene means for a running simulation.
//! Must not know how a simulation carries it out.
//!
//! | changed | impact | because |
//! |---|---|---|
//! | `name`, `about`, `view` | nothing | only people look at them |
//! | `folder` | nothing, but restart if a triangle file is looked for in it | other triangles |
//! | `steps` | live | only says when a run ends |
//! | `reference` | live | coefficients are divided by it when they are shown; forces and their averages stay |
//! | name of an obstacle | live | results are listed under it; its average goes on |
//! | `stream` (speed, density, temperature, angles) | averages reset | another flow, which comes in through the faces |
//! | `time_step`, `sampling`, `collisions` | averages reset | other statistics of the samples |
//! | `wall` of an obstacle, temperature of a diffuse face | averages reset | another flow around the same triangles |
//! | `gas` | restart | the molecules that fly would change their mass or size |
//! | `domain`, kind of a `faces` entry | restart | other cells, or other neighbours of a cell |
//! | `particles_per_cell`, `start`, `seed` | restart | they say how a simulation begins |
//! | number, shape, position or rotation of obstacles | restart | other triangles, cut cells and gas volumes |
//!
//! A new density keeps the weight of a particle: there are then more or fewer particles in a cell than
//! `particles_per_cell` says, until the scene is started again.

use super::{Face, GasScene, Model, Obstacle, Scene, Shape};

/// What it costs to go from one scene to another, cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Impact {
    /// Nothing that the simulation sees has changed.
    Nothing,
    /// Takes effect at once; averages go on.
    Live,
    /// Takes effect at once; averages start anew.
    AveragesReset,
    /// The simulation starts from the beginning.
    Restart,
}

/// What it costs to go from `old` to `new`: the dearest of all that differs. The table is at the top of the module.
pub fn impact(old: &Scene, new: &Scene) -> Impact {
    // Taken apart without `..` here and below, so that a new field does not compile until it has its place.
    let Scene { name: _, about: _, seed, model, view: _, folder } = old;
    let Model::Gas(old_gas) = model;
    let Model::Gas(new_gas) = &new.model;
    let files = old_gas.obstacles.iter().any(|obstacle| has_file(&obstacle.shape));
    cost(*seed == new.seed, Impact::Restart)
        .max(cost(!files || *folder == new.folder, Impact::Restart))
        .max(gas(old_gas, new_gas))
}

fn cost(same: bool, otherwise: Impact) -> Impact {
    if same { Impact::Nothing } else { otherwise }
}

fn gas(old: &GasScene, new: &GasScene) -> Impact {
    use Impact::{AveragesReset, Live, Restart};
    let GasScene {
        gas,
        stream,
        domain,
        particles_per_cell,
        time_step,
        steps,
        sampling,
        collisions,
        start,
        faces: old_faces,
        reference,
        obstacles: old_obstacles,
    } = old;
    [
        cost(*gas == new.gas, Restart),
        cost(*stream == new.stream, AveragesReset),
        cost(*domain == new.domain, Restart),
        cost(*particles_per_cell == new.particles_per_cell, Restart),
        cost(*time_step == new.time_step, AveragesReset),
        cost(*steps == new.steps, Live),
        cost(*sampling == new.sampling, AveragesReset),
        cost(*collisions == new.collisions, AveragesReset),
        cost(*start == new.start, Restart),
        cost(*reference == new.reference, Live),
        faces(&old_faces.as_array(), &new.faces.as_array()),
        obstacles(old_obstacles, &new.obstacles),
    ]
    .into_iter()
    .fold(Impact::Nothing, Impact::max)
}

fn faces(old: &[Face; 6], new: &[Face; 6]) -> Impact {
    let one = |(old, new): (&Face, &Face)| match (old, new) {
        (old, new) if old == new => Impact::Nothing,
        (Face::Diffuse { .. }, Face::Diffuse { .. }) => Impact::AveragesReset,
        _ => Impact::Restart,
    };
    old.iter().zip(new).map(one).fold(Impact::Nothing, Impact::max)
}

fn obstacles(old: &[Obstacle], new: &[Obstacle]) -> Impact {
    if old.len() != new.len() {
        return Impact::Restart;
    }
    let one = |(old, new): (&Obstacle, &Obstacle)| {
        let Obstacle { name, shape, position_m, rotation_deg, wall } = old;
        let placed =
            *shape == new.shape && *position_m == new.position_m && *rotation_deg == new.rotation_deg;
        cost(*name == new.name, Impact::Live)
            .max(cost(placed, Impact::Restart))
            .max(cost(*wall == new.wall, Impact::AveragesReset))
    };
    old.iter().zip(new).map(one).fold(Impact::Nothing, Impact::max)
}

/// Whether a triangle file is part of a shape.
fn has_file(shape: &Shape) -> bool {
    match shape {
        Shape::Mesh { .. } => true,
        Shape::Group { parts } => parts.iter().any(|part| has_file(&part.shape)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Camera, Domain, Faces, KeyFrame, Species, View};
    use crate::scene::{
        Collisions, Density, Gas, Model, Reference, Sampling, Scheme, Start, Stream, TimeStep, Velocity, Wall,
    };
    use std::path::PathBuf;

    fn scene() -> Scene {
        let obstacle = Obstacle {
            name: "body".into(),
            shape: Shape::Sphere { radius_m: 0.1 },
            position_m: [0.5; 3],
            rotation_deg: [0.0; 3],
            wall: Wall::default(),
        };
        let species = Species {
            name: "Ar".into(),
            mass_kg: 6.63e-26,
            diameter_m: 4.17e-10,
            omega: 0.81,
            reference_temperature_k: 273.15,
            alpha: 1.0,
            rotational_dof: 0,
            fraction: 1.0,
        };
        let gas = GasScene {
            gas: Gas { species: vec![species] },
            stream: Stream {
                velocity: Velocity::Mach(4.0),
                density: Density::PressurePa(0.1),
                temperature_k: 200.0,
                incidence_deg: 0.0,
                sideslip_deg: 0.0,
            },
            domain: Domain { corner_m: [0.0; 3], size_m: [1.0; 3], cells: [10; 3] },
            particles_per_cell: 10.0,
            time_step: TimeStep::Auto,
            steps: 100,
            sampling: Sampling::Auto,
            collisions: Collisions::default(),
            start: Start::Filled,
            faces: Faces { z_min: Face::Diffuse { temperature_k: 300.0 }, ..Faces::default() },
            reference: Reference::Auto,
            obstacles: vec![obstacle.clone(), obstacle],
        };
        Scene {
            name: "a".into(),
            about: String::new(),
            seed: 1,
            model: Model::Gas(gas),
            view: View::default(),
            folder: PathBuf::from("scenes"),
        }
    }

    fn of(change: impl Fn(&mut GasScene)) -> Impact {
        let old = scene();
        let mut new = old.clone();
        let Model::Gas(gas) = &mut new.model;
        change(gas);
        assert_ne!(old, new, "the test changes nothing");
        assert_eq!(impact(&old, &new), impact(&new, &old), "there is as far as back");
        impact(&old, &new)
    }

    #[test]
    fn the_table_of_the_module() {
        use Impact::{AveragesReset, Live, Nothing, Restart};
        assert_eq!(impact(&scene(), &scene()), Nothing);
        let texts = Scene { name: "b".into(), about: "c".into(), folder: "d".into(), ..scene() };
        assert_eq!(impact(&scene(), &texts), Nothing);
        let camera = Camera::new([1.0; 3], [0.0; 3]);
        let view = View { path: vec![KeyFrame { time_s: 0.0, camera }], ..View::default() };
        assert_eq!(impact(&scene(), &Scene { view, ..scene() }), Nothing);
        assert_eq!(impact(&scene(), &Scene { seed: 2, ..scene() }), Restart);

        assert_eq!(of(|g| g.steps = 200), Live);
        assert_eq!(of(|g| g.reference = Reference::Given { area_m2: 1.0, length_m: 1.0 }), Live);
        assert_eq!(of(|g| g.obstacles[1].name = "other".into()), Live);

        assert_eq!(of(|g| g.stream.velocity = Velocity::Mach(5.0)), AveragesReset);
        assert_eq!(of(|g| g.stream.density = Density::PressurePa(0.2)), AveragesReset);
        assert_eq!(of(|g| g.stream.temperature_k = 300.0), AveragesReset);
        assert_eq!(of(|g| g.stream.incidence_deg = 10.0), AveragesReset);
        assert_eq!(of(|g| g.stream.sideslip_deg = 10.0), AveragesReset);
        assert_eq!(of(|g| g.time_step = TimeStep::Seconds(1e-5)), AveragesReset);
        assert_eq!(of(|g| g.sampling = Sampling::From { from: 10, every: 1 }), AveragesReset);
        assert_eq!(of(|g| g.collisions.scheme = Scheme::Ntc), AveragesReset);
        assert_eq!(of(|g| g.collisions.heavy_cell_threshold = 100), AveragesReset);
        assert_eq!(of(|g| g.obstacles[1].wall = Wall::Specular), AveragesReset);
        assert_eq!(of(|g| g.faces.z_min = Face::Diffuse { temperature_k: 400.0 }), AveragesReset);

        assert_eq!(of(|g| g.gas.species[0].mass_kg *= 2.0), Restart);
        assert_eq!(of(|g| g.domain.cells[2] = 20), Restart);
        assert_eq!(of(|g| g.domain.size_m[0] = 2.0), Restart);
        assert_eq!(of(|g| g.domain.corner_m[0] = 0.1), Restart);
        assert_eq!(of(|g| g.particles_per_cell = 20.0), Restart);
        assert_eq!(of(|g| g.start = Start::Empty), Restart);
        assert_eq!(of(|g| g.faces.x_max = Face::Vacuum), Restart);
        assert_eq!(of(|g| g.faces.z_min = Face::Specular), Restart);
        assert_eq!(of(|g| g.obstacles[0].shape = Shape::Sphere { radius_m: 0.2 }), Restart);
        assert_eq!(of(|g| g.obstacles[1].position_m[1] = 0.6), Restart);
        assert_eq!(of(|g| g.obstacles[1].rotation_deg[2] = 5.0), Restart);
        assert_eq!(of(|g| drop(g.obstacles.pop())), Restart);
    }

    #[test]
    fn the_dearest_change_counts() {
        let both = |g: &mut GasScene| {
            g.steps = 200;
            g.stream.incidence_deg = 3.0;
        };
        assert_eq!(of(both), Impact::AveragesReset);
    }

    #[test]
    fn the_folder_counts_where_triangle_files_are_looked_for() {
        let mut old = scene();
        let Model::Gas(gas) = &mut old.model;
        gas.obstacles[0].shape = Shape::Mesh { file: "a.stl".into(), scale: 1.0 };
        let new = Scene { folder: "elsewhere".into(), ..old.clone() };
        assert_eq!(impact(&old, &new), Impact::Restart);
    }
}
