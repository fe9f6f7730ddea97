//! An obstacle as its loads are computed: mesh, reference area and length, free-molecular theory beside it.
//! Knows nothing of hits or samples.

use crate::physics::grid::Grid;
use crate::physics::stream::StreamState;
use crate::physics::theory::free_molecular::IncidentGas;
use crate::scene::{GasScene, Obstacle, Reference, TriangleMesh};
use std::ops::Range;
use std::sync::Arc;

/// An obstacle as its loads are computed.
#[derive(Debug, Clone)]
pub struct Body {
    /// Name.
    pub name: String,
    /// Triangles in the scene's axes, m.
    pub mesh: Arc<TriangleMesh>,
    /// Index of its first triangle among those of all obstacles.
    pub first_triangle: usize,
    /// Point of the moments, relative to the domain's corner, m.
    pub origin: [f64; 3],
    /// Area of the coefficients, m^2.
    pub reference_area_m2: f64,
    /// Length of the moment coefficients and of the Knudsen number, m.
    pub reference_length_m: f64,
    /// Its extent along x in its own axes, m.
    own_length_m: f64,
    /// Whether free-molecular theory of elements holds: no part shadows another, and all of it is in the gas.
    pub convex: bool,
    /// Drag coefficient of its triangles in free-molecular flow; `None` where theory does not give it.
    pub free_molecular_drag: Option<f64>,
}

impl Body {
    /// The bodies of a scene.
    pub fn list(
        gas: &GasScene,
        meshes: Vec<TriangleMesh>,
        lengths_m: &[f64],
        grid: &Grid,
        stream: &StreamState,
    ) -> Vec<Self> {
        let mut first_triangle = 0;
        let of = |((obstacle, mesh), &length_m): ((&Obstacle, TriangleMesh), &f64)| {
            let body = Self {
                name: obstacle.name.clone(),
                first_triangle,
                convex: mesh.is_convex() && is_within(&mesh, grid),
                own_length_m: length_m,
                origin: std::array::from_fn(|a| obstacle.position_m[a] - grid.corner[a]),
                reference_area_m2: 0.0,
                reference_length_m: length_m,
                free_molecular_drag: None,
                mesh: Arc::new(mesh),
            };
            first_triangle += body.mesh.triangles.len();
            body.revise(gas, obstacle, stream)
        };
        gas.obstacles.iter().zip(meshes).zip(lengths_m).map(of).collect()
    }

    /// The same body in a changed stream or with a changed wall.
    pub fn revise(&self, gas: &GasScene, obstacle: &Obstacle, stream: &StreamState) -> Self {
        let (reference_area_m2, reference_length_m) = match gas.reference {
            Reference::Given { area_m2, length_m } => (area_m2, length_m),
            Reference::Auto => (self.mesh.reference_area(stream.direction), self.own_length_m),
        };
        let scale = stream.dynamic_pressure * reference_area_m2;
        let free_molecular_drag = (self.convex && scale > 0.0).then(|| {
            let incident = IncidentGas {
                number_density: stream.number_density,
                temperature: stream.temperature,
                mass: gas.gas.mean_mass(),
                rotational_dof: gas.gas.mean_rotational_dof(),
                velocity: stream.velocity,
            };
            let force = incident.body(&self.mesh, obstacle.wall, obstacle.position_m).force;
            (0..3).map(|k| force[k] * stream.direction[k]).sum::<f64>() / scale
        });
        Self {
            name: obstacle.name.clone(),
            reference_area_m2,
            reference_length_m,
            free_molecular_drag,
            ..self.clone()
        }
    }

    /// Its triangles among those of all obstacles.
    pub fn triangles(&self) -> Range<usize> {
        self.first_triangle..self.first_triangle + self.mesh.triangles.len()
    }
}

/// Whether all of a mesh lies in the domain, off its faces.
fn is_within(mesh: &TriangleMesh, grid: &Grid) -> bool {
    mesh.bounds().is_some_and(|[low, high]| {
        (0..3).all(|a| low[a] > grid.corner[a] && high[a] < grid.corner[a] + grid.size[a])
    })
}
