//! Free-molecular coefficients of sphere, cylinder and thin plate in closed form.
//! Knows nothing of triangles: it is what their sum must converge to.

use super::free_molecular::IncidentGas;
use super::special::bessel_i_scaled;
use crate::scene::Wall;
use libm::erf;
use std::f64::consts::PI;

/// Wall of the closed forms, made dimensionless with the temperature of the gas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WallState {
    /// Fraction that is re-emitted at the wall temperature; the rest is mirrored.
    pub accommodation: f64,
    /// Wall temperature over gas temperature.
    pub temperature_ratio: f64,
}

impl WallState {
    /// Of a wall in a gas of the given temperature, K.
    pub fn new(wall: Wall, temperature: f64) -> Self {
        match wall {
            Wall::Specular => Self { accommodation: 0.0, temperature_ratio: 1.0 },
            Wall::Diffuse { temperature_k, accommodation } => {
                Self { accommodation, temperature_ratio: temperature_k / temperature }
            }
        }
    }

    /// Maxwell's (1879) wall: linear between mirror and full accommodation.
    fn mix(self, specular: f64, diffuse: f64) -> f64 {
        (1.0 - self.accommodation) * specular + self.accommodation * diffuse
    }
}

/// Drag coefficient of a sphere, on pi R^2, at speed ratio `s` (Schaaf & Chambre 1958, section H; Bird 1994,
/// section 7.6).
pub fn sphere_drag(s: f64, wall: WallState) -> f64 {
    let s2 = s * s;
    let specular = (2.0 * s2 + 1.0) / (PI.sqrt() * s2 * s) * (-s2).exp()
        + (4.0 * s2 * s2 + 4.0 * s2 - 1.0) / (2.0 * s2 * s2) * erf(s);
    wall.mix(specular, specular + 2.0 * PI.sqrt() / (3.0 * s) * wall.temperature_ratio.sqrt())
}

/// Molecules that hit a sphere, over n U and its surface 4 pi R^2.
pub fn sphere_hits(s: f64) -> f64 {
    0.25 * ((1.0 + 0.5 / (s * s)) * erf(s) + (-s * s).exp() / (PI.sqrt() * s))
}

/// Mean heat flux into a sphere over rho U^3/2.
pub fn sphere_heat(s: f64, wall: WallState, rotational_dof: f64) -> f64 {
    mean_heat(s, sphere_hits(s), PI.sqrt() * erf(s) / (2.0 * s), wall, rotational_dof)
}

/// Drag coefficient of a long cylinder across the stream, on its diameter times its length (Schaaf & Chambre 1958,
/// section H).
pub fn cylinder_drag(s: f64, wall: WallState) -> f64 {
    let s2 = s * s;
    let [i0, i1] = [0, 1].map(|order| bessel_i_scaled(order, 0.5 * s2));
    let incident = PI.sqrt() / s * ((s2 + 1.5) * i0 + (s2 + 0.5) * i1);
    wall.mix(4.0 / 3.0 * incident, incident + PI.powf(1.5) / (4.0 * s) * wall.temperature_ratio.sqrt())
}

/// Molecules that hit the side of a cylinder across the stream, over n U and that side's surface.
pub fn cylinder_hits(s: f64) -> f64 {
    let [i0, i1] = [0, 1].map(|order| bessel_i_scaled(order, 0.5 * s * s));
    (i0 + s * s * (i0 + i1)) / (2.0 * PI.sqrt() * s)
}

/// Mean heat flux into the side of a cylinder across the stream over rho U^3/2.
pub fn cylinder_heat(s: f64, wall: WallState, rotational_dof: f64) -> f64 {
    mean_heat(s, cylinder_hits(s), bessel_i_scaled(0, 0.5 * s * s), wall, rotational_dof)
}

/// Heat flux over rho U^3/2 from the mean hit rate over n U and the mean of exp(-s_n^2) over the surface.
fn mean_heat(s: f64, hits: f64, mean_gauss: f64, wall: WallState, rotational_dof: f64) -> f64 {
    let half_rotation = 0.5 * rotational_dof;
    let energy = s * s + 2.5 + half_rotation - (2.0 + half_rotation) * wall.temperature_ratio;
    wall.accommodation * (energy * hits * s - mean_gauss / (4.0 * PI.sqrt())) / s.powi(3)
}

/// Load coefficients of an infinitely thin plate on the area of one side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlateCoefficients {
    /// Along the stream.
    pub drag: f64,
    /// Across it, towards the side that the stream does not meet.
    pub lift: f64,
    /// Along the normal of the back side.
    pub normal: f64,
    /// Along the plate.
    pub axial: f64,
}

/// Coefficients of a thin plate at the angle `incidence` (radians, 0 to pi/2) between it and the stream.
pub fn plate(s: f64, incidence: f64, wall: WallState) -> PlateCoefficients {
    let (sin, cos) = incidence.sin_cos();
    // A gas of unit mass, k T and n: only ratios matter.
    let temperature = 1.0 / crate::physics::constants::BOLTZMANN;
    let gas = IncidentGas {
        number_density: 1.0,
        temperature,
        mass: 1.0,
        rotational_dof: 0.0,
        velocity: [s * 2f64.sqrt() * cos, s * 2f64.sqrt() * sin, 0.0],
    };
    let wall = Wall::Diffuse {
        temperature_k: wall.temperature_ratio * temperature,
        accommodation: wall.accommodation,
    };
    let front = gas.element([0.0, -1.0, 0.0], wall);
    let back = gas.element([0.0, 1.0, 0.0], wall);
    let normal = (front.pressure - back.pressure) / gas.dynamic_pressure();
    let axial = (front.shear[0] + back.shear[0]) / gas.dynamic_pressure();
    PlateCoefficients { drag: normal * sin + axial * cos, lift: normal * cos - axial * sin, normal, axial }
}
