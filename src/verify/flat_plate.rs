//! The thin plate at incidence in free-molecular flow, each side on its own (B4, with B3 and B6 of the sides).
//! Must not know how a device computes.
//!
//! Signs. At positive incidence the stream of a scene goes along (cos a, -sin a, 0), down onto the upper (+y) side:
//! that is the front of the reference table, and the lower side its back. The table's lift is towards the back, the
//! scene's towards +y, which is the front: the table's C_L is the scene's with the opposite sign. Shear is along +x, the
//! direction of the stream along the plate, in both.

use super::loads::{Estimate, Measured};
use super::scenes::{FreeFlow, wall_of};
use super::table::{Line, read};
use super::{Bed, Effort, Row};
use crate::scene::{Shape, Wall};
use crate::sim::SimError;

const PLATES: &str = include_str!("../../tests/data/reference/B_flat_plate.csv");

/// Hits on a side from which on the means of its batches are Gaussian enough for a comparison at 4 sigma.
const ENOUGH_HITS: f64 = 2000.0;

/// Plates at all incidences.
///
/// # Errors
/// A scene cannot be computed.
pub fn plates(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let mut rows = Vec::new();
    let chosen = |line: &Line| {
        effort == Effort::Full
            || (["0.5", "5"].contains(&line.text("s"))
                && ["0", "30", "90"].contains(&line.text("alpha_deg"))
                && line.text("Tw_over_T") != "1")
    };
    for (i, line) in read(PLATES)?.iter().enumerate().filter(|(_, line)| chosen(line)) {
        rows.extend(plate(line, 2 * i as u64 + 1, effort, bed)?);
    }
    Ok(rows)
}

fn plate(line: &Line, seed: u64, effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let (s, alpha, (wall, name)) = (line.get("s")?, line.get("alpha_deg")?, wall_of(line));
    let label = format!("plate s = {s}, {alpha} deg, {name}");
    let shape = Shape::Plate { chord_m: 1.0, span_m: 1.0 };
    let hits = hits(effort, s * alpha.to_radians().sin());
    let flow = FreeFlow { wall, incidence_deg: alpha, seed, cells: 64, ..FreeFlow::new(s, shape, hits) };
    // Loads go with the number of hits: drag from one run, lift and hits from another.
    let one = Measured::run(&flow, bed)?;
    let two = Measured::run(&FreeFlow { rotational_dof: 2, seed: seed + 1, ..flow }, bed)?;
    let q = one.dynamic_pressure();
    let row = |id: &'static str, what: String, estimate: Estimate, scale: f64, reference: f64| {
        Row::new(id, what, estimate.0 / scale, reference, estimate.1 / scale)
    };
    let drag = one.force(one.axes[0]);
    let lift = two.force(two.axes[1].map(|a| -a));
    let side = two.force(two.axes[2]);
    let mut rows = vec![
        row("B4", format!("{label}: C_D"), drag, q, line.get("CD")?).allow(0.003),
        row("B4", format!("{label}: C_L"), lift, q, line.get("CL")?).allow(0.003),
        row("B4", format!("{label}: C_S"), side, q, 0.0),
    ];
    for (half, side, up) in [(0, "front", 1.0), (1, "back", -1.0)] {
        let flux = one.incident.element([0.0, up, 0.0], wall).number_flux;
        let expected = two.particles(flux, 1.0);
        let counted = two.particles(two.half_flux(half).0, 1.0);
        let what = format!("{label}: hits on the {side}");
        rows.push(Row::new("B3", what, counted, expected, poisson_sigma(expected)));
        if expected < ENOUGH_HITS {
            continue;
        }
        let label = format!("{label}, {side}");
        let a_hit = flux / q;
        let [pressure, shear, heat] = one.half_a_hit(half);
        let cp = line.get(&format!("cp_{side}"))?;
        rows.push(row("B4", format!("{label}: c_p a hit"), pressure, 1.0 / a_hit, cp).allow(0.003));
        if wall == Wall::Specular {
            continue;
        }
        let ctau = line.get(&format!("ctau_{side}"))?;
        rows.push(row("B4", format!("{label}: c_tau a hit"), shear, 1.0 / a_hit, ctau).allow(0.003));
        let [.., heat_with_rotation] = two.half_a_hit(half);
        for (gas, heat, suffix) in [("monatomic", heat, "mono"), ("diatomic", heat_with_rotation, "diat")] {
            let reference = line.get(&format!("Ch_{side}_{suffix}"))?;
            let what = format!("{label}: C_h a hit, {gas}");
            rows.push(row("B6", what, heat, one.speed() / a_hit, reference).allow(0.005));
        }
    }
    Ok(rows)
}

/// Hits in a run of the two: enough on the less-hit side where that is possible in minutes.
fn hits(effort: Effort, normal_speed_ratio: f64) -> f64 {
    use crate::physics::theory::inflow_flux::chi;
    let share = chi(-normal_speed_ratio) / (chi(-normal_speed_ratio) + chi(normal_speed_ratio));
    match effort {
        Effort::Quick => 1e5,
        Effort::Full => (1e5 / share).min(2e5),
    }
}

/// A quarter of the deviation of a Poisson variate of that mean that is as rare as 4 standard deviations of a Gaussian:
/// its standard deviation if the mean is large, more where the upper tail is longer than a Gaussian's.
pub fn poisson_sigma(mean: f64) -> f64 {
    const ONE_SIDED: f64 = 3.17e-5;
    if mean > 1000.0 {
        return mean.sqrt();
    }
    let mut term = (-mean).exp();
    let (mut below, mut count) = (term, 0.0);
    while 1.0 - below > ONE_SIDED {
        count += 1.0;
        term *= mean / count;
        below += term;
    }
    mean.sqrt().max((count - mean) / 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerance_of_few_hits() {
        assert_eq!(poisson_sigma(1e4), 100.0);
        // P(N > 0) = 1e-6 is rarer than 4 sigma: none may be counted. P(N > 0) = 1e-3 is not, P(N > 1) = 5e-7 is: one,
        // not two. At a mean of 1e-2, P(N > 1) = 5e-5 is not rare either: two.
        assert!(4.0 * poisson_sigma(1e-6) < 1.0);
        assert!((1e-3 + 4.0 * poisson_sigma(1e-3) - 1.0).abs() < 1e-9);
        assert!((1e-2 + 4.0 * poisson_sigma(1e-2) - 2.0).abs() < 1e-9);
        // Upper tail of mean 10: P(N > 25) = 1.8e-5 and P(N > 24) = 4.7e-5.
        assert!((10.0 + 4.0 * poisson_sigma(10.0) - 25.0).abs() < 1e-9);
    }
}
