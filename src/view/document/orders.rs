//! Carries out what panels, keys and dropped files order of the document.
//! Must not know where an order came from.

use super::components::*;
use super::edit::{finish, forget_selection, redo, undo};
use super::entities::{body, renumber};
use super::{Document, DocumentOrder, Selection, collect, file, open, shipped};
use crate::scene::mesh::MeshReport;
use crate::scene::shape::{self, Body, MeshError};
use crate::scene::{Domain, Model, Obstacle, Scene, Shape, Wall};
use bevy::prelude::*;
use bevy::tasks::{AsyncComputeTaskPool, Task, futures::check_ready};
use bevy::window::FileDragAndDrop;
use std::path::{Path, PathBuf};

/// Messages kept at most.
const MESSAGES: usize = 200;

/// Bodies whose triangles are being read; large files take seconds, and no frame waits for them.
#[derive(Default, Resource)]
pub(super) struct Arriving(Vec<Task<Arrival>>);

struct Arrival {
    shape: Shape,
    result: Result<Body, MeshError>,
    /// Whether nobody has chosen a scale yet.
    fit: bool,
}

/// Files dropped on the window.
pub(super) fn drop_files(
    mut drops: MessageReader<FileDragAndDrop>,
    mut orders: MessageWriter<DocumentOrder>,
) {
    for drop in drops.read() {
        if let FileDragAndDrop::DroppedFile { path_buf, .. } = drop {
            orders.write(DocumentOrder::Open(path_buf.clone()));
        }
    }
}

pub(super) fn obey(world: &mut World) {
    let orders: Vec<DocumentOrder> = world.resource_mut::<Messages<DocumentOrder>>().drain().collect();
    for order in orders {
        // An edit that stands is one of its own.
        finish(world);
        match order {
            DocumentOrder::Open(path) => open_file(world, &path),
            DocumentOrder::OpenShipped(name) => open_shipped(world, &name),
            DocumentOrder::Save => file::save(world),
            DocumentOrder::SaveAs(path) => file::save_as(world, &path),
            DocumentOrder::Undo => undo(world),
            DocumentOrder::Redo => redo(world),
            DocumentOrder::Duplicate(body) => duplicate(world, body),
            DocumentOrder::Delete(body) => delete(world, body),
            DocumentOrder::Add(shape) => add(world, shape),
        }
    }
}

/// Says something to whoever edits.
pub(super) fn say(world: &mut World, message: impl Into<String>) {
    let message = message.into();
    info!("{message}");
    let messages = &mut world.resource_mut::<Document>().messages;
    if messages.len() == MESSAGES {
        messages.remove(0);
    }
    messages.push(message);
}

fn open_file(world: &mut World, path: &Path) {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    match ending.as_str() {
        "ron" => file::open_scene(world, path),
        "stl" | "obj" => add_file(world, path),
        _ => say(
            world,
            format!(
                "{}: not a kind of file known here: open a scene (.ron) or triangles (.stl, .obj)",
                path.display()
            ),
        ),
    }
}

fn open_shipped(world: &mut World, name: &str) {
    let Some(one) = shipped().iter().find(|one| one.name == name) else {
        let names: Vec<&str> = shipped().iter().map(|one| one.name).collect();
        return say(world, format!("there is no shipped scene {name:?}: choose one of {}", names.join(", ")));
    };
    match one.scene(&file::absolute(Path::new("."))) {
        Ok(scene) => open(world, scene, None),
        Err(error) => say(world, error.to_string()),
    }
}

fn delete(world: &mut World, body: Entity) {
    if world.get::<BodyIndex>(body).is_none() {
        return;
    }
    world.despawn(body);
    renumber(world);
    forget_selection(world);
    finish(world);
}

fn duplicate(world: &mut World, original: Entity) {
    let (Some(scene), Some(index)) = (collect(world), world.get::<BodyIndex>(original)) else { return };
    let (Model::Gas(gas), index) = (&scene.model, index.0);
    let Some(mut obstacle) = gas.obstacles.get(index).cloned() else { return };
    // The triangle file of a body in the scene was read before; its size is not worth reading it again in a frame.
    let size = match obstacle.shape {
        Shape::Mesh { .. } => None,
        _ => shape::placed(&obstacle, &scene.folder).ok().and_then(|body| body.mesh.bounds()),
    };
    let height = size.map_or(0.1 * gas.domain.size_m[1], |[low, high]| high[1] - low[1]);
    let step = (1.2 * height).max(0.02 * gas.domain.size_m[1]);
    let top = gas.domain.corner_m[1] + gas.domain.size_m[1];
    let above = obstacle.position_m[1] + step;
    obstacle.position_m[1] = if above + 0.5 * height <= top { above } else { obstacle.position_m[1] - step };
    obstacle.name = free_name(gas.obstacles.iter().map(|one| one.name.as_str()), &obstacle.name);
    place(world, obstacle);
}

fn add(world: &mut World, shape: Shape) {
    if has_file(&shape) {
        return send_for(world, shape, false);
    }
    let Some(domain) = domain(world) else { return };
    let middle = std::array::from_fn(|k| domain.corner_m[k] + 0.5 * domain.size_m[k]);
    add_at(world, shape, middle);
}

fn add_at(world: &mut World, shape: Shape, position_m: [f64; 3]) {
    let Some(scene) = collect(world) else { return };
    let Model::Gas(gas) = &scene.model;
    let name = free_name(gas.obstacles.iter().map(|one| one.name.as_str()), &name_of(&shape));
    place(world, Obstacle { name, shape, position_m, rotation_deg: [0.0; 3], wall: Wall::default() });
}

