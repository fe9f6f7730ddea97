//! The undisturbed gas in numbers: density, speed, directions, mean free path, Mach number.
//! Knows nothing of bodies, grids or particles.

use super::constants::BOLTZMANN;
use super::species::{heat_ratio, most_probable_speed, pressure};
use crate::scene::{Density, Gas, Stream, Velocity};

/// State of the undisturbed gas, all it takes to write loads as coefficients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StreamState {
    /// Number density, 1/m^3.
    pub number_density: f64,
    /// Temperature, K.
    pub temperature: f64,
    /// Pressure n k T, Pa.
    pub pressure: f64,
    /// Mass density, kg/m^3.
    pub density: f64,
    /// Velocity, m/s.
    pub velocity: [f64; 3],
    /// Speed, m/s.
    pub speed: f64,
    /// Unit vector along the stream, also where the speed is zero: drag counts along it.
    pub direction: [f64; 3],
    /// Unit vector across the stream in the x-y plane, towards +y: lift counts along it.
    pub lift_axis: [f64; 3],
    /// Unit vector stream x lift: side force counts along it.
    pub side_axis: [f64; 3],
    /// Most probable speed sqrt(2 k T/m), m/s, m the mean molecular mass.
    pub most_probable_speed: f64,
    /// Speed of sound, m/s.
    pub speed_of_sound: f64,
    /// Speed over most probable speed, s.
    pub speed_ratio: f64,
    /// Speed over speed of sound, M.
    pub mach: f64,
    /// Ratio of specific heats.
    pub heat_ratio: f64,
    /// VHS mean free path, m.
    pub mean_free_path: f64,
    /// Collisions a molecule suffers, 1/s.
    pub collision_frequency: f64,
    /// rho U^2/2, Pa.
    pub dynamic_pressure: f64,
}

impl StreamState {
    /// The state of `stream` for `gas`. A validated scene has at least one species and positive numbers; without
    /// species everything is NaN.
    pub fn new(gas: &Gas, stream: &Stream) -> Self {
        let temperature = stream.temperature_k;
        let number_density = match stream.density {
            Density::PressurePa(pressure) => pressure / (BOLTZMANN * temperature),
            Density::PerCubicMeter(number_density) => number_density,
        };
        let mass = gas.mean_mass();
        let heat_ratio = heat_ratio(gas.mean_rotational_dof());
        let speed_of_sound = (heat_ratio * BOLTZMANN * temperature / mass).sqrt();
        let speed = match stream.velocity {
            Velocity::Mach(mach) => mach * speed_of_sound,
            Velocity::MetersPerSecond(speed) => speed,
        };
        let c_mp = most_probable_speed(mass, temperature);
        let density = number_density * mass;
        let direction = direction(stream.incidence_deg, stream.sideslip_deg);
        let lift_axis = lift_axis(direction);
        Self {
            number_density,
            temperature,
            pressure: pressure(number_density, temperature),
            density,
            velocity: direction.map(|d| d * speed),
            speed,
            direction,
            lift_axis,
            side_axis: cross(direction, lift_axis),
            most_probable_speed: c_mp,
            speed_of_sound,
            speed_ratio: speed / c_mp,
            mach: speed / speed_of_sound,
            heat_ratio,
            mean_free_path: gas.mean_free_path(number_density, temperature),
            collision_frequency: gas.collision_frequency(number_density, temperature),
            dynamic_pressure: 0.5 * density * speed * speed,
        }
    }

    /// Knudsen number of a length, with the VHS mean free path.
    pub fn knudsen(&self, length: f64) -> f64 {
        self.mean_free_path / length
    }

    /// Time in which the gas crosses a box of that size, s: with the stream, or by thermal motion where the stream
    /// is slower than the most probable speed.
    pub fn transit_time(&self, size: [f64; 3]) -> f64 {
        if self.speed > self.most_probable_speed {
            let along = |axis: usize| size[axis] / self.velocity[axis].abs();
            (0..3).map(along).fold(f64::INFINITY, f64::min)
        } else {
            size.into_iter().fold(0.0, f64::max) / self.most_probable_speed
        }
    }
}

/// Unit vector (cos a cos b, -sin a cos b, sin b), a incidence and b side-slip in degrees.
pub fn direction(incidence_deg: f64, sideslip_deg: f64) -> [f64; 3] {
    let (sin_a, cos_a) = incidence_deg.to_radians().sin_cos();
    let (sin_b, cos_b) = sideslip_deg.to_radians().sin_cos();
    [cos_a * cos_b, -sin_a * cos_b, sin_b]
}

