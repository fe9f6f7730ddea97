//! Colour bars over the flow in the window: name, symbol, unit and ticks of everything that is coloured.
//! Must not know Bevy's world, or what is coloured.

use crate::view::draw::{Categories, ColorBar};
use bevy_egui::egui::{Align2, Color32, FontId, Mesh, Painter, Rect, Shape, Stroke, pos2, vec2};

/// Width of a bar's colours.
const WIDTH: f32 = 14.0;
/// Distance of one bar from the next.
const PITCH: f32 = 132.0;
/// From the edges of the flow's rectangle.
const MARGIN: f32 = 14.0;
/// Steps of colour in a bar.
const STEPS: usize = 64;

const TEXT: Color32 = Color32::from_rgb(236, 238, 242);
const BACK: Color32 = Color32::from_rgba_premultiplied(8, 10, 15, 190);

/// Draws the bars from the right to the left, each quantity with the same colours once; as many as there is room for.
/// Colours that stand for kinds are named in the upper right corner.
pub fn draw(painter: &Painter, free: Rect, bars: &[ColorBar], kinds: &[Categories]) {
    let mut top = free.top() + MARGIN;
    for kinds in kinds {
        top = names(painter, free, top, kinds);
    }
    let mut drawn: Vec<&ColorBar> = Vec::new();
    for bar in bars {
        if !drawn.contains(&bar) {
            drawn.push(bar);
        }
    }
    let room = ((free.width() - 2.0 * MARGIN) / PITCH).max(0.0) as usize;
    let height = (0.3 * free.height()).clamp(80.0, 200.0);
    if free.height() < height + 60.0 {
        return;
    }
    for (i, bar) in drawn.into_iter().take(room).enumerate() {
        let right = free.right() - MARGIN - PITCH * i as f32;
        let place = Rect::from_min_size(
            pos2(right - PITCH + 8.0, free.bottom() - MARGIN - height),
            vec2(WIDTH, height - 10.0),
        );
        draw_one(painter, place, bar);
    }
}

fn draw_one(painter: &Painter, place: Rect, bar: &ColorBar) {
    let back = Rect::from_min_max(place.min - vec2(6.0, 40.0), place.max + vec2(PITCH - WIDTH - 16.0, 10.0));
    painter.rect_filled(back, 4.0, BACK);
    painter.add(Shape::mesh(column(place, bar)));
    painter.rect_stroke(place, 0.0, Stroke::new(1.0, TEXT), bevy_egui::egui::StrokeKind::Outside);
    let scale = bar.colors.scale();
    let (ticks, exponent) = scale.ticks(5);
    for tick in &ticks {
        let y = place.bottom() - scale.fraction(tick.value) as f32 * place.height();
        let length = if tick.label.is_empty() { 2.0 } else { 4.0 };
        painter.hline(place.right()..=place.right() + length, y, Stroke::new(1.0, TEXT));
        if !tick.label.is_empty() {
            let at = pos2(place.right() + 7.0, y);
            painter.text(at, Align2::LEFT_CENTER, raised(&tick.label), FontId::proportional(12.0), TEXT);
        }
    }
    let (name, unit) = title(bar, exponent);
    let left = back.left() + 5.0;
    let wide = back.width() - 10.0;
    let galley = painter.layout(name, FontId::proportional(12.0), TEXT, wide);
    let symbol = painter.layout(unit, FontId::proportional(12.0), TEXT, wide);
    let top = place.top() - 8.0 - symbol.size().y;
    painter.galley(pos2(left, top), symbol, TEXT);
    painter.galley(pos2(left, top - galley.size().y - 1.0), galley, TEXT);
}

/// A name beside each colour; returns where the next such list may begin.
fn names(painter: &Painter, free: Rect, top: f32, kinds: &Categories) -> f32 {
    const LINE: f32 = 16.0;
    let back = Rect::from_min_size(
        pos2(free.right() - MARGIN - PITCH, top),
        vec2(PITCH, LINE * (kinds.names.len() + 1) as f32 + 10.0),
    );
    if back.bottom() > free.bottom() || back.left() < free.left() {
        return top;
    }
    painter.rect_filled(back, 4.0, BACK);
    let font = FontId::proportional(12.0);
    let mut at = back.min + vec2(8.0, 5.0);
    painter.text(at, Align2::LEFT_TOP, &*kinds.quantity.name, font.clone(), TEXT);
    for (name, [r, g, b]) in &kinds.names {
        at.y += LINE;
        let patch = Rect::from_min_size(at + vec2(0.0, 2.0), vec2(11.0, 11.0));
        painter.rect_filled(patch, 1.0, Color32::from_rgb(*r, *g, *b));
        painter.text(at + vec2(18.0, 0.0), Align2::LEFT_TOP, name, font.clone(), TEXT);
    }
    back.bottom() + 8.0
}

