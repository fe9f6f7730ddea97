//! The scene document: plain serde values, nothing computed, nothing running.
//! Must not know devices, Bevy or running state. Angles in degrees and lengths in metres, as people write them.

use super::View;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A scene file: a name, a seed and what is simulated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Short name, used for output folders and titles.
    pub name: String,
    /// What the scene shows, for galleries and summaries.
    #[serde(default)]
    pub about: String,
    /// Seed of the counter-based random numbers: same scene, seed and device kind give the same bits.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// What is simulated.
    pub model: Model,
    /// Cameras for whoever looks at it; not written where there are none.
    #[serde(default, skip_serializing_if = "View::is_empty")]
    pub view: View,
    /// Folder against which the paths of triangle files are resolved; not part of the file.
    #[serde(skip)]
    pub folder: PathBuf,
}

fn default_seed() -> u64 {
    1
}

/// What a scene simulates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Model {
    /// Rarefied gas by Direct Simulation Monte Carlo.
    Gas(GasScene),
}

/// A gas flow around obstacles in a box.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GasScene {
    /// The molecules.
    pub gas: Gas,
    /// The undisturbed gas: initial state and what enters through `Stream` faces.
    pub stream: Stream,
    /// The box and its collision cells.
    pub domain: Domain,
    /// Simulated particles in a cell of undisturbed gas; sets the weight of a particle.
    pub particles_per_cell: f64,
    /// Time step.
    #[serde(default)]
    pub time_step: TimeStep,
    /// Steps of a run when the command line names none.
    #[serde(default = "default_steps")]
    pub steps: u64,
    /// When averages are taken.
    #[serde(default)]
    pub sampling: Sampling,
    /// How molecules collide with each other.
    #[serde(default)]
    pub collisions: Collisions,
    /// Whether the domain starts full of undisturbed gas.
    #[serde(default)]
    pub start: Start,
    /// What the six faces of the domain do.
    #[serde(default)]
    pub faces: Faces,
    /// Reference area and length of the coefficients.
    #[serde(default)]
    pub reference: Reference,
    /// Bodies in the flow.
    #[serde(default)]
    pub obstacles: Vec<Obstacle>,
}

fn default_steps() -> u64 {
    2000
}

/// The molecules of the gas.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gas {
    /// Species; the data structures hold several, the devices accept one for now.
    pub species: Vec<Species>,
}

/// A molecular species by the variable soft sphere model (Koura & Matsumoto 1991; Bird 1994, sections 2.6 and 2.7).
/// `alpha: 1` is the variable hard sphere, with `omega: 0.5` the hard sphere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Species {
    /// "Ar".
    pub name: String,
    /// Mass of a molecule, kg.
    pub mass_kg: f64,
    /// Diameter of the total cross-section at the reference temperature, m.
    pub diameter_m: f64,
    /// Viscosity exponent: viscosity goes with T^omega. 0.5 hard sphere, 1 Maxwell molecules.
    pub omega: f64,
    /// Temperature at which the diameter holds, K.
    pub reference_temperature_k: f64,
    /// Exponent of the scattering law, 1 isotropic (VHS); above, small deflections prevail.
    #[serde(default = "one")]
    pub alpha: f64,
    /// Rotational degrees of freedom: 0 or 2.
    #[serde(default)]
    pub rotational_dof: u32,
    /// Mole fraction; all species together make 1.
    #[serde(default = "one")]
    pub fraction: f64,
}

fn one() -> f64 {
    1.0
}

/// The undisturbed gas.
///
/// The stream goes along `(cos a cos b, -sin a cos b, sin b)`, a the incidence and b the side-slip: at positive
/// incidence it comes down onto the upper (+y) side of a wing, as in the seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Speed.
    pub velocity: Velocity,
    /// Density.
    pub density: Density,
    /// Temperature, K.
    pub temperature_k: f64,
    /// Incidence, degrees.
    #[serde(default)]
    pub incidence_deg: f64,
    /// Side-slip, degrees.
    #[serde(default)]
    pub sideslip_deg: f64,
}

/// Speed of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Velocity {
    /// As a multiple of the speed of sound.
    Mach(f64),
    /// In m/s.
    MetersPerSecond(f64),
}

/// Density of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Density {
    /// As a pressure in Pa, by p = n k T.
    PressurePa(f64),
    /// As a number density in 1/m^3.
    PerCubicMeter(f64),
}

/// The box and its uniform collision cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// Lower corner, m.
    #[serde(default)]
    pub corner_m: [f64; 3],
    /// Edge lengths, m.
    pub size_m: [f64; 3],
    /// Cells along each edge.
    pub cells: [u32; 3],
}

/// Time step of the particles.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub enum TimeStep {
    /// Small against the mean collision time and the time to cross a cell.
    #[default]
    Auto,
    /// In seconds.
    Seconds(f64),
}

/// When averages are taken.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Sampling {
    /// From the step at which the flow is found steady.
    #[default]
    Auto,
    /// From step `from`, every `every` steps.
    From {
        /// First sampled step.
        from: u64,
        /// Distance of the samples, steps.
        every: u64,
    },
}

/// How molecules collide with each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Collisions {
    /// The scheme.
    pub scheme: Scheme,
    /// Particles in a cell from which on `Mixed` uses Half-Split-Shuffle.
    pub heavy_cell_threshold: u32,
}

