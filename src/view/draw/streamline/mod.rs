//! Streamlines of the mean velocity, as tubes with arrowheads, coloured by the speed or by any field.
//! Must not know devices or physics.

pub mod seeds;
pub mod trace;
pub mod tube;

pub use seeds::Seeds;

use super::background::{self, Background, Computed, Made};
use super::sample::Sampler;
use super::{ColorBar, ColorScale, slice};
use crate::sim::Fields;
use crate::units::Quantity;
use crate::view::stage::Stage;
use bevy::prelude::*;
use trace::{Tracing, trace};
use tube::Tubes;

/// Keys of the mean velocity.
pub const VELOCITY: [&str; 3] = ["velocity_x", "velocity_y", "velocity_z"];
/// What streamlines are coloured by if by no column of the fields.
pub const SPEED: Quantity = Quantity::new("speed", "speed of the flow", "|u|", "m/s");
/// Speed at which the flow counts as standing, as part of the highest of all cells.
const STANDS: f64 = 1e-3;

/// Streamlines of the mean velocity.
#[derive(Debug, Clone, PartialEq, Component)]
#[require(Background<Self>, Transform, Visibility, Pickable = Pickable::IGNORE)]
pub struct Streamlines {
    /// Whether they are drawn.
    pub visible: bool,
    /// Where they go through.
    pub seeds: Seeds,
    /// Whether they are followed against the flow too.
    pub both_ways: bool,
    /// Length of a step, as part of the shortest edge of a cell.
    pub step: f64,
    /// Steps at most, each way.
    pub steps: u32,
    /// Radius of the tubes, units of the picture (the domain's longest edge is 2).
    pub radius: f32,
    /// Key of the field that colours them, or "speed".
    pub color_by: String,
    /// From its values to colours.
    pub colors: ColorScale,
}

impl Default for Streamlines {
    fn default() -> Self {
        Self {
            visible: true,
            seeds: Seeds::Upstream([8, 8]),
            both_ways: true,
            step: 0.25,
            steps: 4000,
            radius: 0.005,
            color_by: SPEED.key.into(),
            colors: ColorScale::default(),
        }
    }
}

/// Draws streamlines.
pub struct StreamlinePlugin;

impl Plugin for StreamlinePlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, background::update::<Streamlines>);
    }
}

impl Computed for Streamlines {
    fn visible(&self) -> bool {
        self.visible
    }

    fn fields(&self) -> Vec<String> {
        VELOCITY.into_iter().chain([self.color_by.as_str()]).map(String::from).collect()
    }

    fn compute(&self, fields: &Fields, stage: &Stage) -> Option<Made> {
        let [u, v, w] = VELOCITY.map(|key| fields.column(key).map(|column| column.values.as_slice()));
        let (u, v, w) = (u?, v?, w?);
        let velocity = [Sampler::new(fields, u)?, Sampler::new(fields, v)?, Sampler::new(fields, w)?];
        let at = |point: [f64; 3]| {
            let [u, v, w] = velocity.map(|along| along.at(point, true));
            Some([u?, v?, w?].map(f64::from))
        };
        let speeds = || u.iter().zip(v).zip(w).map(|((u, v), w)| (u * u + v * v + w * w).sqrt());
        let how = self.tracing(fields, f64::from(speeds().filter(|c| c.is_finite()).fold(0.0, f32::max)));

        let column = fields.column(&self.color_by);
        let bar = match column {
            Some(_) => slice::bar(fields, &self.color_by, &self.colors)?,
            None => ColorBar { quantity: SPEED, colors: self.colors.resolve(speeds())? },
        };
        let colors = bar.colors;
        let painted = column.and_then(|column| Sampler::new(fields, &column.values));
        let value = |point: [f64; 3]| match &painted {
            Some(field) => field.at(point, true),
            None => at(point).map(|u| u.iter().map(|u| u * u).sum::<f64>().sqrt() as f32),
        };

        let mut tubes = Tubes::new(self.radius);
        for seed in self.seeds.points(fields) {
            let mut points = Vec::new();
            if self.both_ways {
                points = trace(seed, true, how, at).0;
                points.reverse();
                points.pop();
            }
            points.extend(trace(seed, false, how, at).0);
            let line = points.into_iter().map(|point| {
                let color = value(point).map_or([0.5, 0.5, 0.5, 1.0], |value| colors.linear(value));
                (stage.place(point), color)
            });
            tubes.push(&line.collect::<Vec<_>>());
        }
        Some(Made { mesh: tubes.mesh()?, bar: Some(bar) })
    }

    fn material(&self) -> StandardMaterial {
        // The tubes have their shades in their colours.
        StandardMaterial { unlit: true, ..default() }
    }
}

impl Streamlines {
    fn tracing(&self, fields: &Fields, fastest: f64) -> Tracing {
        let edge =
            (0..3).map(|a| fields.size_m[a] / f64::from(fields.cells[a].max(1))).fold(f64::MAX, f64::min);
        Tracing {
            step_m: self.step.clamp(0.01, 2.0) * edge,
            steps: self.steps as usize,
            slowest: STANDS * fastest,
        }
    }
}

#[cfg(test)]
mod tests;
