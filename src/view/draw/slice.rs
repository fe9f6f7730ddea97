//! A plane of cells coloured by a field: one rectangle whose texture changes with the snapshots.
//! Must not know devices or physics.

use super::{ColorScale, Colors};
use crate::output::color::Map;
use crate::output::slice::{Layer, Slice};
use crate::view::flow::Flow;
use crate::view::stage::Stage;
use bevy::asset::RenderAssetUsages;
use bevy::image::ImageSampler;
use bevy::prelude::*;
use bevy::render::render_resource::{Extent3d, TextureDimension, TextureFormat};

/// A field slice: what it shows and where.
#[derive(Debug, Clone, PartialEq, Component)]
pub struct FieldSlice {
    /// Key of the field.
    pub field: String,
    /// The plane.
    pub slice: Slice,
    /// Colour map.
    pub map: Map,
    /// Opacity, 0 to 1.
    pub opacity: f32,
    /// Its colours as last drawn, for the legend.
    pub colors: Option<Colors>,
}

/// Draws field slices.
pub struct SlicePlugin;

#[derive(Component)]
struct Drawn(u64);

impl Plugin for SlicePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, update);
    }
}

fn update(
    flow: Option<Res<Flow>>,
    stage: Option<Res<Stage>>,
    mut slices: Query<(Entity, &mut FieldSlice, Option<&Drawn>)>,
    mut images: ResMut<Assets<Image>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut commands: Commands,
) {
    let (Some(flow), Some(stage)) = (flow, stage) else { return };
    for (entity, mut slice, drawn) in &mut slices {
        let layer = flow.read(|snapshot| {
            if drawn.is_some_and(|drawn| drawn.0 == snapshot.generation) {
                return None;
            }
            let fields = snapshot.fields.as_ref()?;
            let layer = Layer::new(fields, &slice.field, slice.slice).ok()?;
            let all = fields.column(&slice.field)?.values.iter().copied();
            // One range for all planes of the field, so that a moving plane keeps its colours.
            Some((snapshot.generation, layer, ColorScale::of(slice.map).resolve(all)?))
        });
        let Some((generation, layer, colors)) = layer.flatten() else { continue };
        slice.colors = Some(colors);
        let image = images.add(texture(&layer, &colors, slice.opacity));
        let (mesh, transform) = rectangle(&layer, &stage);
        commands.entity(entity).insert((
            Drawn(generation),
            Mesh3d(meshes.add(mesh)),
            MeshMaterial3d(materials.add(StandardMaterial {
                base_color_texture: Some(image),
                unlit: true,
                alpha_mode: AlphaMode::Blend,
                double_sided: true,
                cull_mode: None,
                ..default()
            })),
            transform,
        ));
    }
}

/// One texel a cell, the first row on top; cells without gas are clear.
fn texture(layer: &Layer, colors: &Colors, opacity: f32) -> Image {
    let [width, height] = layer.cells;
    let mut texels = Vec::with_capacity(4 * width * height);
    for row in layer.values.chunks(width.max(1)).rev() {
        for &value in row {
            let [r, g, b] = colors.of(value);
            let alpha = if value.is_finite() { (255.0 * opacity) as u8 } else { 0 };
            texels.extend([r, g, b, alpha]);
        }
    }
    let size = Extent3d { width: width as u32, height: height as u32, depth_or_array_layers: 1 };
    let format = TextureFormat::Rgba8UnormSrgb;
    let mut image = Image::new(size, TextureDimension::D2, texels, format, RenderAssetUsages::RENDER_WORLD);
    image.sampler = ImageSampler::nearest();
    image
}

/// The rectangle of a layer: made in the x-y plane, turned so that its rows and columns run along the layer's axes.
fn rectangle(layer: &Layer, stage: &Stage) -> (Mesh, Transform) {
    let scale = stage.scale();
    let [along, up] = layer.axes;
    let size = layer.size_m.map(|size| (size * scale) as f32);
    let mut middle = [0.0; 3];
    middle[layer.axis] = layer.position_m;
    middle[along] = layer.corner_m[0] + 0.5 * layer.size_m[0];
    middle[up] = layer.corner_m[1] + 0.5 * layer.size_m[1];
    let [x, y] = [Vec3::AXES[along], Vec3::AXES[up]];
    let rotation = Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y)));
    let transform = Transform::from_translation(stage.place(middle)).with_rotation(rotation);
    (Rectangle::new(size[0], size[1]).into(), transform)
}
