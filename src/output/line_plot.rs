//! The picture of a history: one quantity against time.
//! Must not know files, devices or how the history came about.

use super::canvas::{Align, Canvas, Color};
use super::error::OutputError;
use super::scale::Scale;
use super::slice_plot::{INK, Range};
use crate::sim::History;
use crate::units::Quantity;

const CURVE: Color = [33, 102, 172];
const GRID: Color = [226, 228, 231];
const FAINT: Color = [110, 116, 124];

/// Draws column `key` of a history against its column `time`, or against the first column if there is no such.
///
/// Errors: [`OutputError::Request`] for an unknown column (lists those there are) and one without numbers.
pub fn draw(
    history: &History,
    key: &str,
    range: Range,
    width: usize,
    subtitle: &str,
) -> Result<Canvas, OutputError> {
    let at = |key: &str| history.columns.iter().position(|column| column.key == key);
    let Some(column) = at(key) else {
        let known: Vec<&str> = history.columns.iter().map(|c| c.key.as_ref()).collect();
        let known = known.join(", ");
        return Err(OutputError::Request(format!("there is no column \"{key}\"; there are: {known}")));
    };
    let time = at("time").or(at("time_s")).unwrap_or(0);
    let rows = history.values.chunks_exact(history.columns.len());
    let points: Vec<[f64; 2]> = rows.map(|row| [row[time], row[column]]).collect();
    let sound = || points.iter().filter(|p| p[0].is_finite() && p[1].is_finite());
    if sound().next().is_none() {
        return Err(OutputError::Request(format!("column \"{key}\" has no numbers yet; run more steps")));
    }
    let ends = |a: usize| {
        let fold = |(low, high): (f64, f64), p: &[f64; 2]| (low.min(p[a]), high.max(p[a]));
        sound().fold((f64::INFINITY, f64::NEG_INFINITY), fold)
    };
    let (from, to) = ends(0);
    let horizontal = Scale::linear(from, to);
    let vertical = match range {
        Range::Given(low, high) => Scale::linear(low, high),
        Range::Full | Range::Robust => {
            let (low, high) = ends(1);
            let margin = 0.05 * (high - low);
            Scale::linear(low - margin, high + margin)
        }
    };

    let s = width.max(300) as f64 / 1000.0;
    let [x0, y0, w, h] = [130.0 * s, 92.0 * s, 830.0 * s, 430.0 * s].map(f64::round);
    let mut canvas = Canvas::new((1000.0 * s) as usize, (600.0 * s) as usize, [255; 3])?;
    let area = [x0 as i64, y0 as i64, w as i64, h as i64];
    let widest = frame(&mut canvas, [x0, y0, w, h], [&horizontal, &vertical], s);
    let quantity = [&history.columns[time], &history.columns[column]];
    let labels = [&horizontal, &vertical].map(|scale| scale.ticks(6).1);
    let label = |a: usize| label(quantity[a], labels[a]);
    canvas.text([x0 + 0.5 * w, y0 + h + 62.0 * s], Align::Center, 21.0 * s, INK, &label(0));
    canvas.text_upwards([x0 - widest - 26.0 * s, y0 + 0.5 * h], Align::Center, 21.0 * s, INK, &label(1));
    canvas.text([x0, 38.0 * s], Align::Left, 27.0 * s, INK, quantity[1].label().trim_end());
    canvas.text([x0, 66.0 * s], Align::Left, 18.0 * s, FAINT, subtitle);
    let place = |p: &[f64; 2]| [x0 + horizontal.fraction(p[0]) * w, y0 + (1.0 - vertical.fraction(p[1])) * h];
    for pair in points.windows(2) {
        if pair.iter().flatten().all(|v| v.is_finite()) {
            canvas.line(place(&pair[0]), place(&pair[1]), 2.2 * s, CURVE, area);
        }
    }
    if points.len() == 1 {
        canvas.line(place(&points[0]), place(&points[0]), 8.0 * s, CURVE, area);
    }
    Ok(canvas)
}

/// Frame, grid and tick labels; returns the width of the widest label on the left.
fn frame(canvas: &mut Canvas, [x0, y0, w, h]: [f64; 4], scales: [&Scale; 2], s: f64) -> f64 {
    let mut widest = 0.0_f64;
    let line = (1.3 * s).round().max(1.0) as i64;
    for (a, scale) in scales.into_iter().enumerate() {
        for mark in scale.ticks(6).0 {
            let part = scale.fraction(mark.value);
            let (x, y) = (x0 + part * w, y0 + (1.0 - part) * h);
            if a == 0 {
                canvas.fill(x.round() as i64, y0 as i64, line, h as i64, GRID);
                canvas.text([x, y0 + h + 28.0 * s], Align::Center, 20.0 * s, INK, &mark.label);
            } else {
                canvas.fill(x0 as i64, y.round() as i64, w as i64, line, GRID);
                canvas.text([x0 - 12.0 * s, y + 7.0 * s], Align::Right, 20.0 * s, INK, &mark.label);
                widest = widest.max(canvas.measure(20.0 * s, &mark.label));
            }
        }
    }
    canvas.frame(x0 as i64, y0 as i64, w as i64, h as i64, line, INK);
    widest
}

fn label(quantity: &Quantity, exponent: i32) -> String {
    let times = if exponent == 0 { String::new() } else { format!("10^{exponent}") };
    let parts = [times, quantity.unit.to_string()].into_iter().filter(|part| !part.is_empty());
    let unit = parts.collect::<Vec<_>>().join(" ");
    if unit.is_empty() { quantity.name.to_string() } else { format!("{} [{unit}]", quantity.name) }
}
