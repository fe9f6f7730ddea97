//! The panels in Bevy's world: what they show is gathered here, and what they order is carried out here.
//! Must not know what a panel looks like, nor devices or physics.

use super::state::{Answer, Order, ProbeFacts, RecordChoice, RecordingFacts, State};
use super::{Panels, bars, display, layout, style, text};
use crate::output::file::{create_folder, write_whole};
use crate::output::table::write_history;
use crate::runner::{Pace, Status};
use crate::scene::{Domain, Model};
use crate::view::actions::send;
use crate::view::document::{
    BodyIndex, Document, DocumentOrder, DocumentSystems, Dragging, Selection, collect, shipped, spawn,
};
use crate::view::draw::{Categories, ColorBar};
use crate::view::flow::{Flow, Stamp};
use crate::view::probe::{Hover, ProbedCell, ProbedVelocities, Reading};
use crate::view::record::window::WindowCamera;
use crate::view::simulation::{RunState, Wanted};
use bevy::camera::visibility::RenderLayers;
use bevy::camera::{CameraOutputMode, Viewport};
use bevy::prelude::*;
use bevy::render::render_resource::BlendState;
use bevy::time::Real;
use bevy::window::PrimaryWindow;
use bevy_egui::egui;
use bevy_egui::{
    EguiContext, EguiContextSettings, EguiFullOutput, EguiGlobalSettings, EguiInput, EguiPlugin,
    PrimaryEguiContext,
};
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// Shows the panels over the window, on a camera of their own.
pub struct PanelPlugin;

/// What the panels show, kept from frame to frame.
#[derive(Debug, Resource)]
pub struct Shown {
    /// The values.
    pub state: State,
    seen: Stamp,
    styled: bool,
}

/// The rectangle of the window that no panel covers: (left, top, width, height), physical pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Resource)]
pub struct FreeArea(pub Option<[u32; 4]>);

/// What panels order of the window itself.
#[derive(Debug, Clone, PartialEq, Message)]
pub enum WindowOrder {
    /// Starts a recording.
    Record(RecordChoice),
    /// Ends it; what there is is kept.
    StopRecording,
    /// A picture of the window.
    Screenshot,
}

/// The recording of the window in progress: set by whoever records.
#[derive(Debug, Clone, PartialEq, Default, Resource)]
pub struct WindowRecording(pub Option<RecordingFacts>);

/// The systems of the panels, in `Update`, before those of the document.
#[derive(Debug, Clone, PartialEq, Eq, Hash, SystemSet)]
pub struct PanelSystems;

impl Plugin for PanelPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<EguiPlugin>() {
            app.add_plugins(EguiPlugin::default());
        }
        app.world_mut().resource_mut::<EguiGlobalSettings>().auto_create_primary_context = false;
        app.init_resource::<FreeArea>().add_systems(Startup, spawn_camera).add_systems(
            Update,
            (show, fit.run_if(resource_changed::<FreeArea>)).chain().in_set(PanelSystems),
        );
        plain(app);
    }
}

/// All but what needs egui and a window.
fn plain(app: &mut App) {
    app.init_resource::<Panels>()
        .init_resource::<Shown>()
        .init_resource::<WindowRecording>()
        .init_resource::<Wanted>()
        .add_message::<WindowOrder>()
        .configure_sets(Update, PanelSystems.before(DocumentSystems))
        .add_systems(Update, (ask, refresh).chain().in_set(PanelSystems).before(show));
}

impl Default for Shown {
    fn default() -> Self {
        let shipped = shipped().iter().map(|one| (one.name.to_owned(), one.about())).collect();
        let state = State { shipped, keys: super::windows::key_lines(), ..State::default() };
        Self { state, seen: Stamp::default(), styled: false }
    }
}

/// A camera that draws nothing but the panels, so that the viewport of the flow's camera does not clip them.
fn spawn_camera(mut commands: Commands) {
    commands.spawn((
        PrimaryEguiContext,
        EguiContextSettings { run_manually: true, ..default() },
        Camera2d,
        Msaa::Off,
        RenderLayers::none(),
        Camera {
            order: 100,
            output_mode: CameraOutputMode::Write {
                blend_state: Some(BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                clear_color: ClearColorConfig::None,
            },
            clear_color: ClearColorConfig::Custom(Color::NONE),
            ..default()
        },
    ));
}

/// Says what the panels need of the snapshots.
fn ask(panels: Res<Panels>, shown: Res<Shown>, mut wanted: ResMut<Wanted>) {
    wanted.0.history_from = Some(shown.state.history.next());
    wanted.0.surfaces |= panels.right && !panels.hidden;
}

/// Takes over what a new snapshot says.
fn refresh(
    flow: Option<Res<Flow>>,
    run: Option<Res<RunState>>,
    time: Res<Time<Real>>,
    mut shown: ResMut<Shown>,
) {
    let Some(flow) = flow else { return };
    let running = run.is_none_or(|run| run.status == Status::Running);
    let Shown { state, seen, .. } = &mut *shown;
    flow.read_new(seen, |snapshot| {
        if snapshot.generation > 0 {
            state.take(snapshot, time.elapsed_secs_f64(), running);
        }
    });
}

type Contexts<'a> = (&'a mut EguiContext, &'a mut EguiInput, &'a mut EguiFullOutput);

