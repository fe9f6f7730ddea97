//! Particles, from one persistent storage buffer of 16 bytes each that is written only when the snapshot changes.
//! Must not know devices or physics.
//!
//! | file | is |
//! |---|---|
//! | this | the settings, what the colours mean, the count |
//! | [`upload`] | the way of bytes into persistent buffers, without making one |
//! | [`gpu`] | buffers and pipelines of the render world, the draw call |
//!
//! Accuracy: opacity below 1 of opaque particles is a screen door (each pixel of a particle is there or not), since
//! millions are not sorted by depth; the disc of an impostor has the depth of its middle.

mod gpu;
#[cfg(test)]
mod tests;
mod upload;

pub use gpu::{buffers, buffers_made, uploads};

use super::color::{Categories, categorical};
use super::{ColorBar, ColorScale, Colors, Range};
use crate::scene::Model;
use crate::sim::{Paint, Snapshot};
use crate::units::Quantity;
use crate::view::document::Document;
use crate::view::flow::{Flow, Stamp};
use crate::view::simulation::Wanted;
use bevy::prelude::*;
use bevy::render::renderer::RenderDevice;
use std::fmt;

/// Bytes of a drawn particle.
const STRIDE: u64 = 16;
/// Values that an automatic range is taken from, about: enough for its percentiles, and quick with millions.
const SAMPLES: usize = 16_384;

/// How particles are drawn. There is one buffer of particles: of several visible clouds the first is drawn.
#[derive(Debug, Clone, PartialEq, Component)]
#[require(ParticleCount, Shown)]
pub struct ParticleCloud {
    /// Whether they are drawn at all.
    pub visible: bool,
    /// Particles that are asked for, at most.
    pub most: usize,
    /// What they are coloured by.
    pub paint: ParticlePaint,
    /// Colours of amounts; codes (species, origin) have their own.
    pub scale: ColorScale,
    /// Radius of impostors, units of the picture (the domain's longest edge is 2).
    pub radius: f32,
    /// Smallest diameter of impostors, pixels; below 1.5 some would fall between the pixels.
    pub min_pixels: f32,
    /// Opacity, 0 to 1; the brightness of additive particles.
    pub opacity: f32,
    /// Shape.
    pub style: ParticleStyle,
    /// How they cover what is behind.
    pub blend: ParticleBlend,
}

impl Default for ParticleCloud {
    fn default() -> Self {
        Self {
            visible: true,
            most: 200_000,
            paint: ParticlePaint::default(),
            scale: ColorScale::default(),
            radius: 0.003,
            min_pixels: 1.5,
            opacity: 1.0,
            style: ParticleStyle::default(),
            blend: ParticleBlend::default(),
        }
    }
}

/// What particles are coloured by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParticlePaint {
    /// The particle's own value.
    Value(Paint),
    /// The field of that key in the particle's cell; grey where it has no value.
    Field(String),
}

impl Default for ParticlePaint {
    fn default() -> Self {
        Self::Value(Paint::Speed)
    }
}

/// Shape of a particle in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ParticleStyle {
    /// A disc that faces the camera, shaded like a ball where it is large enough to see.
    #[default]
    Impostor,
    /// One pixel: the quickest.
    Points,
}

/// How particles cover what is behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ParticleBlend {
    /// The nearest one is seen.
    #[default]
    Opaque,
    /// Their light adds up: dense gas is bright.
    Additive,
}

/// How many of the particles are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Component)]
pub struct ParticleCount {
    /// Drawn.
    pub drawn: u64,
    /// In the simulation.
    pub all: u64,
}

impl fmt::Display for ParticleCount {
    /// "1.0 M of 12.5 M drawn".
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |n: u64| match n {
            0..10_000 => n.to_string(),
            10_000..1_000_000 => format!("{:.0} k", n as f64 / 1e3),
            1_000_000..1_000_000_000 => format!("{:.1} M", n as f64 / 1e6),
            _ => format!("{:.2} G", n as f64 / 1e9),
        };
        write!(to, "{} of {} drawn", short(self.drawn), short(self.all))
    }
}

/// What the colours of a cloud mean, for the newest snapshot.
#[derive(Debug, Clone, PartialEq, Default, Component)]
pub struct Shown {
    stamp: Stamp,
    coloring: Coloring,
    /// What the values of its snapshot are.
    paint: Paint,
}

/// How a number becomes a colour.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Coloring {
    /// There is nothing to tell yet.
    #[default]
    Grey,
    Values(Colors),
    Codes,
    Cells(Colors),
}

/// Draws [`ParticleCloud`]s.
pub struct ParticlePlugin;

impl Plugin for ParticlePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, explain);
        gpu::build(app);
    }
}

