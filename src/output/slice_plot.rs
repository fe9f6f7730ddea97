//! The picture of a slice: cells to scale, axes in metres, title, colour bar with units.
//! Must not know files, devices or how the field came about.

use super::canvas::{Align, Canvas, Color};
use super::color::Map;
use super::error::OutputError;
use super::scale::{Scale, length_unit};
use super::slice::{AXES, Layer};
use crate::units::Quantity;

/// How the range of the colours is found.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Range {
    /// From the values, without the 0.5 % smallest and largest: single noisy cells do not fade the rest.
    #[default]
    Robust,
    /// From the smallest to the largest value.
    Full,
    /// Given.
    Given(f64, f64),
}

impl std::str::FromStr for Range {
    type Err = OutputError;

    /// Reads "auto", "full" or "100..400".
    fn from_str(text: &str) -> Result<Self, OutputError> {
        let wrong = |why: &str| {
            OutputError::Request(format!("range \"{text}\" {why}; write it as 100..400, full or auto"))
        };
        match text {
            "auto" => return Ok(Self::Robust),
            "full" => return Ok(Self::Full),
            _ => {}
        }
        let (low, high) = text.split_once("..").ok_or_else(|| wrong("is not understood"))?;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|v| v.is_finite());
        let (Some(low), Some(high)) = (number(low), number(high)) else {
            return Err(wrong("is not two numbers"));
        };
        if low < high { Ok(Self::Given(low, high)) } else { Err(wrong("does not run upwards")) }
    }
}

/// How a slice is drawn.
#[derive(Debug, Clone)]
pub struct Style {
    /// Range of the colours.
    pub range: Range,
    /// Logarithmic colours; values that are not above 0 are then drawn as missing.
    pub log: bool,
    /// Colour map; `None` takes the diverging one about 0 where values of both signs matter, else viridis.
    pub map: Option<Map>,
    /// Width of the picture, pixels, at least 300.
    pub width: usize,
    /// A second line under the title, such as the scene and its samples.
    pub subtitle: String,
}

impl Default for Style {
    fn default() -> Self {
        Self { range: Range::Robust, log: false, map: None, width: 1000, subtitle: String::new() }
    }
}

/// Colour of text and frames.
pub const INK: Color = [38, 42, 48];
const FAINT: Color = [110, 116, 124];
const NOTHING: [Color; 2] = [[222, 222, 224], [200, 200, 204]];
const OUTLINE: Color = [20, 20, 24];
const RIM: Color = [235, 235, 238];

/// Draws a layer of `quantity`, and over it `outlines`, pairs of points in the layer's axes (m).
///
/// Errors: [`OutputError::Request`] for a logarithmic range that is not above 0.
pub fn draw(
    layer: &Layer,
    quantity: &Quantity,
    outlines: &[[[f64; 2]; 2]],
    style: &Style,
) -> Result<Canvas, OutputError> {
    let (scale, map, clipped) = colors(layer, style)?;
    let width = style.width.max(300) as f64;
    let s = width / 1000.0;
    let (left, right, top, bottom) = (96.0 * s, 176.0 * s, 92.0 * s, 76.0 * s);

    // Cells to scale: as wide as there is room, but no higher than the room is wide.
    let room = width - left - right;
    let aspect = layer.size_m[1] / layer.size_m[0];
    let plot_w = if aspect > 1.15 { room * 1.15 / aspect } else { room }.max(24.0 * s).round();
    let plot_h = (plot_w * aspect).clamp(8.0 * s, 1.15 * room).round();
    let bar_h = plot_h.max(240.0 * s).round();
    let mut canvas = Canvas::new(width as usize, (top + bar_h + bottom) as usize, [255; 3])?;
    let x0 = (left + 0.5 * (room - plot_w)).round();
    let y0 = (top + 0.5 * (bar_h - plot_h)).round();

    cells(&mut canvas, layer, &scale, map, [x0, y0, plot_w, plot_h], s);
    let clip = [x0 as i64, y0 as i64, plot_w as i64, plot_h as i64];
    let place = |p: [f64; 2]| {
        let part: [f64; 2] = std::array::from_fn(|a| (p[a] - layer.corner_m[a]) / layer.size_m[a]);
        [x0 + part[0] * plot_w, y0 + (1.0 - part[1]) * plot_h]
    };
    // A pale rim keeps the dark line visible on dark colours.
    for (thickness, color) in [(4.5 * s, RIM), (2.0 * s, OUTLINE)] {
        for [from, to] in outlines {
            canvas.line(place(*from), place(*to), thickness, color, clip);
        }
    }
    axes(&mut canvas, layer, [x0, y0, plot_w, plot_h], s);
    let bar_x = x0 + plot_w + 34.0 * s;
    bar(&mut canvas, &scale, map, clipped, quantity, [bar_x, top, 24.0 * s, bar_h], s);
    title(&mut canvas, layer, quantity, style, left.min(x0), s);
    Ok(canvas)
}

