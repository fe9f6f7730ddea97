//! Tests of the hand on the camera: what it moves, and when it must not.
//! Must not need a window: the mouse is messages, and egui and the gizmo say themselves what they want.

use super::*;
use crate::view::camera::on_screen;
use crate::view::camera::testing::{
    SIZE, app, button, drag, draw_panel, move_to, panel, rest, rig, seen, typing, wheel,
};
use bevy::gizmos::transform_gizmo::TransformGizmoAxis;
use bevy::input::ButtonState;
use bevy::input::keyboard::{Key, KeyboardInput};

const MIDDLE: Vec2 = Vec2::new(640.0, 360.0);
const SIDE: Vec2 = Vec2::new(1000.0, 360.0);

fn ndc(cursor: Vec2) -> Vec2 {
    (2.0 * cursor / SIZE - 1.0) * Vec2::new(1.0, -1.0)
}

fn key(app: &mut App, key_code: KeyCode, state: ButtonState) {
    let logical_key = Key::Unidentified(bevy::input::keyboard::NativeKey::Unidentified);
    let input = KeyboardInput {
        key_code,
        logical_key,
        state,
        text: None,
        repeat: false,
        window: Entity::PLACEHOLDER,
    };
    app.world_mut().write_message(input);
    app.update();
}

#[test]
fn left_orbits_right_pans_and_transform_follows() {
    let mut app = app();
    drag(&mut app, MouseButton::Left, MIDDLE, SIDE);
    let view = rest(&mut app);
    // Half a window's height of 720 pixels is a quarter turn.
    assert!(view.eye.distance(Vec3::new(-4.0, 0.0, 0.0)) < 1e-3, "{view:?}");
    assert!(app.world().resource::<Hand>().dragged() && !app.world().resource::<Hand>().holds());
    let mut cameras = app.world_mut().query_filtered::<&Transform, With<Rig>>();
    assert_eq!(*cameras.single(app.world()).unwrap(), view.transform());

    for which in [MouseButton::Right, MouseButton::Middle] {
        let before = seen(&mut app);
        drag(&mut app, which, MIDDLE, SIDE);
        let after = rest(&mut app);
        assert!(on_screen(&after, before.target, SIZE.x / SIZE.y).distance(ndc(SIDE)) < 1e-3);
        assert!((after.eye - before.eye).distance(after.target - before.target) < 1e-4);
    }
}

#[test]
fn a_click_is_no_drag() {
    let mut app = app();
    drag(&mut app, MouseButton::Left, MIDDLE, MIDDLE + Vec2::new(2.0, 0.0));
    assert!(!app.world().resource::<Hand>().dragged());
    drag(&mut app, MouseButton::Left, MIDDLE, MIDDLE + Vec2::new(9.0, 0.0));
    assert!(app.world().resource::<Hand>().dragged());
}

#[test]
fn the_wheel_zooms_to_the_cursor_all_the_way() {
    for orthographic in [false, true] {
        let mut app = app();
        rig(&mut app, |rig| rig.jump(Viewpoint { orthographic, ..Viewpoint::orbit(30.0, 20.0, 4.0) }));
        let cursor = Vec2::new(1000.0, 200.0);
        move_to(&mut app, cursor);
        let point = Orbit::from(seen(&mut app)).under(ndc(cursor), SIZE.x / SIZE.y);
        wheel(&mut app, 6.0);
        for _ in 0..100 {
            let at = on_screen(&seen(&mut app), point, SIZE.x / SIZE.y);
            assert!(at.distance(ndc(cursor)) < 2e-3, "{at} is not {}", ndc(cursor));
            app.update();
        }
        let view = seen(&mut app);
        assert!((view.eye.distance(view.target) - 4.0 / ZOOM.powi(6)).abs() < 1e-3, "{view:?}");
    }
}

#[test]
fn the_mouse_over_a_panel_moves_no_camera() {
    let mut app = app();
    let (on, off) = (Vec2::new(150.0, 360.0), Vec2::new(800.0, 200.0));
    panel(&mut app, on, false);
    assert!(app.world().resource::<EguiWantsInput>().wants_any_pointer_input());
    let before = seen(&mut app);
    wheel(&mut app, 3.0);
    // A drag that begins on the panel stays there, though the mouse leaves it.
    move_to(&mut app, on);
    button(&mut app, MouseButton::Left, ButtonState::Pressed);
    panel(&mut app, off, false);
    assert!(!app.world().resource::<EguiWantsInput>().wants_any_pointer_input());
    move_to(&mut app, off);
    move_to(&mut app, off + 50.0);
    assert!(!app.world().resource::<Hand>().holds());
    button(&mut app, MouseButton::Left, ButtonState::Released);
    assert_eq!(rest(&mut app), before);
    // And one that began beside it goes on over it.
    move_to(&mut app, off);
    button(&mut app, MouseButton::Left, ButtonState::Pressed);
    move_to(&mut app, off - 10.0);
    panel(&mut app, on, false);
    let beside = rest(&mut app);
    move_to(&mut app, on);
    assert_ne!(rest(&mut app), beside);
}

