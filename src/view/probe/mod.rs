//! The flow under the cursor: the value of what it points at, and the velocities of the cell that was clicked.
//! Must not know devices, physics or panels.

use super::draw::sample::{cell_at, value_at};
use super::draw::slice::FieldSlice;
use super::draw::surface::{BodySurfaces, HalfSection};
use super::flow::{Flow, Stamp};
use super::simulation::Wanted;
use super::stage::Stage;
use crate::output::distribution::Gathered;
use crate::scene::TriangleMesh;
use crate::scene::mesh::vector::{add, cross, dot, scale, sub};
use crate::sim::{Fields, Phase, Snapshot};
use crate::units::Quantity;
use bevy::gizmos::GizmoPlugin;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_egui::input::EguiWantsInput;

/// Where the cursor points: a ray in the picture; `None` while it is over a panel or outside the window.
#[derive(Debug, Clone, Copy, PartialEq, Default, Resource)]
pub struct Pointer(pub Option<Ray3d>);

/// What is under the cursor.
#[derive(Debug, Clone, PartialEq, Default, Resource)]
pub struct Hover(pub Option<Reading>);

/// A value that is pointed at.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Where, m.
    pub point_m: [f64; 3],
    /// On what.
    pub what: What,
    /// What the value is; its unit is there.
    pub quantity: Quantity,
    /// The value, as the thing shows it.
    pub value: f32,
    /// One standard deviation of the value of the cell or triangle; `None` where it is not known yet.
    pub error: Option<f32>,
}

/// A thing that is pointed at.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A field slice.
    Slice {
        /// Its entity.
        entity: Entity,
        /// The cell, by its index as in [`Fields`].
        cell: u32,
    },
    /// A body.
    Body {
        /// Its name.
        name: String,
        /// The triangle.
        triangle: usize,
    },
}

/// Whether a plain click on a slice probes its cell. An Alt-click always does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Resource)]
pub struct ProbeMode(pub bool);

/// The cell whose velocities are gathered, by its index as in [`Fields`]. Panels may set it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Resource)]
pub struct ProbedCell(pub Option<u32>);

/// Velocities in the probed cell, gathered since it was chosen, or since the averages began anew.
#[derive(Debug, Default, Resource)]
pub struct ProbedVelocities(pub Gathered);

/// Reads what is under the cursor, and gathers velocities.
pub struct ProbePlugin;

impl Plugin for ProbePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Pointer>()
            .init_resource::<Hover>()
            .init_resource::<ProbeMode>()
            .init_resource::<ProbedCell>()
            .init_resource::<ProbedVelocities>()
            .add_systems(Update, (aim, hover, click, gather).chain());
        if app.is_plugin_added::<GizmoPlugin>() {
            app.add_systems(Update, mark.after(gather));
        }
    }
}

/// The ray from the camera through the cursor.
fn aim(
    windows: Query<&Window, With<PrimaryWindow>>,
    cameras: Query<(&Camera, &GlobalTransform), With<Camera3d>>,
    panels: Option<Res<EguiWantsInput>>,
    mut pointer: ResMut<Pointer>,
) {
    // Without a window the pointer is whoever's sets it.
    let Ok(window) = windows.single() else { return };
    let over_panel = panels.is_some_and(|panels| panels.is_pointer_over_area() || panels.is_using_pointer());
    let ray = || {
        let cursor = window.cursor_position().filter(|_| !over_panel)?;
        let (camera, place) = cameras.iter().find(|(camera, _)| camera.is_active)?;
        camera.viewport_to_world(place, cursor).ok()
    };
    pointer.set_if_neq(Pointer(ray()));
}

/// Reads again if the cursor, the flow or what is drawn changed.
fn hover(
    flow: Option<Res<Flow>>,
    stage: Option<Res<Stage>>,
    pointer: Res<Pointer>,
    slices: Query<(Entity, Ref<FieldSlice>)>,
    bodies: Query<Ref<BodySurfaces>>,
    mut seen: Local<Stamp>,
    mut hover: ResMut<Hover>,
) {
    let (Some(flow), Some(stage), Some(ray)) = (flow, stage, pointer.0) else {
        hover.set_if_neq(Hover(None));
        return;
    };
    let is_new =
        slices.iter().any(|(_, slice)| slice.is_changed()) || bodies.iter().any(|bodies| bodies.is_changed());
    if pointer.is_changed() || stage.is_changed() || is_new {
        *seen = Stamp::default();
    }
    let scene = Line { from_m: stage.metres(ray.origin), toward: ray.direction.as_dvec3().to_array() };
    let slices: Vec<(Entity, &FieldSlice)> =
        slices.iter().map(|(entity, slice)| (entity, slice.into_inner())).collect();
    let bodies = bodies.iter().find(|bodies| bodies.visible).map(Ref::into_inner);
    if let Some(reading) = flow.read_new(&mut seen, |snapshot| read(snapshot, scene, &slices, bodies)) {
        hover.set_if_neq(Hover(reading));
    }
}