/// One pass over the panels, and what they ordered.
fn show(world: &mut World, contexts: &mut QueryState<Contexts<'static>, With<PrimaryEguiContext>>) {
    let Ok((mut context, mut input, _)) = contexts.single_mut(world) else { return };
    let (context, input) = (context.get_mut().clone(), input.take());
    let (answer, free, output) = world.resource_scope(|world, mut shown: Mut<Shown>| {
        world.resource_scope(|world, mut panels: Mut<Panels>| {
            if !shown.styled {
                style::apply(&context);
                shown.styled = true;
            }
            context.options_mut(|options| {
                options.max_passes = NonZero::<usize>::MIN;
                options.zoom_with_keyboard = false;
            });
            context.set_zoom_factor(panels.zoom);
            gather(world, &mut shown.state);
            let (bars, kinds) = visible_bars(world);
            let mut answer = Answer::default();
            let mut free = egui::Rect::NOTHING;
            let output = context.run_ui(input, |ui| {
                let display = &mut |ui: &mut egui::Ui, answer: &mut Answer| {
                    display::display(ui, world, answer);
                };
                (answer, free) = layout::show(ui, &shown.state, &mut panels, display);
                bars::draw(&ui.ctx().layer_painter(egui::LayerId::background()), free, &bars, &kinds);
            });
            give_back(world, &mut shown.state);
            (answer, free, output)
        })
    });
    let scale = output.pixels_per_point;
    if let Ok((_, _, mut full)) = contexts.single_mut(world) {
        full.0 = Some(output);
    }
    let pixels =
        [free.left(), free.top(), free.width(), free.height()].map(|x| (x * scale).max(0.0).round() as u32);
    world.resource_mut::<FreeArea>().set_if_neq(FreeArea(Some(pixels)));
    carry_out(world, answer);
}

/// What explains the colours of what is to be seen.
fn visible_bars(world: &mut World) -> (Vec<ColorBar>, Vec<Categories>) {
    let mut all = world.query::<(Option<&ColorBar>, Option<&Categories>, Option<&Visibility>)>();
    let seen = |visibility: Option<&Visibility>| visibility.is_none_or(|v| *v != Visibility::Hidden);
    let bars = all.iter(world).filter(|(.., v)| seen(*v)).filter_map(|(bar, ..)| bar.cloned()).collect();
    let kinds =
        all.iter(world).filter(|(.., v)| seen(*v)).filter_map(|(_, kinds, _)| kinds.cloned()).collect();
    (bars, kinds)
}

/// What the world says, for the panels.
fn gather(world: &mut World, state: &mut State) {
    if let Some(scene) = collect(world) {
        state.document.scene = scene;
    }
    let selected = world.get_resource::<Selection>().and_then(|selection| selection.0);
    state.document.selected = selected.and_then(|body| world.get::<BodyIndex>(body)).map(|index| index.0);
    if let Some(document) = world.get_resource::<Document>() {
        let facts = &mut state.document;
        facts.path.clone_from(&document.path);
        facts.dirty = facts.scene != document.saved;
        facts.pending = document.pending;
        facts.problems.clone_from(&document.problems);
        facts.messages.clone_from(&document.messages);
        facts.can_undo = !document.undo.is_empty() || facts.scene != document.scene;
        facts.can_redo = !document.redo.is_empty();
    }
    if let Some(run) = world.get_resource::<RunState>() {
        state.run.status = run.status.clone();
        state.run.step = run.step;
        if run.status != Status::Running {
            // No snapshot comes any more that would tell.
            state.speed.stand();
        }
        state.run.goal = match run.pace {
            Pace::Until(end) => Some(end),
            _ => None,
        };
        state.run.until_steady = run.until_steady;
        state.run.refusal.clone_from(&run.refusal);
        state.device.clone_from(&run.device);
    }
    state.hover = world.get_resource::<Hover>().and_then(|hover| hover.0.as_ref()).map(reading);
    let Model::Gas(gas) = &state.document.scene.model;
    let domain = &gas.domain;
    let cell = world.get_resource::<ProbedCell>().and_then(|cell| cell.0);
    state.probe = cell.map(|cell| ProbeFacts { cell, middle_m: middle(domain, cell) });
    state.recording = world.get_resource::<WindowRecording>().and_then(|recording| recording.0.clone());
    swap_velocities(world, state);
}

