//! How metres become units of the picture, the light, and the camera that orbits the domain.
//! Must not know the simulation.

use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::prelude::*;

/// Where the domain stands in the picture: its middle at the origin, its longest edge 2 units long. Domains of microns
/// and of kilometres look alike, and f32 depth serves both.
#[derive(Debug, Clone, Copy, PartialEq, Resource)]
pub struct Stage {
    /// Middle of the domain, m.
    pub middle_m: [f64; 3],
    /// Edge lengths of the domain, m.
    pub size_m: [f64; 3],
}

impl Stage {
    /// Units of the picture a metre.
    pub fn scale(&self) -> f64 {
        2.0 / self.size_m.iter().copied().fold(f64::MIN_POSITIVE, f64::max)
    }

    /// A point of the scene in the picture.
    pub fn place(&self, point_m: [f64; 3]) -> Vec3 {
        let scale = self.scale();
        Vec3::from_array(std::array::from_fn(|a| ((point_m[a] - self.middle_m[a]) * scale) as f32))
    }

    /// Edge lengths of the domain in the picture.
    pub fn extent(&self) -> Vec3 {
        Vec3::from_array(self.size_m.map(|size| (size * self.scale()) as f32))
    }
}

/// An orbit about the middle of the domain: y is up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Orbit {
    /// Angle about the vertical, degrees; 0 looks along -z.
    pub yaw_deg: f32,
    /// Angle above the horizon, degrees.
    pub pitch_deg: f32,
    /// Distance from the middle, units of the picture.
    pub distance: f32,
}

impl Default for Orbit {
    fn default() -> Self {
        Self { yaw_deg: -25.0, pitch_deg: 20.0, distance: 4.0 }
    }
}

impl Orbit {
    /// The camera's place and direction.
    pub fn transform(&self) -> Transform {
        let (yaw, pitch) = (self.yaw_deg.to_radians(), self.pitch_deg.clamp(-89.0, 89.0).to_radians());
        let from = Vec3::new(pitch.cos() * yaw.sin(), pitch.sin(), pitch.cos() * yaw.cos());
        Transform::from_translation(from * self.distance).looking_at(Vec3::ZERO, Vec3::Y)
    }
}

/// The camera and the light that goes with it.
pub fn spawn_camera(world: &mut World, orbit: &Orbit, target: impl Bundle) -> Entity {
    world.insert_resource(ClearColor(Color::srgb_u8(10, 12, 18)));
    world.insert_resource(GlobalAmbientLight { brightness: 350.0, ..default() });
    world.spawn((
        DirectionalLight { illuminance: 4_000.0, ..default() },
        Transform::from_xyz(3.0, 5.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    world.spawn((Camera3d::default(), Tonemapping::None, Msaa::Sample4, orbit.transform(), target)).id()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_domain_fills_two_units_whatever_its_size() {
        for size in [1e-6, 1.0, 1e4] {
            let stage = Stage { middle_m: [0.5 * size, size, 0.0], size_m: [size, 2.0 * size, 0.5 * size] };
            assert_eq!(stage.extent(), Vec3::new(1.0, 2.0, 0.5));
            assert_eq!(stage.place([0.0, 2.0 * size, 0.0]), Vec3::new(-0.5, 1.0, 0.0));
        }
    }

    #[test]
    fn the_orbit_looks_at_the_middle_from_its_distance() {
        let camera = Orbit { yaw_deg: 90.0, pitch_deg: 0.0, distance: 3.0 }.transform();
        assert!((camera.translation - Vec3::new(3.0, 0.0, 0.0)).length() < 1e-6);
        assert!((camera.forward().as_vec3() - Vec3::NEG_X).length() < 1e-6);
    }
}
