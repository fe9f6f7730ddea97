//! A gas scene made ready to compute: SI numbers, meshes, laws, constants of the collision step.
//! Knows nothing of how a device stores particles or runs a step.

use super::body::Body;
use crate::physics::collide::PairTable;
use crate::physics::constants::BOLTZMANN;
use crate::physics::geometry::Walls;
use crate::physics::grid::Grid;
use crate::physics::inflow::{Inflow, InflowFace};
use crate::physics::moments::FieldScale;
use crate::physics::motion::{FaceLaw, Motion};
use crate::physics::resolution::auto_time_step;
use crate::physics::species::most_probable_speed;
use crate::physics::stream::StreamState;
use crate::physics::theory::inflow_flux::crossing_molecules;
use crate::physics::wall::WallLaw;
use crate::scene::{Face, GasScene, Model, Scene, Scheme, TimeStep, TriangleMesh, Wall, shape};
use crate::sim::SimError;
use crate::units::si;

/// A gas scene, ready to compute.
#[derive(Debug, Clone)]
pub struct GasSetup {
    /// The document it was made from.
    pub scene: Scene,
    /// Undisturbed gas.
    pub stream: StreamState,
    /// Real molecules a particle.
    pub weight: f64,
    /// Time step, s; the f32 that particles move with.
    pub time_step_s: f64,
    /// Grid, walls, faces.
    pub motion: Motion,
    /// What enters through the faces.
    pub inflow: Inflow,
    /// Cross-sections.
    pub pairs: PairTable,
    /// Majorant that cells start with, m^3/s.
    pub majorant: f32,
    /// How far it is above the mean of sigma c_r.
    pub majorant_ratio: f32,
    /// Particles in a cell from which on it uses Half-Split-Shuffle; `None` without collisions.
    pub heavy_from: Option<usize>,
    /// F_N dt / V of a whole cell, s/m^3.
    pub exposure: f64,
    /// Whether molecules carry rotational energy.
    pub rotational: bool,
    /// Mass of a molecule, kg.
    pub mass_kg: f64,
    /// What turns cell sums into fields.
    pub field_scale: FieldScale,
    /// The obstacles.
    pub bodies: Vec<Body>,
}

impl GasSetup {
    /// Prepares a validated scene. Reads triangle files.
    pub fn new(scene: &Scene) -> Result<Self, SimError> {
        let gas = gas_scene(scene);
        let grid = Grid::new(&gas.domain);
        check_sizes(gas)?;
        let shapes: Vec<shape::Body> = gas
            .obstacles
            .iter()
            .map(|obstacle| shape::placed(obstacle, &scene.folder))
            .collect::<Result<_, _>>()
            .map_err(|error| SimError::Scene(error.to_string()))?;
        for (obstacle, body) in gas.obstacles.iter().zip(&shapes) {
            check_inside(&grid, &obstacle.name, &body.mesh)?;
        }
        let (meshes, lengths): (Vec<_>, Vec<_>) =
            shapes.into_iter().map(|body| (body.mesh, body.length_m)).unzip();
        let walls = Walls::build(&grid, &meshes).map_err(|error| SimError::Scene(error.to_string()))?;
        let stream = StreamState::new(&gas.gas, &gas.stream);
        let weight = stream.number_density * grid.cell_volume() / gas.particles_per_cell;
        let bodies = Body::list(gas, meshes, &lengths, &grid, &stream);
        let setup = Self::assemble(scene, grid, walls, weight, bodies)?;
        if setup.expected_particles() == 0.0 {
            return Err(SimError::Scene(
                "the obstacles fill the whole domain: leave room for gas, by a larger `domain` or smaller obstacles"
                    .to_string(),
            ));
        }
        Ok(setup)
    }

    /// The setup after a change that leaves grid and obstacles' shapes as they are. The weight stays, so that the
    /// particles in flight keep their meaning.
    pub fn revise(&self, scene: &Scene) -> Result<Self, SimError> {
        let gas = gas_scene(scene);
        let stream = StreamState::new(&gas.gas, &gas.stream);
        let bodies = self.bodies.iter().zip(&gas.obstacles).map(|(b, o)| b.revise(gas, o, &stream)).collect();
        let Motion { grid, walls, .. } = &self.motion;
        Self::assemble(scene, grid.clone(), walls.clone(), self.weight, bodies)
    }

    /// The same setup with another weight: that of a checkpoint whose run went through changes of the stream.
    pub fn with_weight(&self, weight: f64) -> Result<Self, SimError> {
        let Motion { grid, walls, .. } = &self.motion;
        Self::assemble(&self.scene, grid.clone(), walls.clone(), weight, self.bodies.clone())
    }