/// Gives the gathered velocities back to the probe.
fn give_back(world: &mut World, state: &mut State) {
    swap_velocities(world, state);
}

/// Megabytes that are lent, not copied, from frame to frame.
fn swap_velocities(world: &mut World, state: &mut State) {
    if let Some(mut velocities) = world.get_resource_mut::<ProbedVelocities>() {
        std::mem::swap(&mut velocities.bypass_change_detection().0, &mut state.gathered);
    }
}

/// The value under the cursor: "temperature T = 213.0 ± 0.5 K at 0.1, 0.2, 0.3 m".
fn reading(reading: &Reading) -> String {
    let quantity = &reading.quantity;
    let error = reading.error.map_or(f64::NAN, f64::from);
    let value = text::value_with_error(f64::from(reading.value), error, &quantity.unit);
    let [x, y, z] = reading.point_m.map(|m| super::edit::digits((m * 1e6).round() / 1e6));
    format!("{} {} = {value} at ({x}, {y}, {z}) m", quantity.name, quantity.symbol)
}

/// The middle of a cell, m.
fn middle(domain: &Domain, cell: u32) -> [f64; 3] {
    let [nx, ny, _] = domain.cells.map(|n| n.max(1));
    let index = [cell % nx, cell / nx % ny, cell / (nx * ny)];
    std::array::from_fn(|a| {
        domain.corner_m[a]
            + (f64::from(index[a]) + 0.5) * domain.size_m[a] / f64::from(domain.cells[a].max(1))
    })
}

/// Does what was ordered.
fn carry_out(world: &mut World, answer: Answer) {
    if let Some(mut dragging) = world.get_resource_mut::<Dragging>() {
        dragging.set_if_neq(Dragging(answer.dragging));
    }
    for order in answer.orders {
        match order {
            Order::Run(order) => send(world, order),
            Order::Camera(order) => send(world, order),
            Order::Edit(scene) => spawn(world, &scene),
            Order::Select(index) => {
                let body = index.and_then(|index| body_at(world, index));
                world.insert_resource(Selection(body));
            }
            Order::Duplicate(index) => {
                if let Some(body) = body_at(world, index) {
                    send(world, DocumentOrder::Duplicate(body));
                }
            }
            Order::Delete(index) => {
                if let Some(body) = body_at(world, index) {
                    send(world, DocumentOrder::Delete(body));
                }
            }
            Order::Add(shape) => send(world, DocumentOrder::Add(shape)),
            Order::Open(path) => send(world, DocumentOrder::Open(path)),
            Order::OpenShipped(name) => send(world, DocumentOrder::OpenShipped(name)),
            Order::Save => send(world, DocumentOrder::Save),
            Order::SaveAs(path) => send(world, DocumentOrder::SaveAs(path)),
            Order::Undo => send(world, DocumentOrder::Undo),
            Order::Redo => send(world, DocumentOrder::Redo),
            Order::ExportHistory => export(&mut world.resource_mut::<Shown>().state),
            Order::Record(choice) => send(world, WindowOrder::Record(choice)),
            Order::StopRecording => send(world, WindowOrder::StopRecording),
            Order::Screenshot => send(world, WindowOrder::Screenshot),
            Order::EndProbe => world.insert_resource(ProbedCell(None)),
        }
    }
}

fn body_at(world: &mut World, index: usize) -> Option<Entity> {
    let mut bodies = world.query::<(Entity, &BodyIndex)>();
    bodies.iter(world).find(|(_, place)| place.0 == index).map(|(body, _)| body)
}

/// Writes the history beside the scene, and says where.
fn export(state: &mut State) {
    let path = export_path(state.document.path.as_deref(), &state.document.scene.name);
    let history = state.history.history();
    let written = path
        .parent()
        .map_or(Ok(()), create_folder)
        .and_then(|()| write_whole(&path, |to| write_history(&history, to)));
    state.messages.push(match written {
        Ok(path) => format!("history written to {}", path.display()),
        Err(error) => error.to_string(),
    });
}

/// Beside the scene's file, or in `out/` for one that was never saved.
fn export_path(scene: Option<&Path>, name: &str) -> PathBuf {
    match scene {
        Some(scene) => {
            let stem = scene.file_stem().map_or("scene".into(), |stem| stem.to_string_lossy());
            scene.with_file_name(format!("{stem}_history.csv"))
        }
        None => Path::new("out").join(if name.is_empty() { "scene" } else { name }).join("history.csv"),
    }
}

