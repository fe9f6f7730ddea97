//! Formulas of molecules: speeds, VHS cross-sections, collision frequency, mean free paths, viscosity.
//! Knows nothing of flows, grids or particles.

use super::constants::BOLTZMANN;
use crate::scene::{Gas, Species};
use libm::tgamma;
use std::f64::consts::PI;

/// Which mean free path a Knudsen number is made with; they differ by up to 30 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MeanFreePath {
    /// Mean speed over collision frequency of the VHS molecules (Bird 1994, eq. 4.65): what a cell must resolve.
    #[default]
    Vhs,
    /// Hard spheres of the reference diameter, whatever the temperature: 1/(sqrt 2 pi d^2 n) (Bird 1994, section 1.4).
    HardSphere,
    /// From the viscosity, (mu/rho) sqrt(pi m/(2 k T)): what experiments and correlations for continuum gas quote.
    Maxwell,
}

impl MeanFreePath {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Vhs, Self::HardSphere, Self::Maxwell];

    /// How it is named beside a number: "Knudsen number (VHS mean free path)".
    pub fn name(self) -> &'static str {
        match self {
            Self::Vhs => "VHS mean free path",
            Self::HardSphere => "hard-sphere mean free path",
            Self::Maxwell => "mean free path from viscosity",
        }
    }

    /// The mean free path of a gas of one species, m; number density in 1/m^3, temperature in K.
    pub fn of(self, species: &Species, number_density: f64, temperature: f64) -> f64 {
        match self {
            Self::Vhs => {
                mean_speed(species.mass_kg, temperature)
                    / species.collision_frequency(number_density, temperature)
            }
            Self::HardSphere => 1.0 / (2f64.sqrt() * PI * species.diameter_m.powi(2) * number_density),
            Self::Maxwell => {
                species.viscosity(temperature) / (number_density * species.mass_kg)
                    * (PI * species.mass_kg / (2.0 * BOLTZMANN * temperature)).sqrt()
            }
        }
    }
}

/// Most probable speed sqrt(2 k T/m), m/s (Bird 1994, section 4.2).
pub fn most_probable_speed(mass: f64, temperature: f64) -> f64 {
    (2.0 * BOLTZMANN * temperature / mass).sqrt()
}

/// Mean speed sqrt(8 k T/(pi m)), m/s (Bird 1994, section 4.2). With the reduced mass: the mean relative speed.
pub fn mean_speed(mass: f64, temperature: f64) -> f64 {
    (8.0 * BOLTZMANN * temperature / (PI * mass)).sqrt()
}

/// Pressure n k T, Pa.
pub fn pressure(number_density: f64, temperature: f64) -> f64 {
    number_density * BOLTZMANN * temperature
}

/// Ratio of specific heats (5 + zeta)/(3 + zeta) of molecules with `zeta` rotational degrees of freedom.
pub fn heat_ratio(rotational_dof: f64) -> f64 {
    (5.0 + rotational_dof) / (3.0 + rotational_dof)
}

/// Variable hard spheres that collide: two species, or one with itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollisionPair {
    /// Reduced mass m1 m2/(m1 + m2), kg.
    pub reduced_mass: f64,
    /// Diameter at the reference temperature, m.
    pub diameter: f64,
    /// Viscosity exponent.
    pub omega: f64,
    /// Reference temperature, K.
    pub reference_temperature: f64,
}

impl CollisionPair {
    /// Parameters of unlike molecules are arithmetic means (Bird 1994, section 2.6; SPARTA's default).
    pub fn new(a: &Species, b: &Species) -> Self {
        Self {
            reduced_mass: a.mass_kg * b.mass_kg / (a.mass_kg + b.mass_kg),
            diameter: 0.5 * (a.diameter_m + b.diameter_m),
            omega: 0.5 * (a.omega + b.omega),
            reference_temperature: 0.5 * (a.reference_temperature_k + b.reference_temperature_k),
        }
    }

    /// Total cross-section at relative speed `c_r` (m/s), m^2:
    /// pi d^2 (2 k T_ref/(m_r c_r^2))^(omega - 1/2)/Gamma(5/2 - omega) (Bird 1994, eq. 4.63).
    pub fn cross_section(&self, c_r: f64) -> f64 {
        let energy = self.reduced_mass * c_r * c_r;
        PI * self.diameter.powi(2)
            * (2.0 * BOLTZMANN * self.reference_temperature / energy).powf(self.omega - 0.5)
            / tgamma(2.5 - self.omega)
    }

    /// `(a, b)` such that cross-section times relative speed is `a c_r^b`, m^3/s: `b = 2 - 2 omega`.
    pub fn sigma_c_power_law(&self) -> (f64, f64) {
        let thermal = 2.0 * BOLTZMANN * self.reference_temperature / self.reduced_mass;
        let factor = thermal.powf(self.omega - 0.5) / tgamma(2.5 - self.omega);
        (PI * self.diameter.powi(2) * factor, 2.0 - 2.0 * self.omega)
    }