/// A ray in the scene.
#[derive(Debug, Clone, Copy)]
struct Line {
    from_m: [f64; 3],
    toward: [f64; 3],
}

impl Line {
    fn at(self, distance: f64) -> [f64; 3] {
        add(self.from_m, scale(self.toward, distance))
    }

    /// How far it is to a plane; `None` behind, and along it.
    fn to_plane(self, point: [f64; 3], normal: [f64; 3]) -> Option<f64> {
        let distance = dot(sub(point, self.from_m), normal) / dot(self.toward, normal);
        (distance.is_finite() && distance > 0.0).then_some(distance)
    }

    /// How far it is to a triangle, from either side (Moeller and Trumbore, 1997).
    fn to_triangle(self, [a, b, c]: [[f64; 3]; 3]) -> Option<f64> {
        let (ab, ac) = (sub(b, a), sub(c, a));
        let across = cross(self.toward, ac);
        let inverse = 1.0 / dot(ab, across);
        let from_a = sub(self.from_m, a);
        let u = dot(from_a, across) * inverse;
        let turned = cross(from_a, ab);
        let v = dot(self.toward, turned) * inverse;
        let distance = dot(ac, turned) * inverse;
        // A triangle seen edge-on gives infinities or NaN, which no comparison lets through.
        (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0 && distance.is_finite()).then_some(distance)
    }

    /// The nearest triangle of a mesh, and how far it is. Where a body is cut open, the half nearer to the eye is not
    /// there.
    fn to_mesh(self, mesh: &TriangleMesh, half: Option<HalfSection>) -> Option<(f64, usize)> {
        let cut = half.and_then(|HalfSection { axis, position_m }| {
            let axis = axis.min(2);
            let [low, high] = mesh.bounds()?;
            let position = position_m.unwrap_or(0.5 * (low[axis] + high[axis]));
            Some((axis, position, self.from_m[axis] > position))
        });
        let is_there = |distance: f64| {
            cut.is_none_or(|(axis, position, above)| (self.at(distance)[axis] > position) != above)
        };
        let hit = |t: usize| Some((self.to_triangle(mesh.corners(t))?, t)).filter(|hit| is_there(hit.0));
        let hits = (0..mesh.triangles.len()).filter_map(hit);
        hits.min_by(|a, b| a.0.total_cmp(&b.0))
    }
}

/// What is nearest on the line. Slices are clear where there is no gas; a body hides what is behind it even if nothing
/// is known of it.
fn read(
    snapshot: &Snapshot,
    line: Line,
    slices: &[(Entity, &FieldSlice)],
    bodies: Option<&BodySurfaces>,
) -> Option<Reading> {
    let tally = bodies.and_then(|bodies| bodies.tally.as_deref());
    let on_bodies = snapshot.surfaces.iter().filter_map(|surface| {
        let (distance, triangle) = line.to_mesh(&surface.mesh, bodies?.half)?;
        let column = surface.columns.iter().find(|column| Some(column.quantity.key.as_ref()) == tally);
        let reading = column.and_then(|column| {
            Some(Reading {
                point_m: line.at(distance),
                what: What::Body { name: surface.name.clone(), triangle },
                quantity: column.quantity.clone(),
                value: column.values.get(triangle).copied().filter(|value| value.is_finite())?,
                error: column.errors.get(triangle).copied().filter(|error| error.is_finite()),
            })
        });
        Some((distance, reading))
    });
    let on_slices = slices.iter().filter_map(|(entity, slice)| {
        let (distance, reading) = on_slice(snapshot.fields.as_ref()?, line, *entity, slice)?;
        Some((distance, Some(reading)))
    });
    on_bodies.chain(on_slices).min_by(|a, b| a.0.total_cmp(&b.0))?.1
}