/// The scale, the map, and whether values lie below and above the scale.
fn colors(layer: &Layer, style: &Style) -> Result<(Scale, Map, [bool; 2]), OutputError> {
    let whole = layer.range(0.0, style.log);
    let found = match style.range {
        Range::Given(low, high) => Some((low, high)),
        Range::Full => whole,
        Range::Robust => layer.range(0.005, style.log),
    };
    let (mut low, mut high) = found.unwrap_or(if style.log { (1.0, 10.0) } else { (0.0, 1.0) });
    if style.log && low <= 0.0 {
        let text = "a logarithmic range must lie above 0; give a larger lower end, or leave out --log";
        return Err(OutputError::Request(text.to_owned()));
    }
    // Zero in the middle helps only if both signs matter.
    let both = low < 0.0 && high > 0.0 && low.abs().min(high) > 0.25 * low.abs().max(high);
    let map = style.map.unwrap_or(if both && !style.log { Map::Diverging } else { Map::Viridis });
    if map == Map::Diverging && both && !matches!(style.range, Range::Given(..)) {
        high = high.max(-low);
        low = -high;
    }
    let mut scale = Scale::linear(low, high);
    scale.log = style.log;
    if scale.log && high <= low {
        (scale.low, scale.high) = (low / 1.5, low * 1.5);
    }
    let clipped = whole.map_or([false; 2], |(least, most)| [least < scale.low, most > scale.high]);
    Ok((scale, map, clipped))
}

fn cells(canvas: &mut Canvas, layer: &Layer, scale: &Scale, map: Map, [x0, y0, w, h]: [f64; 4], s: f64) {
    let [columns, rows] = layer.cells;
    let stripe = (5.0 * s).max(2.0);
    for y in 0..h as usize {
        let row = ((1.0 - (y as f64 + 0.5) / h) * rows as f64) as usize;
        for x in 0..w as usize {
            let column = ((x as f64 + 0.5) / w * columns as f64) as usize;
            let cell = row.min(rows.saturating_sub(1)) * columns + column.min(columns.saturating_sub(1));
            let value = layer.values.get(cell).copied().unwrap_or(f32::NAN);
            let part = scale.fraction(f64::from(value));
            let color = if part.is_nan() {
                NOTHING[usize::from((x + y) as f64 / stripe % 2.0 >= 1.0)]
            } else {
                map.color(part)
            };
            canvas.blend(x0 as i64 + x as i64, y0 as i64 + y as i64, color, 1.0);
        }
    }
}

fn axes(canvas: &mut Canvas, layer: &Layer, [x0, y0, w, h]: [f64; 4], s: f64) {
    let line = (1.3 * s).round().max(1.0) as i64;
    canvas.frame(x0 as i64, y0 as i64, w as i64, h as i64, line, INK);
    let reach = (0..2).map(|a| layer.corner_m[a].abs().max((layer.corner_m[a] + layer.size_m[a]).abs()));
    let (unit, symbol) = length_unit(reach.fold(0.0, f64::max));
    let size = 20.0 * s;
    let tick = (7.0 * s).round() as i64;
    for a in 0..2 {
        let low = layer.corner_m[a] / unit;
        let scale = Scale::linear(low, low + layer.size_m[a] / unit);
        let length = [w, h][a];
        let (ticks, exponent) = scale.ticks(((length / (90.0 * s)) as usize).clamp(1, 8));
        let (mut widest, mut last_y) = (0.0_f64, f64::INFINITY);
        for mark in ticks {
            let part = scale.fraction(mark.value);
            if a == 0 {
                let x = x0 + part * w;
                canvas.fill((x - 0.5 * line as f64).round() as i64, (y0 + h) as i64, line, tick, INK);
                canvas.text([x, y0 + h + 30.0 * s], Align::Center, size, INK, &mark.label);
            } else {
                let y = y0 + (1.0 - part) * h;
                canvas.fill(x0 as i64 - tick, (y - 0.5 * line as f64).round() as i64, tick, line, INK);
                if last_y - y < 20.0 * s {
                    continue; // a label would run into the one below it
                }
                last_y = y;
                canvas.text([x0 - 13.0 * s, y + 7.0 * s], Align::Right, size, INK, &mark.label);
                widest = widest.max(canvas.measure(size, &mark.label));
            }
        }
        let times = if exponent == 0 { String::new() } else { format!("10^{exponent} ") };
        let label = format!("{} [{times}{symbol}]", AXES[layer.axes[a]]);
        if a == 0 {
            canvas.text([x0 + 0.5 * w, y0 + h + 60.0 * s], Align::Center, 21.0 * s, INK, &label);
        } else {
            let x = x0 - 26.0 * s - widest;
            canvas.text_upwards([x, y0 + 0.5 * h], Align::Center, 21.0 * s, INK, &label);
        }
    }
}

