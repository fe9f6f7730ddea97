//! Scenes of the self-test, built in memory: the gas, a free-molecular stream around one body, closed boxes.
//! Must not know what is measured in them.

use crate::physics::species::most_probable_speed;
use crate::physics::stream::StreamState;
use crate::physics::theory::free_molecular::IncidentGas;
use crate::scene::{
    Collisions, Density, Domain, Face, Faces, Gas, GasScene, Model, Obstacle, Reference, Sampling, Scene,
    Scheme, Shape, Species, Start, Stream, TimeStep, TriangleMesh, Velocity, Wall, shape,
};
use crate::sim::SimError;
use std::path::{Path, PathBuf};

/// Temperature of the gas, K.
pub const TEMPERATURE_K: f64 = 300.0;

/// Number density of the gas, 1/m^3.
pub const NUMBER_DENSITY: f64 = 1e20;

/// Argon (Bird 1994, appendix A), or the same molecules with rotation.
pub fn argon(rotational_dof: u32) -> Species {
    Species {
        name: if rotational_dof == 0 { "Ar" } else { "Ar with rotation" }.into(),
        mass_kg: 6.63e-26,
        diameter_m: 4.17e-10,
        omega: 0.81,
        reference_temperature_k: 273.0,
        alpha: 1.0,
        rotational_dof,
        fraction: 1.0,
    }
}

/// Most probable speed of [`argon`] at [`TEMPERATURE_K`], m/s.
pub fn thermal_speed() -> f64 {
    most_probable_speed(argon(0).mass_kg, TEMPERATURE_K)
}

/// The stream of a speed ratio.
pub fn stream(speed_ratio: f64, incidence_deg: f64, sideslip_deg: f64) -> Stream {
    Stream {
        velocity: Velocity::MetersPerSecond(speed_ratio * thermal_speed()),
        density: Density::PerCubicMeter(NUMBER_DENSITY),
        temperature_k: TEMPERATURE_K,
        incidence_deg,
        sideslip_deg,
    }
}

/// All six faces of one kind.
pub fn all_faces(face: Face) -> Faces {
    Faces { x_min: face, x_max: face, y_min: face, y_max: face, z_min: face, z_max: face }
}

/// A scene of [`argon`] without collisions, obstacles or averages worth their memory; change what differs.
pub fn empty_box(stream: Stream, domain: Domain, faces: Faces, time_step_s: f64) -> GasScene {
    GasScene {
        gas: Gas { species: vec![argon(0)] },
        stream,
        domain,
        particles_per_cell: 10.0,
        time_step: TimeStep::Seconds(time_step_s),
        steps: 1000,
        sampling: Sampling::From { from: 0, every: u64::MAX },
        collisions: Collisions { scheme: Scheme::Off, ..Collisions::default() },
        start: Start::Filled,
        faces,
        reference: Reference::Given { area_m2: 1.0, length_m: 1.0 },
        obstacles: Vec::new(),
    }
}

/// The document around a gas.
pub fn document(name: &str, seed: u64, gas: GasScene, folder: &Path) -> Scene {
    Scene {
        name: name.into(),
        about: String::new(),
        seed,
        model: Model::Gas(gas),
        view: Default::default(),
        folder: folder.to_path_buf(),
    }
}

/// A body in a free-molecular stream, in a box hardly larger than the body, so that most particles hit it.
///
/// Undisturbed gas fills the box and streams through all faces. What hits a convex body comes from the undisturbed gas
/// alone and never returns, so that hits are those of the steady flow from the first step on, in a box of any size.
#[derive(Debug, Clone)]
pub struct FreeFlow {
    /// Speed over most probable speed.
    pub speed_ratio: f64,
    /// Incidence, degrees.
    pub incidence_deg: f64,
    /// The body.
    pub shape: Shape,
    /// Its rotation, degrees.
    pub rotation_deg: [f64; 3],
    /// Its wall.
    pub wall: Wall,
    /// 0 or 2.
    pub rotational_dof: u32,
    /// Hits wanted in all steps.
    pub hits: f64,
    /// Batches.
    pub batches: u32,
    /// Steps of a batch.
    pub batch_steps: u32,
    /// Length of a step, in times that the stream (or thermal motion) takes from corner to corner.
    pub step_in_transits: f64,
    /// Cells along the longest edge of the box.
    pub cells: u32,
    /// Seed.
    pub seed: u64,
    /// Where triangle files are.
    pub folder: PathBuf,
}

impl FreeFlow {
    /// A body with a fully accommodating wall at the gas's temperature, in long steps.
    pub fn new(speed_ratio: f64, shape: Shape, hits: f64) -> Self {
        Self {
            speed_ratio,
            incidence_deg: 0.0,
            shape,
            rotation_deg: [0.0; 3],
            wall: diffuse(1.0),
            rotational_dof: 0,
            hits,
            batches: 200,
            batch_steps: 1,
            step_in_transits: 2.0,
            cells: 32,
            seed: 1,
            folder: PathBuf::new(),
        }
    }

