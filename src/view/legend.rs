//! What tells the viewer what he sees, drawn over the finished frame: title, time, colour bars with units.
//! Must not know Bevy's world or the simulation.

use super::draw::Colors;
use crate::output::OutputError;
use crate::output::canvas::{Align, Canvas, Color};
use crate::output::scale::{Scale, exponent_of};
use crate::units::Quantity;

const TEXT: Color = [236, 238, 242];
const FAINT: Color = [168, 174, 184];

/// A colour bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What the colours mean.
    pub quantity: Quantity,
    /// The colours.
    pub colors: Colors,
}

/// What is written over a frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Legend {
    /// First line.
    pub title: String,
    /// Second line.
    pub subtitle: String,
    /// Bottom line.
    pub status: String,
    /// Colour bars, from the bottom right to the left.
    pub bars: Vec<Bar>,
}

/// Draws the legend over a frame of four bytes a pixel; the frame comes back with three.
///
/// # Errors
/// The number of bytes is not that of the size.
pub fn over(frame: &[u8], [width, height]: [u32; 2], legend: &Legend) -> Result<Canvas, OutputError> {
    let mut canvas = Canvas::over_rgba(width as usize, height as usize, frame)?;
    // Sizes that suit 720 lines, in proportion.
    let s = f64::from(height) / 720.0;
    canvas.text([24.0 * s, 40.0 * s], Align::Left, 26.0 * s, TEXT, &legend.title);
    canvas.text([24.0 * s, 66.0 * s], Align::Left, 17.0 * s, FAINT, &legend.subtitle);
    canvas.text([24.0 * s, f64::from(height) - 22.0 * s], Align::Left, 17.0 * s, FAINT, &legend.status);
    for (i, bar) in legend.bars.iter().enumerate() {
        let x = f64::from(width) - (120.0 + 190.0 * i as f64) * s;
        draw_bar(&mut canvas, bar, x, [110.0 * s, f64::from(height) - 70.0 * s], s);
    }
    Ok(canvas)
}

fn draw_bar(canvas: &mut Canvas, bar: &Bar, x: f64, [top, bottom]: [f64; 2], s: f64) {
    let scale = Scale::linear(f64::from(bar.colors.low), f64::from(bar.colors.high));
    let width = 16.0 * s;
    for y in top as i64..bottom as i64 {
        let share = (bottom - y as f64) / (bottom - top);
        let value = scale.low + share * (scale.high - scale.low);
        canvas.fill(x as i64, y, width as i64, 1, bar.colors.of(value as f32));
    }
    let (ticks, exponent) = scale.ticks(5);
    for tick in ticks.iter().filter(|tick| !tick.label.is_empty()) {
        let y = bottom - scale.fraction(tick.value) * (bottom - top);
        canvas.fill((x + width) as i64, y as i64, (5.0 * s) as i64, 1.max(s as i64), TEXT);
        canvas.text([x + width + 9.0 * s, y + 5.0 * s], Align::Left, 15.0 * s, TEXT, &tick.label);
    }
    let Quantity { name, symbol, unit, .. } = &bar.quantity;
    let power = if exponent == 0 { String::new() } else { format!("10^{exponent} ") };
    canvas.text([x + width, top - 30.0 * s], Align::Center, 15.0 * s, TEXT, &format!("{name} {symbol}"));
    let unit = if unit.is_empty() && power.is_empty() { String::new() } else { format!("{power}{unit}") };
    canvas.text([x + width, top - 11.0 * s], Align::Center, 14.0 * s, FAINT, &unit);
    // The ticks take out a power of ten that fits the larger end.
    debug_assert!(
        exponent == 0 || (exponent - exponent_of(scale.high.abs().max(scale.low.abs()))).abs() <= 3
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::color::Map;

    #[test]
    fn the_bar_has_its_colours_and_the_picture_its_size() {
        let size = [640_u32, 360_u32];
        let frame = vec![0_u8; (4 * size[0] * size[1]) as usize];
        let colors = Colors { map: Map::Viridis, low: 0.0, high: 2000.0, log: false };
        let quantity = Quantity::new("speed", "speed", "c", "m/s");
        let legend = Legend { title: "x".into(), bars: vec![Bar { quantity, colors }], ..Legend::default() };
        let canvas = over(&frame, size, &legend).unwrap();
        assert_eq!((canvas.width(), canvas.height()), (640, 360));
        let s = 0.5;
        let x = (640.0 - 120.0 * s + 4.0) as usize;
        let [high, low] = [canvas.pixel(x, 57).unwrap(), canvas.pixel(x, 322).unwrap()];
        let near = |a: Color, b: Color| a.iter().zip(b).all(|(&a, b)| a.abs_diff(b) < 6);
        assert!(
            near(high, Map::Viridis.color(1.0)) && near(low, Map::Viridis.color(0.0)),
            "{high:?} {low:?}"
        );
        assert!(over(&frame[1..], size, &legend).is_err());
    }
}