    fn assemble(
        scene: &Scene,
        grid: Grid,
        walls: Walls,
        weight: f64,
        bodies: Vec<Body>,
    ) -> Result<Self, SimError> {
        let gas = gas_scene(scene);
        let stream = StreamState::new(&gas.gas, &gas.stream);
        let [species] = gas.gas.species.as_slice() else {
            return Err(SimError::Scene(format!(
                "the gas has {} species; devices compute one for now: leave one in `gas.species`",
                gas.gas.species.len()
            )));
        };
        let time_step_s = match gas.time_step {
            TimeStep::Seconds(seconds) => seconds,
            TimeStep::Auto => {
                let collide = gas.collisions.scheme != Scheme::Off;
                auto_time_step(&gas.gas, &stream, &grid.cell_size(), collide)
            }
        };
        let time_step_s = f64::from(time_step_s as f32);
        let rotational = species.rotational_dof > 0;
        let diffuse = |temperature_k: f64, accommodation: f64| WallLaw {
            accommodation: accommodation as f32,
            thermal_speed: (BOLTZMANN * temperature_k / species.mass_kg).sqrt() as f32,
            rotational,
        };
        let faces = gas.faces.as_array().map(|face| match face {
            Face::Stream | Face::Vacuum => FaceLaw::Open,
            Face::Periodic => FaceLaw::Periodic,
            Face::Specular => FaceLaw::Wall(WallLaw::SPECULAR),
            Face::Diffuse { temperature_k } => FaceLaw::Wall(diffuse(temperature_k, 1.0)),
        });
        let laws = gas
            .obstacles
            .iter()
            .map(|obstacle| match obstacle.wall {
                Wall::Specular => WallLaw::SPECULAR,
                Wall::Diffuse { temperature_k, accommodation } => diffuse(temperature_k, accommodation),
            })
            .collect();
        let pairs = PairTable::new(&gas.gas.species);
        let heavy_from = match gas.collisions.scheme {
            Scheme::Off => None,
            Scheme::Ntc => Some(usize::MAX),
            Scheme::HalfSplitShuffle => Some(0),
            Scheme::Mixed => Some(gas.collisions.heavy_cell_threshold as usize),
        };
        let inflow = inflow(gas, &grid, &stream, weight, time_step_s, rotational);
        let particles = grid.len() as f64 * gas.particles_per_cell;
        check_time_step(time_step_s, &inflow, particles, stream.transit_time(grid.size))?;
        Ok(Self {
            majorant: pairs.majorant(&gas.gas.species, stream.temperature),
            majorant_ratio: pairs.majorant_ratio(),
            pairs,
            heavy_from,
            exposure: weight * time_step_s / grid.cell_volume(),
            inflow,
            rotational,
            mass_kg: species.mass_kg,
            field_scale: FieldScale {
                stream: stream.velocity.map(|v| v as f32),
                weight,
                mass_kg: species.mass_kg,
                heat_ratio: stream.heat_ratio,
            },
            motion: Motion { grid, walls, faces, laws },
            scene: scene.clone(),
            stream,
            weight,
            time_step_s,
            bodies,
        })
    }

    /// The gas part of the document.
    pub fn gas(&self) -> &GasScene {
        gas_scene(&self.scene)
    }

    /// Expected number of particles of undisturbed gas in the whole domain.
    pub fn expected_particles(&self) -> f64 {
        let gas_volume: f64 =
            (0..self.motion.grid.len()).map(|cell| f64::from(self.motion.walls.gas_fraction(cell))).sum();
        gas_volume * self.gas().particles_per_cell
    }
}

/// Refuses lengths that squares and cubes in single precision cannot hold.
fn check_sizes(gas: &GasScene) -> Result<(), SimError> {
    const RANGE: std::ops::RangeInclusive<f64> = 1e-12..=1e12;
    match gas.domain.size_m.iter().find(|size| !RANGE.contains(*size)) {
        Some(size) => Err(SimError::Scene(format!(
            "the domain has an edge of {size:e} m, but particles move in single precision: edges must be from 1e-12 to \
             1e12 m"
        ))),
        None => Ok(()),
    }
}

/// Refuses a time step that is no number in single precision, or so long that the gas would fly past the domain many
/// times in each: such a step takes as long as it is senseless.
fn check_time_step(
    time_step_s: f64,
    inflow: &Inflow,
    particles: f64,
    transit_s: f64,
) -> Result<(), SimError> {
    if time_step_s < f64::from(f32::MIN_POSITIVE) || !time_step_s.is_finite() {
        return Err(SimError::Scene(
            "the time step is too small or too large for single precision, in which particles move: make it `Auto`"
                .to_string(),
        ));
    }
    const MOST_STEPS: f64 = 1e9;
    if transit_s / time_step_s > MOST_STEPS {
        return Err(SimError::Scene(format!(
            "a time step of {} is so short that the gas needs {:.0e} steps to cross the domain: make it `Auto`",
            si(time_step_s, "s"),
            transit_s / time_step_s
        )));
    }
    if particles < 1.0 {
        return Err(SimError::Scene(format!(
            "the whole domain would hold {particles:.1e} particles: raise particles_per_cell; 10 or more resolve a flow"
        )));
    }
    let entering: f64 = inflow.faces.iter().map(|face| face.mean_per_row * f64::from(face.rows)).sum();
    if entering > 100.0 * particles + 1e6 {
        return Err(SimError::Scene(format!(
            "in a time step of {} {entering:.1e} particles enter a domain that holds {particles:.1e}: the gas crosses it \
             in {}; take a time step well below that, or `Auto`",
            si(time_step_s, "s"),
            si(transit_s, "s")
        )));
    }
    Ok(())
}

