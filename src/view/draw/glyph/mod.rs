//! Arrows of the mean velocity: one mesh and a few materials, which the graphics card draws as instances.
//! Must not know devices or physics.

mod arrow;
mod places;
#[cfg(test)]
mod tests;

pub use places::{MOST_ARROWS, places};

use super::keep::{explain, put};
use super::sample::Sampler;
use super::slice::Plane;
use super::streamline::SPEED;
use super::{ColorBar, ColorScale, Colors};
use crate::output::slice::Slice;
use crate::sim::Fields;
use crate::view::flow::{Flow, Stamp};
use crate::view::simulation::Wanted;
use crate::view::stage::Stage;
use bevy::prelude::*;

/// Arrows of the mean velocity, each with its tail at the middle of a cell, as long and as thick as the gas is fast
/// there, and of the colour of that speed.
///
/// For up to some thousand arrows: each is an entity, moved when there is a new snapshot. Where the stride would give
/// more than [`MOST_ARROWS`], a larger one is taken. Their colours are 32 steps of the colour map.
#[derive(Debug, Clone, PartialEq, Component)]
#[require(Drawn, Transform, Visibility)]
pub struct Glyphs {
    /// Whether they are drawn at all.
    pub visible: bool,
    /// Where they are.
    pub place: GlyphPlace,
    /// Every n-th cell along each direction.
    pub stride: u32,
    /// Length of the longest arrow, units of the picture (the domain's longest edge is 2).
    pub length: f32,
    /// Colours by speed. Their range is that of the whole field, so that a moving plane keeps its colours.
    pub scale: ColorScale,
}

/// Where arrows are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GlyphPlace {
    /// On a plane.
    Plane(Plane),
    /// In the whole domain.
    Volume,
}

impl Default for Glyphs {
    /// Across z through 0, every second cell.
    fn default() -> Self {
        Self {
            visible: true,
            place: GlyphPlace::Plane(Plane::Axis(Slice { axis: 2, position_m: 0.0 })),
            stride: 2,
            length: 0.15,
            scale: ColorScale::default(),
        }
    }
}

/// Draws velocity arrows.
pub struct GlyphPlugin;

/// Steps of colour.
const SHADES: usize = 32;
/// Most cells that the range of speeds is found from.
const MOST_RANGED: usize = 50_000;

/// What is kept of drawn arrows.
#[derive(Debug, Default, Component)]
struct Drawn {
    seen: Stamp,
    colors: Option<Colors>,
    mesh: Option<Handle<Mesh>>,
    shades: Vec<Option<Handle<StandardMaterial>>>,
    arrows: Vec<Entity>,
}

/// An arrow.
#[derive(Debug, Component)]
struct Arrow;

impl Plugin for GlyphPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, update);
    }
}

/// Velocities of the field, m/s.
struct Velocity<'a>([Sampler<'a>; 3]);

impl<'a> Velocity<'a> {
    fn new(fields: &'a Fields) -> Option<Self> {
        let of = |key| Sampler::new(fields, &fields.column(key)?.values);
        Some(Self([of("velocity_x")?, of("velocity_y")?, of("velocity_z")?]))
    }

    fn at(&self, point_m: [f64; 3]) -> Option<Vec3> {
        let [x, y, z] = self.0.each_ref().map(|component| component.at(point_m, false));
        Some(Vec3::new(x?, y?, z?))
    }
}

/// Tails, m, and velocities, m/s; and the colours of their speeds.
type Arrows = (Vec<([f64; 3], Vec3)>, Colors);

fn arrows(fields: &Fields, settings: &Glyphs) -> Option<Arrows> {
    let velocity = Velocity::new(fields)?;
    let all = places(fields, &settings.place, settings.stride).into_iter();
    let arrows = all.filter_map(|point| Some((point, velocity.at(point)?))).collect();
    let [x, y, z] = ["velocity_x", "velocity_y", "velocity_z"].map(|key| fields.column(key));
    let (x, y, z) = (&x?.values, &y?.values, &z?.values);
    // An odd stride does not fall into step with the rows of a grid, which are even as a rule.
    let some = (0..x.len()).step_by((x.len() / MOST_RANGED) | 1);
    let colors = settings.scale.resolve(some.map(|cell| Vec3::new(x[cell], y[cell], z[cell]).length()))?;
    Some((arrows, colors))
}

