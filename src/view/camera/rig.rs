//! The hand on the camera: mouse and flying keys move where the camera shall be, and it follows, smoothly.
//! Must not know what is drawn. It keeps still while a panel or the transform gizmo has the mouse.

use super::Viewpoint;
use super::orbit::{Orbit, between};
use super::preview::Preview;
use bevy::gizmos::transform_gizmo::TransformGizmoState;
use bevy::input::mouse::{AccumulatedMouseScroll, MouseScrollUnit};
use bevy::prelude::*;
use bevy::time::Real;
use bevy::window::{CursorMoved, PrimaryWindow};
use bevy_egui::input::EguiWantsInput;

/// The camera covers 1 - 1/e of its way in this time, s.
const FOLLOW_S: f32 = 0.05;
/// Time of a transition to a preset, a bookmark or a frame, s.
const JOURNEY_S: f32 = 0.4;
/// A notch of the wheel.
const ZOOM: f32 = 1.15;
/// Pixels that a hand may move in a click.
const CLICK_PX: f32 = 4.0;

/// What the hand does to the camera.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// About a target: the left button orbits, the right and the middle one pan, the wheel zooms to the cursor.
    #[default]
    Orbit,
    /// Through the flow: W A S D Q E move, the right button looks about, the middle one pans, the wheel sets the speed.
    Fly,
}

/// The camera of the window. Put it beside a `Camera3d`; `Transform` and `Projection` follow.
#[derive(Debug, Clone, PartialEq, Component)]
#[require(Transform, Projection)]
pub struct Rig {
    /// What the hand does.
    pub mode: Mode,
    /// Speed when flying, units of the picture a second (the domain's longest edge has 2).
    pub speed: f32,
    now: Orbit,
    goal: Orbit,
    journey: Option<Journey>,
    shown: Option<Viewpoint>,
}

#[derive(Debug, Clone, PartialEq)]
struct Journey {
    from: Viewpoint,
    to: Viewpoint,
    elapsed_s: f32,
}

impl Default for Rig {
    fn default() -> Self {
        Self::at(Viewpoint::default())
    }
}

impl Rig {
    /// A camera at rest.
    pub fn at(view: Viewpoint) -> Self {
        let orbit = Orbit::from(view);
        Self { mode: Mode::Orbit, speed: 0.6, now: orbit, goal: orbit, journey: None, shown: None }
    }

    /// Where the camera is in this frame.
    pub fn viewpoint(&self) -> Viewpoint {
        self.now.into()
    }

    /// Where it will come to rest.
    pub fn destination(&self) -> Viewpoint {
        self.journey.as_ref().map_or_else(|| self.goal.into(), |journey| journey.to)
    }

    /// Is there at once.
    pub fn jump(&mut self, view: Viewpoint) {
        let orbit = Orbit::from(view);
        (self.now, self.goal, self.journey) = (orbit, orbit, None);
    }

    /// Goes there smoothly.
    pub fn go(&mut self, view: Viewpoint) {
        self.journey = Some(Journey { from: self.viewpoint(), to: view, elapsed_s: 0.0 });
        self.goal = view.into();
    }

    /// Changes to or from parallel projection; what is at the target's depth keeps its size. Flying needs perspective.
    pub fn toggle_orthographic(&mut self) {
        let view = self.destination();
        self.jump(Viewpoint { orthographic: !view.orthographic, ..view });
        if !view.orthographic {
            self.mode = Mode::Orbit;
        }
    }

    /// Changes between orbiting and flying.
    pub fn toggle_fly(&mut self) {
        self.mode = match self.mode {
            Mode::Orbit => Mode::Fly,
            Mode::Fly => Mode::Orbit,
        };
        if self.mode == Mode::Fly && self.goal.orthographic {
            self.jump(Viewpoint { orthographic: false, ..self.destination() });
        }
    }

