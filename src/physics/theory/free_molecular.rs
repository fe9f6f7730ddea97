//! Free-molecular loads on surface elements of given orientation, and their sum over convex bodies.
//! Knows nothing of molecules that meet each other, of shadows, particles or grids.

use super::inflow_flux::chi;
use crate::physics::constants::BOLTZMANN;
use crate::physics::species::most_probable_speed;
use crate::physics::stream::{cross, dot};
use crate::scene::{TriangleMesh, Wall};
use libm::erfc;
use std::f64::consts::PI;

/// Equilibrium gas that streams past, without collisions near the body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IncidentGas {
    /// Number density, 1/m^3.
    pub number_density: f64,
    /// Temperature, K.
    pub temperature: f64,
    /// Mass of a molecule, kg.
    pub mass: f64,
    /// Rotational degrees of freedom of a molecule.
    pub rotational_dof: f64,
    /// Velocity, m/s.
    pub velocity: [f64; 3],
}

/// What a unit of surface takes from the gas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ElementLoad {
    /// Molecules that hit, 1/(m^2 s).
    pub number_flux: f64,
    /// Normal force against the surface, Pa.
    pub pressure: f64,
    /// Tangential force per area, Pa, along the gas's own motion.
    pub shear: [f64; 3],
    /// Heat into the surface, W/m^2.
    pub heat_flux: f64,
}

/// Sum of loads over a body.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BodyLoad {
    /// Force, N.
    pub force: [f64; 3],
    /// Moment about the point that was given, N m.
    pub moment: [f64; 3],
    /// Heat into the body, W.
    pub heat: f64,
    /// Molecules that hit, 1/s.
    pub hits: f64,
}

impl IncidentGas {
    /// Dynamic pressure rho U^2/2, Pa.
    pub fn dynamic_pressure(&self) -> f64 {
        0.5 * self.number_density * self.mass * dot(self.velocity, self.velocity)
    }

    /// Load on an element with the outward unit normal `normal` that sees the whole of its half space
    /// (Schaaf & Chambre 1958, section H; Bird 1994, sections 7.3 to 7.5). Of a thin plate, each side is an element.
    pub fn element(&self, normal: [f64; 3], wall: Wall) -> ElementLoad {
        let c_mp = most_probable_speed(self.mass, self.temperature);
        let thermal_energy = BOLTZMANN * self.temperature;
        let pressure = self.number_density * thermal_energy;
        let toward = -dot(self.velocity, normal);
        let s = toward / c_mp;
        let gauss = (-s * s).exp();
        let number_flux = self.number_density * c_mp * chi(s) / (2.0 * PI.sqrt());
        let incident_pressure = pressure * (s * gauss / PI.sqrt() + (0.5 + s * s) * erfc(-s));

        let (accommodation, wall_temperature) = match wall {
            Wall::Specular => (0.0, self.temperature),
            Wall::Diffuse { temperature_k, accommodation } => (accommodation, temperature_k),
        };
        let emitted_pressure =
            0.5 * PI.sqrt() * number_flux * self.mass * most_probable_speed(self.mass, wall_temperature);
        // Energy of the incident molecules: kT (S^2 + 5/2 + zeta/2) each less n c_mp kT exp(-s^2)/(4 sqrt pi).
        let speed_ratio_squared = dot(self.velocity, self.velocity) / (c_mp * c_mp);
        let half_rotation = 0.5 * self.rotational_dof;
        let incident_energy = number_flux * thermal_energy * (speed_ratio_squared + 2.5 + half_rotation)
            - pressure * c_mp * gauss / (4.0 * PI.sqrt());
        let emitted_energy = number_flux * BOLTZMANN * wall_temperature * (2.0 + half_rotation);

        let tangential: [f64; 3] = std::array::from_fn(|a| self.velocity[a] + toward * normal[a]);
        ElementLoad {
            number_flux,
            pressure: (2.0 - accommodation) * incident_pressure + accommodation * emitted_pressure,
            shear: tangential.map(|v| accommodation * number_flux * self.mass * v),
            heat_flux: accommodation * (incident_energy - emitted_energy),
        }
    }

    /// Load on the triangles of a mesh, moment about `about`. Exact for a convex body and for a flat plate given
    /// with both sides; where a part shadows another or reflects molecules onto it, it is not what the body feels.
    /// Triangles without area are left out.
    pub fn body(&self, mesh: &TriangleMesh, wall: Wall, about: [f64; 3]) -> BodyLoad {
        let mut load = BodyLoad::default();
        for triangle in &mesh.triangles {
            let corner = |i: usize| mesh.vertices.get(triangle[i] as usize).copied();
            if let (Some(a), Some(b), Some(c)) = (corner(0), corner(1), corner(2)) {
                load.add_triangle(self, [a, b, c], wall, about);
            }
        }
        load
    }
}

impl BodyLoad {
    /// Adds the load on one triangle, its front where its corners run counter-clockwise.
    pub fn add_triangle(&mut self, gas: &IncidentGas, corners: [[f64; 3]; 3], wall: Wall, about: [f64; 3]) {
        let [a, b, c] = corners;
        let edge = |p: [f64; 3]| std::array::from_fn(|i| p[i] - a[i]);
        let doubled = cross(edge(b), edge(c));
        let length = dot(doubled, doubled).sqrt();
        if length <= 0.0 {
            return;
        }
        let area = 0.5 * length;
        let normal = doubled.map(|x| x / length);
        let element = gas.element(normal, wall);
        let force: [f64; 3] =
            std::array::from_fn(|i| area * (element.shear[i] - element.pressure * normal[i]));
        // The load is uniform over the triangle: its moment is that of the force at the centroid.
        let arm: [f64; 3] = std::array::from_fn(|i| (a[i] + b[i] + c[i]) / 3.0 - about[i]);
        let moment = cross(arm, force);
        for i in 0..3 {
            self.force[i] += force[i];
            self.moment[i] += moment[i];
        }
        self.heat += area * element.heat_flux;
        self.hits += area * element.number_flux;
    }
}
