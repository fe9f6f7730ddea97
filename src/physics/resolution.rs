//! Whether cells, time step and particle numbers resolve the gas, and a time step that does.
//! Knows nothing of particles, averages or devices: it judges numbers given per cell.

use super::species::most_probable_speed;
use super::stream::StreamState;
use crate::scene::Gas;

/// Gas in a cell, averaged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellGas {
    /// Number density, 1/m^3.
    pub number_density: f64,
    /// Temperature, K.
    pub temperature: f64,
    /// Speed of the flow, m/s.
    pub speed: f64,
    /// Simulated particles, mean.
    pub particles: f64,
}

/// Judgement of one criterion over the cells with gas.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// "cell size / mean free path".
    pub name: &'static str,
    /// Worst cell; NaN where there was none to judge.
    pub worst: f64,
    /// Median cell.
    pub median: f64,
    /// The limit.
    pub limit: f64,
    /// Whether the limit is an upper one (else lower).
    pub upper: bool,
    /// Fraction of cells that miss the limit.
    pub missed: f64,
}

/// Largest cell edge in VHS mean free paths. Bird (1994, section 11.1) asks for about a third in the direction of strong
/// gradients; transport is 10 % wrong at one (Alexander, Garcia & Alder 1998), and beyond that structure is lost.
pub const CELL_LIMIT: f64 = 1.0;

/// Time step in mean collision times: motion and collisions may only be parted if it is small against one (Bird 1994,
/// section 11.1); a fifth is common practice.
pub const STEP_LIMIT: f64 = 0.2;

/// Cells that a molecule crosses in a step.
pub const CROSSING_LIMIT: f64 = 1.0;

/// Least number of particles in a cell, common practice: fewer meet the same partners again and again.
pub const PARTICLES_LIMIT: f64 = 10.0;

/// Judges cells of edge lengths `cell_size` (m; give only the axes along which there is more than one cell) and the
/// time step (s). Cells without gas are left out, and those without a temperature, except for the particle number.
/// `collisions` tells whether molecules collide at all: if not, mean free path and collision time do not matter.
pub fn judge(
    gas: &Gas,
    cell_size: &[f64],
    time_step: f64,
    collisions: bool,
    cells: impl IntoIterator<Item = CellGas>,
) -> Vec<Judgement> {
    let rated = cells.into_iter().filter_map(|cell| rate(gas, cell_size, time_step, &cell));
    judge_rated(&rated.collect::<Vec<_>>(), collisions)
}

/// What a cell has to be judged by; NaN where it has no temperature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    /// Longest edge in mean free paths.
    pub size: f64,
    /// Time step in mean collision times.
    pub step: f64,
    /// Cells that a molecule crosses in a step.
    pub crossing: f64,
    /// Particles.
    pub particles: f64,
}

/// Rates one cell; `None` for one without gas. See [`judge`].
pub fn rate(gas: &Gas, cell_size: &[f64], time_step: f64, cell: &CellGas) -> Option<Rating> {
    if cell.number_density.is_nan() || cell.number_density <= 0.0 {
        return None;
    }
    let particles = cell.particles;
    if cell.temperature.is_nan() || cell.temperature <= 0.0 {
        return Some(Rating { size: f64::NAN, step: f64::NAN, crossing: f64::NAN, particles });
    }
    let longest = cell_size.iter().copied().fold(0.0, f64::max);
    let shortest = cell_size.iter().copied().fold(f64::INFINITY, f64::min);
    Some(Rating {
        size: longest / gas.mean_free_path(cell.number_density, cell.temperature),
        step: time_step * gas.collision_frequency(cell.number_density, cell.temperature),
        crossing: time_step * (cell.speed + most_probable_speed(gas.mean_mass(), cell.temperature))
            / shortest,
        particles,
    })
}

/// Judges rated cells. See [`judge`].
pub fn judge_rated(cells: &[Rating], collisions: bool) -> Vec<Judgement> {
    let all =
        |of: fn(&Rating) -> f64| cells.iter().map(of).filter(|value| !value.is_nan()).collect::<Vec<_>>();
    let (size, step) = (all(|cell| cell.size), all(|cell| cell.step));
    let (crossing, particles) = (all(|cell| cell.crossing), all(|cell| cell.particles));
    let mut judgements = Vec::with_capacity(4);
    if collisions {
        judgements.push(judgement("cell size / mean free path", size, CELL_LIMIT, true));
        judgements.push(judgement("time step / mean collision time", step, STEP_LIMIT, true));
    }
    judgements.push(judgement("cells crossed in a time step", crossing, CROSSING_LIMIT, true));
    judgements.push(judgement("particles a cell", particles, PARTICLES_LIMIT, false));
    judgements
}

/// Worst, median and missed fraction of the values of one criterion.
fn judgement(name: &'static str, mut values: Vec<f64>, limit: f64, upper: bool) -> Judgement {
    let misses = |value: &&f64| if upper { **value > limit } else { **value < limit };
    let missed = values.iter().filter(misses).count() as f64 / values.len() as f64;
    let worst = values.iter().copied().reduce(if upper { f64::max } else { f64::min });
    let middle = values.len() / 2;
    let median =
        if values.is_empty() { f64::NAN } else { *values.select_nth_unstable_by(middle, f64::total_cmp).1 };
    Judgement { name, worst: worst.unwrap_or(f64::NAN), median, limit, upper, missed }
}

