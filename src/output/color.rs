//! Colour maps by name. Perceptual ones only: equal steps of a value look like equal steps.
//! Must not know quantities or pixels.

use super::canvas::Color;

/// A colour map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Map {
    /// Dark blue over green to yellow; the default.
    Viridis,
    /// Black over red to pale yellow.
    Inferno,
    /// Black over purple to pale pink.
    Magma,
    /// Blue over grey to yellow, the same for most colour-blind eyes.
    Cividis,
    /// Blue over white to red, for values of both signs.
    Diverging,
}

impl Map {
    /// All of them, by the names that [`Map::from_name`] takes.
    pub const NAMES: [(&'static str, Map); 5] = [
        ("viridis", Map::Viridis),
        ("inferno", Map::Inferno),
        ("magma", Map::Magma),
        ("cividis", Map::Cividis),
        ("diverging", Map::Diverging),
    ];

    /// The map of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, map)| map)
    }

    /// The colour at `t` from 0 to 1; beyond, that of the nearer end.
    pub fn color(self, t: f64) -> Color {
        let t = t.clamp(0.0, 1.0);
        match self {
            Map::Viridis => colorous::VIRIDIS.eval_continuous(t),
            Map::Inferno => colorous::INFERNO.eval_continuous(t),
            Map::Magma => colorous::MAGMA.eval_continuous(t),
            Map::Cividis => colorous::CIVIDIS.eval_continuous(t),
            // ColorBrewer's RdBu has red first; red is the positive side here.
            Map::Diverging => colorous::RED_BLUE.eval_continuous(1.0 - t),
        }
        .as_array()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ends_and_signs() {
        for (name, map) in Map::NAMES {
            assert_eq!(Map::from_name(name), Some(map));
            assert_eq!(map.color(-3.0), map.color(0.0));
            assert_eq!(map.color(7.0), map.color(1.0));
        }
        assert_eq!(Map::from_name("jet"), None);
        let [red, _, blue] = Map::Diverging.color(0.9);
        assert!(red > blue);
    }
}