/// The flow is drawn where no panel is.
fn fit(
    free: Res<FreeArea>,
    windows: Query<&Window, With<PrimaryWindow>>,
    mut cameras: Query<&mut Camera, With<WindowCamera>>,
) {
    let (Some([left, top, width, height]), Ok(window)) = (free.0, windows.single()) else { return };
    let size = window.physical_size();
    // A viewport beyond the window is an error of the graphics driver.
    let (left, top) = (left.min(size.x.saturating_sub(1)), top.min(size.y.saturating_sub(1)));
    let size = UVec2::new(width.min(size.x - left), height.min(size.y - top)).max(UVec2::ONE);
    for mut camera in &mut cameras {
        camera.viewport =
            Some(Viewport { physical_position: UVec2::new(left, top), physical_size: size, ..default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Impact, parse};
    use crate::view::document::DocumentPlugin;
    use crate::view::simulation::RunOrder;

    fn app(folder: &Path) -> App {
        let scene = parse(include_str!("../../../scenes/sphere.ron"), "s", folder).expect("a shipped scene");
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, crate::view::document::asset_plugin()));
        app.add_message::<RunOrder>();
        plain(&mut app);
        app.add_plugins(DocumentPlugin { scene, path: Some(folder.join("sphere.ron")) });
        app.update();
        app
    }

    fn state(app: &mut App) -> State {
        let mut state = State::default();
        gather(app.world_mut(), &mut state);
        state
    }

    #[test]
    fn an_edit_is_pending_while_it_is_dragged_and_one_undo_entry_after() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut app = app(folder.path());
        for (dragging, mach) in [(true, 5.0), (true, 6.0), (false, 6.0)] {
            let mut scene = state(&mut app).document.scene;
            let Model::Gas(gas) = &mut scene.model;
            gas.stream.velocity = crate::scene::Velocity::Mach(mach);
            carry_out(app.world_mut(), Answer { orders: vec![Order::Edit(Box::new(scene))], dragging });
            app.update();
            let pending = state(&mut app).document.pending;
            assert_eq!(pending, dragging.then_some(Impact::AveragesReset));
        }
        let now = state(&mut app).document;
        assert!(now.can_undo && now.dirty);
        carry_out(app.world_mut(), Answer { orders: vec![Order::Undo], dragging: false });
        app.update();
        let back = state(&mut app).document;
        assert!(!back.can_undo && back.can_redo && !back.dirty);
    }

    #[test]
    fn orders_go_to_the_body_that_was_meant() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut app = app(folder.path());
        let order = |app: &mut App, order| {
            carry_out(app.world_mut(), Answer { orders: vec![order], dragging: false });
            app.update();
        };
        order(&mut app, Order::Select(Some(0)));
        assert_eq!(state(&mut app).document.selected, Some(0));
        order(&mut app, Order::Duplicate(0));
        assert_eq!(state(&mut app).document.gas().obstacles.len(), 2);
        order(&mut app, Order::Delete(0));
        assert_eq!(state(&mut app).document.gas().obstacles.len(), 1);
        // A place that no body has any more.
        order(&mut app, Order::Delete(7));
        assert_eq!(state(&mut app).document.gas().obstacles.len(), 1);
    }

    #[test]
    fn the_history_is_written_beside_the_scene() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut state = State::default();
        state.document.path = Some(folder.path().join("wing.ron"));
        let columns = vec![crate::units::Quantity::new("step", "step", "", "")];
        let history = crate::sim::History { columns, first_row: 0, values: vec![1.0, 2.0] };
        state.history.take(&history, 2);
        export(&mut state);
        let path = folder.path().join("wing_history.csv");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "step\n1\n2\n");
        assert!(state.messages[0].contains("wing_history.csv"));
        state.document.path = Some(folder.path().join("wing_history.csv/x.ron"));
        export(&mut state);
        let said = &state.messages[1];
        assert!(said.starts_with("cannot write") && said.contains("wing_history.csv"), "{said}");
        assert_eq!(export_path(None, "a"), Path::new("out/a/history.csv"));
    }

    #[test]
    fn cells_have_their_middles() {
        let domain = Domain { corner_m: [1.0, 0.0, 0.0], size_m: [2.0, 1.0, 1.0], cells: [4, 2, 2] };
        assert_eq!(middle(&domain, 0), [1.25, 0.25, 0.25]);
        assert_eq!(middle(&domain, 4 * 2 + 4 + 3), [2.75, 0.75, 0.75]);
    }
}