/// Time step for `TimeStep::Auto`, s: the smaller of
/// - a fifth of the mean collision time, behind a normal shock where the stream is supersonic, so that the compressed
///   gas before a body still meets [`STEP_LIMIT`] (left out if molecules do not collide);
/// - half the time in which a molecule with the speed of the stream plus the most probable speed crosses the shortest
///   edge of a cell.
pub fn auto_time_step(gas: &Gas, stream: &StreamState, cell_size: &[f64], collisions: bool) -> f64 {
    let shortest = cell_size.iter().copied().fold(f64::INFINITY, f64::min);
    let crossing = 0.5 * shortest / (stream.speed + stream.most_probable_speed);
    if !collisions {
        return crossing;
    }
    let (density, temperature) = shock_ratios(stream.mach.max(1.0), stream.heat_ratio);
    let frequency =
        gas.collision_frequency(stream.number_density * density, stream.temperature * temperature);
    crossing.min(STEP_LIMIT / frequency)
}

/// Density and temperature behind a normal shock over those before it (Rankine 1870, Hugoniot 1887).
pub fn shock_ratios(mach: f64, heat_ratio: f64) -> (f64, f64) {
    let (m2, g) = (mach * mach, heat_ratio);
    let density = (g + 1.0) * m2 / ((g - 1.0) * m2 + 2.0);
    let pressure = 1.0 + 2.0 * g / (g + 1.0) * (m2 - 1.0);
    (density, pressure / density)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Density, Species, Stream, Velocity};

    fn argon() -> Gas {
        let species = Species {
            name: "Ar".into(),
            mass_kg: 6.63e-26,
            diameter_m: 4.17e-10,
            omega: 0.81,
            reference_temperature_k: 273.0,
            alpha: 1.0,
            rotational_dof: 0,
            fraction: 1.0,
        };
        Gas { species: vec![species] }
    }

    fn stream(mach: f64) -> StreamState {
        let stream = Stream {
            velocity: Velocity::Mach(mach),
            density: Density::PerCubicMeter(1e20),
            temperature_k: 300.0,
            incidence_deg: 0.0,
            sideslip_deg: 0.0,
        };
        StreamState::new(&argon(), &stream)
    }

    #[test]
    fn judges_worst_median_and_missed() {
        let cell = |number_density, particles| CellGas {
            number_density,
            temperature: 300.0,
            speed: 100.0,
            particles,
        };
        let cells = [cell(1e20, 20.0), cell(2e20, 40.0), cell(4e20, 5.0), cell(0.0, 0.0)];
        // Just above the true one, so that the middle cell is just within the limit.
        let lambda = 0.013_327_852_8;
        let judged = judge(&argon(), &[0.5 * lambda, 0.25 * lambda], 1e-6, true, cells);
        let [size, step, crossing, particles] = &judged[..] else { panic!("four criteria") };
        assert!((size.worst - 2.0).abs() < 1e-6 && (size.median - 1.0).abs() < 1e-6);
        assert!((size.missed - 1.0 / 3.0).abs() < 1e-15);
        assert!((step.worst / (4e-6 * 29_926.461_8) - 1.0).abs() < 1e-6 && step.missed == 0.0);
        let expected = 1e-6 * (100.0 + 353.476_464) / (0.25 * lambda);
        assert!((crossing.median / expected - 1.0).abs() < 1e-6);
        assert_eq!((particles.worst, particles.median, particles.upper), (5.0, 20.0, false));
        assert!((particles.missed - 1.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn without_collisions_or_without_gas() {
        let judged = judge(&argon(), &[0.1], 1e-6, false, []);
        assert_eq!(judged.len(), 2);
        assert!(judged.iter().all(|j| j.worst.is_nan() && j.median.is_nan() && j.missed.is_nan()));
    }

    #[test]
    fn shock_ratios_at_mach_2() {
        // Reference table of jump ratios: monatomic, M = 2: density 16/7, temperature 2.078125.
        let (density, temperature) = shock_ratios(2.0, 5.0 / 3.0);
        assert!((density - 16.0 / 7.0).abs() < 1e-14 && (temperature - 2.078_125).abs() < 1e-14);
        assert_eq!(shock_ratios(1.0, 1.4), (1.0, 1.0));
    }

    #[test]
    fn the_automatic_step_meets_the_limits_it_is_made_for() {
        let still = stream(0.0);
        // Coarse cells: the collision time rules; fine cells: the crossing.
        let step = auto_time_step(&argon(), &still, &[1.0, 1.0, 1.0], true);
        assert!((step * still.collision_frequency - 0.2).abs() < 1e-12);
        let step = auto_time_step(&argon(), &still, &[1e-4, 1.0, 1.0], true);
        assert!((step * still.most_probable_speed / 1e-4 - 0.5).abs() < 1e-12);
        let fast = stream(8.0);
        let (density, temperature) = shock_ratios(8.0, 5.0 / 3.0);
        let step = auto_time_step(&argon(), &fast, &[1.0], true);
        let behind = argon().collision_frequency(density * 1e20, temperature * 300.0);
        assert!((step * behind - 0.2).abs() < 1e-12 && step * fast.collision_frequency < 0.06);
        let step = auto_time_step(&argon(), &fast, &[1.0], false);
        assert!((step * (fast.speed + fast.most_probable_speed) - 0.5).abs() < 1e-12);
    }
}