    /// The scene.
    ///
    /// # Errors
    /// The shape cannot be made.
    pub fn scene(&self) -> Result<Scene, SimError> {
        let obstacle = Obstacle {
            name: "body".into(),
            shape: self.shape.clone(),
            position_m: [0.0; 3],
            rotation_deg: self.rotation_deg,
            wall: self.wall,
        };
        let mesh =
            shape::mesh(&obstacle, &self.folder).map_err(|error| SimError::Scene(error.to_string()))?;
        let domain = around(&mesh, self.cells);
        let stream = stream(self.speed_ratio, self.incidence_deg, 0.0);
        let diagonal = domain.size_m.iter().map(|x| x * x).sum::<f64>().sqrt();
        let transit = diagonal / (thermal_speed() * self.speed_ratio.max(1.0));
        let time_step_s = self.step_in_transits * transit;
        let mut gas = empty_box(stream, domain, Faces::default(), time_step_s);
        gas.gas.species = vec![argon(self.rotational_dof)];
        let incident = incident_gas(&gas);
        let steps = u64::from(self.batches) * u64::from(self.batch_steps);
        let real_hits = incident.body(&mesh, self.wall, [0.0; 3]).hits * time_step_s * steps as f64;
        let cell_volume: f64 =
            (0..3).map(|a| gas.domain.size_m[a] / f64::from(gas.domain.cells[a])).product();
        gas.particles_per_cell = NUMBER_DENSITY * cell_volume * self.hits / real_hits;
        gas.steps = steps;
        gas.obstacles = vec![obstacle];
        Ok(document("free-molecular flow", self.seed, gas, &self.folder))
    }
}

/// A box around a mesh, 4 % of its largest extent away from it.
fn around(mesh: &TriangleMesh, cells: u32) -> Domain {
    let [lo, hi] = mesh.bounds().unwrap_or_default();
    let longest = (0..3).map(|a| hi[a] - lo[a]).fold(0.0, f64::max);
    let margin = 0.04 * longest;
    let size_m: [f64; 3] = std::array::from_fn(|a| hi[a] - lo[a] + 2.0 * margin);
    let per_metre = f64::from(cells) / (longest + 2.0 * margin);
    Domain {
        corner_m: lo.map(|x| x - margin),
        size_m,
        cells: size_m.map(|length| ((length * per_metre).round() as u32).max(2)),
    }
}

/// The undisturbed gas of a scene as theory takes it.
pub fn incident_gas(gas: &GasScene) -> IncidentGas {
    let stream = StreamState::new(&gas.gas, &gas.stream);
    IncidentGas {
        number_density: stream.number_density,
        temperature: stream.temperature,
        mass: gas.gas.mean_mass(),
        rotational_dof: gas.gas.mean_rotational_dof(),
        velocity: stream.velocity,
    }
}

/// A fully accommodating wall, its temperature over that of the gas.
pub fn diffuse(temperature_ratio: f64) -> Wall {
    Wall::Diffuse { temperature_k: temperature_ratio * TEMPERATURE_K, accommodation: 1.0 }
}

/// The wall of a line of the reference tables, and its name.
pub fn wall_of(line: &super::table::Line) -> (Wall, String) {
    match line.number("Tw_over_T") {
        Some(ratio) => (diffuse(ratio), format!("diffuse Tw/T = {ratio}")),
        None => (Wall::Specular, "specular".into()),
    }
}

/// Writes the triangle files of the tests to a folder of its own, which is removed when the value is dropped.
///
/// # Errors
/// The folder for temporary files cannot be written.
pub fn triangle_files() -> Result<tempfile::TempDir, SimError> {
    let write = || {
        let folder = tempfile::tempdir()?;
        for (name, text) in [
            (ICOSAHEDRON, include_str!("../../tests/data/reference/B_icosahedron_R1.stl")),
            (WEDGE, include_str!("../../tests/data/reference/B_wedge.stl")),
        ] {
            std::fs::write(folder.path().join(name), text)?;
        }
        Ok(folder)
    };
    write().map_err(|error: std::io::Error| {
        SimError::Scene(format!(
            "cannot write triangle files to {} ({error}): set TMPDIR to a folder with room",
            std::env::temp_dir().display()
        ))
    })
}

/// File of the regular icosahedron with corners at 1 m.
pub const ICOSAHEDRON: &str = "icosahedron.stl";
/// File of the wedge.
pub const WEDGE: &str = "wedge.stl";

/// A shape from one of the triangle files.
pub fn from_file(file: &str) -> Shape {
    Shape::Mesh { file: file.into(), scale: 1.0 }
}