/// Refuses a body wholly outside the domain: validation does not read triangle files, and cannot know.
fn check_inside(grid: &Grid, name: &str, mesh: &TriangleMesh) -> Result<(), SimError> {
    let Some([low, high]) = mesh.bounds() else { return Ok(()) };
    for axis in 0..3 {
        let (first, last) = (grid.corner[axis], grid.corner[axis] + grid.size[axis]);
        if high[axis] <= first || low[axis] >= last {
            return Err(SimError::Scene(format!(
                "obstacle \"{name}\" is outside the domain: it reaches from {axis} = {} to {}, the domain from {} to {}; \
                 change its position_m, or the scale of its file (0.001 for a file in mm)",
                si(low[axis], "m"),
                si(high[axis], "m"),
                si(first, "m"),
                si(last, "m"),
                axis = ["x", "y", "z"][axis],
            )));
        }
    }
    Ok(())
}

/// The gas part of a scene.
pub fn gas_scene(scene: &Scene) -> &GasScene {
    let Model::Gas(gas) = &scene.model;
    gas
}

fn inflow(
    gas: &GasScene,
    grid: &Grid,
    stream: &StreamState,
    weight: f64,
    time_step_s: f64,
    rotational: bool,
) -> Inflow {
    let most_probable: Vec<f64> = gas
        .gas
        .species
        .iter()
        .map(|species| most_probable_speed(species.mass_kg, stream.temperature))
        .collect();
    let faces = (0..6)
        .filter(|&face| gas.faces.as_array()[face] == Face::Stream)
        .map(|face| {
            let (axis, inward) = (face / 2, if face % 2 == 1 { -1.0 } else { 1.0 });
            let (along, across) = ((axis + 1) % 3, (axis + 2) % 3);
            let through = |(species, speed): (&crate::scene::Species, &f64)| {
                let normal_ratio = inward * stream.velocity[axis] / speed;
                species.fraction * stream.number_density * speed * crossing_molecules(normal_ratio).flux
            };
            let per_species: Vec<f64> = gas.gas.species.iter().zip(&most_probable).map(through).collect();
            let total: f64 = per_species.iter().sum();
            let mut sum = 0.0;
            let shares = per_species
                .iter()
                .map(|part| {
                    sum += part;
                    (sum / total) as f32
                })
                .collect();
            let rows = grid.cells[along];
            let area = grid.size[along] * grid.size[across];
            InflowFace {
                face,
                rows,
                mean_per_row: total * area * time_step_s / weight / f64::from(rows),
                shares,
            }
        })
        .collect();
    Inflow {
        faces,
        most_probable_speed: most_probable.iter().map(|&speed| speed as f32).collect(),
        velocity: stream.velocity.map(|v| v as f32),
        rotational,
    }
}

impl GasSetup {
    /// Length of the Knudsen numbers, m: of the first body, or the longest edge of the domain without one.
    pub fn reference_length(&self) -> f64 {
        let longest = self.motion.grid.size.iter().copied().fold(0.0, f64::max);
        self.bodies.first().map_or(longest, |body| body.reference_length_m)
    }

    /// Check sum of the obstacles' triangles: tells a checkpoint whose triangle files have changed since.
    pub fn triangles_checksum(&self) -> u32 {
        let mut sum = crc32fast::Hasher::new();
        for body in &self.bodies {
            sum.update(bytemuck::cast_slice(&body.mesh.vertices));
            sum.update(bytemuck::cast_slice(&body.mesh.triangles));
        }
        sum.finalize()
    }

    /// Steps in which the gas crosses the domain.
    pub fn transit_steps(&self) -> f64 {
        self.stream.transit_time(self.motion.grid.size) / self.time_step_s
    }

    /// Steps in which a molecule crosses a cell: samples closer than this are hardly new.
    pub fn cell_crossing_steps(&self) -> u64 {
        let shortest = self.motion.grid.cell_size().into_iter().fold(f64::INFINITY, f64::min);
        let speed = self.stream.speed + self.stream.most_probable_speed;
        (shortest / (speed * self.time_step_s)).floor().clamp(1.0, 100.0) as u64
    }
}
