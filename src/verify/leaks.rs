//! No leak: hot gas in closed boxes around bodies and plates, in steps of several cells, and from starts right at a wall.
//! Must not know how walls are found or hit.
//!
//! Where a particle is, is judged by planes in f64, apart from the solver's own inside test. Bodies must stay empty; of
//! two rooms that a plate divides, one is filled and the other must stay empty, so that leaks cannot cancel.

use super::scenes::{
    ICOSAHEDRON, WEDGE, all_faces, document, empty_box, stream, thermal_speed, triangle_files,
};
use super::{Bed, Effort, Row};
use crate::device::gas::GasSetup;
use crate::device::subject::{Molecule, Subject};
use crate::physics::particle::Particle;
use crate::physics::rng::{Purpose, Stream};
use crate::physics::sample::gauss_triple;
use crate::scene::{Domain, Face, Obstacle, Part, Scene, Shape, TriangleMesh, Wall};
use crate::sim::SimError;
use std::path::Path;

/// Farthest start from a wall in the second phase, m; the box measures 1 m.
const RIGHT_AT_A_WALL_M: f64 = 1e-6;

/// Cells that a molecule of the most probable speed crosses in a step.
const CELLS_A_STEP: f64 = 3.0;

/// What the planes, made from rounded normals, do not resolve, m.
const ROUNDING_M: f64 = 1e-12;

/// Steps between looks at all particles.
const STEPS_A_LOOK: u32 = 4;

/// Where gas may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    /// Outside a convex body.
    Outside,
    /// On the +y side of a plate through the whole box, in the plate's own axes.
    Above,
    /// Inside a convex crate made of plates, whose walls face inwards too.
    Inside,
}

struct Target {
    label: &'static str,
    shape: Shape,
    rotation_deg: [f64; 3],
    room: Room,
    /// Share of the particle-steps of the whole case.
    share: f64,
}

fn targets() -> Vec<Target> {
    let mesh = |file: &str| Shape::Mesh { file: file.into(), scale: 0.3 };
    let plate = |chord_m, span_m| Shape::Plate { chord_m, span_m };
    let target = |label, shape, rotation_deg, room, share| Target { label, shape, rotation_deg, room, share };
    vec![
        target("sphere", Shape::Sphere { radius_m: 0.3 }, [0.0; 3], Room::Outside, 0.25),
        target("icosahedron from a file", mesh(ICOSAHEDRON), [0.0; 3], Room::Outside, 0.125),
        target("turned wedge from a file", mesh(WEDGE), [10.0, 20.0, 30.0], Room::Outside, 0.125),
        target("plate in a plane of cell faces", plate(1.2, 1.2), [0.0; 3], Room::Above, 0.2),
        target("tilted plate", plate(2.0, 2.0), [15.0, 40.0, 25.0], Room::Above, 0.15),
        target("crate of six plates", crate_of_plates(), [12.0, 23.0, 34.0], Room::Inside, 0.15),
    ]
}

/// Half the inner edge of the crate, m.
const CRATE_HALF_M: f64 = 0.25;

/// Six plates that cross each other near their ends and enclose a cube.
fn crate_of_plates() -> Shape {
    let half = CRATE_HALF_M;
    let plate = Shape::Plate { chord_m: 2.2 * half, span_m: 2.2 * half };
    let part = |position_m: [f64; 3], rotation_deg: [f64; 3]| Part {
        shape: plate.clone(),
        position_m,
        rotation_deg,
    };
    let parts = [half, -half]
        .into_iter()
        .flat_map(|h| {
            [
                part([0.0, h, 0.0], [0.0; 3]),
                part([h, 0.0, 0.0], [0.0, 0.0, 90.0]),
                part([0.0, 0.0, h], [90.0, 0.0, 0.0]),
            ]
        })
        .collect();
    Shape::Group { parts }
}

/// All targets.
///
/// # Errors
/// A scene cannot be computed.
pub fn closed_boxes(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let folder = triangle_files()?;
    let particle_steps = match effort {
        Effort::Quick => 2e6,
        Effort::Full => 2e8,
    };
    let mut rows = Vec::new();
    for target in targets() {
        rows.extend(closed_box(&target, particle_steps * target.share, folder.path(), bed)?);
    }
    Ok(rows)
}

