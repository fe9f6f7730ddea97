//! The obstacles: their triangles, coloured by what the gas does to them once that is known.
//! Must not know devices or physics.

use super::{ColorScale, Colors};
use crate::output::color::Map;
use crate::sim::Surface;
use crate::view::flow::Flow;
use crate::view::stage::Stage;
use bevy::asset::RenderAssetUsages;
use bevy::mesh::PrimitiveTopology;
use bevy::prelude::*;

/// How body surfaces are drawn.
#[derive(Debug, Clone, PartialEq, Resource)]
pub struct SurfaceSettings {
    /// Key of the tally that colours them.
    pub tally: String,
    /// Colour map.
    pub map: Map,
    /// Colours as last drawn, for the legend; `None` while nothing is known.
    pub colors: Option<Colors>,
}

impl Default for SurfaceSettings {
    fn default() -> Self {
        Self { tally: "heat_flux".into(), map: Map::Inferno, colors: None }
    }
}

/// Draws body surfaces.
pub struct SurfacePlugin;

#[derive(Component)]
struct BodySurface;

impl Plugin for SurfacePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<SurfaceSettings>().add_systems(Update, update);
    }
}

fn update(
    flow: Option<Res<Flow>>,
    stage: Option<Res<Stage>>,
    mut settings: ResMut<SurfaceSettings>,
    old: Query<Entity, With<BodySurface>>,
    mut seen: Local<u64>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut commands: Commands,
) {
    let (Some(flow), Some(stage)) = (flow, stage) else { return };
    let drawn = flow.read(|snapshot| {
        if snapshot.generation == *seen || snapshot.surfaces.is_empty() {
            return None;
        }
        let tally = |surface: &Surface| {
            let column = surface.columns.iter().find(|column| column.quantity.key == settings.tally);
            column.map(|column| column.values.clone()).unwrap_or_default()
        };
        let values: Vec<Vec<f32>> = snapshot.surfaces.iter().map(tally).collect();
        let colors = ColorScale::of(settings.map).resolve(values.iter().flatten().copied());
        let made = snapshot.surfaces.iter().zip(&values);
        let made: Vec<Mesh> =
            made.map(|(surface, values)| mesh(surface, values, colors.as_ref(), &stage)).collect();
        Some((snapshot.generation, made, colors))
    });
    let Some((generation, made, colors)) = drawn.flatten() else { return };
    *seen = generation;
    settings.colors = colors;
    for entity in &old {
        commands.entity(entity).despawn();
    }
    for mesh in made {
        let material =
            StandardMaterial { perceptual_roughness: 0.9, double_sided: true, cull_mode: None, ..default() };
        commands.spawn((BodySurface, Mesh3d(meshes.add(mesh)), MeshMaterial3d(materials.add(material))));
    }
}

/// Triangles with corners of their own, so that each has one colour and one normal. Grey without a tally.
fn mesh(surface: &Surface, values: &[f32], colors: Option<&Colors>, stage: &Stage) -> Mesh {
    let source = &surface.mesh;
    let count = 3 * source.triangles.len();
    let (mut positions, mut normals, mut shades) =
        (Vec::with_capacity(count), Vec::with_capacity(count), Vec::with_capacity(count));
    for triangle in 0..source.triangles.len() {
        let normal = source.normal(triangle).map(|n| n as f32);
        let color = match (colors, values.get(triangle)) {
            (Some(colors), Some(&value)) if value.is_finite() => colors.linear(value),
            _ => [0.5, 0.5, 0.52, 1.0],
        };
        for corner in source.corners(triangle) {
            positions.push(stage.place(corner).to_array());
            normals.push(normal);
            shades.push(color);
        }
    }
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::RENDER_WORLD)
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
        .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, shades)
}
