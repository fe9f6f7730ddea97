//! The obstacles: their triangles, coloured by what the gas does to them once that is known.
//! Must not know devices or physics.

mod body;
#[cfg(test)]
mod tests;

use super::keep::{explain, put};
use super::{ColorBar, ColorScale};
use crate::output::color::Map;
use crate::scene::shape;
use crate::sim::Surface;
use crate::view::document::{BodyIndex, BodyShape, Placement, SceneSettings};
use crate::view::flow::{Flow, Stamp};
use crate::view::simulation::Wanted;
use crate::view::stage::Stage;
use bevy::prelude::*;
use body::Body;
use std::path::Path;
use std::sync::Arc;

/// How body surfaces are drawn.
///
/// Bodies are those of the document, where they stand at the moment; without a document, those of the snapshots.
/// What has no value is grey.
#[derive(Debug, Clone, PartialEq, Component)]
#[require(Drawn, Transform, Visibility)]
pub struct BodySurfaces {
    /// Whether they are drawn at all.
    pub visible: bool,
    /// Key of the tally that colours them, such as those of [`TALLIES`]; `None` for plain bodies.
    pub tally: Option<String>,
    /// Its colours; one range for all bodies.
    pub scale: ColorScale,
    /// Cuts them open.
    pub half: Option<HalfSection>,
}

/// Keys of the tallies that are offered first.
pub const TALLIES: [&str; 3] = ["pressure", "shear", "heat_flux"];

/// Takes away the half of the bodies on the side of the camera, so that their inside is seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfSection {
    /// 0, 1 or 2: the axis that the cut is across.
    pub axis: usize,
    /// Where on that axis, m; `None` for the middle of each body.
    pub position_m: Option<f64>,
}

/// A mesh entity of a body, child of that of the [`BodySurfaces`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Component)]
pub struct DrawnBody {
    /// Index of the body among the obstacles.
    pub index: usize,
}

impl Default for BodySurfaces {
    fn default() -> Self {
        let scale = ColorScale::of(Map::Cividis);
        Self { visible: true, tally: Some("heat_flux".into()), scale, half: None }
    }
}

/// Draws body surfaces.
pub struct SurfacePlugin;

/// What is kept of drawn bodies.
#[derive(Debug, Default, Component)]
struct Drawn {
    seen: Stamp,
    bodies: Vec<Body>,
    material: Option<Handle<StandardMaterial>>,
}

impl Plugin for SurfacePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, update);
    }
}

type DocumentBodies<'w, 's> = Query<'w, 's, (&'static BodyIndex, &'static BodyShape, &'static Placement)>;

impl Drawn {
    /// Takes the bodies of the document over, true if any has another shape or stands elsewhere.
    fn follow(&mut self, document: &DocumentBodies, folder: &Path) -> bool {
        let mut entries: Vec<_> = document.iter().collect();
        entries.sort_by_key(|(index, ..)| **index);
        let mut changed = self.bodies.len() != entries.len();
        for (i, (index, shape, placement)) in entries.iter().enumerate() {
            if self.bodies.len() == i {
                self.bodies.push(Body::default());
            }
            let body = &mut self.bodies[i];
            body.index = index.0;
            if body.shape.as_ref() != Some(*shape) {
                changed = true;
                body.shape = Some((*shape).clone());
                // What is wrong with a shape is the document's to say.
                body.take(shape::body(&shape.0, folder).ok().map(|body| Arc::new(body.mesh)));
            }
            changed |= body.placement != Some(**placement);
            body.placement = Some(**placement);
        }
        changed
    }

    /// Takes the bodies of a snapshot over, if it has any.
    fn take(&mut self, surfaces: &[Surface]) {
        for (i, surface) in surfaces.iter().enumerate() {
            if self.bodies.len() == i {
                self.bodies.push(Body::default());
            }
            let body = &mut self.bodies[i];
            body.index = i;
            let known = body.shape.is_none()
                && body.source.as_ref().is_some_and(|old| Arc::ptr_eq(old, &surface.mesh));
            if !known {
                (body.shape, body.placement) = (None, None);
                body.take(Some(surface.mesh.clone()));
            }
        }
    }
}

/// Values of each body and their bar.
type Tallies = (Vec<Vec<f32>>, Option<ColorBar>);

fn tallies(surfaces: &[Surface], settings: &BodySurfaces) -> Tallies {
    let find = |surface: &'_ Surface| {
        let key = settings.tally.as_deref()?;
        surface.columns.iter().position(|column| column.quantity.key == key)
    };
    let columns = surfaces.iter().map(|surface| find(surface).map(|i| &surface.columns[i]));
    let columns: Vec<_> = columns.collect();
    let all = columns.iter().flatten().flat_map(|column| &column.values);
    let bar = columns.iter().flatten().next().and_then(|column| {
        Some(ColorBar { quantity: column.quantity.clone(), colors: settings.scale.resolve(all.copied())? })
    });
    (
        columns.iter().map(|column| column.map(|column| column.values.clone()).unwrap_or_default()).collect(),
        bar,
    )
}

