//! Quantities of the field: key, name, symbol, SI unit, and how a value is printed for people.
//! Knows nothing of gases, grids or colours.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A physical quantity as it is written in headers, legends and tables.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Quantity {
    /// Machine name, `snake_case`: file columns, `--field`.
    pub key: Cow<'static, str>,
    /// Human name: "number density".
    pub name: Cow<'static, str>,
    /// Symbol: "n".
    pub symbol: Cow<'static, str>,
    /// SI unit: "1/m^3"; empty for a pure number.
    pub unit: Cow<'static, str>,
}

impl Quantity {
    /// A quantity known at compile time.
    pub const fn new(
        key: &'static str,
        name: &'static str,
        symbol: &'static str,
        unit: &'static str,
    ) -> Self {
        Self {
            key: Cow::Borrowed(key),
            name: Cow::Borrowed(name),
            symbol: Cow::Borrowed(symbol),
            unit: Cow::Borrowed(unit),
        }
    }

    /// The statistical error of this quantity.
    pub fn error(&self) -> Self {
        Self {
            key: format!("{}_error", self.key).into(),
            name: format!("error of {}", self.name).into(),
            symbol: self.symbol.clone(),
            unit: self.unit.clone(),
        }
    }

    /// `temperature T [K]`, or `Mach number M` where there is no unit.
    pub fn label(&self) -> String {
        if self.unit.is_empty() {
            format!("{} {}", self.name, self.symbol)
        } else {
            format!("{} {} [{}]", self.name, self.symbol, self.unit)
        }
    }
}

/// Prints a value with an SI prefix where its unit takes one: `si(1234.0, "Pa")` is "1.234 kPa".
///
/// Units that are not a single symbol ("1/m^3", "m/s", "") and values beyond the prefixes are printed in
/// scientific notation with four digits.
pub fn si(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 9] = [
        (1e12, "T"),
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "µ"),
        (1e-9, "n"),
        (1e-12, "p"),
    ];
    let spaced = |text: String| if unit.is_empty() { text } else { format!("{text} {unit}") };
    if !value.is_finite() || value == 0.0 {
        return spaced(format!("{value}"));
    }
    let prefixable = !unit.is_empty() && unit.chars().all(char::is_alphabetic) && unit != "K" && unit != "kg";
    let magnitude = value.abs();
    if prefixable {
        if let Some((scale, prefix)) = PREFIXES.iter().find(|(scale, _)| magnitude >= *scale * 0.99995) {
            return format!("{} {prefix}{unit}", digits(value / scale));
        }
    } else if (0.01..99_999.5).contains(&magnitude) {
        return spaced(digits(value));
    }
    spaced(format!("{value:.3e}"))
}

/// Four significant digits without an exponent, for magnitudes from 0.01 to 99,999.
fn digits(value: f64) -> String {
    // Rounded first: 0.99999 has the digits of 1.000.
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    let whole = rounded.abs().log10().floor() as i32;
    format!("{value:.*}", (3 - whole).clamp(0, 5) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_plain_numbers() {
        assert_eq!(si(1234.0, "Pa"), "1.234 kPa");
        assert_eq!(si(0.1, "Pa"), "100.0 mPa");
        assert_eq!(si(3.62e19, "1/m^3"), "3.620e19 1/m^3");
        assert_eq!(si(200.0, "K"), "200.0 K");
        assert_eq!(si(0.141, ""), "0.1410");
        assert_eq!(si(999.99, "m"), "1.000 km");
        assert_eq!(si(0.0, "N"), "0 N");
    }

    #[test]
    fn labels() {
        assert_eq!(Quantity::new("temperature", "temperature", "T", "K").label(), "temperature T [K]");
        assert_eq!(Quantity::new("mach", "Mach number", "M", "").label(), "Mach number M");
    }
}