fn closed_box(
    target: &Target,
    particle_steps: f64,
    folder: &Path,
    bed: &Bed<'_>,
) -> Result<Vec<Row>, SimError> {
    let particles = if particle_steps > 5e6 { 1e5 } else { 1e4 };
    let mut gas = bed.make(&scene(target, particles, folder))?;
    let room = Planes::of(&gas.setup().bodies[0].mesh, target.room);
    let mut tally = Tally::default();

    // From all over the room.
    let filled = gas.population()?.molecules;
    // A body's own fill has no particle inside; a plate's is thinned to one room.
    if target.room == Room::Outside {
        tally.misplaced += filled.iter().filter(|p| !room.holds(p.position)).count();
    }
    let mut most = place(gas.as_mut(), filled, &room)?;
    let steps = 0.5 * particle_steps / most as f64;
    for _ in 0..(steps / f64::from(STEPS_A_LOOK)).ceil() as u32 {
        advance(gas.as_mut(), &room, most, &mut tally)?;
    }

    // From right at the walls.
    let mut round = 0;
    while (gas.counters()?.particle_steps as f64) < particle_steps {
        let start = at_walls(gas.setup(), &room, particles as usize, round);
        most = place(gas.as_mut(), start, &room)?;
        advance(gas.as_mut(), &room, most, &mut tally)?;
        round += 1;
    }

    let counters = gas.counters()?;
    let label = target.label;
    let steps = counters.particle_steps;
    let none = |what: &str, count: usize| {
        let what =
            format!("{label}: {what} in {steps:.1e} particle-steps, {:.1e} hits", counters.wall_hits as f64);
        Row::new("B4", what, count as f64, 0.0, 0.0)
    };
    Ok(vec![
        none("particles where none may be", tally.misplaced),
        none("particles gone", tally.missing),
        none("lost or stopped", (counters.lost + counters.left + counters.bounce_limit) as usize),
        Row {
            // Half of them at least: the case must not pass by not having run.
            allowance: 0.5 * particle_steps,
            ..Row::new("B4", format!("{label}: particle-steps"), steps as f64, particle_steps, 0.0)
        },
    ])
}

#[derive(Debug, Default)]
struct Tally {
    misplaced: usize,
    missing: usize,
}

fn advance(
    gas: &mut dyn Subject,
    room: &Planes,
    particles: usize,
    tally: &mut Tally,
) -> Result<(), SimError> {
    gas.advance(STEPS_A_LOOK)?;
    let molecules = gas.population()?.molecules;
    tally.misplaced += molecules.iter().filter(|p| !room.holds(p.position)).count();
    tally.missing += particles.abs_diff(molecules.len());
    Ok(())
}

fn scene(target: &Target, particles: f64, folder: &Path) -> Scene {
    const CELLS: u32 = 20;
    let domain = Domain { corner_m: [0.0; 3], size_m: [1.0; 3], cells: [CELLS; 3] };
    let time_step_s = CELLS_A_STEP / f64::from(CELLS) / thermal_speed();
    let hot = Face::Diffuse { temperature_k: 600.0 };
    let mut faces = all_faces(hot);
    (faces.y_min, faces.z_max) = (Face::Specular, Face::Specular);
    let mut gas = empty_box(stream(0.0, 0.0, 0.0), domain, faces, time_step_s);
    gas.particles_per_cell = particles / f64::from(CELLS).powi(3);
    gas.obstacles = vec![Obstacle {
        name: "target".into(),
        shape: target.shape.clone(),
        position_m: [0.5; 3],
        rotation_deg: target.rotation_deg,
        // Both laws in one: half of the hits are mirrored.
        wall: Wall::Diffuse { temperature_k: 600.0, accommodation: 0.5 },
    }];
    document("closed box", 11, gas, folder)
}

/// The room as half spaces.
struct Planes {
    room: Room,
    /// Unit normal and offset of each, outwards of the convex body, or into the room.
    planes: Vec<([f64; 3], f64)>,
    /// Centre and square of the radius of a ball around the body.
    ball: ([f64; 3], f64),
}

impl Planes {
    fn of(mesh: &TriangleMesh, room: Room) -> Self {
        let mut planes: Vec<([f64; 3], f64)> = Vec::new();
        for triangle in 0..mesh.triangles.len() {
            let normal = mesh.normal(triangle);
            let offset = dot(normal, mesh.centroid(triangle));
            // Only the side that faces the room, if the mesh has two.
            let wanted = match room {
                Room::Outside => true,
                Room::Above => triangle < mesh.triangles.len() / 2,
                Room::Inside => dot(normal, [0.5; 3]) > offset,
            };
            let known = |(n, d): &([f64; 3], f64)| dot(*n, normal) > 1.0 - 1e-12 && (d - offset).abs() < 1e-9;
            if wanted && !planes.iter().any(known) {
                planes.push((normal, offset));
            }
        }
        let centre = [0.5; 3];
        let square = |v: &[f64; 3]| (0..3).map(|k| (v[k] - centre[k]).powi(2)).sum::<f64>();
        let ball = (centre, mesh.vertices.iter().map(square).fold(0.0, f64::max));
        Self { room, planes, ball }
    }

    /// Whether a position is in the room. The planes are those of rounded normals: a particle may lie 1e-12 m beyond.
    fn holds(&self, position: [f64; 3]) -> bool {
        self.holds_by(position, -ROUNDING_M)
    }

    /// Whether a position is in the room beyond doubt. Of a million starts within 1e-6 m of a wall, one lies so near to
    /// it that the rounded plane does not tell its side: it may truly be in the other room, and would count as a leak.
    fn holds_clearly(&self, position: [f64; 3]) -> bool {
        self.holds_by(position, ROUNDING_M)
    }

