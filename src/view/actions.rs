//! What keys set in motion, beside the camera, which looks after its own: the simulation, the document, what is drawn,
//! recordings, the panels. Must not know which key does what.

use super::document::{BodyIndex, Document, DocumentOrder, Selection};
use super::draw::ColorScale;
use super::draw::domain::DomainFrame;
use super::draw::glyph::Glyphs;
use super::draw::isosurface::Isosurface;
use super::draw::particles::ParticleCloud;
use super::draw::slice::{FieldSlice, Plane};
use super::draw::streamline::Streamlines;
use super::draw::surface::BodySurfaces;
use super::keys::{Action, Layer};
use super::panel::state::{RecordChoice, RecordingFacts};
use super::panel::{Panels, Shown, WindowOrder, WindowRecording, Windows};
use super::record::Shot;
use super::record::window::{RecordOrder, RecordSettings, RecordState};
use super::simulation::{RunOrder, RunState};
use crate::output::color::Map;
use crate::runner::{Pace, Status};
use crate::scene::{Domain, Model};
use bevy::gizmos::transform_gizmo::{TransformGizmoMode, TransformGizmoSettings};
use bevy::prelude::*;
use std::path::{Path, PathBuf};

/// Carries out what keys and panels order.
pub struct ActionsPlugin;

impl Plugin for ActionsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, (obey, record).chain().before(super::panel::PanelSystems))
            .add_systems(PostUpdate, tell);
    }
}

/// How large and how small panels become.
const ZOOM: std::ops::RangeInclusive<f32> = 0.5..=3.0;

fn obey(world: &mut World, mut seen: Local<bevy::ecs::message::MessageCursor<Action>>) {
    let Some(messages) = world.get_resource::<Messages<Action>>() else { return };
    let actions: Vec<Action> = seen.read(messages).copied().collect();
    for action in actions {
        carry_out(world, action);
    }
}

fn carry_out(world: &mut World, action: Action) {
    let running = world.get_resource::<RunState>().is_some_and(|run| {
        run.status == Status::Running || (run.status == Status::Building && run.pace != Pace::Paused)
    });
    match action {
        Action::PlayPause => send(world, if running { RunOrder::Pause } else { RunOrder::Play }),
        Action::Step => send(world, RunOrder::Step(1)),
        Action::UntilSteady => send(world, RunOrder::UntilSteady),
        Action::Restart => send(world, RunOrder::Restart),
        Action::Duplicate => on_selected(world, DocumentOrder::Duplicate),
        Action::Delete => on_selected(world, DocumentOrder::Delete),
        Action::Undo => send(world, DocumentOrder::Undo),
        Action::Redo => send(world, DocumentOrder::Redo),
        Action::Save if world.resource::<Document>().path.is_some() => send(world, DocumentOrder::Save),
        // A scene that has no file yet is asked for its name.
        Action::Save | Action::SaveAs => panels(world, |panels| panels.open.save_as = true),
        Action::Open => panels(world, |panels| panels.open.gallery = !panels.open.gallery),
        Action::Help => panels(world, |panels| panels.open.help = !panels.open.help),
        Action::UiLarger => panels(world, |panels| zoom(panels, 1.1)),
        Action::UiSmaller => panels(world, |panels| zoom(panels, 1.0 / 1.1)),
        Action::UiReset => panels(world, |panels| panels.zoom = 1.0),
        Action::Cancel => {
            world.resource_mut::<Selection>().0 = None;
            panels(world, |panels| panels.open = Windows::default());
        }
        Action::GizmoTranslate => gizmo(world, TransformGizmoMode::Translate),
        Action::GizmoRotate => gizmo(world, TransformGizmoMode::Rotate),
        Action::Toggle(layer) => toggle(world, layer),
        Action::SliceForward => move_slices(world, 1.0),
        Action::SliceBack => move_slices(world, -1.0),
        Action::NextColorMap => next_map(world),
        Action::Record => {
            let running = world.resource::<RecordState>().running.is_some();
            let choice = world.resource::<Panels>().recording.clone();
            let order = if running { WindowOrder::StopRecording } else { WindowOrder::Record(choice) };
            send(world, order);
        }
        Action::Screenshot => send(world, WindowOrder::Screenshot),
        Action::Quit => send(world, AppExit::Success),
        // The camera's.
        Action::Look(_)
        | Action::ResetView
        | Action::FrameSelection
        | Action::FrameAll
        | Action::ToggleOrthographic
        | Action::ToggleFly
        | Action::AddBookmark
        | Action::NextBookmark
        | Action::AddKeyFrame
        | Action::TogglePreview => {}
    }
}

