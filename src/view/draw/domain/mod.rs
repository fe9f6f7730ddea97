//! The frame of the flow: edges of the domain, its grid, the axes, a scale bar; lines that are made once and kept.
//! Must not know the simulation.

mod lines;
#[cfg(test)]
mod tests;

use super::keep::put;
use crate::output::scale::{length_unit, short};
use crate::view::document::FlowDomain;
use crate::view::flow::Flow;
use crate::view::simulation::Wanted;
use crate::view::stage::Stage;
use bevy::prelude::*;

/// What is drawn of the domain itself.
#[derive(Debug, Clone, Copy, PartialEq, Component)]
#[require(Drawn, Transform, Visibility)]
pub struct DomainFrame {
    /// Whether anything is drawn at all.
    pub visible: bool,
    /// The edges of the domain.
    pub edges: bool,
    /// Lines between the cells; every n-th where there are many.
    pub grid: Option<GridFaces>,
    /// The axes x, y and z at the lower corner.
    pub axes: bool,
    /// A bar of a round length below the lower edge towards the camera; [`scale_bar`] says how long it is.
    pub scale_bar: bool,
}

/// Which faces of the domain show the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GridFaces {
    /// The three faces behind the flow, wherever the camera is.
    Back,
    /// The lower y face.
    Floor,
}

impl Default for DomainFrame {
    fn default() -> Self {
        Self { visible: true, edges: true, grid: None, axes: true, scale_bar: true }
    }
}

/// Draws the frame of the domain.
pub struct DomainPlugin;

/// What is kept of a drawn frame.
#[derive(Debug, Default, Component)]
struct Drawn {
    /// Cells and faces that were drawn.
    last: Option<View>,
    /// Thin and thick lines, and the letters of the axes.
    lines: [Option<Handle<GizmoAsset>>; 5],
    is_spawned: bool,
}

/// What the lines depend on beside the settings and the stage.
#[derive(Debug, Clone, Copy, PartialEq)]
struct View {
    cells: Option<[u32; 3]>,
    /// Whether the camera is on the upper side of the middle, along each axis.
    upper: [bool; 3],
}

/// The letter of an axis, which is turned towards the camera.
#[derive(Debug, Component)]
struct Letter(usize);

impl Plugin for DomainPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, update);
    }
}

/// Length of the scale bar, m: 1, 2 or 5 times a power of ten, at most 0.3 of the domain along x; and its text.
pub fn scale_bar(stage: &Stage) -> (f64, String) {
    let most = 0.3 * stage.size_m[0].max(f64::MIN_POSITIVE);
    let power = 10_f64.powi(most.log10().floor() as i32);
    // A rounding error must not make the bar half as long.
    let digit = [5.0, 2.0, 1.0].into_iter().find(|digit| digit * power <= most * 1.000_001).unwrap_or(1.0);
    let length_m = digit * power;
    let (unit, symbol) = length_unit(length_m);
    (length_m, format!("{} {symbol}", short(length_m / unit)))
}

fn update(
    (stage, flow): (Option<Res<Stage>>, Option<Res<Flow>>),
    mut wanted: ResMut<Wanted>,
    mut frames: Query<(Entity, Ref<DomainFrame>, &mut Drawn, &mut Visibility)>,
    document: Query<&FlowDomain>,
    cameras: Query<&Transform, (With<Camera3d>, Without<Letter>)>,
    mut letters: Query<(&Letter, &mut Transform), Without<Camera3d>>,
    mut lines: ResMut<Assets<GizmoAsset>>,
    mut commands: Commands,
) {
    let Some(stage) = stage else { return };
    let camera = cameras.iter().next().copied().unwrap_or_default();
    for (_, mut letter) in &mut letters {
        if letter.rotation != camera.rotation {
            letter.rotation = camera.rotation;
        }
    }
    for (entity, settings, mut drawn, mut visibility) in &mut frames {
        visibility.set_if_neq(if settings.visible { Visibility::Inherited } else { Visibility::Hidden });
        if !settings.visible {
            continue;
        }
        let cells = settings.grid.and_then(|_| {
            document.iter().next().map(|domain| domain.domain.cells).or_else(|| {
                // Without a document the fields know the grid.
                wanted.0.fields = true;
                flow.as_ref()?.read(|snapshot| snapshot.fields.as_ref().map(|fields| fields.cells)).flatten()
            })
        });
        let view = View { cells, upper: camera.translation.to_array().map(|c| c >= 0.0) };
        if drawn.last == Some(view) && !settings.is_changed() && !stage.is_changed() {
            continue;
        }
        let drawn = drawn.bypass_change_detection();
        drawn.last = Some(view);
        let [thin, thick] = lines::frame(&settings, &stage, &view);
        let thin = put(&mut lines, &mut drawn.lines[0], thin);
        let thick = put(&mut lines, &mut drawn.lines[1], thick);
        let kept: [_; 3] =
            std::array::from_fn(|a| put(&mut lines, &mut drawn.lines[2 + a], lines::letter(&settings, a)));
        for (letter, mut place) in &mut letters {
            place.translation = lines::letter_place(&stage, letter.0);
        }
        if !drawn.is_spawned {
            drawn.is_spawned = true;
            let gizmo = |handle, width| Gizmo {
                handle,
                line_config: GizmoLineConfig { width, ..default() },
                ..default()
            };
            commands.spawn((gizmo(thin, 1.2), ChildOf(entity)));
            commands.spawn((gizmo(thick, 2.5), ChildOf(entity)));
            for (a, handle) in kept.into_iter().enumerate() {
                let place = Transform::from_translation(lines::letter_place(&stage, a));
                let place = place.with_rotation(camera.rotation);
                commands.spawn((Letter(a), gizmo(handle, 2.0), place, ChildOf(entity)));
            }
        }
    }
}