    /// Another angle of view, degrees; what is at the target's depth keeps its size.
    pub fn set_field_of_view(&mut self, degrees: f32) {
        let half_height = self.goal.half_height();
        let degrees = degrees.clamp(1.0, 120.0);
        let distance = half_height / (0.5 * degrees).to_radians().tan();
        self.jump(Orbit { field_of_view_deg: degrees, distance, ..self.goal }.into());
    }

    /// The hand takes over where the camera is.
    fn held(&mut self) -> &mut Orbit {
        if self.journey.take().is_some() {
            self.goal = self.now;
        }
        &mut self.goal
    }

    fn advance(&mut self, dt: f32) {
        if let Some(journey) = &mut self.journey {
            journey.elapsed_s += dt;
            let share = (journey.elapsed_s / JOURNEY_S).min(1.0);
            let eased = share * share * (3.0 - 2.0 * share);
            self.now = between(&journey.from, &journey.to, eased).into();
            if share == 1.0 {
                self.journey = None;
                self.now = self.goal;
            }
        } else if self.now != self.goal {
            let (goal, share) = (self.goal, 1.0 - (-dt / FOLLOW_S).exp());
            self.now.approach(&goal, share, self.mode == Mode::Fly);
        }
    }
}

/// What the mouse does to the camera.
#[derive(Debug, Clone, PartialEq, Default, Resource)]
pub struct Hand {
    drag: Option<Drag>,
    cursor: Option<Vec2>,
    travel_px: f32,
}

#[derive(Debug, Clone, PartialEq)]
struct Drag {
    button: MouseButton,
    /// Whether it began in this frame: whether a panel or the gizmo takes it is known in the next one only.
    fresh: bool,
}

impl Hand {
    /// Whether the mouse holds the camera.
    pub fn holds(&self) -> bool {
        self.drag.is_some()
    }

    /// Whether the last press moved the camera, and its release is no click. Good until the next press.
    pub fn dragged(&self) -> bool {
        self.travel_px > CLICK_PX
    }
}

/// The part of the window that the camera draws into, logical pixels.
pub(super) fn picture(camera: Option<&Camera>, window: Option<&Window>) -> Rect {
    let drawn = camera.and_then(Camera::logical_viewport_rect);
    let size =
        || window.map_or(Vec2::new(1280.0, 720.0), |window| Vec2::new(window.width(), window.height()));
    let rect = drawn.unwrap_or_else(|| Rect::from_corners(Vec2::ZERO, size()));
    Rect { min: rect.min, max: rect.max.max(rect.min + 1.0) }
}