impl Default for Collisions {
    fn default() -> Self {
        Self { scheme: Scheme::Mixed, heavy_cell_threshold: 300 }
    }
}

/// Collision scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Scheme {
    /// Free-molecular flow: no collisions.
    Off,
    /// No-Time-Counter (Bird 1994, section 11.1) in every cell.
    Ntc,
    /// Half-Split-Shuffle in every cell.
    HalfSplitShuffle,
    /// No-Time-Counter in light cells, Half-Split-Shuffle in heavy ones.
    #[default]
    Mixed,
}

/// How the domain starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Start {
    /// Full of undisturbed gas.
    #[default]
    Filled,
    /// Empty.
    Empty,
}

/// The six faces of the domain.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faces {
    /// Face at the lower x.
    pub x_min: Face,
    /// Face at the upper x.
    pub x_max: Face,
    /// Face at the lower y.
    pub y_min: Face,
    /// Face at the upper y.
    pub y_max: Face,
    /// Face at the lower z.
    pub z_min: Face,
    /// Face at the upper z.
    pub z_max: Face,
}

impl Faces {
    /// The faces in the order x_min, x_max, y_min, y_max, z_min, z_max: axis `i / 2`, upper if `i` is odd.
    pub fn as_array(&self) -> [Face; 6] {
        [self.x_min, self.x_max, self.y_min, self.y_max, self.z_min, self.z_max]
    }

    /// Field names in the order of [`Faces::as_array`].
    pub const NAMES: [&'static str; 6] = ["x_min", "x_max", "y_min", "y_max", "z_min", "z_max"];
}

/// What a face of the domain does.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Face {
    /// Undisturbed gas beyond: molecules enter by flux and leave freely.
    #[default]
    Stream,
    /// Molecules leave, none enters.
    Vacuum,
    /// Mirror.
    Specular,
    /// Joined to the opposite face, which must be periodic too.
    Periodic,
    /// Fully accommodating wall.
    Diffuse {
        /// Wall temperature, K.
        temperature_k: f64,
    },
}

/// Reference area and length of C_D, C_L and moments.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Reference {
    /// Of each obstacle: the area projected along the stream (a plate: its one-sided area), and its length.
    #[default]
    Auto,
    /// Given for all.
    Given {
        /// Area, m^2.
        area_m2: f64,
        /// Length, m.
        length_m: f64,
    },
}

/// A body in the flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Obstacle {
    /// Name, unique in the scene.
    pub name: String,
    /// Shape in its own axes.
    pub shape: Shape,
    /// Where the origin of the shape lies, m.
    #[serde(default)]
    pub position_m: [f64; 3],
    /// Rotation about x, then y, then z (fixed axes), degrees.
    #[serde(default)]
    pub rotation_deg: [f64; 3],
    /// What its surface does with molecules.
    #[serde(default)]
    pub wall: Wall,
}

/// Shape of an obstacle, centred on its origin unless said otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Shape {
    /// Sphere.
    Sphere {
        /// Radius, m.
        radius_m: f64,
    },
    /// Infinitely thin, two-sided rectangle in the x-z plane, normal along y: the seed's wing.
    Plate {
        /// Extent along x, m.
        chord_m: f64,
        /// Extent along z, m.
        span_m: f64,
    },
    /// Rectangular box.
    Box {
        /// Edge lengths, m.
        size_m: [f64; 3],
    },
    /// Closed circular cylinder about the z axis.
    Cylinder {
        /// Radius, m.
        radius_m: f64,
        /// Length along z, m.
        height_m: f64,
    },
    /// Cylinder about the x axis with hemispherical ends.
    Capsule {
        /// Radius, m.
        radius_m: f64,
        /// Length of the cylindrical part along x, m.
        length_m: f64,
    },
    /// Closed circular cone about the x axis, apex towards -x, origin at half height.
    Cone {
        /// Radius of the base, m.
        radius_m: f64,
        /// Height along x, m.
        height_m: f64,
    },
    /// Several shapes as one obstacle: the seed's "combo".
    Group {
        /// The parts.
        parts: Vec<Part>,
    },
    /// Triangles from an STL or OBJ file, path relative to the scene file.
    Mesh {
        /// Path.
        file: String,
        /// Metres per unit of the file.
        #[serde(default = "one")]
        scale: f64,
    },
}

/// A member of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its shape.
    pub shape: Shape,
    /// Where its origin lies in the group, m.
    #[serde(default)]
    pub position_m: [f64; 3],
    /// Its rotation in the group about x, then y, then z, degrees.
    #[serde(default)]
    pub rotation_deg: [f64; 3],
}

/// What a surface does with molecules.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Wall {
    /// Mirror.
    Specular,
    /// A fraction `accommodation` is re-emitted at the wall temperature, the rest mirrored (Maxwell 1879).
    Diffuse {
        /// Wall temperature, K.
        temperature_k: f64,
        /// Fraction that accommodates, 0 to 1.
        #[serde(default = "one")]
        accommodation: f64,
    },
}

impl Default for Wall {
    fn default() -> Self {
        Wall::Diffuse { temperature_k: 300.0, accommodation: 1.0 }
    }
}
