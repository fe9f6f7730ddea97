//! What the tests of the view share: a made-up snapshot, and pictures of it by the software driver.
//! Only for tests.

use super::camera::Viewpoint;
use super::flow::Flow;
use super::headless::Headless;
use super::simulation::Wanted;
use super::stage::{Stage, spawn_camera};
use crate::output::canvas::Canvas;
use crate::scene::{Obstacle, Shape, Wall, shape};
use crate::sim::{Column, DrawnParticle, Fields, Snapshot, Surface};
use crate::units::Quantity;
use bevy::app::Plugins;
use bevy::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// A box of 2 x 1 x 1 m, corner at 0, of 16 x 8 x 8 cells, with fields known in closed form: `temperature` is 100 K at
/// the lower x and 300 K at the upper (linear, by cell middles), `number_density` the same times 1e18, and the
/// velocity is (400, 100, 0) m/s everywhere. 2000 particles on a plane x = 1 m, values from 0 to 1999. Its body is a
/// sphere of radius 0.1 m in the middle, with `heat_flux` 1 on the half at lower x and 2 on the other.
pub fn snapshot() -> Snapshot {
    let cells = [16_u32, 8, 8];
    let count = (cells[0] * cells[1] * cells[2]) as usize;
    let along = |cell: usize| (cell % 16) as f32 / 15.0;
    let column = |quantity: Quantity, of: &dyn Fn(usize) -> f32| Column {
        quantity,
        values: (0..count).map(of).collect(),
        errors: vec![0.5; count],
    };
    let columns = vec![
        column(Quantity::new("number_density", "number density", "n", "1/m^3"), &|cell| {
            1e18 * (100.0 + 200.0 * along(cell))
        }),
        column(Quantity::new("temperature", "temperature", "T", "K"), &|cell| 100.0 + 200.0 * along(cell)),
        column(Quantity::new("velocity_x", "velocity along x", "u", "m/s"), &|_| 400.0),
        column(Quantity::new("velocity_y", "velocity along y", "v", "m/s"), &|_| 100.0),
        column(Quantity::new("velocity_z", "velocity along z", "w", "m/s"), &|_| 0.0),
    ];
    let fields =
        Fields { cells, corner_m: [0.0; 3], size_m: [2.0, 1.0, 1.0], samples: 10, batches: 5, columns };
    let drawn = (0..2000)
        .map(|i| DrawnParticle {
            position: [1.0, (i % 50) as f32 / 50.0 + 0.01, (i / 50) as f32 / 40.0 + 0.0125],
            value: i as f32,
        })
        .collect();
    Snapshot {
        generation: 1,
        step: 100,
        time_s: 1e-3,
        time_step_s: 1e-5,
        particles: 8000,
        weight: 1e10,
        drawn,
        fields: Some(fields),
        surfaces: vec![surface()],
        ..Snapshot::default()
    }
}

fn surface() -> Surface {
    let obstacle = Obstacle {
        name: "sphere".into(),
        shape: Shape::Sphere { radius_m: 0.1 },
        position_m: [1.0, 0.5, 0.5],
        rotation_deg: [0.0; 3],
        wall: Wall::default(),
    };
    let mesh = shape::placed(&obstacle, Path::new(".")).expect("a sphere").mesh;
    let half = |t: usize| {
        let middle: f64 = mesh.corners(t).iter().map(|corner| corner[0]).sum::<f64>() / 3.0;
        if middle < 1.0 { 1.0 } else { 2.0 }
    };
    let values = (0..mesh.triangles.len()).map(half).collect();
    let quantity = Quantity::new("heat_flux", "heat flux", "q", "W/m^2");
    let columns = vec![Column { quantity, values, errors: Vec::new() }];
    Surface { name: "sphere".into(), mesh: Arc::new(mesh), columns, loads: None }
}

/// The stage of [`snapshot`].
pub fn stage() -> Stage {
    Stage { middle_m: [1.0, 0.5, 0.5], size_m: [2.0, 1.0, 1.0] }
}

/// A picture of `snapshot` by `plugins`, after `setup` has spawned what shall be drawn: the background is the stage's,
/// the camera looks along -z, the middle of the domain in the middle of the picture, the whole domain in view.
pub fn shoot<M>(
    size: [u32; 2],
    snapshot: Snapshot,
    plugins: impl Plugins<M>,
    setup: impl FnOnce(&mut World),
) -> Canvas {
    let mut studio = studio(size, Viewpoint::default().along(Vec3::NEG_Z, 3.0), plugins);
    studio.world().insert_resource(Flow::still(snapshot));
    setup(studio.world());
    picture(&mut studio, size)
}

/// An app for pictures of several frames; has no flow yet.
pub fn studio<M>(size: [u32; 2], viewpoint: Viewpoint, plugins: impl Plugins<M>) -> Headless {
    let mut studio = Headless::new(size, plugins, |world, target| {
        spawn_camera(world, &viewpoint, target);
    })
    .expect("pictures need a Vulkan driver: apt install libvulkan1 mesa-vulkan-drivers");
    studio.world().insert_resource(stage());
    studio.world().init_resource::<Wanted>();
    studio
}

/// The next frame.
pub fn picture(studio: &mut Headless, [width, height]: [u32; 2]) -> Canvas {
    let frame = studio.frame().expect("a frame");
    Canvas::over_rgba(width as usize, height as usize, &frame.rgba).expect("bytes of the size")
}

/// Number of pixels that `is` says yes to.
pub fn count(canvas: &Canvas, is: impl Fn([u8; 3]) -> bool) -> usize {
    canvas.pixels().chunks_exact(3).filter(|pixel| is([pixel[0], pixel[1], pixel[2]])).count()
}
