//! A scene becomes entities, and entities a scene, without loss.
//! Must not know who edits them or how they are drawn.

use super::components::*;
use crate::scene::{GasScene, Model, Obstacle, Scene};
use crate::view::stage::Stage;
use bevy::prelude::*;
use std::collections::HashMap;

/// Makes the entities those of `scene`, and the stage that of its domain. Entities that are there already are changed,
/// not replaced, where their names are in the scene, so that a selection outlives an undo and a reload.
pub fn spawn(world: &mut World, scene: &Scene) {
    let Scene { name, about, seed, model: Model::Gas(model), view, folder } = scene;
    // Taken apart without `..`, so that a new field does not compile until it is kept.
    let GasScene {
        gas,
        stream,
        domain,
        particles_per_cell,
        time_step,
        steps,
        sampling,
        collisions,
        start,
        faces,
        reference,
        obstacles,
    } = model;
    single(world, FlowDomain { domain: domain.clone(), faces: *faces });
    single(world, FlowStream(stream.clone()));
    single(
        world,
        SceneSettings {
            name: name.clone(),
            about: about.clone(),
            seed: *seed,
            gas: gas.clone(),
            particles_per_cell: *particles_per_cell,
            time_step: *time_step,
            steps: *steps,
            sampling: *sampling,
            collisions: *collisions,
            start: *start,
            reference: *reference,
            view: view.clone(),
            folder: folder.clone(),
        },
    );
    bodies(world, obstacles);
    let stage = Stage::of(domain);
    if world.get_resource::<Stage>() != Some(&stage) {
        world.insert_resource(stage);
    }
}

/// The scene that the entities are; `None` before there is one.
pub fn collect(world: &mut World) -> Option<Scene> {
    let FlowDomain { domain, faces } = world.query::<&FlowDomain>().iter(world).next()?.clone();
    let FlowStream(stream) = world.query::<&FlowStream>().iter(world).next()?.clone();
    let SceneSettings {
        name,
        about,
        seed,
        gas,
        particles_per_cell,
        time_step,
        steps,
        sampling,
        collisions,
        start,
        reference,
        view,
        folder,
    } = world.query::<&SceneSettings>().iter(world).next()?.clone();
    let mut obstacles: Vec<(usize, Obstacle)> = world
        .query::<(&BodyIndex, &Name, &Placement, &BodyShape, &BodyWall)>()
        .iter(world)
        .map(|(index, name, placement, shape, wall)| {
            let obstacle = Obstacle {
                name: name.as_str().into(),
                shape: shape.0.clone(),
                position_m: placement.position_m,
                rotation_deg: placement.rotation_deg,
                wall: wall.0,
            };
            (index.0, obstacle)
        })
        .collect();
    obstacles.sort_by_key(|(index, _)| *index);
    let model = GasScene {
        gas,
        stream,
        domain,
        particles_per_cell,
        time_step,
        steps,
        sampling,
        collisions,
        start,
        faces,
        reference,
        obstacles: obstacles.into_iter().map(|(_, obstacle)| obstacle).collect(),
    };
    Some(Scene { name, about, seed, model: Model::Gas(model), view, folder })
}

/// A body as an entity, without what is drawn of it.
pub(super) fn body(index: usize, obstacle: &Obstacle) -> impl Bundle {
    (
        BodyIndex(index),
        Name::new(obstacle.name.clone()),
        Placement { position_m: obstacle.position_m, rotation_deg: obstacle.rotation_deg },
        BodyShape(obstacle.shape.clone()),
        BodyWall(obstacle.wall),
        Transform::default(),
    )
}

/// Bodies without gaps in their numbers, in their order.
pub(super) fn renumber(world: &mut World) {
    let mut bodies: Vec<(usize, Entity)> =
        world.query::<(&BodyIndex, Entity)>().iter(world).map(|(index, entity)| (index.0, entity)).collect();
    bodies.sort();
    for (place, (index, entity)) in bodies.into_iter().enumerate() {
        if place != index {
            world.entity_mut(entity).insert(BodyIndex(place));
        }
    }
}

/// The one entity with such a component.
fn single<C: Component<Mutability = bevy::ecs::component::Mutable> + PartialEq>(world: &mut World, value: C) {
    match world.query::<&mut C>().iter_mut(world).next() {
        Some(mut old) => {
            old.set_if_neq(value);
        }
        None => {
            world.spawn(value);
        }
    }
}

fn bodies(world: &mut World, obstacles: &[Obstacle]) {
    let mut old: Vec<(usize, String, Entity)> = world
        .query::<(&BodyIndex, &Name, Entity)>()
        .iter(world)
        .map(|(index, name, entity)| (index.0, name.as_str().to_string(), entity))
        .collect();
    old.sort();
    let mut named: HashMap<&str, Entity> = HashMap::new();
    for (_, name, entity) in &old {
        named.entry(name).or_insert(*entity);
    }
    let mut kept: Vec<Option<Entity>> =
        obstacles.iter().map(|obstacle| named.remove(obstacle.name.as_str())).collect();
    // A body of another name is most likely one that was renamed.
    let mut rest = old.iter().map(|(_, _, entity)| *entity).filter(|entity| !kept.contains(&Some(*entity)));
    let mut rest: std::collections::VecDeque<Entity> = rest.by_ref().collect();
    for place in kept.iter_mut().filter(|place| place.is_none()) {
        *place = rest.pop_front();
    }
    for (index, (obstacle, entity)) in obstacles.iter().zip(kept).enumerate() {
        match entity {
            Some(entity) => change(world, entity, index, obstacle),
            None => {
                world.spawn(body(index, obstacle));
            }
        }
    }
    for entity in rest {
        world.despawn(entity);
    }
}

fn change(world: &mut World, entity: Entity, index: usize, obstacle: &Obstacle) {
    let placement = Placement { position_m: obstacle.position_m, rotation_deg: obstacle.rotation_deg };
    let mut bodies =
        world.query::<(&mut BodyIndex, &mut Name, &mut Placement, &mut BodyShape, &mut BodyWall)>();
    let Ok((mut number, mut name, mut place, mut shape, mut wall)) = bodies.get_mut(world, entity) else {
        world.entity_mut(entity).insert(body(index, obstacle));
        return;
    };
    number.set_if_neq(BodyIndex(index));
    name.set_if_neq(Name::new(obstacle.name.clone()));
    place.set_if_neq(placement);
    shape.set_if_neq(BodyShape(obstacle.shape.clone()));
    wall.set_if_neq(BodyWall(obstacle.wall));
}
