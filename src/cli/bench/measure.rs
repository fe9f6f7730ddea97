//! Measures a scene on a device: whole steps by the wall clock, through the same trait as every run.
//! Must not know which device it is, or what the figures are compared with.

use crate::device::Chosen;
use crate::scene::{Model, Sampling, Scene};
use crate::sim::{Request, Simulation, Snapshot};
use anyhow::Context;
use std::time::Instant;

/// How long to measure.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Steps before, in which the flow develops.
    pub warm: u32,
    /// Measured steps, a repeat.
    pub steps: u32,
    /// Repeats.
    pub repeat: u32,
    /// Cells are sampled every so many steps; 0: never.
    pub every: u32,
}

/// What a scene took.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Cells.
    pub cells: u64,
    /// Particles of an undisturbed cell.
    pub per_cell: f64,
    /// Simulated particles at the end.
    pub particles: u64,
    /// Particle-steps a second of each repeat, sorted.
    pub rates: Vec<f64>,
    /// Time of a step, s, on average over the repeats.
    pub step_s: f64,
    /// Names of the phases or kernels, and their time a step, s.
    pub phases: Vec<(&'static str, f64)>,
    /// All buffers, bytes a particle.
    pub bytes: f64,
    /// Particles that were lost; 0 in a right step.
    pub lost: u64,
}

impl Measured {
    /// Median of the rates, particle-steps a second.
    pub fn rate(&self) -> f64 {
        median(&self.rates)
    }
}

/// Median of sorted values; 0 of none.
pub fn median(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n == 0 {
        return 0.0;
    }
    0.5 * (sorted[(n - 1) / 2] + sorted[n / 2])
}

/// Steps that one call of the device computes, as a run without a window asks for.
const STEPS_A_CALL: u32 = 100;

/// Measures a scene.
///
/// # Errors
/// The device refuses the scene, or failed.
pub fn measure(name: &str, scene: &Scene, device: &Chosen, plan: Plan) -> anyhow::Result<Measured> {
    let mut scene = scene.clone();
    let Model::Gas(gas) = &mut scene.model;
    gas.sampling = match plan.every {
        0 => Sampling::From { from: u64::MAX, every: 1 },
        every => Sampling::From { from: 0, every: every.into() },
    };
    let per_cell = gas.particles_per_cell;
    let cells = gas.domain.cells.iter().map(|&n| u64::from(n)).product();
    let factory = device.factory();
    let mut simulation = factory(&scene).with_context(|| format!("bench case {name}"))?;
    let mut now = Snapshot::default();
    advance(&mut *simulation, plan.warm, &mut now)?;
    let (begin, phases_before) = (now.counters.particle_steps, now.timings.clone());
    let (mut rates, mut total_s, mut done) = (vec![], 0.0, begin);
    for _ in 0..plan.repeat {
        let started = Instant::now();
        advance(&mut *simulation, plan.steps, &mut now)?;
        let elapsed = started.elapsed().as_secs_f64();
        rates.push((now.counters.particle_steps - done) as f64 / elapsed);
        done = now.counters.particle_steps;
        total_s += elapsed;
    }
    rates.sort_by(f64::total_cmp);
    let steps = f64::from(plan.steps) * f64::from(plan.repeat);
    let before = |name| phases_before.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, time)| *time);
    Ok(Measured {
        cells,
        per_cell,
        particles: now.particles,
        rates,
        step_s: total_s / steps,
        phases: now.timings.iter().map(|&(name, time)| (name, (time - before(name)) / steps)).collect(),
        bytes: now.memory_bytes as f64 / now.particles.max(1) as f64,
        lost: now.counters.lost,
    })
}

/// Computes steps, and waits until they are done: what is observed is the state behind them.
fn advance(simulation: &mut dyn Simulation, steps: u32, now: &mut Snapshot) -> anyhow::Result<()> {
    let mut left = steps;
    while left > 0 {
        let call = left.min(STEPS_A_CALL);
        simulation.advance(call)?;
        left -= call;
    }
    simulation.observe(&Request::default(), now)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        for (values, expected) in [(&[][..], 0.0), (&[3.0], 3.0), (&[1.0, 3.0], 2.0), (&[1.0, 2.0, 9.0], 2.0)]
        {
            assert_eq!(median(values), expected);
        }
    }
}