/// A message to whoever reads such; nothing where the plugin that does is not there.
pub(super) fn send<M: Message>(world: &mut World, message: M) {
    if let Some(mut messages) = world.get_resource_mut::<Messages<M>>() {
        messages.write(message);
    }
}

fn panels(world: &mut World, change: impl FnOnce(&mut Panels)) {
    if let Some(mut panels) = world.get_resource_mut::<Panels>() {
        change(&mut panels);
    }
}

fn zoom(panels: &mut Panels, factor: f32) {
    panels.zoom = (panels.zoom * factor).clamp(*ZOOM.start(), *ZOOM.end());
}

fn on_selected(world: &mut World, order: impl FnOnce(Entity) -> DocumentOrder) {
    let selected = world.resource::<Selection>().0;
    if let Some(body) = selected.filter(|body| world.get::<BodyIndex>(*body).is_some()) {
        send(world, order(body));
    }
}

fn gizmo(world: &mut World, mode: TransformGizmoMode) {
    if let Some(mut settings) = world.get_resource_mut::<TransformGizmoSettings>() {
        settings.mode = mode;
    }
}

/// Flips one kind of drawn things; with several of a kind all follow the first.
fn flip<T: Component<Mutability = bevy::ecs::component::Mutable>>(
    world: &mut World,
    visible: impl Fn(&mut T) -> &mut bool,
) {
    let mut things = world.query::<&mut T>();
    let mut now = None;
    for mut thing in things.iter_mut(world) {
        let flag = visible(&mut thing);
        *flag = *now.get_or_insert(!*flag);
    }
}

fn toggle(world: &mut World, layer: Layer) {
    match layer {
        Layer::Particles => flip(world, |thing: &mut ParticleCloud| &mut thing.visible),
        Layer::Slices => flip(world, |thing: &mut FieldSlice| &mut thing.visible),
        Layer::Surfaces => flip(world, |thing: &mut BodySurfaces| &mut thing.visible),
        Layer::Glyphs => flip(world, |thing: &mut Glyphs| &mut thing.visible),
        Layer::Streamlines => flip(world, |thing: &mut Streamlines| &mut thing.visible),
        Layer::Isosurface => flip(world, |thing: &mut Isosurface| &mut thing.visible),
        Layer::Domain => flip(world, |thing: &mut DomainFrame| &mut thing.visible),
        Layer::Panels => panels(world, |panels| panels.hidden = !panels.hidden),
    }
}

/// Moves slices by cells along their normals, within the domain.
fn move_slices(world: &mut World, cells: f64) {
    let Model::Gas(gas) = &world.resource::<Document>().scene.model;
    let domain = gas.domain.clone();
    let mut slices = world.query::<&mut FieldSlice>();
    for mut slice in slices.iter_mut(world).filter(|slice| slice.visible) {
        match &mut slice.plane {
            Plane::Axis(plane) => plane.position_m = moved(&domain, plane.axis, plane.position_m, cells),
            Plane::Free { point_m, normal } => {
                let length = normal.iter().map(|n| n * n).sum::<f64>().sqrt();
                for axis in 0..3 {
                    let step = cells * normal[axis] / length.max(f64::MIN_POSITIVE);
                    point_m[axis] = moved(&domain, axis, point_m[axis], step);
                }
            }
        }
    }
}

fn moved(domain: &Domain, axis: usize, position_m: f64, cells: f64) -> f64 {
    let size = domain.size_m[axis] / f64::from(domain.cells[axis].max(1));
    // Not beyond the middles of the outer cells: a slice outside shows nothing.
    let (low, high) =
        (domain.corner_m[axis] + 0.5 * size, domain.corner_m[axis] + domain.size_m[axis] - 0.5 * size);
    (position_m + cells * size).clamp(low, high.max(low))
}

