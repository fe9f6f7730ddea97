//! An app with a camera, a mouse and a panel, but no window: for tests of what the hand does.
//! Must not be used outside tests.

use super::{CameraPlugin, Rig, Viewpoint};
use crate::scene::{Collisions, Gas, Reference, Sampling, Start, TimeStep, View};
use crate::view::document::SceneSettings;
use crate::view::keys::KeysPlugin;
use bevy::gizmos::transform_gizmo::TransformGizmoState;
use bevy::input::ButtonState;
use bevy::input::InputPlugin;
use bevy::input::mouse::{MouseButtonInput, MouseScrollUnit, MouseWheel};
use bevy::input::touch::TouchPhase;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy::window::CursorMoved;
use bevy_egui::input::{EguiWantsInput, write_egui_wants_input_system};
use bevy_egui::{EguiContext, egui};
use std::time::Duration;

/// Size of the picture without a window.
pub const SIZE: Vec2 = Vec2::new(1280.0, 720.0);

/// Frames of a hundredth of a second, a camera at the default viewpoint, no panel.
pub fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, InputPlugin, KeysPlugin, CameraPlugin))
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(10)))
        .init_resource::<EguiWantsInput>()
        .init_resource::<TransformGizmoState>()
        .add_systems(PostUpdate, write_egui_wants_input_system);
    app.world_mut().spawn((Camera3d::default(), Rig::at(Viewpoint::orbit(0.0, 0.0, 4.0))));
    app.world_mut().spawn(EguiContext::default());
    app.update();
    app
}

/// Changes the camera.
pub fn rig<T>(app: &mut App, change: impl FnOnce(&mut Rig) -> T) -> T {
    let mut rigs = app.world_mut().query::<&mut Rig>();
    change(&mut rigs.single_mut(app.world_mut()).unwrap())
}

/// Where the camera is.
pub fn seen(app: &mut App) -> Viewpoint {
    rig(app, |rig| rig.viewpoint())
}

/// Lets a second pass, so that the camera is at rest.
pub fn rest(app: &mut App) -> Viewpoint {
    (0..100).for_each(|_| app.update());
    seen(app)
}

/// Moves the mouse, in one frame.
pub fn move_to(app: &mut App, position: Vec2) {
    app.world_mut().write_message(CursorMoved { window: Entity::PLACEHOLDER, position, delta: None });
    app.update();
}

/// Presses or releases a button, in one frame.
pub fn button(app: &mut App, button: MouseButton, state: ButtonState) {
    app.world_mut().write_message(MouseButtonInput { button, state, window: Entity::PLACEHOLDER });
    app.update();
}

/// Drags from one point to another, with a frame between all that happens.
pub fn drag(app: &mut App, which: MouseButton, from: Vec2, to: Vec2) {
    move_to(app, from);
    button(app, which, ButtonState::Pressed);
    move_to(app, from.lerp(to, 0.5));
    move_to(app, to);
    button(app, which, ButtonState::Released);
}

/// Turns the wheel, in one frame.
pub fn wheel(app: &mut App, y: f32) {
    let (unit, window) = (MouseScrollUnit::Line, Entity::PLACEHOLDER);
    app.world_mut().write_message(MouseWheel { unit, x: 0.0, y, window, phase: TouchPhase::Moved });
    app.update();
}

/// Draws a panel on the left 300 pixels of the window, with the mouse at `pointer`: then egui itself says whether it
/// wants the mouse. With `text`, somebody types into it.
pub fn draw_panel(app: &mut App, pointer: Vec2, text: bool) {
    let mut contexts = app.world_mut().query::<&mut EguiContext>();
    let mut context = contexts.single_mut(app.world_mut()).unwrap();
    let at = egui::pos2(pointer.x, pointer.y);
    // Egui knows where things are from the pass before.
    for _ in 0..3 {
        let input = egui::RawInput {
            screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(SIZE.x, SIZE.y))),
            events: vec![egui::Event::PointerMoved(at)],
            ..Default::default()
        };
        let mut output = context.get_mut().run_ui(input, |ui| {
            egui::Area::new(egui::Id::new("panel")).fixed_pos(egui::Pos2::ZERO).show(ui.ctx(), |ui| {
                let field = ui.add_sized([300.0, 720.0], egui::TextEdit::singleline(&mut String::new()));
                if text {
                    field.request_focus();
                } else {
                    field.surrender_focus();
                }
            });
        });
        // Nobody draws it.
        output.textures_delta.clear();
    }
}

/// Draws the panel and lets egui say what it wants of it, at the end of a frame.
pub fn panel(app: &mut App, pointer: Vec2, text: bool) {
    draw_panel(app, pointer, text);
    app.update();
}

/// Whether somebody types into a panel; the mouse is elsewhere.
pub fn typing(app: &mut App, is: bool) {
    panel(app, Vec2::new(900.0, 400.0), is);
    assert_eq!(app.world().resource::<EguiWantsInput>().wants_any_keyboard_input(), is);
}

/// The settings of a scene without cameras.
pub fn settings() -> SceneSettings {
    SceneSettings {
        name: "empty".into(),
        about: String::new(),
        seed: 1,
        gas: Gas { species: Vec::new() },
        particles_per_cell: 10.0,
        time_step: TimeStep::Auto,
        steps: 100,
        sampling: Sampling::Auto,
        collisions: Collisions::default(),
        start: Start::Filled,
        reference: Reference::Auto,
        view: View::default(),
        folder: std::path::PathBuf::new(),
    }
}