    /// Mean of cross-section times relative speed over pairs in equilibrium, m^3/s:
    /// 2 sqrt(pi) d^2 sqrt(2 k T_ref/m_r) (T/T_ref)^(1 - omega) (Bird 1994, eq. 4.64).
    pub fn mean_sigma_c(&self, temperature: f64) -> f64 {
        2.0 * PI.sqrt()
            * self.diameter.powi(2)
            * (2.0 * BOLTZMANN * self.reference_temperature / self.reduced_mass).sqrt()
            * (temperature / self.reference_temperature).powf(1.0 - self.omega)
    }
}

impl Species {
    /// This species colliding with itself.
    pub fn self_pair(&self) -> CollisionPair {
        CollisionPair::new(self, self)
    }

    /// Mean relative speed of two molecules, m/s.
    pub fn mean_relative_speed(&self, temperature: f64) -> f64 {
        mean_speed(0.5 * self.mass_kg, temperature)
    }

    /// Collisions a molecule suffers in equilibrium, 1/s: n times the mean of sigma c_r (Bird 1994, eq. 4.64).
    pub fn collision_frequency(&self, number_density: f64, temperature: f64) -> f64 {
        number_density * self.self_pair().mean_sigma_c(temperature)
    }

    /// Viscosity to the first Sonine order, Pa s:
    /// 15 sqrt(pi m k T_ref)/(2 pi d^2 (5 - 2 omega)(7 - 2 omega)) (T/T_ref)^omega (Chapman & Cowling 1970; Bird 1994,
    /// sections 3.5 and 4.3), times (alpha + 1)(alpha + 2)/(6 alpha) for soft spheres (Koura & Matsumoto 1991).
    pub fn viscosity(&self, temperature: f64) -> f64 {
        let w = self.omega;
        let soft = (self.alpha + 1.0) * (self.alpha + 2.0) / (6.0 * self.alpha);
        soft * 15.0 * (PI * self.mass_kg * BOLTZMANN * self.reference_temperature_k).sqrt()
            / (2.0 * PI * self.diameter_m.powi(2) * (5.0 - 2.0 * w) * (7.0 - 2.0 * w))
            * (temperature / self.reference_temperature_k).powf(w)
    }

    /// Speed of sound sqrt(gamma k T/m), m/s.
    pub fn speed_of_sound(&self, temperature: f64) -> f64 {
        (heat_ratio(f64::from(self.rotational_dof)) * BOLTZMANN * temperature / self.mass_kg).sqrt()
    }

    /// VHS over viscosity-based mean free path, 2 (5 - 2 omega)(7 - 2 omega)/(15 pi) (Bird 1994, eq. 4.52).
    pub fn vhs_over_maxwell_mean_free_path(&self) -> f64 {
        let soft = (self.alpha + 1.0) * (self.alpha + 2.0) / (6.0 * self.alpha);
        2.0 * (5.0 - 2.0 * self.omega) * (7.0 - 2.0 * self.omega) / (15.0 * PI * soft)
    }
}

impl Gas {
    /// Mean mass of a molecule, kg; NaN without species.
    pub fn mean_mass(&self) -> f64 {
        self.mean(|species| species.mass_kg)
    }

    /// Mean number of rotational degrees of freedom.
    pub fn mean_rotational_dof(&self) -> f64 {
        self.mean(|species| f64::from(species.rotational_dof))
    }

    /// Collisions an average molecule of the mixture suffers, 1/s (Bird 1994, section 1.4).
    pub fn collision_frequency(&self, number_density: f64, temperature: f64) -> f64 {
        self.mean(|species| self.collision_frequency_of(species, number_density, temperature))
    }

    /// VHS mean free path of the mixture, m: each species' mean speed over its collision frequency, averaged
    /// (Bird 1994, section 1.4).
    pub fn mean_free_path(&self, number_density: f64, temperature: f64) -> f64 {
        self.mean(|species| {
            mean_speed(species.mass_kg, temperature)
                / self.collision_frequency_of(species, number_density, temperature)
        })
    }

    /// Collisions that one molecule of `species` suffers with all others, 1/s.
    fn collision_frequency_of(&self, species: &Species, number_density: f64, temperature: f64) -> f64 {
        let rate =
            |other: &Species| other.fraction * CollisionPair::new(species, other).mean_sigma_c(temperature);
        number_density * self.species.iter().map(rate).sum::<f64>()
    }

    /// Mean over the molecules.
    fn mean(&self, value: impl Fn(&Species) -> f64) -> f64 {
        let total: f64 = self.species.iter().map(|species| species.fraction).sum();
        self.species.iter().map(|species| species.fraction * value(species)).sum::<f64>() / total
    }
}
