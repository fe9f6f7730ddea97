//! Scales of a picture: range, linear or logarithmic, round ticks and their labels.
//! Must not know pixels, colours or quantities.

/// A scale from `low` to `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Lower end.
    pub low: f64,
    /// Upper end, above the lower one.
    pub high: f64,
    /// Logarithmic; both ends are then above 0.
    pub log: bool,
}

/// A tick of a scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Where.
    pub value: f64,
    /// Its label; empty for a minor tick. `^` raises the number after it.
    pub label: String,
}

impl Scale {
    /// A linear scale, widened if its ends are the same.
    pub fn linear(low: f64, high: f64) -> Self {
        if high > low {
            return Self { low, high, log: false };
        }
        let margin = if low == 0.0 { 1.0 } else { 0.05 * low.abs() };
        Self { low: low - margin, high: high + margin, log: false }
    }

    /// Where a value lies: 0 at the lower end, 1 at the upper one; NaN for what has no place.
    pub fn fraction(&self, value: f64) -> f64 {
        if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// At most about `count` labelled ticks, and the power of ten that is taken out of the labels.
    pub fn ticks(&self, count: usize) -> (Vec<Tick>, i32) {
        if self.log {
            let decades = (self.high / self.low).log10();
            if decades >= 1.5 {
                return (self.digits(|digit, power| (digit == 1).then(|| format!("10^{power}"))), 0);
            }
            if decades >= 0.6 {
                let exponent = plain_exponent(self.high);
                let label = |digit: i32, power: i32| {
                    let decimals = usize::try_from(exponent - power).unwrap_or(0);
                    let value = f64::from(digit) * 10_f64.powi(power - exponent);
                    [1, 2, 3, 5].contains(&digit).then(|| format!("{value:.decimals$}"))
                };
                return (self.digits(label), exponent);
            }
        }
        let step = round_step(self.high - self.low, count);
        let largest = self.low.abs().max(self.high.abs());
        let exponent = plain_exponent(largest);
        let unit = 10_f64.powi(exponent);
        let decimals = usize::try_from(-exponent_of(step / unit * 1.000_001)).unwrap_or(0);
        let slack = 1e-9 * (self.high - self.low);
        let first = ((self.low - slack) / step).ceil() as i64;
        let last = ((self.high + slack) / step).floor() as i64;
        let ticks = (first..=last)
            .map(|n| n as f64 * step)
            .map(|value| Tick { value, label: signed(format!("{:.decimals$}", value / unit)) })
            .collect();
        (ticks, exponent)
    }

    /// Ticks at the digits of each decade, labelled where `label` says so.
    fn digits(&self, label: impl Fn(i32, i32) -> Option<String>) -> Vec<Tick> {
        let mut ticks = Vec::new();
        let slack = 1e-9;
        for power in exponent_of(self.low)..=exponent_of(self.high) {
            for digit in 1..10 {
                let value = f64::from(digit) * 10_f64.powi(power);
                let place = self.fraction(value);
                if (-slack..=1.0 + slack).contains(&place) {
                    ticks.push(Tick { value, label: label(digit, power).unwrap_or_default() });
                }
            }
        }
        ticks
    }
}

/// The power of ten that is taken out of labels up to `largest`; 0 where plain numbers are as short.
fn plain_exponent(largest: f64) -> i32 {
    let exponent = exponent_of(largest);
    if (-2..=4).contains(&exponent) { 0 } else { exponent }
}

/// The power of ten of a number's first digit; 0 for 0.
pub fn exponent_of(value: f64) -> i32 {
    if value == 0.0 || !value.is_finite() { 0 } else { value.abs().log10().floor() as i32 }
}

/// 1, 2 or 5 times a power of ten: the step of at most `count` intervals.
fn round_step(length: f64, count: usize) -> f64 {
    let rough = length / count.max(1) as f64;
    let power = 10_f64.powi(exponent_of(rough));
    let digit = rough / power;
    let round = [1.0, 2.0, 5.0].into_iter().find(|&d| digit <= d * 1.000_001).unwrap_or(10.0);
    round * power
}

/// At most four significant digits without trailing zeros: "0.55".
pub fn short(value: f64) -> String {
    if !value.is_finite() {
        return format!("{value}");
    }
    let exponent = exponent_of(value);
    if !(-4..=6).contains(&exponent) {
        let text = format!("{value:.3e}");
        let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
        return signed(format!("{} x 10^{power}", trim(mantissa)));
    }
    let decimals = usize::try_from(3 - exponent).unwrap_or(0);
    signed(trim(&format!("{value:.decimals$}")).to_owned())
}

fn trim(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A true minus sign, and none before 0.
fn signed(text: String) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        Some(rest) => format!("\u{2212}{rest}"),
        None => text,
    }
}

/// The unit in which lengths up to `largest` metres are read best: (metres, symbol).
pub fn length_unit(largest: f64) -> (f64, &'static str) {
    const UNITS: [(f64, &str); 4] = [(1e3, "km"), (1.0, "m"), (1e-3, "mm"), (1e-6, "\u{b5}m")];
    let fits = |(size, symbol): &(f64, &str)| largest >= size * if *symbol == "km" { 10.0 } else { 0.0999 };
    UNITS.into_iter().find(fits).unwrap_or((1e-9, "nm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, count: usize) -> (Vec<String>, i32) {
        let (ticks, exponent) = scale.ticks(count);
        (ticks.into_iter().map(|tick| tick.label).collect(), exponent)
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(Scale::linear(0.0, 1.0), 5).0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(Scale::linear(-53.0, 121.0), 6).0, ["\u{2212}50", "0", "50", "100"]);
        let (texts, exponent) = labels(Scale::linear(1.2e19, 8.1e19), 5);
        assert_eq!((texts, exponent), (vec!["2".into(), "4".into(), "6".into(), "8".into()], 19));
        assert_eq!(labels(Scale::linear(300.0, 300.0), 4).0, ["290", "300", "310"]);
        let (texts, exponent) = labels(Scale::linear(0.0, 0.004), 4);
        assert_eq!((texts.len(), exponent), (5, -3));
    }

    #[test]
    fn logarithmic_ticks_are_decades() {
        let scale = Scale { low: 5.0, high: 2000.0, log: true };
        let (texts, _) = labels(scale, 5);
        let named: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        assert_eq!(named, ["10^1", "10^2", "10^3"]);
        assert!((scale.fraction(100.0) - 0.5).abs() < 1e-12);
        assert!(scale.fraction(-1.0).is_nan());
        let (texts, exponent) = labels(Scale { low: 1.5e19, high: 1.1e20, log: true }, 5);
        let named: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        assert_eq!((named, exponent), (vec!["0.2".into(), "0.3".into(), "0.5".into(), "1".into()], 20));
        // Little more than half a decade: plain numbers on the logarithmic scale.
        assert_eq!(labels(Scale { low: 100.0, high: 300.0, log: true }, 2).0, ["100", "200", "300"]);
    }

    #[test]
    fn numbers_and_lengths() {
        assert_eq!(short(0.55), "0.55");
        assert_eq!(short(-12.0), "\u{2212}12");
        assert_eq!(short(0.0), "0");
        assert_eq!(short(3.0e19), "3 x 10^19");
        assert_eq!(length_unit(1.0).1, "m");
        assert_eq!(length_unit(0.05).1, "mm");
        assert_eq!(length_unit(3e-6).1, "\u{b5}m");
    }
}