    fn holds_by(&self, position: [f64; 3], margin_m: f64) -> bool {
        let in_front = |(normal, offset): &([f64; 3], f64)| dot(*normal, position) > offset + margin_m;
        match self.room {
            Room::Outside => {
                let (centre, square) = self.ball;
                let distance: f64 = (0..3).map(|k| (position[k] - centre[k]).powi(2)).sum();
                distance > square || self.planes.iter().any(in_front)
            }
            Room::Above | Room::Inside => self.planes.iter().all(in_front),
        }
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Particles at random points of the walls, at most [`RIGHT_AT_A_WALL_M`] away, in the room.
fn at_walls(setup: &GasSetup, room: &Planes, count: usize, round: u64) -> Vec<Molecule> {
    let mesh = &setup.bodies[0].mesh;
    let thermal = (thermal_speed() / 2f64.sqrt()) as f32;
    let mut rng = Stream::new(setup.scene.seed, round, Purpose::Test, 0);
    let mut out = Vec::with_capacity(count);
    while out.len() < count {
        let triangle = rng.below(mesh.triangles.len() as u32) as usize;
        let [a, b, c] = mesh.corners(triangle);
        let (u, v) = (rng.unit_f64(), rng.unit_f64());
        let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
        let normal = mesh.normal(triangle);
        let away = rng.unit_f64() * RIGHT_AT_A_WALL_M;
        let position: [f32; 3] =
            std::array::from_fn(|k| (a[k] + u * (b[k] - a[k]) + v * (c[k] - a[k]) + away * normal[k]) as f32);
        // Parts of plates are outside the box or the room, and rounding to f32 may cross the wall.
        let exact = position.map(f64::from);
        if setup.motion.grid.contains(position)
            && setup.motion.walls.in_gas(position)
            && room.holds_clearly(exact)
        {
            let velocity = gauss_triple(&mut rng).map(|g| thermal * g);
            let tag = Particle::make_tag(0, rng.bits());
            out.push(Molecule { position: exact, velocity, tag, rotation: 0.0 });
        }
    }
    out
}

/// Puts those molecules that are clearly in the room in place of those of the simulation, and tells how many there are.
/// Twice: a device may round positions, and so move one that starts right at a wall to the wall's other side.
fn place(gas: &mut dyn Subject, molecules: Vec<Molecule>, room: &Planes) -> Result<usize, SimError> {
    let clear = |molecules: Vec<Molecule>| -> Vec<Molecule> {
        molecules.into_iter().filter(|molecule| room.holds_clearly(molecule.position)).collect()
    };
    gas.place(&clear(molecules))?;
    let rounded = gas.population()?.molecules;
    let kept = clear(rounded);
    gas.place(&kept)?;
    Ok(kept.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu::CpuGas;
    use crate::device::gas::gas_scene;
    use crate::scene::Model;

    fn box_of(label: &str) -> (CpuGas, Planes) {
        let folder = triangle_files().unwrap();
        let target = targets().into_iter().find(|target| target.label == label).unwrap();
        let gas = CpuGas::new(&scene(&target, 1e4, folder.path()), 1).unwrap();
        let room = Planes::of(&gas.setup().bodies[0].mesh, target.room);
        (gas, room)
    }

    #[test]
    fn rooms_are_told_apart() {
        let (_, sphere) = box_of("sphere");
        assert!(!sphere.holds([0.5, 0.5, 0.79]) && sphere.holds([0.5, 0.5, 0.81]));
        let (_, plate) = box_of("plate in a plane of cell faces");
        assert!(plate.holds([0.1, 0.500_001, 0.9]) && !plate.holds([0.1, 0.499_999, 0.9]));
        let (gas, inside) = box_of("crate of six plates");
        assert_eq!(inside.planes.len(), 6);
        assert!(inside.holds([0.5; 3]) && inside.holds([0.7, 0.5, 0.5]) && !inside.holds([0.9, 0.5, 0.5]));
        let within =
            gas.particles().iter().filter(|p| inside.holds(p.position.map(f64::from))).count() as f64;
        let expected = 1e4 * (2.0 * CRATE_HALF_M).powi(3);
        assert!((within - expected).abs() < 5.0 * expected.sqrt(), "{within} particles in the crate");
    }

    /// A leak is found: without the obstacle the particles of one room fill both.
    #[test]
    fn an_open_room_is_noticed() {
        let (closed, room) = box_of("plate in a plane of cell faces");
        let mut scene = closed.setup().scene.clone();
        let Model::Gas(gas) = &mut scene.model;
        gas.obstacles.clear();
        let mut open = CpuGas::new(&scene, 1).unwrap();
        let filled = open.population().unwrap().molecules;
        let count = place(&mut open, filled, &room).unwrap();
        let mut tally = Tally::default();
        advance(&mut open, &room, count, &mut tally).unwrap();
        assert!(tally.misplaced > count / 10 && tally.missing == 0);
        assert!(gas_scene(&scene).obstacles.is_empty());
    }
}