#[test]
fn a_press_before_egui_knows_of_the_mouse_is_given_back() {
    let mut app = app();
    let on = Vec2::new(150.0, 360.0);
    let before = seen(&mut app);
    move_to(&mut app, MIDDLE);
    // In one frame the mouse jumps onto the panel and presses; egui sees it at the end of that frame.
    draw_panel(&mut app, on, false);
    assert!(!app.world().resource::<EguiWantsInput>().wants_any_pointer_input());
    app.world_mut().write_message(CursorMoved { window: Entity::PLACEHOLDER, position: on, delta: None });
    button(&mut app, MouseButton::Left, ButtonState::Pressed);
    assert!(app.world().resource::<EguiWantsInput>().wants_any_pointer_input());
    assert!(app.world().resource::<Hand>().holds());
    move_to(&mut app, on + 40.0);
    move_to(&mut app, on + 80.0);
    assert!(!app.world().resource::<Hand>().holds());
    assert_eq!(rest(&mut app), before);
}

#[test]
fn the_gizmo_keeps_the_mouse() {
    for active in [true, false] {
        let mut app = app();
        let before = seen(&mut app);
        app.insert_resource(TransformGizmoState {
            active,
            hovered_axis: (!active).then_some(TransformGizmoAxis::X),
            ..default()
        });
        drag(&mut app, MouseButton::Left, MIDDLE, SIDE);
        assert_eq!(rest(&mut app), before, "active: {active}");
    }
    // It takes a drag that the camera had begun in the same frame.
    let mut app = app();
    let before = seen(&mut app);
    move_to(&mut app, MIDDLE);
    button(&mut app, MouseButton::Left, ButtonState::Pressed);
    app.world_mut().resource_mut::<TransformGizmoState>().active = true;
    move_to(&mut app, SIDE);
    assert_eq!(rest(&mut app), before);
}

#[test]
fn flying_moves_looks_and_changes_speed() {
    let mut app = app();
    rig(&mut app, Rig::toggle_fly);
    let before = seen(&mut app);
    key(&mut app, KeyCode::KeyW, ButtonState::Pressed);
    (0..99).for_each(|_| app.update());
    key(&mut app, KeyCode::KeyW, ButtonState::Released);
    let after = rest(&mut app);
    // A second at 0.6 units a second, towards -z.
    assert!((after.eye - before.eye).distance(Vec3::new(0.0, 0.0, -0.6)) < 1e-3, "{after:?}");
    drag(&mut app, MouseButton::Right, MIDDLE, SIDE);
    let turned = rest(&mut app);
    assert!(turned.eye.distance(after.eye) < 1e-4);
    let forward = turned.transform().forward().as_vec3();
    assert!(forward.distance(Vec3::X) < 1e-3, "360 pixels are a quarter turn to the right: {forward}");
    wheel(&mut app, 5.0);
    assert!((rig(&mut app, |rig| rig.speed) - 0.6 * ZOOM.powi(5)).abs() < 1e-5);
    assert_eq!(rest(&mut app), turned);
    // Not while somebody types, and not with Ctrl.
    typing(&mut app, true);
    key(&mut app, KeyCode::KeyW, ButtonState::Pressed);
    assert_eq!(rest(&mut app), turned);
    key(&mut app, KeyCode::KeyW, ButtonState::Released);
    typing(&mut app, false);
    key(&mut app, KeyCode::ControlLeft, ButtonState::Pressed);
    key(&mut app, KeyCode::KeyS, ButtonState::Pressed);
    assert_eq!(rest(&mut app), turned);
}

#[test]
fn a_journey_takes_its_time_and_a_hand_ends_it() {
    let mut app = app();
    let to = Viewpoint::orbit(90.0, 0.0, 1.0);
    rig(&mut app, |rig| rig.go(to));
    assert_eq!(rig(&mut app, |rig| rig.destination()), to);
    (0..20).for_each(|_| app.update());
    let half = seen(&mut app);
    assert!(half.eye.distance(Viewpoint::orbit(45.0, 0.0, 2.0).eye) < 1e-2, "{half:?}");
    (0..22).for_each(|_| app.update());
    assert!(seen(&mut app).eye.distance(to.eye) < 1e-5);

    rig(&mut app, |rig| rig.go(Viewpoint::orbit(0.0, 0.0, 4.0)));
    (0..20).for_each(|_| app.update());
    let before = seen(&mut app);
    wheel(&mut app, 1.0);
    let after = rest(&mut app);
    let distance = before.eye.distance(before.target);
    assert!((after.eye.distance(after.target) - distance / ZOOM).abs() < 1e-3, "{after:?}");
}

#[test]
fn projections_change_without_a_jump_and_flying_has_perspective() {
    let mut rig = Rig::at(Viewpoint::orbit(10.0, 10.0, 4.0));
    rig.toggle_orthographic();
    assert!(rig.viewpoint().orthographic);
    rig.toggle_fly();
    assert_eq!((rig.mode, rig.viewpoint().orthographic), (Mode::Fly, false));
    rig.toggle_orthographic();
    assert_eq!((rig.mode, rig.viewpoint().orthographic), (Mode::Orbit, true));
    let (before, up) = (rig.viewpoint(), rig.viewpoint().transform().up() * 0.5);
    rig.set_field_of_view(20.0);
    let [a, b] = [before, rig.viewpoint()].map(|view| on_screen(&view, up, 1.5));
    assert!(a.distance(b) < 1e-5 && a.y > 0.2, "{a} {b}");
}