fn bar(
    canvas: &mut Canvas,
    scale: &Scale,
    map: Map,
    [below, above]: [bool; 2],
    quantity: &Quantity,
    [x0, y0, w, h]: [f64; 4],
    s: f64,
) {
    // Pointed ends say that values lie beyond the range.
    let point = (18.0 * s).round();
    let (top, bottom) = (y0 + if above { point } else { 0.0 }, y0 + h - if below { point } else { 0.0 });
    let (left, line) = (x0.round(), (1.3 * s).max(1.0));
    for y in y0 as i64..(y0 + h) as i64 {
        let middle = y as f64 + 0.5;
        let beyond = (top - middle).max(middle - bottom).max(0.0);
        let margin = 0.5 * w * beyond / point;
        let color = map.color((bottom - middle) / (bottom - top));
        for x in 0..w as i64 {
            let inside = (x as f64 + 0.5).min(w - x as f64 - 0.5) - margin;
            canvas.blend(left as i64 + x, y, color, (inside + 0.5) as f32);
        }
    }
    let clip = [0, 0, canvas.width() as i64, canvas.height() as i64];
    let (right, middle) = (left + w, left + 0.5 * w);
    let mut outline = vec![[left, top]];
    if above {
        outline.push([middle, y0]);
    }
    outline.extend([[right, top], [right, bottom]]);
    if below {
        outline.push([middle, y0 + h]);
    }
    outline.extend([[left, bottom], [left, top]]);
    for pair in outline.windows(2) {
        canvas.line(pair[0], pair[1], line, INK, clip);
    }
    let size = 20.0 * s;
    let (ticks, exponent) = scale.ticks(((h / (60.0 * s)) as usize).clamp(2, 8));
    for mark in ticks {
        let y = bottom - scale.fraction(mark.value) * (bottom - top);
        let length = if mark.label.is_empty() { 4.0 } else { 7.0 } * s;
        canvas.line([right, y], [right + length, y], line, INK, clip);
        canvas.text([right + 12.0 * s, y + 7.0 * s], Align::Left, size, INK, &mark.label);
    }
    let times = if exponent == 0 { String::new() } else { format!("10^{exponent}") };
    let unit = [times, quantity.unit.to_string()].into_iter().filter(|t| !t.is_empty());
    let unit = unit.collect::<Vec<_>>().join(" ");
    canvas.text([left, y0 - 14.0 * s], Align::Left, size, INK, &unit);
}

fn title(canvas: &mut Canvas, layer: &Layer, quantity: &Quantity, style: &Style, x: f64, s: f64) {
    let text = format!("{}, {}", quantity.label().trim_end(), layer.place());
    canvas.text([x, 38.0 * s], Align::Left, 27.0 * s, INK, &text);
    let empty = layer.range(0.0, style.log).is_none();
    let note = if empty { "no cell of this layer has a value" } else { style.subtitle.as_str() };
    canvas.text([x, 66.0 * s], Align::Left, 18.0 * s, FAINT, note);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        assert_eq!("100..400".parse::<Range>().unwrap(), Range::Given(100.0, 400.0));
        assert_eq!("-1e3..1e3".parse::<Range>().unwrap(), Range::Given(-1e3, 1e3));
        assert_eq!("full".parse::<Range>().unwrap(), Range::Full);
        for wrong in ["4", "4..3", "a..b", "0..inf", "1..1"] {
            let text = wrong.parse::<Range>().unwrap_err().to_string();
            assert!(text.contains("write it as 100..400"), "{text}");
        }
    }
}
