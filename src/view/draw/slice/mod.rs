//! A plane through a field: a rectangle, or what a free plane leaves of one, whose texture changes with the snapshots.
//! Must not know devices or physics.

mod plane;
mod raster;
#[cfg(test)]
mod tests;

pub use plane::{Frame, Plane};
pub use raster::{Raster, bounds, cells_across};

use super::keep::{explain, put, triangles};
use super::sample::find;
use super::{ColorBar, ColorScale};
use crate::output::slice::Slice;
use crate::sim::Fields;
use crate::view::flow::{Flow, Stamp};
use crate::view::simulation::Wanted;
use crate::view::stage::Stage;
use bevy::asset::RenderAssetUsages;
use bevy::image::ImageSampler;
use bevy::mesh::Indices;
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};

/// A slice: what it shows and where.
#[derive(Debug, Clone, PartialEq, Component)]
#[require(Drawn, Transform, Visibility, Pickable = Pickable::IGNORE)]
pub struct FieldSlice {
    /// Whether it is drawn at all.
    pub visible: bool,
    /// Key of the field, such as `temperature`; `temperature_error` is its statistical error.
    pub field: String,
    /// The plane.
    pub plane: Plane,
    /// Its colours. Their range is that of the whole field, so that a moving plane keeps its colours.
    pub scale: ColorScale,
    /// Opacity, 0 to 1. Below 1 nothing is hidden by it; slices that cross each other are then in no exact order.
    pub opacity: f32,
    /// Interpolated between the middles of cells; else each cell has one colour.
    pub smooth: bool,
}

impl Default for FieldSlice {
    /// The number density across z through 0.
    fn default() -> Self {
        Self {
            visible: true,
            field: "number_density".into(),
            plane: Plane::Axis(Slice { axis: 2, position_m: 0.0 }),
            scale: ColorScale::default(),
            opacity: 0.9,
            smooth: true,
        }
    }
}

/// Draws field slices.
pub struct SlicePlugin;

/// What is kept of a drawn slice.
#[derive(Debug, Default, Component)]
struct Drawn {
    seen: Stamp,
    polygon: Vec<[f64; 3]>,
    size: [usize; 2],
    mesh: Option<Handle<Mesh>>,
    image: Option<Handle<Image>>,
    material: Option<Handle<StandardMaterial>>,
}

impl Plugin for SlicePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, update);
    }
}

/// Most values that a range is found from.
const MOST_RANGED: usize = 50_000;

/// The bar of a field: its quantity and its colours, from all cells, or from a part of them where there are very many.
pub(super) fn bar(fields: &Fields, key: &str, scale: &ColorScale) -> Option<ColorBar> {
    let (quantity, values) = find(fields, key)?;
    // An odd stride does not fall into step with the rows of a grid, which are even as a rule.
    let stride = (values.len() / MOST_RANGED) | 1;
    Some(ColorBar { quantity, colors: scale.resolve(values.iter().copied().step_by(stride))? })
}

fn update(
    flow: Option<Res<Flow>>,
    stage: Option<Res<Stage>>,
    mut wanted: ResMut<Wanted>,
    mut slices: Query<(Entity, Ref<FieldSlice>, &mut Drawn, &mut Visibility)>,
    mut images: ResMut<Assets<Image>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut commands: Commands,
) {
    let (Some(flow), Some(stage)) = (flow, stage) else { return };
    for (entity, slice, mut drawn, mut visibility) in &mut slices {
        // The stamp is written to in each frame; nobody watches this component for changes.
        let drawn = drawn.bypass_change_detection();
        if slice.is_changed() || stage.is_changed() {
            drawn.seen = Stamp::default();
        }
        if !slice.visible {
            if slice.is_changed() {
                explain(&mut commands, entity, &mut visibility, false, None);
            }
            continue;
        }
        wanted.0.fields = true;
        let made = flow.read_new(&mut drawn.seen, |snapshot| {
            let fields = snapshot.fields.as_ref()?;
            let raster = Raster::new(fields, &slice.field, &slice.plane, slice.smooth)?;
            Some((raster, bar(fields, &slice.field, &slice.scale)?))
        });
        // Nothing new: the picture stays.
        let Some(made) = made else { continue };
        let Some((raster, bar)) = made else {
            explain(&mut commands, entity, &mut visibility, false, None);
            continue;
        };
        let resized = drawn.size != raster.size;
        if resized || drawn.polygon != raster.polygon || stage.is_changed() {
            let mesh = put(&mut meshes, &mut drawn.mesh, polygon(&raster, &stage));
            commands.entity(entity).insert(Mesh3d(mesh));
            (drawn.polygon, drawn.size) = (raster.polygon.clone(), raster.size);
        }
        let image = put(&mut images, &mut drawn.image, texture(&raster, &bar, slice.smooth));
        // A texture of another size is another one on the card, which the material must be told.
        if resized || slice.is_changed() || drawn.material.is_none() {
            let material = put(&mut materials, &mut drawn.material, material(image, slice.opacity));
            commands.entity(entity).insert(MeshMaterial3d(material));
        }
        explain(&mut commands, entity, &mut visibility, true, Some(bar));
    }
}

fn texture(raster: &Raster, bar: &ColorBar, smooth: bool) -> Image {
    let [width, height] = raster.size.map(|n| n as u32);
    let size = Extent3d { width, height, depth_or_array_layers: 1 };
    let texels = raster.texels(&bar.colors);
    let format = TextureFormat::Rgba8UnormSrgb;
    let mut image = Image::new(size, TextureDimension::D2, texels, format, RenderAssetUsages::RENDER_WORLD);
    image.sampler = if smooth { ImageSampler::linear() } else { ImageSampler::nearest() };
    image
}

fn material(image: Handle<Image>, opacity: f32) -> StandardMaterial {
    // What lets nothing through hides what is behind it like any body.
    let alpha_mode = if opacity < 1.0 { AlphaMode::Blend } else { AlphaMode::Mask(0.5) };
    StandardMaterial {
        base_color: Color::WHITE.with_alpha(opacity.clamp(0.0, 1.0)),
        base_color_texture: Some(image),
        unlit: true,
        alpha_mode,
        double_sided: true,
        cull_mode: None,
        ..default()
    }
}

/// A convex polygon as a fan of triangles.
fn polygon(raster: &Raster, stage: &Stage) -> Mesh {
    let positions: Vec<[f32; 3]> = raster.polygon.iter().map(|p| stage.place(*p).to_array()).collect();
    let places: Vec<[f32; 2]> = raster.places.iter().map(|place| place.map(|x| x as f32)).collect();
    let normals = vec![[0.0, 0.0, 1.0]; positions.len()];
    let fan = (2..positions.len() as u32).flat_map(|i| [0, i - 1, i]).collect();
    triangles(false)
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, places)
        .with_inserted_indices(Indices::U32(fan))
}