/// Lets the hand move the camera's goal.
pub(super) fn steer(
    time: Res<Time<Real>>,
    buttons: Res<ButtonInput<MouseButton>>,
    keys: Res<ButtonInput<KeyCode>>,
    scroll: Res<AccumulatedMouseScroll>,
    mut cursor: MessageReader<CursorMoved>,
    panels: Option<Res<EguiWantsInput>>,
    gizmo: Option<Res<TransformGizmoState>>,
    windows: Query<&Window, With<PrimaryWindow>>,
    mut hand: ResMut<Hand>,
    mut preview: ResMut<Preview>,
    mut rigs: Query<(&mut Rig, Option<&Camera>)>,
) {
    let mut moved = Vec2::ZERO;
    for message in cursor.read() {
        moved += hand.cursor.map_or(Vec2::ZERO, |last| message.position - last);
        hand.cursor = Some(message.position);
    }
    let over_panel = panels.as_ref().is_some_and(|panels| panels.wants_any_pointer_input());
    let gizmo_active = gizmo.as_ref().is_some_and(|gizmo| gizmo.active);
    let over_gizmo = gizmo_active || gizmo.as_ref().is_some_and(|gizmo| gizmo.hovered_axis.is_some());
    let taken = gizmo_active || panels.as_ref().is_some_and(|panels| panels.is_using_pointer());

    hand.drag = match hand.drag.take() {
        Some(drag) if taken || !buttons.pressed(drag.button) || (drag.fresh && over_panel) => None,
        drag => drag.map(|drag| Drag { fresh: false, ..drag }),
    };
    let held = hand.drag.as_ref().map(|drag| drag.button);
    if held.is_some() {
        hand.travel_px += moved.length();
    } else if let Some(button) = [MouseButton::Left, MouseButton::Right, MouseButton::Middle]
        .into_iter()
        .find(|button| buttons.just_pressed(*button))
    {
        hand.travel_px = 0.0;
        if !over_panel && !over_gizmo {
            hand.drag = Some(Drag { button, fresh: true });
        }
    }

    let Some((mut rig, camera)) = rigs.iter_mut().next() else { return };
    let rect = picture(camera, windows.single().ok());
    let mut used = false;
    if let Some(button) = held
        && moved != Vec2::ZERO
    {
        let height = rect.height();
        match (rig.mode, button) {
            (Mode::Orbit, MouseButton::Left) => rig.held().turn(moved, height),
            (_, MouseButton::Middle) | (Mode::Orbit, _) => rig.held().pan(moved, height),
            (Mode::Fly, MouseButton::Right) => rig.held().look(moved),
            (Mode::Fly, _) => {}
        }
        used = true;
    }
    let notches = match scroll.unit {
        MouseScrollUnit::Line => scroll.delta.y,
        MouseScrollUnit::Pixel => scroll.delta.y / MouseScrollUnit::SCROLL_UNIT_CONVERSION_FACTOR,
    };
    if notches != 0.0 && (held.is_some() || !(over_panel || gizmo_active)) {
        let factor = ZOOM.powf(-notches);
        match rig.mode {
            Mode::Orbit => {
                let at = hand.cursor.map_or(Vec2::ZERO, |cursor| {
                    let share = (cursor - rect.min) / rect.size();
                    Vec2::new(2.0 * share.x - 1.0, 1.0 - 2.0 * share.y).clamp(Vec2::NEG_ONE, Vec2::ONE)
                });
                rig.held().zoom(factor, at, rect.width() / rect.height());
            }
            Mode::Fly => rig.speed = (rig.speed / factor).clamp(1e-3, 50.0),
        }
        used |= rig.mode == Mode::Orbit;
    }
    let typing = panels.as_ref().is_some_and(|panels| panels.wants_any_keyboard_input());
    if rig.mode == Mode::Fly && !typing {
        let by = flight(&keys) * rig.speed * time.delta_secs();
        if by != Vec3::ZERO {
            rig.held().fly(by);
            used = true;
        }
    }
    if used {
        preview.playing = false;
    }
}

/// Direction of the flying keys, by their place on the keyboard; Shift is four times as fast.
fn flight(keys: &ButtonInput<KeyCode>) -> Vec3 {
    use KeyCode::*;
    if keys.any_pressed([ControlLeft, ControlRight, AltLeft, AltRight, SuperLeft, SuperRight]) {
        return Vec3::ZERO;
    }
    let axis = |plus, minus| f32::from(keys.pressed(plus)) - f32::from(keys.pressed(minus));
    let direction = Vec3::new(axis(KeyD, KeyA), axis(KeyE, KeyQ), axis(KeyS, KeyW)).normalize_or_zero();
    if keys.any_pressed([ShiftLeft, ShiftRight]) { 4.0 * direction } else { direction }
}

/// Lets the camera follow.
pub(super) fn settle(time: Res<Time<Real>>, mut rigs: Query<(&mut Rig, &mut Transform, &mut Projection)>) {
    for (mut rig, mut transform, mut projection) in &mut rigs {
        rig.advance(time.delta_secs());
        let view = rig.viewpoint();
        if rig.shown == Some(view) {
            continue;
        }
        let lens = |view: &Viewpoint| {
            let distance = if view.orthographic { view.eye.distance(view.target) } else { 0.0 };
            (view.orthographic, view.field_of_view_deg, distance)
        };
        *transform = view.transform();
        // Written only when it is another one: Bevy then makes its matrices anew.
        if rig.shown.as_ref().map(lens) != Some(lens(&view)) {
            *projection = view.projection();
        }
        rig.shown = Some(view);
    }
}

#[cfg(test)]
#[path = "rig_tests.rs"]
mod tests;
