//! The lines of the frame.
//! Must not know when they are drawn.

use super::{DomainFrame, GridFaces, View, scale_bar};
use crate::output::slice::AXES;
use crate::view::stage::Stage;
use bevy::prelude::*;

const EDGE: Color = Color::srgb(0.45, 0.50, 0.60);
const GRID: Color = Color::srgba(0.45, 0.50, 0.60, 0.30);
const BAR: Color = Color::srgb(0.92, 0.93, 0.95);
/// Colours by axis as everywhere: x red, y green, z blue, here the shades that colour-blind eyes tell apart.
const BY_AXIS: [Color; 3] =
    [Color::srgb(0.835, 0.369, 0.0), Color::srgb(0.0, 0.62, 0.451), Color::srgb(0.337, 0.706, 0.914)];
/// Length of the axes, units of the picture.
const AXIS: f32 = 0.3;
/// Height of the letters, units of the picture.
const LETTER: f32 = 0.07;
/// Most lines of the grid along an axis.
const MOST_LINES: u32 = 40;

/// Thin lines (edges, grid) and thick ones (axes, scale bar).
pub fn frame(settings: &DomainFrame, stage: &Stage, view: &View) -> [GizmoAsset; 2] {
    let (mut thin, mut thick) = (GizmoAsset::default(), GizmoAsset::default());
    let half = 0.5 * stage.extent();
    if settings.edges {
        thin.cube(Transform::from_scale(2.0 * half), EDGE);
    }
    if let (Some(faces), Some(cells)) = (settings.grid, view.cells) {
        match faces {
            GridFaces::Floor => grid(&mut thin, half, cells, 1, -1.0),
            GridFaces::Back => {
                (0..3).for_each(|a| grid(&mut thin, half, cells, a, if view.upper[a] { -1.0 } else { 1.0 }));
            }
        }
    }
    if settings.axes {
        for (axis, color) in Vec3::AXES.into_iter().zip(BY_AXIS) {
            thick.arrow(-half, -half + axis * AXIS, color).with_tip_length(0.2 * AXIS);
        }
    }
    if settings.scale_bar {
        let length = (scale_bar(stage).0 * stage.scale()) as f32;
        let front = if view.upper[2] { 1.0 } else { -1.0 };
        // Clear of the edge, which it would else lie on.
        let from = Vec3::new(-half.x, -half.y - 0.05, front * (half.z + 0.02));
        let tick = Vec3::Y * 0.02;
        thick.line(from, from + Vec3::X * length, BAR);
        for end in [from, from + Vec3::X * length] {
            thick.line(end - tick, end + tick, BAR);
        }
    }
    [thin, thick]
}

/// The lines between cells on the face across `axis`, on its lower (-1) or upper (1) side.
fn grid(lines: &mut GizmoAsset, half: Vec3, cells: [u32; 3], axis: usize, side: f32) {
    for (along, across) in [((axis + 1) % 3, (axis + 2) % 3), ((axis + 2) % 3, (axis + 1) % 3)] {
        let count = cells[along];
        for line in (0..=count).step_by(every(count) as usize) {
            let mut from = half;
            from[axis] = side * half[axis];
            from[along] = half[along] * (2.0 * line as f32 / count.max(1) as f32 - 1.0);
            let mut to = from;
            to[across] = -half[across];
            lines.line(from, to, GRID);
        }
    }
}

/// Each how-many-th line is drawn, so that there are not too many: 1, 2, 5, 10, ...
fn every(count: u32) -> u32 {
    let steps = (0..9).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u32.pow(power)));
    steps.into_iter().find(|step| count / step <= MOST_LINES).unwrap_or(count.max(1))
}

/// The letter of an axis, about its own middle; empty if axes are not shown.
pub fn letter(settings: &DomainFrame, axis: usize) -> GizmoAsset {
    let mut letter = GizmoAsset::default();
    if settings.axes {
        letter.text(Isometry3d::IDENTITY, AXES[axis], LETTER, Vec2::ZERO, BY_AXIS[axis]);
    }
    letter
}

/// Where the letter of an axis stands: beyond its tip.
pub fn letter_place(stage: &Stage, axis: usize) -> Vec3 {
    -0.5 * stage.extent() + Vec3::AXES[axis] * (AXIS + LETTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fine_grids_show_every_nth_line() {
        assert_eq!([8, 40, 41, 100, 250, 1000].map(every), [1, 1, 2, 5, 10, 50]);
        let mut lines = GizmoAsset::default();
        grid(&mut lines, Vec3::ONE, [16, 8, 4], 1, -1.0);
        // 17 lines along z, 5 along x, each of two points and a gap.
        assert_eq!(lines.buffer().strip_positions.len() + lines.buffer().list_positions.len(), 2 * (17 + 5));
    }
}