fn on_slice(fields: &Fields, line: Line, entity: Entity, slice: &FieldSlice) -> Option<(f64, Reading)> {
    if !slice.visible {
        return None;
    }
    let frame = slice.plane.frame()?;
    let distance = line.to_plane(frame.point_m, frame.normal)?;
    let mut point_m = line.at(distance);
    // Rounding must not put a point of a face outside.
    for a in 0..3 {
        let (low, high, slack) =
            (fields.corner_m[a], fields.corner_m[a] + fields.size_m[a], 1e-6 * fields.size_m[a]);
        if point_m[a] > low - slack && point_m[a] < high + slack {
            point_m[a] = point_m[a].clamp(low, high);
        }
    }
    let cell = u32::try_from(cell_at(fields, point_m)?).ok()?;
    let value = value_at(fields, &slice.field, point_m, slice.smooth)?;
    let quantity = super::draw::sample::find(fields, &slice.field)?.0;
    let error = value_at(fields, &format!("{}_error", slice.field), point_m, false);
    Some((distance, Reading { point_m, what: What::Slice { entity, cell }, quantity, value, error }))
}

/// Chooses the cell to be probed.
fn click(
    buttons: Option<Res<ButtonInput<MouseButton>>>,
    keys: Option<Res<ButtonInput<KeyCode>>>,
    mode: Res<ProbeMode>,
    hover: Res<Hover>,
    mut probed: ResMut<ProbedCell>,
) {
    let alt = keys.is_some_and(|keys| keys.any_pressed([KeyCode::AltLeft, KeyCode::AltRight]));
    let clicked = buttons.is_some_and(|buttons| buttons.just_pressed(MouseButton::Left));
    if clicked
        && (alt || mode.0)
        && let Some(Reading { what: What::Slice { cell, .. }, .. }) = hover.0
    {
        probed.set_if_neq(ProbedCell(Some(cell)));
    }
}

/// Cells, lower corner and edge lengths of the fields.
type Grid = ([u32; 3], [f64; 3], [f64; 3]);

/// What the velocities were gathered under.
#[derive(Default, PartialEq, Clone, Copy)]
struct Under {
    /// First step of the averages; `None` before they begin.
    since: Option<u64>,
    cell: Option<u32>,
}

/// Asks for the cell's velocities and gathers them.
fn gather(
    flow: Option<Res<Flow>>,
    mut wanted: Option<ResMut<Wanted>>,
    mut probed: ResMut<ProbedCell>,
    mut velocities: ResMut<ProbedVelocities>,
    mut seen: Local<Stamp>,
    mut under: Local<Under>,
    mut grid: Local<Option<Grid>>,
) {
    let Some(flow) = flow else { return };
    if let (Some(wanted), Some(cell)) = (&mut wanted, probed.0) {
        wanted.0.probe_cell = Some(cell);
    }
    if probed.is_changed() || flow.is_changed() {
        *seen = Stamp::default();
    }
    flow.read_new(&mut seen, |snapshot| {
        // In another grid the same index is another place.
        if let Some(fields) = &snapshot.fields {
            let new = (fields.cells, fields.corner_m, fields.size_m);
            if grid.is_some_and(|old| old != new) && probed.0.is_some() && !probed.is_changed() {
                probed.0 = None;
            }
            *grid = Some(new);
        }
        let since = if let Phase::Sampling { since, .. } = snapshot.phase { Some(since) } else { None };
        let now = Under { since, cell: probed.0 };
        if flow.is_changed() || *under != now {
            *under = now;
            if velocities.0.snapshots() > 0 {
                velocities.0.clear();
            }
        }
        if let Some(probe) = snapshot.probe.as_ref().filter(|probe| Some(probe.cell) == probed.0) {
            // Nobody is told of a change that is none: the same step counts once.
            if velocities.bypass_change_detection().0.add(probe, snapshot.step) {
                velocities.set_changed();
            }
        }
    });
}

/// Edges around the probed cell.
fn mark(flow: Option<Res<Flow>>, stage: Option<Res<Stage>>, probed: Res<ProbedCell>, mut gizmos: Gizmos) {
    let (Some(flow), Some(stage), Some(cell)) = (flow, stage, probed.0) else { return };
    let place = flow.read(|snapshot| {
        let fields = snapshot.fields.as_ref()?;
        let step: [f64; 3] = std::array::from_fn(|a| fields.size_m[a] / f64::from(fields.cells[a]));
        let [nx, ny, _] = fields.cells;
        let index = [cell % nx, cell / nx % ny, cell / nx / ny];
        let middle = std::array::from_fn(|a| fields.corner_m[a] + (f64::from(index[a]) + 0.5) * step[a]);
        Some((middle, step))
    });
    let Some((middle, step)) = place.flatten() else { return };
    let size = Vec3::from_array(step.map(|edge| (edge * stage.scale()) as f32));
    let place = Transform::from_translation(stage.place(middle)).with_scale(size);
    gizmos.cube(place, Color::srgb_u8(240, 228, 66));
}

#[cfg(test)]
mod tests;
