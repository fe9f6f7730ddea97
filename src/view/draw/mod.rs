//! The drawn things, one file each: particles, a field slice, body surfaces, the domain.
//! Each is fed plain values from snapshots. Must not know devices or physics.

pub mod domain;
pub mod particles;
pub mod slice;
pub mod surface;

use crate::output::color::Map;
use bevy::color::{ColorToComponents, Srgba};

/// Colours of a quantity: its map and the values at its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Colors {
    /// The map.
    pub map: Map,
    /// Value at the lower end.
    pub low: f32,
    /// Value at the upper end, above the lower one.
    pub high: f32,
}

impl Colors {
    /// Red, green, blue of a value, sRGB bytes.
    pub fn of(&self, value: f32) -> [u8; 3] {
        self.map.color(f64::from((value - self.low) / (self.high - self.low)))
    }

    /// Linear colour of a value, as shaders and vertex colours take it.
    pub fn linear(&self, value: f32) -> [f32; 4] {
        let [r, g, b] = self.of(value);
        bevy::color::LinearRgba::from(Srgba::rgb_u8(r, g, b)).to_f32_array()
    }

    /// Colours from the values themselves, without the 1 % at each end that are noise; NaN is passed over.
    pub fn from_values(map: Map, values: impl Iterator<Item = f32>) -> Option<Self> {
        let mut sorted: Vec<f32> = values.filter(|value| value.is_finite()).collect();
        sorted.sort_unstable_by(f32::total_cmp);
        let at = |share: f32| sorted.get((share * (sorted.len().checked_sub(1)? as f32)) as usize).copied();
        let (low, high) = (at(0.01)?, at(0.99)?);
        Some(if high > low { Self { map, low, high } } else { Self { map, low: low - 0.5, high: high + 0.5 } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_leaves_out_the_ends_and_nan() {
        let values = (0..=1000).map(|i| i as f32).chain([f32::NAN, f32::NAN]);
        let colors = Colors::from_values(Map::Viridis, values).unwrap();
        assert_eq!((colors.low, colors.high), (10.0, 990.0));
        assert_eq!(colors.of(-5.0), Map::Viridis.color(0.0));
        assert!(Colors::from_values(Map::Viridis, [f32::NAN].into_iter()).is_none());
        let one = Colors::from_values(Map::Viridis, [3.0].into_iter()).unwrap();
        assert!(one.low < 3.0 && one.high > 3.0);
    }
}