/// Unit vector across `direction` in the x-y plane with a positive y component; where the stream runs along y it is
/// the limit from small incidence upwards, where it runs along z it is y itself.
pub fn lift_axis(direction: [f64; 3]) -> [f64; 3] {
    // Below this the in-plane part of the stream is rounding of cos 90 degrees, and its direction means nothing.
    const ROUNDING: f64 = 1e-12;
    let [x, y, _] = direction;
    let length = x.hypot(y);
    if length < ROUNDING {
        return [0.0, 1.0, 0.0];
    }
    let sign = if x < -ROUNDING { -1.0 } else { 1.0 };
    [-y / length * sign, x / length * sign, 0.0]
}

/// Vector product a x b.
pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Scalar product.
pub(crate) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::constants::AVOGADRO;
    use crate::scene::Species;

    /// The seed's gas: d = 4.0e-10 m without Bird's 1/Gamma(5/2 - omega).
    fn seed() -> (Gas, Stream) {
        let species = Species {
            name: "seed".into(),
            mass_kg: 0.040 / AVOGADRO,
            diameter_m: 3.835e-10,
            omega: 0.75,
            reference_temperature_k: 200.0,
            alpha: 1.0,
            rotational_dof: 0,
            fraction: 1.0,
        };
        let stream = Stream {
            velocity: Velocity::Mach(4.0),
            density: Density::PressurePa(0.1),
            temperature_k: 200.0,
            incidence_deg: 30.0,
            sideslip_deg: 0.0,
        };
        (Gas { species: vec![species] }, stream)
    }

    fn close(value: f64, reference: f64, relative: f64) {
        assert!((value / reference - 1.0).abs() < relative, "{value} is not {reference}");
    }

    #[test]
    fn conditions_of_the_seed() {
        let (gas, stream) = seed();
        let state = StreamState::new(&gas, &stream);
        // Printed digits of the published conditions.
        close(state.number_density, 3.62e19, 1e-3);
        close(state.speed, 1052.9, 5e-5);
        close(state.speed_ratio, 3.651, 2e-4);
        close(state.number_density * 8e-6 / 100.0, 2.897e12, 2e-4);
        close(1e-5 * state.collision_frequency, 0.077, 7e-3);
        close(0.02 / state.mean_free_path, 0.47, 1e-2);
        close(state.knudsen(0.3), 0.141, 4e-3);
        close(state.knudsen(0.2), 0.211, 3e-3);
        close(state.mach, 4.0, 1e-14);
        close(state.dynamic_pressure, 0.5 * 5.0 / 3.0 * 0.1 * 16.0, 1e-12);
        // The shape factor 1.0861 between both definitions of the diameter at T_ref.
        close((4.0f64 / 3.835).powi(2), 1.0 / libm::tgamma(1.75), 1e-3);
    }

    #[test]
    fn transit_times() {
        let (gas, mut stream) = seed();
        let fast = StreamState::new(&gas, &stream);
        close(fast.transit_time([1.0; 3]), 1.0 / (fast.speed * 30f64.to_radians().cos()), 1e-12);
        stream.velocity = Velocity::MetersPerSecond(0.0);
        let still = StreamState::new(&gas, &stream);
        close(still.transit_time([1.0, 2.0, 0.1]), 2.0 / still.most_probable_speed, 1e-12);
    }

    #[test]
    fn axes_are_a_right_handed_frame() {
        for incidence in [-180.0, -120.0, -90.0, -30.0, 0.0, 30.0, 89.0, 90.0, 135.0, 180.0] {
            for sideslip in [-90.0, -40.0, 0.0, 20.0, 90.0, 150.0] {
                let d = direction(incidence, sideslip);
                let lift = lift_axis(d);
                let side = cross(d, lift);
                for (a, b) in [(d, lift), (lift, side), (side, d)] {
                    assert!(dot(a, b).abs() < 1e-12, "{incidence} {sideslip}");
                }
                for v in [d, lift, side] {
                    assert!((dot(v, v) - 1.0).abs() < 1e-12);
                }
                assert!(lift[1] > -1e-12 && lift[2] == 0.0, "{incidence} {sideslip} {lift:?}");
            }
        }
        let [x, y, z] = direction(30.0, 0.0);
        assert!((x - 0.75f64.sqrt()).abs() < 1e-15 && (y + 0.5).abs() < 1e-15 && z == 0.0);
        let [x, y, _] = lift_axis(direction(30.0, 0.0));
        assert!((x - 0.5).abs() < 1e-15 && (y - 0.75f64.sqrt()).abs() < 1e-15);
        assert_eq!(cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]), [0.0, 0.0, 1.0]);
    }
}