/// The next map for slices; particles and bodies keep theirs, which tells them apart.
fn next_map(world: &mut World) {
    let mut slices = world.query::<&mut FieldSlice>();
    for mut slice in slices.iter_mut(world).filter(|slice| slice.visible) {
        let at = Map::NAMES.iter().position(|(_, map)| *map == slice.scale.map).unwrap_or_default();
        slice.scale = ColorScale { map: Map::NAMES[(at + 1) % Map::NAMES.len()].1, ..slice.scale };
    }
}

/// Orders of the panels to the recorder.
fn record(
    mut orders: MessageReader<WindowOrder>,
    document: Option<Res<Document>>,
    mut settings: ResMut<RecordSettings>,
    mut to: MessageWriter<RecordOrder>,
) {
    for order in orders.read() {
        match order {
            WindowOrder::Record(choice) => {
                let RecordChoice { fps, every, seconds, path, size, supersampling, along_path } =
                    choice.clone();
                // 0 is "until it is stopped": an hour is far beyond that.
                let seconds = if seconds > 0.0 { seconds as f32 } else { 3600.0 };
                // A video has an even number of pixels each way.
                let size = size.map(|n| n & !1);
                let output = free(&path);
                *settings =
                    RecordSettings { output, fps, every, seconds, size, supersampling, ..settings.clone() };
                let along = document.as_ref().and_then(|document| Shot::path_of(&document.scene));
                settings.shot = along.filter(|_| along_path);
                to.write(RecordOrder::Start);
            }
            WindowOrder::StopRecording => {
                to.write(RecordOrder::Stop);
            }
            WindowOrder::Screenshot => {
                to.write(RecordOrder::Screenshot);
            }
        }
    }
}

/// The path, or the first with a number after it that no file has: no recording writes over another.
fn free(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = (2..).map(|i| {
        let name = match path.extension() {
            Some(extension) => format!("{stem}_{i}.{}", extension.to_string_lossy()),
            None => format!("{stem}_{i}"),
        };
        path.with_file_name(name)
    });
    std::iter::once(path.to_owned()).chain(numbered).find(|path| !path.exists()).unwrap_or_default()
}

/// The recorder's state to the panels.
fn tell(
    state: Res<RecordState>,
    settings: Res<RecordSettings>,
    mut shown: ResMut<WindowRecording>,
    mut panels: ResMut<Shown>,
) {
    if !state.is_changed() {
        return;
    }
    if let Some(Ok(message) | Err(message)) = &state.message {
        panels.state.messages.push(message.clone());
    }
    shown.0 = state.running.map(|progress| RecordingFacts {
        frames: progress.done,
        total: Some(progress.total),
        path: settings.output.clone(),
        eta_s: progress.eta_s,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_move_by_cells_and_stay_inside() {
        let domain = Domain { corner_m: [1.0; 3], size_m: [2.0; 3], cells: [10; 3] };
        assert!((moved(&domain, 0, 1.5, 1.0) - 1.7).abs() < 1e-12);
        assert!((moved(&domain, 2, 1.15, -1.0) - 1.1).abs() < 1e-12);
        assert!((moved(&domain, 1, 2.85, 1.0) - 2.9).abs() < 1e-12);
    }

    #[test]
    fn recordings_do_not_write_over_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let first = folder.path().join("flow.mp4");
        assert_eq!(free(&first), first);
        std::fs::write(&first, "x").unwrap();
        assert_eq!(free(&first), folder.path().join("flow_2.mp4"));
    }

    #[test]
    fn toggling_takes_all_of_a_kind_along() {
        let mut world = World::new();
        world.spawn(FieldSlice { visible: true, ..default() });
        world.spawn(FieldSlice { visible: false, ..default() });
        toggle(&mut world, Layer::Slices);
        let mut slices = world.query::<&FieldSlice>();
        assert!(slices.iter(&world).all(|slice| !slice.visible));
        toggle(&mut world, Layer::Slices);
        assert!(slices.iter(&world).all(|slice| slice.visible));
    }
}