/// The two lines above a bar: the name; symbol, power of ten and unit.
pub fn title(bar: &ColorBar, exponent: i32) -> (String, String) {
    let quantity = &bar.quantity;
    // Long names carry their explanation in parentheses: there is no room for it here.
    let name = quantity.name.split(" (").next().unwrap_or_default().to_owned();
    let power = if exponent == 0 { String::new() } else { raised(&format!("10^{exponent} ")) };
    let unit = raised(&quantity.unit);
    let unit = if unit.is_empty() && power.is_empty() { String::new() } else { format!(" [{power}{unit}]") };
    (name, format!("{}{unit}", quantity.symbol))
}

/// Colours from bottom to top.
fn column(place: Rect, bar: &ColorBar) -> Mesh {
    let mut mesh = Mesh::default();
    for step in 0..=STEPS {
        let share = step as f32 / STEPS as f32;
        let [r, g, b] = bar.colors.of(bar.colors.value(share));
        let y = place.bottom() - share * place.height();
        let color = Color32::from_rgb(r, g, b);
        mesh.colored_vertex(pos2(place.left(), y), color);
        mesh.colored_vertex(pos2(place.right(), y), color);
        if step > 0 {
            let n = 2 * step as u32;
            mesh.add_triangle(n - 2, n - 1, n);
            mesh.add_triangle(n - 1, n, n + 1);
        }
    }
    mesh
}

/// Raises the number after each `^`: "10^19" is "10¹⁹". A negative one stays as it is: the font has no raised minus.
pub fn raised(text: &str) -> String {
    let raise = |c: char| match c {
        '0' => Some('⁰'),
        '1' => Some('¹'),
        '2' => Some('²'),
        '3' => Some('³'),
        '4'..='9' => char::from_u32('⁴' as u32 + (c as u32 - '4' as u32)),
        _ => None,
    };
    let mut raised = String::with_capacity(text.len());
    let mut up = false;
    let mut signs = text.chars().peekable();
    while let Some(c) = signs.next() {
        if c == '^' && signs.peek().is_some_and(char::is_ascii_digit) {
            up = true;
            continue;
        }
        let high = raise(c).filter(|_| up);
        up &= high.is_some();
        raised.push(high.unwrap_or(c));
    }
    raised
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::color::Map;
    use crate::units::Quantity;
    use crate::view::draw::Colors;

    fn bar(low: f32, high: f32) -> ColorBar {
        let quantity = Quantity::new("number_density", "number density", "n", "1/m^3");
        ColorBar { quantity, colors: Colors { map: Map::Viridis, low, high, log: false } }
    }

    #[test]
    fn titles_have_symbol_power_and_unit() {
        let density = bar(0.0, 8e19);
        assert_eq!(title(&density, 19), ("number density".into(), "n [10¹⁹ 1/m³]".into()));
        assert_eq!(raised("10^-5 x"), "10^-5 x");
        assert_eq!(raised("W/m^2"), "W/m²");
    }

    #[test]
    fn the_column_has_the_colours_of_its_ends() {
        let place = Rect::from_min_size(pos2(0.0, 0.0), vec2(10.0, 100.0));
        let mesh = column(place, &bar(0.0, 1.0));
        let color = |c: [u8; 3]| Color32::from_rgb(c[0], c[1], c[2]);
        assert_eq!(mesh.vertices[0].color, color(Map::Viridis.color(0.0)));
        assert_eq!(mesh.vertices[2 * STEPS].color, color(Map::Viridis.color(1.0)));
        assert!(mesh.vertices[0].pos.y > mesh.vertices[2 * STEPS].pos.y);
        assert!(mesh.is_valid());
    }
}
