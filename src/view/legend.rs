//! What tells the viewer what he sees, drawn over the finished frame: title, time, scale bar, colour bars with units.
//! Must not know the simulation.

use super::capture::Frame;
use super::draw::domain::{DomainFrame, scale_bar};
use super::draw::particles::ParticleCount;
use super::draw::{Categories, ColorBar};
use super::flow::Flow;
use super::stage::Stage;
use crate::output::OutputError;
use crate::output::canvas::{Align, Canvas, Color};
use crate::sim::{Phase, Snapshot};
use crate::units::{Quantity, si};
use bevy::prelude::*;

const TEXT: Color = [236, 238, 242];
const FAINT: Color = [168, 174, 184];

/// The title of pictures: the name of the scene.
#[derive(Debug, Clone, Default, PartialEq, Eq, Resource)]
pub struct Title(pub String);

/// What is written over a frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Legend {
    /// First line.
    pub title: String,
    /// Second line.
    pub subtitle: String,
    /// Bottom line.
    pub status: String,
    /// Colour bars, from the right to the left.
    pub bars: Vec<ColorBar>,
    /// Kinds and their colours, left of the bars.
    pub categories: Vec<Categories>,
}

impl Legend {
    /// What there is to say about the world as it was drawn last.
    pub fn gather(world: &mut World) -> Self {
        let mut bars = world.query::<&ColorBar>();
        let mut bars: Vec<ColorBar> = bars.iter(world).cloned().collect();
        // Several slices of one field share a bar.
        bars.sort_by(|a, b| a.quantity.key.cmp(&b.quantity.key));
        bars.dedup();
        let title = world.get_resource::<Title>().cloned().unwrap_or_default().0;
        let mut categories = world.query::<&Categories>();
        let categories: Vec<Categories> = categories.iter(world).cloned().collect();
        let mut counts = world.query::<&ParticleCount>();
        let drawn = counts
            .iter(world)
            .filter(|count| count.drawn > 0)
            .map(ParticleCount::to_string)
            .collect::<Vec<_>>();
        let drawn = if drawn.is_empty() { String::new() } else { format!("particles: {}", drawn.join(", ")) };
        let framed = world.query::<&DomainFrame>().iter(world).any(|frame| frame.visible && frame.scale_bar);
        let scale = world.get_resource::<Stage>().filter(|_| framed).map(|stage| scale_bar(stage).1);
        let told = world
            .get_resource::<Flow>()
            .and_then(|flow| flow.read(|snapshot| (subtitle(snapshot), loads(snapshot))));
        let (subtitle, loads) = told.unwrap_or_default();
        let status = [drawn, scale.map(|scale| format!("bar: {scale}")).unwrap_or_default(), loads];
        let status = status.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("    ");
        Self { title, subtitle, status, bars, categories }
    }

    /// Draws the legend over a frame; it comes back with three bytes a pixel.
    ///
    /// # Errors
    /// The number of bytes is not that of the size.
    pub fn over(&self, frame: &Frame) -> Result<Canvas, OutputError> {
        let [width, height] = frame.size;
        let mut canvas = Canvas::over_rgba(width as usize, height as usize, &frame.rgba)?;
        // Sizes that suit 720 lines, in proportion; upright pictures go by their width.
        let s = f64::from(height.min(width * 9 / 16)) / 720.0;
        let s = s.max(0.35);
        canvas.text([24.0 * s, 40.0 * s], Align::Left, 26.0 * s, TEXT, &self.title);
        canvas.text([24.0 * s, 66.0 * s], Align::Left, 17.0 * s, FAINT, &self.subtitle);
        canvas.text([24.0 * s, f64::from(height) - 22.0 * s], Align::Left, 17.0 * s, FAINT, &self.status);
        // One column at the right edge, its height shared out.
        let count = self.bars.len() + self.categories.len();
        let each = (f64::from(height) - 90.0 * s) / count.max(1) as f64;
        let x = f64::from(width) - 84.0 * s;
        for (i, bar) in self.bars.iter().enumerate() {
            let top = 64.0 * s + each * i as f64;
            draw_bar(&mut canvas, bar, x, [top, top + (each - 72.0 * s).min(420.0 * s)], s);
        }
        for (i, kinds) in self.categories.iter().enumerate() {
            let top = 64.0 * s + each * (self.bars.len() + i) as f64;
            draw_kinds(&mut canvas, kinds, f64::from(width) - 230.0 * s, top, s);
        }
        Ok(canvas)
    }
}

