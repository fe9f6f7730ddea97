//! What the one number beside the position of a drawn particle is.
//! Must not know devices or colours.

use crate::units::Quantity;

/// What particles are painted by: the meaning of [`DrawnParticle::value`](super::DrawnParticle).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Paint {
    /// Speed, m/s.
    #[default]
    Speed,
    /// Velocity along x, m/s.
    VelocityX,
    /// Velocity along y, m/s.
    VelocityY,
    /// Velocity along z, m/s.
    VelocityZ,
    /// Index of the species in the scene, from 0.
    Species,
    /// What the molecule touched last: see [`Paint::ORIGINS`].
    Origin,
}

impl Paint {
    /// All, in the order of a menu.
    pub const ALL: [Self; 6] =
        [Self::Speed, Self::VelocityX, Self::VelocityY, Self::VelocityZ, Self::Species, Self::Origin];

    /// What the values of [`Paint::Origin`] stand for, 0 to 7: there from the start; the face of the domain through
    /// which the molecule came in, or that it hit if it is a diffuse wall; a body. Specular and periodic faces stand for
    /// more of the same flow and do not count.
    pub const ORIGINS: [&'static str; 8] =
        ["start", "x_min", "x_max", "y_min", "y_max", "z_min", "z_max", "body"];

    /// Key, name, symbol and unit of the values.
    pub const fn quantity(self) -> Quantity {
        match self {
            Self::Speed => Quantity::new("speed", "particle speed", "c", "m/s"),
            Self::VelocityX => Quantity::new("velocity_x", "particle velocity x", "c_x", "m/s"),
            Self::VelocityY => Quantity::new("velocity_y", "particle velocity y", "c_y", "m/s"),
            Self::VelocityZ => Quantity::new("velocity_z", "particle velocity z", "c_z", "m/s"),
            Self::Species => Quantity::new("species", "species", "i", ""),
            Self::Origin => Quantity::new("origin", "last touched", "o", ""),
        }
    }

    /// Whether values are codes (whole numbers from 0), not amounts: no mean of two of them means anything.
    pub const fn is_code(self) -> bool {
        matches!(self, Self::Species | Self::Origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_listed_once_and_have_their_own_key() {
        let mut keys: Vec<_> = Paint::ALL.iter().map(|paint| paint.quantity().key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), Paint::ALL.len());
        assert_eq!(Paint::ALL[0], Paint::default());
        for paint in Paint::ALL {
            assert_eq!(paint.quantity().unit.is_empty(), paint.is_code(), "{paint:?}");
        }
    }
}