fn update(
    flow: Option<Res<Flow>>,
    stage: Option<Res<Stage>>,
    mut wanted: ResMut<Wanted>,
    mut glyphs: Query<(Entity, Ref<Glyphs>, &mut Drawn, &mut Visibility)>,
    mut kept: Query<(&mut Transform, &mut MeshMaterial3d<StandardMaterial>), With<Arrow>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut commands: Commands,
) {
    let (Some(flow), Some(stage)) = (flow, stage) else { return };
    for (entity, settings, mut drawn, mut visibility) in &mut glyphs {
        // The stamp is written to in each frame; nobody watches this component for changes.
        let drawn = drawn.bypass_change_detection();
        if settings.is_changed() || stage.is_changed() {
            drawn.seen = Stamp::default();
        }
        if !settings.visible {
            if settings.is_changed() {
                explain(&mut commands, entity, &mut visibility, false, None);
            }
            continue;
        }
        wanted.0.fields = true;
        let made = flow.read_new(&mut drawn.seen, |snapshot| arrows(snapshot.fields.as_ref()?, &settings));
        // Nothing new: the picture stays.
        let Some(made) = made else { continue };
        let Some((arrows, colors)) = made else {
            explain(&mut commands, entity, &mut visibility, false, None);
            continue;
        };
        if drawn.colors != Some(colors) {
            drawn.shades.resize(SHADES, None);
            for (shade, material) in drawn.shades.iter_mut().enumerate() {
                put(&mut materials, material, paint(&colors, shade));
            }
            drawn.colors = Some(colors);
        }
        let mesh = drawn.mesh.get_or_insert_with(|| meshes.add(arrow::mesh())).clone();
        let longest = arrows.iter().map(|(_, velocity)| velocity.length()).fold(f32::MIN_POSITIVE, f32::max);
        for (i, (tail, velocity)) in arrows.iter().enumerate() {
            let speed = velocity.length();
            let transform = Transform {
                translation: stage.place(*tail),
                rotation: Quat::from_rotation_arc(Vec3::Y, velocity.try_normalize().unwrap_or(Vec3::Y)),
                scale: Vec3::splat(settings.length * speed / longest),
            };
            let shade = (colors.fraction(speed).clamp(0.0, 1.0) * SHADES as f32) as usize;
            let shade = drawn.shades.get(shade.min(SHADES - 1)).cloned().flatten().unwrap_or_default();
            match drawn.arrows.get(i).map(|arrow| kept.get_mut(*arrow)) {
                Some(Ok((mut place, mut material))) => {
                    place.set_if_neq(transform);
                    material.set_if_neq(MeshMaterial3d(shade));
                }
                _ => {
                    let arrow = (Arrow, Mesh3d(mesh.clone()), MeshMaterial3d(shade), transform);
                    let arrow = commands.spawn((arrow, Pickable::IGNORE, ChildOf(entity))).id();
                    drawn.arrows.truncate(i);
                    drawn.arrows.push(arrow);
                }
            }
        }
        for surplus in drawn.arrows.drain(arrows.len()..) {
            commands.entity(surplus).despawn();
        }
        explain(&mut commands, entity, &mut visibility, true, Some(ColorBar { quantity: SPEED, colors }));
    }
}

fn paint(colors: &Colors, shade: usize) -> StandardMaterial {
    let value = colors.value((shade as f32 + 0.5) / SHADES as f32);
    let [r, g, b] = colors.of(value);
    StandardMaterial { base_color: Color::srgb_u8(r, g, b), unlit: true, ..default() }
}
