//! Notices edits of the entities, and hands a finished one on: validated, one undo entry, one new scene.
//! Must not know who edits, nor what the simulation makes of it.

use super::components::*;
use super::{Document, Dragging, Selection, collect, spawn};
use crate::scene::{Problem, Scene, impact, validate};
use crate::view::simulation::Handover;
use crate::view::stage::Stage;
use bevy::gizmos::transform_gizmo::TransformGizmoState;
use bevy::prelude::*;

/// Scenes kept to go back to at most; each is some kilobytes.
const UNDO: usize = 500;

/// What is known of the edits.
#[derive(Debug, Default, Resource)]
pub(super) struct Edits {
    /// Entities may differ from the scene.
    noticed: bool,
    /// What is wrong with the entities.
    wrong: Vec<Problem>,
    /// What is wrong with the file.
    pub(super) file: Vec<Problem>,
}

/// The body that a gizmo holds.
#[derive(Debug, Default, Resource, PartialEq)]
pub(super) struct Held(pub(super) Option<Entity>);

type ChangedBody =
    Or<(Changed<BodyIndex>, Changed<Placement>, Changed<BodyShape>, Changed<BodyWall>, Changed<Name>)>;
type ChangedRest = Or<(Changed<FlowDomain>, Changed<FlowStream>, Changed<SceneSettings>)>;

/// Whether the gizmo holds a body. Its own word is not taken after the button was let go: outside of the window it
/// does not hear of that.
pub(super) fn hold(
    gizmo: Option<Res<TransformGizmoState>>,
    mouse: Option<Res<ButtonInput<MouseButton>>>,
    mut held: ResMut<Held>,
) {
    let down = mouse.is_some_and(|mouse| mouse.pressed(MouseButton::Left));
    let body = gizmo.filter(|gizmo| gizmo.active && down).and_then(|gizmo| gizmo.entity);
    held.set_if_neq(Held(body));
}

/// Whether entities of the scene were changed, added or taken away since the last look.
pub(super) fn notice(
    bodies: Query<(), (With<BodyIndex>, ChangedBody)>,
    rest: Query<(), ChangedRest>,
    mut gone: RemovedComponents<BodyIndex>,
    mut edits: ResMut<Edits>,
) {
    let changed = !bodies.is_empty() || !rest.is_empty() || gone.read().count() > 0;
    edits.noticed |= changed;
}

pub(super) fn noticed(edits: Res<Edits>) -> bool {
    edits.noticed
}

/// Tells what an edit in progress will cost; makes a finished one true.
pub(super) fn follow(world: &mut World) {
    if !world.resource::<Dragging>().0 && world.resource::<Held>().0.is_none() {
        return finish(world);
    }
    let Some(new) = collect(world) else { return };
    let mut document = world.resource_mut::<Document>();
    let pending = (new != document.scene).then(|| impact(&document.scene, &new));
    if document.pending != pending {
        document.pending = pending;
    }
}

/// Makes the entities as they stand the scene, if that is possible, with an undo entry if they differ from it.
pub(super) fn finish(world: &mut World) {
    world.resource_mut::<Edits>().noticed = false;
    let Some(new) = collect(world) else { return };
    restage(world, &new);
    if world.resource::<Document>().pending.is_some() {
        world.resource_mut::<Document>().pending = None;
    }
    if new == world.resource::<Document>().scene {
        return judge(world, Vec::new());
    }
    match validate::validate(&new) {
        Ok(()) => {
            let mut document = world.resource_mut::<Document>();
            let old = std::mem::replace(&mut document.scene, new.clone());
            remember(&mut document.undo, old);
            document.redo.clear();
            world.resource_mut::<Handover>().adopt(new);
            judge(world, Vec::new());
        }
        Err(error) => judge(world, error.problems),
    }
}

/// Shows what is wrong with the entities, beside what is wrong with the file.
pub(super) fn judge(world: &mut World, wrong: Vec<Problem>) {
    let mut edits = world.resource_mut::<Edits>();
    edits.wrong = wrong;
    show_problems(world);
}

/// Puts all problems into the document.
pub(super) fn show_problems(world: &mut World) {
    let edits = world.resource::<Edits>();
    let all: Vec<Problem> = edits.file.iter().chain(&edits.wrong).cloned().collect();
    if world.resource::<Document>().problems != all {
        world.resource_mut::<Document>().problems = all;
    }
}

/// Back to the scene before the last edit; an edit that was never possible is taken back first.
pub(super) fn undo(world: &mut World) {
    let Some(standing) = collect(world) else { return };
    let mut document = world.resource_mut::<Document>();
    let target = if standing == document.scene {
        let Some(target) = document.undo.pop() else { return };
        target
    } else {
        document.scene.clone()
    };
    remember(&mut document.redo, standing);
    take(world, target);
}

/// Forward again.
pub(super) fn redo(world: &mut World) {
    let mut document = world.resource_mut::<Document>();
    let Some(target) = document.redo.pop() else { return };
    // An edit that was never possible only stands again: there is no way back from it but to where the scene is.
    if validate::validate(&target).is_ok() {
        let old = document.scene.clone();
        remember(&mut document.undo, old);
    }
    take(world, target);
}

/// Makes the entities `target`, and the scene too if that is possible, without an entry.
fn take(world: &mut World, target: Scene) {
    spawn(world, &target);
    forget_selection(world);
    let mut document = world.resource_mut::<Document>();
    document.pending = None;
    if document.scene != target {
        if let Err(error) = validate::validate(&target) {
            return judge(world, error.problems);
        }
        document.scene = target.clone();
        world.resource_mut::<Handover>().adopt(target);
    }
    judge(world, Vec::new());
}

/// The scene was changed outside: the file wins, and what stood before can be gone back to.
pub(super) fn replace(world: &mut World, target: Scene) {
    finish(world);
    if let Some(standing) = collect(world).filter(|standing| *standing != target) {
        let mut document = world.resource_mut::<Document>();
        remember(&mut document.undo, standing);
        document.redo.clear();
    }
    take(world, target);
}

/// A selected body that is gone is not selected any more.
pub(super) fn forget_selection(world: &mut World) {
    let gone = world.resource::<Selection>().0.is_some_and(|body| world.get::<BodyIndex>(body).is_none());
    if gone {
        world.resource_mut::<Selection>().0 = None;
    }
}

fn remember(stack: &mut Vec<Scene>, scene: Scene) {
    if stack.len() == UNDO {
        stack.remove(0);
    }
    stack.push(scene);
}

fn restage(world: &mut World, scene: &Scene) {
    let crate::scene::Model::Gas(gas) = &scene.model;
    let stage = Stage::of(&gas.domain);
    if world.get_resource::<Stage>() != Some(&stage) {
        world.insert_resource(stage);
    }
}
