//! From values to colours: the map, the range (automatic, locked, symmetric, logarithmic), and the bar that explains them.
//! Must not know what is drawn.

use crate::output::color::Map;
use crate::output::scale::Scale;
use crate::units::Quantity;
use bevy::color::{ColorToComponents, LinearRgba, Srgba};
use bevy::prelude::Component;

/// How a drawn thing wants its values coloured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColorScale {
    /// The map.
    pub map: Map,
    /// The range.
    pub range: Range,
    /// Whether equal steps of colour are equal factors of the value; values of 0 and below get the lower end.
    pub log: bool,
}

/// Where the colours begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Range {
    /// From the values themselves, without the 1 % at each end.
    #[default]
    Auto,
    /// As automatic, but from -a to +a, so that the middle of a diverging map is 0.
    Symmetric,
    /// These two values, the lower one first.
    Locked(f32, f32),
}

impl Default for ColorScale {
    fn default() -> Self {
        Self::of(Map::Viridis)
    }
}

impl ColorScale {
    /// A linear scale with automatic range.
    pub fn of(map: Map) -> Self {
        Self { map, range: Range::Auto, log: false }
    }

    /// The colours of these values; `None` if none of them is finite and the range asks for them.
    pub fn resolve(&self, values: impl Iterator<Item = f32>) -> Option<Colors> {
        let (low, high) = match self.range {
            Range::Locked(low, high) => (low, high),
            Range::Auto => ends(values.filter(|value| !self.log || *value > 0.0))?,
            Range::Symmetric => {
                let (low, high) = ends(values)?;
                let most = low.abs().max(high.abs());
                (-most, most)
            }
        };
        let (low, high) = if high > low {
            (low, high)
        } else if self.log && low > 0.0 {
            (0.5 * low, 2.0 * low)
        } else {
            (low - 0.5, low + 0.5)
        };
        // No logarithm of a range that reaches 0.
        Some(Colors { map: self.map, low, high, log: self.log && low > 0.0 })
    }
}

/// The 1st and the 99th percentile of the finite values, from at most some ten thousand of them.
fn ends(values: impl Iterator<Item = f32>) -> Option<(f32, f32)> {
    let mut sorted: Vec<f32> = values.filter(|value| value.is_finite()).collect();
    let last = sorted.len().checked_sub(1)?;
    let [low, high] = [0.01, 0.99].map(|share| (share * last as f64) as usize);
    let (_, &mut low, _) = sorted.select_nth_unstable_by(low, f32::total_cmp);
    let (_, &mut high, _) = sorted.select_nth_unstable_by(high, f32::total_cmp);
    Some((low, high))
}

/// Colours of a quantity: its map and the values at its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Colors {
    /// The map.
    pub map: Map,
    /// Value at the lower end.
    pub low: f32,
    /// Value at the upper end, above the lower one.
    pub high: f32,
    /// Whether equal steps of colour are equal factors; both ends are above 0 then.
    pub log: bool,
}

impl Colors {
    /// Where a value lies in the range: 0 at the lower end, 1 at the upper, not clamped.
    pub fn fraction(&self, value: f32) -> f32 {
        if self.log {
            (value.max(f32::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// The value at a fraction of the range.
    pub fn value(&self, fraction: f32) -> f32 {
        if self.log {
            self.low * (self.high / self.low).powf(fraction)
        } else {
            self.low + fraction * (self.high - self.low)
        }
    }

    /// The scale along a bar of these colours: its ticks and their labels.
    pub fn scale(&self) -> Scale {
        let (low, high) = (f64::from(self.low), f64::from(self.high));
        if self.log { Scale { low, high, log: true } } else { Scale::linear(low, high) }
    }

    /// Red, green, blue of a value, sRGB bytes.
    pub fn of(&self, value: f32) -> [u8; 3] {
        self.map.color(f64::from(self.fraction(value)))
    }

    /// Linear colour of a value, as shaders and vertex colours take it.
    pub fn linear(&self, value: f32) -> [f32; 4] {
        let [r, g, b] = self.of(value);
        LinearRgba::from(Srgba::rgb_u8(r, g, b)).to_f32_array()
    }
}

/// What the colours of a drawn thing mean. Every plugin of a drawn thing keeps one on its entity while there is
/// something to explain, and takes it away when not; the legend and the window show them all.
#[derive(Debug, Clone, PartialEq, Component)]
pub struct ColorBar {
    /// The quantity.
    pub quantity: Quantity,
    /// The colours.
    pub colors: Colors,
}

/// What the colours of a drawn thing mean where they stand for kinds, not for amounts: kept in place of a [`ColorBar`].
#[derive(Debug, Clone, PartialEq, Component)]
pub struct Categories {
    /// What the kinds are of.
    pub quantity: Quantity,
    /// Name and colour (sRGB bytes) of each kind.
    pub names: Vec<(String, [u8; 3])>,
}

/// Colours of kinds that most colour-blind eyes tell apart (Okabe and Ito 2008), with light grey in place of black,
/// which would not be seen on a dark ground. Begins anew after the eighth.
pub fn categorical(code: usize) -> [u8; 3] {
    const COLORS: [[u8; 3]; 8] = [
        [187, 187, 187],
        [86, 180, 233],
        [230, 159, 0],
        [0, 158, 115],
        [240, 228, 66],
        [0, 114, 178],
        [213, 94, 0],
        [204, 121, 167],
    ];
    COLORS[code % COLORS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hundred() -> impl Iterator<Item = f32> {
        (0..=1000).map(|i| i as f32).chain([f32::NAN, f32::INFINITY])
    }

    #[test]
    fn automatic_ranges_leave_out_the_ends_and_nan() {
        let colors = ColorScale::default().resolve(hundred()).unwrap();
        assert_eq!((colors.low, colors.high), (10.0, 990.0));
        assert_eq!(colors.of(-5.0), Map::Viridis.color(0.0));
        assert_eq!(ColorScale::default().resolve([f32::NAN].into_iter()), None);
        let one = ColorScale::default().resolve([3.0].into_iter()).unwrap();
        assert!(one.low < 3.0 && one.high > 3.0);
    }

    #[test]
    fn locked_symmetric_and_logarithmic() {
        let scale = |range, log| ColorScale { map: Map::Viridis, range, log };
        let locked = scale(Range::Locked(2.0, 4.0), false).resolve(std::iter::empty()).unwrap();
        assert_eq!((locked.low, locked.high, locked.fraction(3.0)), (2.0, 4.0, 0.5));
        let both = scale(Range::Symmetric, false).resolve(hundred()).unwrap();
        assert_eq!((both.low, both.high), (-990.0, 990.0));
        let log = scale(Range::Locked(1.0, 100.0), true).resolve(std::iter::empty()).unwrap();
        assert!((log.fraction(10.0) - 0.5).abs() < 1e-6 && (log.value(0.5) - 10.0).abs() < 1e-5);
        assert_eq!(log.of(-1.0), Map::Viridis.color(0.0));
        assert!(!scale(Range::Locked(-1.0, 1.0), true).resolve(std::iter::empty()).unwrap().log);
    }
}
