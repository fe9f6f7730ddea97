//! A picture in memory: smooth lines, areas and text, encoded as PNG.
//! Must not know quantities, scales or what is drawn.

use super::error::OutputError;
use ab_glyph::{Font, FontRef, Glyph, ScaleFont, point};
use std::io::{self, Write};

/// Red, green, blue.
pub type Color = [u8; 3];

/// Where a text lies relative to its point, horizontally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// It starts there.
    Left,
    /// Its middle is there.
    Center,
    /// It ends there.
    Right,
}

/// A picture, three bytes a pixel, from the top left.
pub struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
    font: FontRef<'static>,
}

impl Canvas {
    /// A canvas of one colour.
    pub fn new(width: usize, height: usize, color: Color) -> Result<Self, OutputError> {
        let font = FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT)
            .map_err(|error| OutputError::Data(format!("the built-in font cannot be read: {error}")))?;
        Ok(Self { width, height, pixels: color.repeat(width * height), font })
    }

    /// A canvas over a finished picture of four bytes a pixel (red, green, blue, alpha), from the top left.
    pub fn over_rgba(width: usize, height: usize, rgba: &[u8]) -> Result<Self, OutputError> {
        if rgba.len() != 4 * width * height {
            let message =
                format!("a picture of {width} x {height} pixels does not have {} bytes", rgba.len());
            return Err(OutputError::Data(message));
        }
        let mut canvas = Self::new(0, 0, [0; 3])?;
        (canvas.width, canvas.height) = (width, height);
        canvas.pixels = rgba.as_chunks::<4>().0.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
        Ok(canvas)
    }

    /// The pixels, three bytes each, from the top left.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// Width, pixels.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Height, pixels.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The colour of a pixel, if there is one.
    pub fn pixel(&self, x: usize, y: usize) -> Option<Color> {
        (x < self.width).then(|| self.pixels.as_chunks::<3>().0.get(y * self.width + x).copied()).flatten()
    }

    /// Mixes a colour into a pixel; outside the picture nothing happens.
    pub fn blend(&mut self, x: i64, y: i64, color: Color, opacity: f32) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x >= self.width {
            return;
        }
        if let Some(pixel) = self.pixels.as_chunks_mut::<3>().0.get_mut(y * self.width + x) {
            let opacity = opacity.clamp(0.0, 1.0);
            for (old, new) in pixel.iter_mut().zip(color) {
                *old = (f32::from(*old) * (1.0 - opacity) + f32::from(new) * opacity).round() as u8;
            }
        }
    }

    /// Fills whole pixels.
    pub fn fill(&mut self, x: i64, y: i64, width: i64, height: i64, color: Color) {
        for row in y..y + height {
            for column in x..x + width {
                self.blend(column, row, color, 1.0);
            }
        }
    }

    /// The outline of a rectangle of whole pixels, drawn outside it.
    pub fn frame(&mut self, x: i64, y: i64, width: i64, height: i64, thickness: i64, color: Color) {
        let t = thickness;
        self.fill(x - t, y - t, width + 2 * t, t, color);
        self.fill(x - t, y + height, width + 2 * t, t, color);
        self.fill(x - t, y, t, height, color);
        self.fill(x + width, y, t, height, color);
    }

    /// A smooth line; `clip` is the rectangle (x, y, width, height) beyond which nothing is drawn.
    pub fn line(&mut self, from: [f64; 2], to: [f64; 2], thickness: f64, color: Color, clip: [i64; 4]) {
        let reach = 0.5 * thickness + 1.0;
        let range = |a: usize, low: i64, length: i64| {
            let (least, most) = (from[a].min(to[a]) - reach, from[a].max(to[a]) + reach);
            (least.floor() as i64).max(low)..(most.ceil() as i64 + 1).min(low + length)
        };
        let along = [to[0] - from[0], to[1] - from[1]];
        let square = along[0] * along[0] + along[1] * along[1];
        for y in range(1, clip[1], clip[3]) {
            for x in range(0, clip[0], clip[2]) {
                let offset = [x as f64 + 0.5 - from[0], y as f64 + 0.5 - from[1]];
                let t = (offset[0] * along[0] + offset[1] * along[1]) / square.max(1e-12);
                let t = t.clamp(0.0, 1.0);
                let distance = (offset[0] - t * along[0]).hypot(offset[1] - t * along[1]);
                self.blend(x, y, color, (0.5 * thickness + 0.5 - distance) as f32);
            }
        }
    }

    /// Text with its baseline on `at`; `^` raises the number after it.
    pub fn text(&mut self, at: [f64; 2], align: Align, size: f64, color: Color, text: &str) {
        self.glyphs(at, align, size, color, text, false);
    }

    /// Text that runs upwards, its baseline on `at` (at its right).
    pub fn text_upwards(&mut self, at: [f64; 2], align: Align, size: f64, color: Color, text: &str) {
        self.glyphs(at, align, size, color, text, true);
    }

    /// Width of a text, pixels.
    pub fn measure(&self, size: f64, text: &str) -> f64 {
        self.layout(size, text).1
    }

    fn glyphs(&mut self, at: [f64; 2], align: Align, size: f64, color: Color, text: &str, upwards: bool) {
        let (glyphs, width) = self.layout(size, text);
        let shift = match align {
            Align::Left => 0.0,
            Align::Center => -0.5 * width,
            Align::Right => -width,
        };
        for mut glyph in glyphs {
            glyph.position.x += shift as f32;
            let Some(outline) = self.font.outline_glyph(glyph) else { continue };
            let bounds = outline.px_bounds();
            let (left, top) = (bounds.min.x as i64, bounds.min.y as i64);
            let (x0, y0) = (at[0].round() as i64, at[1].round() as i64);
            outline.draw(|x, y, coverage| {
                let (x, y) = (left + i64::from(x), top + i64::from(y));
                let (x, y) = if upwards { (x0 + y, y0 - x) } else { (x0 + x, y0 + y) };
                // The font is light: a little more ink keeps it legible on white.
                self.blend(x, y, color, coverage.powf(0.75));
            });
        }
    }

    /// The glyphs of a text from (0, 0) on, and its width.
    fn layout(&self, size: f64, text: &str) -> (Vec<Glyph>, f64) {
        let mut glyphs = Vec::new();
        let mut x = 0.0_f32;
        let mut raised = false;
        let mut last = None;
        let mut previous = ' ';
        for c in text.chars() {
            if c == '^' {
                (raised, previous) = (true, c);
                continue;
            }
            if raised && !(c.is_ascii_digit() || previous == '^' && (c == '-' || c == '\u{2212}')) {
                raised = false;
            }
            let shown = if raised && c == '-' { '\u{2212}' } else { c };
            let (scale, rise) = if raised { (0.68 * size, 0.36 * size) } else { (size, 0.0) };
            let font = self.font.as_scaled(scale as f32);
            let id = font.glyph_id(shown);
            if let Some(last) = last {
                x += font.kern(last, id);
            }
            glyphs.push(id.with_scale_and_position(scale as f32, point(x, -rise as f32)));
            x += font.h_advance(id);
            last = Some(id);
            previous = c;
        }
        (glyphs, f64::from(x))
    }

    /// Encodes the picture as PNG.
    pub fn write_png(&self, to: &mut dyn Write) -> io::Result<()> {
        let other = |error: png::EncodingError| match error {
            png::EncodingError::IoError(error) => error,
            error => io::Error::other(error),
        };
        let narrow = |n: usize| u32::try_from(n).map_err(io::Error::other);
        let mut encoder = png::Encoder::new(to, narrow(self.width)?, narrow(self.height)?);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().map_err(other)?;
        writer.write_image_data(&self.pixels).map_err(other)?;
        writer.finish().map_err(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_every_sign_that_pictures_use() {
        let canvas = Canvas::new(1, 1, [255; 3]).unwrap();
        for c in "\u{2212}\u{d7}\u{b7}\u{b5}\u{2026}[]/^()=.,%".chars() {
            assert_ne!(canvas.font.glyph_id(c).0, 0, "no glyph for {c:?}");
        }
    }

    #[test]
    fn lines_cover_what_they_should() {
        let mut canvas = Canvas::new(20, 20, [255; 3]).unwrap();
        canvas.line([2.0, 10.0], [18.0, 10.0], 2.0, [0; 3], [0, 0, 20, 20]);
        assert_eq!(canvas.pixel(10, 9), Some([0; 3]));
        assert_eq!(canvas.pixel(10, 10), Some([0; 3]));
        assert_eq!(canvas.pixel(10, 6), Some([255; 3]));
        canvas.line([0.0, 2.0], [20.0, 2.0], 2.0, [0; 3], [0, 0, 5, 20]);
        assert_eq!(canvas.pixel(10, 2), Some([255; 3]), "clipped");
        canvas.blend(-1, 500, [0; 3], 1.0);
    }

    #[test]
    fn raised_numbers_are_narrower() {
        let canvas = Canvas::new(1, 1, [255; 3]).unwrap();
        assert!(canvas.measure(20.0, "10^19") < canvas.measure(20.0, "1019"));
        assert!(canvas.measure(20.0, "m^3]") < canvas.measure(20.0, "m3]"));
    }
}