/// One more body, selected.
fn place(world: &mut World, obstacle: Obstacle) {
    let index = world.query::<&BodyIndex>().iter(world).count();
    let entity = world.spawn(body(index, &obstacle)).id();
    world.resource_mut::<Selection>().0 = Some(entity);
    finish(world);
}

fn add_file(world: &mut World, path: &Path) {
    let Some(scene) = collect(world) else { return };
    let path = file::absolute(path);
    let Some(file) = file::relative(&path, &scene.folder) else {
        return say(world, format!("{}: a name that is no UTF-8 text: rename the file", path.display()));
    };
    send_for(world, Shape::Mesh { file, scale: 1.0 }, true);
}

/// Reads the triangles of a shape beside the frames.
fn send_for(world: &mut World, shape: Shape, fit: bool) {
    let Some(folder) = collect(world).map(|scene| scene.folder) else { return };
    let task = AsyncComputeTaskPool::get().spawn(async move {
        let result = shape::body(&shape, &folder);
        Arrival { shape, result, fit }
    });
    world.resource_mut::<Arriving>().0.push(task);
}

/// Bodies whose triangles have been read: good ones are added, of bad ones is said why not.
pub(super) fn arrive(world: &mut World) {
    if world.resource::<Arriving>().0.is_empty() {
        return;
    }
    let mut arrived = Vec::new();
    world.resource_mut::<Arriving>().0.retain_mut(|task| match check_ready(task) {
        Some(arrival) => {
            arrived.push(arrival);
            false
        }
        None => true,
    });
    for Arrival { shape, result, fit } in arrived {
        match result {
            Ok(body) => {
                finish(world);
                take_in(world, shape, &body, fit);
            }
            Err(error) => say(world, format!("not added: {error}")),
        }
    }
}

fn take_in(world: &mut World, mut shape: Shape, body: &Body, fit: bool) {
    let (Some(domain), Some([low, high])) = (domain(world), body.mesh.bounds()) else { return };
    let mut factor = 1.0;
    if let (Shape::Mesh { scale, file }, true) = (&mut shape, fit) {
        factor = fitting(std::array::from_fn(|k| high[k] - low[k]), domain.size_m);
        *scale = factor;
        let repairs: Vec<String> =
            body.reports.iter().flat_map(|report: &MeshReport| report.repairs.clone()).collect();
        let repairs =
            if repairs.is_empty() { String::new() } else { format!(" Repaired: {}.", repairs.join("; ")) };
        say(
            world,
            format!("{file} was added with {factor} m a unit: set its scale if that is wrong.{repairs}"),
        );
    }
    // The middle of the body comes to the middle of the domain, wherever the file has its origin.
    let position_m = std::array::from_fn(|k| {
        let middle = domain.corner_m[k] + 0.5 * domain.size_m[k];
        tidy(middle - 0.5 * factor * (low[k] + high[k]))
    });
    add_at(world, shape, position_m);
}

/// Metres a unit of a triangle file, which does not say it: metres or millimetres if the body then fits into the
/// domain and is to be seen in it; else what makes it fill a quarter of the domain.
fn fitting(size: [f64; 3], domain_m: [f64; 3]) -> f64 {
    let share = |factor: f64| (0..3).map(|k| factor * size[k] / domain_m[k]).fold(0.0, f64::max);
    let plausible = |factor: &f64| (0.01..=0.9).contains(&share(*factor));
    [1.0, 1e-3].into_iter().find(plausible).unwrap_or_else(|| {
        let factor = 0.25 / share(1.0);
        if factor.is_finite() && factor > 0.0 { tidy(factor) } else { 1.0 }
    })
}

/// Four digits: sums and quotients leave long tails, which nobody wants in a file.
fn tidy(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

fn domain(world: &mut World) -> Option<Domain> {
    let Scene { model: Model::Gas(gas), .. } = collect(world)?;
    Some(gas.domain)
}

fn has_file(shape: &Shape) -> bool {
    match shape {
        Shape::Mesh { .. } => true,
        Shape::Group { parts } => parts.iter().any(|part| has_file(&part.shape)),
        _ => false,
    }
}

fn name_of(shape: &Shape) -> String {
    match shape {
        Shape::Sphere { .. } => "sphere".into(),
        Shape::Plate { .. } => "plate".into(),
        Shape::Box { .. } => "box".into(),
        Shape::Cylinder { .. } => "cylinder".into(),
        Shape::Capsule { .. } => "capsule".into(),
        Shape::Cone { .. } => "cone".into(),
        Shape::Group { .. } => "group".into(),
        Shape::Mesh { file, .. } => {
            PathBuf::from(file).file_stem().map_or("body".into(), |stem| stem.to_string_lossy().into_owned())
        }
    }
}

/// The name, or the name with the first number that is free.
fn free_name<'a>(taken: impl Iterator<Item = &'a str>, name: &str) -> String {
    let taken: Vec<&str> = taken.map(str::trim).collect();
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
    let stem = if stem.is_empty() { name } else { stem };
    let numbered = (2..=taken.len() + 2).map(|number| format!("{stem} {number}"));
    std::iter::once(name.to_string())
        .chain(numbered)
        .find(|one| !taken.contains(&one.as_str()))
        .unwrap_or_else(|| format!("{name} copy"))
}
