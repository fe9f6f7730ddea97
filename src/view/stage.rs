//! How metres become units of the picture, and the light.
//! Must not know the simulation.

use super::camera::Viewpoint;
use crate::scene::Domain;
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
    /// The stage of a domain.
    pub fn of(domain: &Domain) -> Self {
        let middle_m = std::array::from_fn(|a| domain.corner_m[a] + 0.5 * domain.size_m[a]);
        Self { middle_m, size_m: domain.size_m }
    }

    /// Units of the picture a metre.
    pub fn scale(&self) -> f64 {
        2.0 / self.size_m.iter().copied().fold(f64::MIN_POSITIVE, f64::max)
    }

    /// A point of the scene in the picture.
    pub fn place(&self, point_m: [f64; 3]) -> Vec3 {
        let scale = self.scale();
        Vec3::from_array(std::array::from_fn(|a| ((point_m[a] - self.middle_m[a]) * scale) as f32))
    }

    /// Where a point of the picture is in the scene, m.
    pub fn metres(&self, point: Vec3) -> [f64; 3] {
        let scale = self.scale();
        let point = point.to_array();
        std::array::from_fn(|a| self.middle_m[a] + f64::from(point[a]) / scale)
    }

    /// Edge lengths of the domain in the picture.
    pub fn extent(&self) -> Vec3 {
        Vec3::from_array(self.size_m.map(|size| (size * self.scale()) as f32))
    }
}

/// The camera and the light that goes with it.
pub fn spawn_camera(world: &mut World, viewpoint: &Viewpoint, target: impl Bundle) -> Entity {
    world.insert_resource(ClearColor(Color::srgb_u8(10, 12, 18)));
    world.insert_resource(GlobalAmbientLight { brightness: 350.0, ..default() });
    world.spawn((
        DirectionalLight { illuminance: 4_000.0, ..default() },
        Transform::from_xyz(3.0, 5.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    let projection = viewpoint.projection();
    world
        .spawn((
            Camera3d::default(),
            Tonemapping::None,
            Msaa::Sample4,
            projection,
            viewpoint.transform(),
            target,
        ))
        .id()
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
            assert_eq!(stage.metres(Vec3::new(-0.5, 1.0, 0.0)), [0.0, 2.0 * size, 0.0]);
        }
    }
}
