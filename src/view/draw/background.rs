//! Things whose mesh takes long to compute (lines traced, surfaces found): made beside the frames, so that none waits.
//! Must not know what is computed.

use super::ColorBar;
use super::keep::explain;
use super::sample::find;
use crate::sim::{Column, Fields};
use crate::view::flow::{Flow, Stamp};
use crate::view::simulation::{Exact, Wanted};
use crate::view::stage::Stage;
use bevy::prelude::*;
use bevy::tasks::{AsyncComputeTaskPool, Task, block_on, poll_once};
use std::time::{Duration, Instant};

/// Share of one core that a drawn thing may take from the simulation while its settings stay.
const SHARE: f64 = 0.05;

/// Settings of a drawn thing whose mesh is computed from mean fields.
pub trait Computed: Component + Clone + PartialEq {
    /// Whether it is drawn at all.
    fn visible(&self) -> bool;

    /// Keys of the fields that it is computed from.
    fn fields(&self) -> Vec<String>;

    /// The mesh, in units of the picture, from fields that hold those of [`Self::fields`] which there are. `None` if
    /// there is nothing to draw.
    fn compute(&self, fields: &Fields, stage: &Stage) -> Option<Made>;

    /// What it is drawn with.
    fn material(&self) -> StandardMaterial;
}

/// A computed thing.
pub struct Made {
    /// What is drawn.
    pub mesh: Mesh,
    /// What its colours mean.
    pub bar: Option<ColorBar>,
}

/// The computation of a drawn thing, on its entity: settings require it.
#[derive(Component)]
pub struct Background<T: Computed> {
    task: Option<Task<(Option<Made>, Duration)>>,
    /// When the next one may begin for a new snapshot alone.
    rest: Option<Instant>,
    seen: Stamp,
    /// What the last one was begun for.
    of: Option<(T, Stage)>,
}

impl<T: Computed> Default for Background<T> {
    fn default() -> Self {
        Self { task: None, rest: None, seen: Stamp::default(), of: None }
    }
}

impl<T: Computed> Background<T> {
    /// Begins a computation if it is due and none runs. Waits for it if `exact`, and gives its result then.
    fn begin(&mut self, settings: &T, flow: &Flow, stage: Stage, exact: bool) -> Option<Option<Made>> {
        let changed = self.of.as_ref().is_none_or(|(of, on)| of != settings || *on != stage);
        let rested = exact || self.rest.is_none_or(|rest| Instant::now() >= rest);
        if self.task.is_some() || !(changed || rested) {
            return None;
        }
        if changed {
            self.seen = Stamp::default();
        }
        // Only what is needed is copied, and the lock is held for no longer than that takes.
        let keys = settings.fields();
        let copy = |fields: &Fields| only(fields, &keys);
        let fields = flow.read_new(&mut self.seen, |snapshot| snapshot.fields.as_ref().map(copy));
        let fields = fields.flatten()?;
        self.of = Some((settings.clone(), stage));
        let settings = settings.clone();
        if exact {
            return Some(settings.compute(&fields, &stage));
        }
        self.task = Some(AsyncComputeTaskPool::get().spawn(async move {
            let begun = Instant::now();
            (settings.compute(&fields, &stage), begun.elapsed())
        }));
        None
    }

    /// The result, once, as soon as there is one. Never waits.
    fn take(&mut self) -> Option<Option<Made>> {
        let (made, took) = block_on(poll_once(self.task.as_mut()?))?;
        self.task = None;
        self.rest = Some(Instant::now() + took.div_f64(SHARE));
        Some(made)
    }
}

/// The grid, and those columns that there are, without their errors.
fn only(fields: &Fields, keys: &[String]) -> Fields {
    let column = |key: &String| {
        let (quantity, values) = find(fields, key)?;
        Some(Column { quantity, values: values.to_vec(), errors: Vec::new() })
    };
    let columns = keys.iter().filter_map(column).collect();
    let Fields { cells, corner_m, size_m, samples, batches, .. } = *fields;
    Fields { cells, corner_m, size_m, samples, batches, columns }
}

/// A thing with settings `T`, and what it is drawn with once it was computed.
type Thing<T> = (
    Entity,
    Ref<'static, T>,
    &'static mut Background<T>,
    &'static mut Visibility,
    Option<(&'static Mesh3d, &'static MeshMaterial3d<StandardMaterial>)>,
);

/// Keeps the meshes of all things with settings `T`; for `Update`.
pub fn update<T: Computed>(
    flow: Option<Res<Flow>>,
    stage: Option<Res<Stage>>,
    exact: Option<Res<Exact>>,
    mut wanted: Option<ResMut<Wanted>>,
    mut things: Query<Thing<T>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut commands: Commands,
) {
    let (Some(flow), Some(stage)) = (flow, stage) else { return };
    let exact = exact.is_some_and(|exact| exact.0);
    for (entity, settings, mut background, mut visibility, drawn) in &mut things {
        if !settings.visible() {
            if settings.is_changed() {
                explain(&mut commands, entity, &mut visibility, false, None);
                background.of = None;
            }
            continue;
        }
        if let Some(wanted) = &mut wanted {
            wanted.0.fields = true;
        }
        if settings.is_changed()
            && let Some((_, material)) = drawn
            && let Some(mut material) = materials.get_mut(&material.0)
        {
            *material = settings.material();
        }
        let done = background.take();
        let Some(made) = background.begin(&settings, &flow, *stage, exact).or(done) else { continue };
        let Some(Made { mesh, bar }) = made else {
            explain(&mut commands, entity, &mut visibility, false, None);
            continue;
        };
        if let Some((old, _)) = drawn {
            // A handle that an entity holds is always one of a mesh.
            let _ = meshes.insert(&old.0, mesh);
        } else {
            let material = MeshMaterial3d(materials.add(settings.material()));
            commands.entity(entity).insert((Mesh3d(meshes.add(mesh)), material));
        }
        explain(&mut commands, entity, &mut visibility, true, bar);
    }
}
