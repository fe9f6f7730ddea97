//! What a wall does with a molecule: mirror it, or take it in and let it go at the wall's temperature.
//! Knows nothing of triangles, grids or how the hit was found.

use super::rng::Stream;
use super::sample::{effusion, gauss_pair};

/// The law of a wall, ready for use: scene values with the molecule's mass worked in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WallLaw {
    /// Fraction of the molecules that accommodate; the rest is mirrored (Maxwell 1879).
    pub accommodation: f32,
    /// sqrt(k T_wall / m), m/s.
    pub thermal_speed: f32,
    /// Whether the gas has two rotational degrees of freedom, which accommodate together with the translation.
    pub rotational: bool,
}

impl WallLaw {
    /// A mirror.
    pub const SPECULAR: Self = Self { accommodation: 0.0, thermal_speed: 0.0, rotational: false };

    /// Velocity and specific rotational energy (J/kg) after the hit; `normal` points into the gas.
    ///
    /// Diffuse emission is the flux of a Maxwellian at the wall's temperature (Bird 1994, section 12.3): normal speed
    /// from v exp(-v^2/2), tangential speeds Gaussian, rotational energy exponential with mean k T_wall.
    pub fn reflect(
        &self,
        velocity: [f32; 3],
        rotation: f32,
        normal: [f64; 3],
        rng: &mut Stream,
    ) -> ([f32; 3], f32) {
        if self.accommodation < 1.0 && (self.accommodation <= 0.0 || rng.unit() >= self.accommodation) {
            let v = velocity.map(f64::from);
            let twice = 2.0 * (v[0] * normal[0] + v[1] * normal[1] + v[2] * normal[2]);
            return (std::array::from_fn(|k| (v[k] - twice * normal[k]) as f32), rotation);
        }
        let [t1, t2] = tangents(normal);
        let [g1, g2] = gauss_pair(rng).map(f64::from);
        let out = f64::from(effusion(rng));
        let scale = f64::from(self.thermal_speed);
        let after = std::array::from_fn(|k| (scale * (out * normal[k] + g1 * t1[k] + g2 * t2[k])) as f32);
        let rotation = if self.rotational {
            -self.thermal_speed * self.thermal_speed * rng.unit().ln()
        } else {
            rotation
        };
        (after, rotation)
    }
}

/// Two unit vectors that make a right-handed frame with the unit vector `n` (Duff et al. 2017).
pub fn tangents(n: [f64; 3]) -> [[f64; 3]; 2] {
    let sign = 1.0_f64.copysign(n[2]);
    let a = -1.0 / (sign + n[2]);
    let b = n[0] * n[1] * a;
    [[1.0 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]], [b, sign + n[1] * n[1] * a, -n[1]]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::rng::Purpose;

    #[test]
    fn specular_keeps_energy_and_tangential_momentum() {
        let normal = [0.6, 0.0, 0.8];
        let mut rng = Stream::new(1, 0, Purpose::Test, 0);
        let before = [-300.0_f32, 120.0, -55.0];
        let (after, rotation) = WallLaw::SPECULAR.reflect(before, 3.0, normal, &mut rng);
        let dot = |v: [f32; 3], n: [f64; 3]| (0..3).map(|k| f64::from(v[k]) * n[k]).sum::<f64>();
        assert_eq!(rotation, 3.0);
        assert!((dot(after, normal) + dot(before, normal)).abs() < 1e-4);
        assert!((dot(after, [0.8, 0.0, -0.6]) - dot(before, [0.8, 0.0, -0.6])).abs() < 1e-4);
        assert_eq!(after[1], before[1]);
    }

    /// Emitted energy is 2 kT of translation and kT of rotation; the normal speed has mean sqrt(pi/2).
    #[test]
    fn diffuse_emission_has_the_moments_of_an_effusing_maxwellian() {
        let law = WallLaw { accommodation: 1.0, thermal_speed: 250.0, rotational: true };
        let normal = [-0.48, 0.6, 0.64];
        let n = 400_000;
        let (mut out, mut energy, mut rotation) = (0.0, 0.0, 0.0);
        let mut rng = Stream::new(2, 0, Purpose::Test, 0);
        for _ in 0..n {
            let (v, r) = law.reflect([0.0; 3], 0.0, normal, &mut rng);
            let vn: f64 = (0..3).map(|k| f64::from(v[k]) * normal[k]).sum();
            assert!(vn > 0.0);
            out += vn / 250.0;
            energy += v.iter().map(|&c| 0.5 * f64::from(c).powi(2)).sum::<f64>() / 250.0_f64.powi(2);
            rotation += f64::from(r) / 250.0_f64.powi(2);
        }
        let count = f64::from(n);
        let sigma = |variance: f64| 4.0 * (variance / count).sqrt();
        assert!(
            (out / count - (0.5 * std::f64::consts::PI).sqrt()).abs()
                < sigma(2.0 - 0.5 * std::f64::consts::PI)
        );
        assert!((energy / count - 2.0).abs() < sigma(2.0));
        assert!((rotation / count - 1.0).abs() < sigma(1.0));
    }

    #[test]
    fn tangents_are_orthonormal() {
        for n in [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.6, 0.0, 0.8], [-0.48, 0.6, -0.64]] {
            let [t1, t2] = tangents(n);
            let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
            for (value, want) in [
                (dot(t1, t1), 1.0),
                (dot(t2, t2), 1.0),
                (dot(t1, t2), 0.0),
                (dot(t1, n), 0.0),
                (dot(t2, n), 0.0),
            ] {
                assert!((value - want).abs() < 1e-12);
            }
        }
    }
}