/// What is told of a snapshot.
struct Told {
    coloring: Coloring,
    quantity: Option<Quantity>,
    count: ParticleCount,
    paint: Paint,
}

/// Says what the clouds need, and what their colours mean.
fn explain(
    flow: Option<Res<Flow>>,
    device: Option<Res<RenderDevice>>,
    document: Option<Res<Document>>,
    mut wanted: Option<ResMut<Wanted>>,
    mut clouds: Query<(Entity, Ref<ParticleCloud>, &mut Shown, &mut ParticleCount)>,
    mut commands: Commands,
) {
    let most = device.map_or(usize::MAX, |device| gpu::most(&device));
    for (entity, cloud, mut shown, mut count) in &mut clouds {
        if cloud.visible
            && let Some(wanted) = wanted.as_mut()
        {
            want(&cloud, most, wanted);
        }
        if cloud.is_changed() {
            shown.stamp = Stamp::default();
            if !cloud.visible {
                commands.entity(entity).remove::<(ColorBar, Categories)>();
            }
        }
        let Some(flow) = flow.as_ref().filter(|_| cloud.visible) else { continue };
        let mut stamp = shown.stamp;
        let Some(told) = flow.read_new(&mut stamp, |snapshot| tell(&cloud, snapshot, most)) else { continue };
        *shown = Shown { stamp, coloring: told.coloring, paint: told.paint };
        count.set_if_neq(told.count);
        let mut entity = commands.entity(entity);
        match (told.coloring, told.quantity) {
            (Coloring::Values(colors) | Coloring::Cells(colors), Some(quantity)) => {
                entity.insert(ColorBar { quantity, colors }).remove::<Categories>();
            }
            (Coloring::Codes, Some(quantity)) => {
                let names = names(told.paint, document.as_deref());
                entity.insert(Categories { quantity, names }).remove::<ColorBar>();
            }
            _ => {
                entity.remove::<(ColorBar, Categories)>();
            }
        }
    }
}

fn want(cloud: &ParticleCloud, most: usize, wanted: &mut Wanted) {
    let request = &mut wanted.0;
    request.particles = request.particles.max(cloud.most.min(most));
    match &cloud.paint {
        ParticlePaint::Value(paint) => request.paint = *paint,
        ParticlePaint::Field(_) => request.fields = true,
    }
}

/// The colours of a snapshot. Its values are what it says they are, even while another paint has been ordered.
fn tell(cloud: &ParticleCloud, snapshot: &Snapshot, most: usize) -> Told {
    let (coloring, quantity) = match &cloud.paint {
        ParticlePaint::Value(_) if snapshot.paint.is_code() => {
            (Coloring::Codes, Some(snapshot.paint.quantity()))
        }
        ParticlePaint::Value(paint) => {
            // A locked range was chosen for the paint that was ordered.
            let range = if *paint == snapshot.paint { cloud.scale.range } else { Range::Auto };
            let values = sample(&snapshot.drawn).map(|particle| particle.value);
            let colors = ColorScale { range, ..cloud.scale }.resolve(values);
            (colors.map_or(Coloring::Grey, Coloring::Values), Some(snapshot.paint.quantity()))
        }
        ParticlePaint::Field(key) => {
            let column = snapshot.fields.as_ref().and_then(|fields| fields.column(key));
            let colors = column.and_then(|column| cloud.scale.resolve(sample(&column.values).copied()));
            let quantity = column.map(|column| column.quantity.clone());
            (colors.map_or(Coloring::Grey, Coloring::Cells), quantity)
        }
    };
    let drawn = snapshot.drawn.len().min(most) as u64;
    Told {
        coloring,
        quantity,
        count: ParticleCount { drawn, all: snapshot.particles },
        paint: snapshot.paint,
    }
}

/// At most some [`SAMPLES`] of the values, evenly spread.
fn sample<T>(all: &[T]) -> impl Iterator<Item = &T> {
    all.iter().step_by(all.len().div_ceil(SAMPLES).max(1))
}

/// Names and colours of the codes.
fn names(paint: Paint, document: Option<&Document>) -> Vec<(String, [u8; 3])> {
    let names: Vec<String> = if paint == Paint::Origin {
        Paint::ORIGINS.iter().map(|name| (*name).to_string()).collect()
    } else if let Some(document) = document {
        let Model::Gas(gas) = &document.scene.model;
        gas.gas.species.iter().map(|species| species.name.clone()).collect()
    } else {
        // Pictures without a document: a gas has at least one species.
        vec!["species 0".to_string()]
    };
    names.into_iter().enumerate().map(|(code, name)| (name, code_color(paint, code))).collect()
}

/// Colour of a code. "From the start" is the neutral colour; species begin with the first strong one.
fn code_color(paint: Paint, code: usize) -> [u8; 3] {
    categorical(if paint == Paint::Origin { code } else { code + 1 })
}