fn update(
    (flow, stage): (Option<Res<Flow>>, Option<Res<Stage>>),
    mut wanted: ResMut<Wanted>,
    mut surfaces: Query<(Entity, Ref<BodySurfaces>, &mut Drawn, &mut Visibility)>,
    (document, scene): (DocumentBodies, Query<&SceneSettings>),
    cameras: Query<&Transform, (With<Camera3d>, Without<DrawnBody>)>,
    mut kept: Query<(&mut Transform, &mut DrawnBody)>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut commands: Commands,
) {
    let Some(stage) = stage else { return };
    let is_open = !scene.is_empty() || !document.is_empty();
    let folder = scene.iter().next().map_or(Path::new("."), |scene| scene.folder.as_path());
    let eye_m = cameras.iter().next().map(|camera| stage.metres(camera.translation));
    for (entity, settings, mut drawn, mut visibility) in &mut surfaces {
        // The stamp is written to in each frame; nobody watches this component for changes.
        let drawn = drawn.bypass_change_detection();
        if !settings.visible {
            if settings.is_changed() {
                explain(&mut commands, entity, &mut visibility, false, None);
            }
            continue;
        }
        wanted.0.surfaces |= settings.tally.is_some() || !is_open;
        let mut changed = settings.is_changed() || stage.is_changed();
        if stage.is_changed() {
            drawn.bodies.iter_mut().for_each(Body::mesh_is_old);
        }
        changed |= is_open && drawn.follow(&document, folder);
        let cut = |body: &Body| {
            let half = settings.half.as_ref()?;
            body.cut(half.axis, half.position_m, eye_m?)
        };
        // The camera may have gone to the other side of a cut.
        changed |= settings.half.is_some() && drawn.bodies.iter().any(|body| body.must_be_made(cut(body)));
        if changed {
            drawn.seen = Stamp::default();
        }
        let mut seen = drawn.seen;
        let told = flow.as_ref().and_then(|flow| {
            flow.read_new(&mut seen, |snapshot| {
                if !is_open {
                    drawn.take(&snapshot.surfaces);
                }
                (tallies(&snapshot.surfaces, &settings), snapshot.surfaces.len())
            })
        });
        drawn.seen = seen;
        if told.is_none() && !changed {
            continue;
        }
        let ((values, bar), count) = told.unwrap_or_default();
        // A snapshot that was not asked for surfaces says nothing of the bodies.
        let count = match (is_open, count) {
            (true, _) => document.iter().len(),
            (false, 0) => drawn.bodies.len(),
            (false, count) => count,
        };
        let material = drawn.material.get_or_insert_with(|| materials.add(matt())).clone();
        for (i, body) in drawn.bodies.iter_mut().enumerate() {
            let cut = cut(body);
            if body.must_be_made(cut) {
                let mesh = body.make(cut, &stage);
                put(&mut meshes, &mut body.mesh, mesh);
            }
            let Some(handle) = body.mesh.clone() else { continue };
            if let Some(mut mesh) = meshes.get_mut(&handle) {
                let values = values.get(i).map_or(&[][..], Vec::as_slice);
                let shades = body.shades(values, bar.as_ref().map(|bar| &bar.colors));
                mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, shades);
            }
            let transform = body.transform(&stage);
            match body.entity.map(|entity| kept.get_mut(entity)) {
                Some(Ok((mut place, mut drawn))) => {
                    place.set_if_neq(transform);
                    drawn.set_if_neq(DrawnBody { index: body.index });
                }
                _ => {
                    let drawn = DrawnBody { index: body.index };
                    let looks = (Mesh3d(handle), MeshMaterial3d(material.clone()), transform);
                    body.entity = Some(commands.spawn((drawn, looks, ChildOf(entity))).id());
                }
            }
        }
        let count = count.min(drawn.bodies.len());
        for body in drawn.bodies.drain(count..) {
            if let Some(entity) = body.entity {
                commands.entity(entity).despawn();
            }
        }
        explain(&mut commands, entity, &mut visibility, true, bar);
    }
}

/// Matt on both sides: what shines would look like a value.
fn matt() -> StandardMaterial {
    StandardMaterial {
        perceptual_roughness: 1.0,
        reflectance: 0.0,
        double_sided: true,
        cull_mode: None,
        ..default()
    }
}