fn draw_kinds(canvas: &mut Canvas, kinds: &Categories, x: f64, top: f64, s: f64) {
    canvas.text([x, top - 11.0 * s], Align::Left, 15.0 * s, TEXT, &kinds.quantity.name);
    for (i, (name, color)) in kinds.names.iter().enumerate() {
        let y = top + 24.0 * s * i as f64;
        canvas.fill(x as i64, y as i64, (14.0 * s) as i64, (14.0 * s) as i64, *color);
        canvas.text([x + 22.0 * s, y + 12.0 * s], Align::Left, 15.0 * s, TEXT, name);
    }
}

fn subtitle(snapshot: &Snapshot) -> String {
    let phase = match snapshot.phase {
        Phase::Transient => "transient".to_string(),
        Phase::Sampling { samples, .. } => format!("mean of {samples} samples"),
    };
    format!("t = {}, step {}, {phase}", si(snapshot.time_s, "s"), snapshot.step)
}

/// Drag coefficients, once they have an error.
fn loads(snapshot: &Snapshot) -> String {
    let drag = |surface: &crate::sim::Surface| {
        let drag = surface.loads.as_ref()?.drag_coefficient?;
        drag.error
            .is_finite()
            .then(|| format!("{}: C_D {:.3} +- {:.3}", surface.name, drag.value, drag.error))
    };
    snapshot.surfaces.iter().filter_map(drag).collect::<Vec<_>>().join("    ")
}

fn draw_bar(canvas: &mut Canvas, bar: &ColorBar, x: f64, [top, bottom]: [f64; 2], s: f64) {
    let scale = bar.colors.scale();
    let width = 16.0 * s;
    for y in top as i64..bottom as i64 {
        let fraction = (bottom - y as f64) / (bottom - top);
        canvas.fill(x as i64, y, width as i64, 1, bar.colors.of(bar.colors.value(fraction as f32)));
    }
    // As many ticks as have room.
    let room = ((bottom - top) / (34.0 * s)) as usize;
    let (ticks, exponent) = scale.ticks(room.clamp(2, 6));
    for tick in ticks.iter().filter(|tick| !tick.label.is_empty()) {
        let y = bottom - scale.fraction(tick.value) * (bottom - top);
        canvas.fill((x + width) as i64, y as i64, (5.0 * s) as i64, 1.max(s as i64), TEXT);
        canvas.text([x + width + 9.0 * s, y + 5.0 * s], Align::Left, 15.0 * s, TEXT, &tick.label);
    }
    // Titles end at the picture's edge.
    let right = canvas.width() as f64 - 12.0 * s;
    let Quantity { name, symbol, unit, .. } = &bar.quantity;
    canvas.text([right, top - 28.0 * s], Align::Right, 15.0 * s, TEXT, &format!("{name} {symbol}"));
    let power = if exponent == 0 { String::new() } else { format!("10^{exponent} ") };
    canvas.text([right, top - 11.0 * s], Align::Right, 14.0 * s, FAINT, &format!("{power}{unit}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::color::Map;
    use crate::view::draw::Colors;

    #[test]
    fn the_bar_has_its_colours_and_the_picture_its_size() {
        let size = [640_u32, 360_u32];
        let frame = Frame { number: 1, size, rgba: vec![0; (4 * size[0] * size[1]) as usize] };
        let colors = Colors { map: Map::Viridis, low: 0.0, high: 2000.0, log: false };
        let quantity = Quantity::new("speed", "speed", "c", "m/s");
        let legend =
            Legend { title: "x".into(), bars: vec![ColorBar { quantity, colors }], ..Legend::default() };
        let canvas = legend.over(&frame).unwrap();
        assert_eq!((canvas.width(), canvas.height()), (640, 360));
        let s = 0.5;
        let x = (640.0 - 84.0 * s + 4.0) as usize;
        // One bar: from 64 points below the top, 420 long at most.
        let [high, low] = [canvas.pixel(x, 33).unwrap(), canvas.pixel(x, 240).unwrap()];
        let near = |a: Color, b: Color| a.iter().zip(b).all(|(&a, b)| a.abs_diff(b) < 6);
        assert!(
            near(high, Map::Viridis.color(1.0)) && near(low, Map::Viridis.color(0.0)),
            "{high:?} {low:?}"
        );
        let short = Frame { rgba: vec![0; 8], ..frame };
        assert!(legend.over(&short).is_err());
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten() {
        let ticks = |low, high| {
            let colors = Colors { map: Map::Viridis, low, high, log: true };
            let (ticks, _) = colors.scale().ticks(5);
            ticks.into_iter().filter(|tick| !tick.label.is_empty()).map(|tick| tick.value).collect::<Vec<_>>()
        };
        assert_eq!(ticks(5.0, 2e4), [10.0, 100.0, 1000.0, 10_000.0]);
        assert_eq!(ticks(2.0, 8.0).len(), 3);
    }
}
