//! The edges of the domain, and the three axes at its lower corner.
//! Must not know the simulation.

use crate::view::stage::Stage;
use bevy::prelude::*;

/// Draws the edges of the domain and its axes.
pub struct DomainPlugin;

impl Plugin for DomainPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, draw);
    }
}

fn draw(stage: Option<Res<Stage>>, mut gizmos: Gizmos) {
    let Some(stage) = stage else { return };
    let extent = stage.extent();
    gizmos.cube(Transform::from_scale(extent), Color::srgb(0.45, 0.5, 0.6));
    let corner = -0.5 * extent;
    let length = 0.18 * extent.max_element();
    // Colours by axis as everywhere: x red, y green, z blue, here the shades that colour-blind eyes tell apart.
    for (axis, color) in [
        (Vec3::X, Color::srgb_u8(213, 94, 0)),
        (Vec3::Y, Color::srgb_u8(0, 158, 115)),
        (Vec3::Z, Color::srgb_u8(86, 180, 233)),
    ] {
        gizmos.arrow(corner, corner + axis * length, color);
    }
}
