//! The books of a gas run: when to sample, averages, tallies, history, counters, decisions.
//! Knows nothing of how a device stores particles or runs a step.

use super::averages::Averages;
use super::history::HistoryLog;
use super::setup::GasSetup;
use super::tallies::{BodyTotals, Tallies};
use crate::physics::statistics::steady::SteadyDetector;
use crate::scene::Sampling;
use crate::sim::{Checkpoint, Counters, Phase, SimError};
use serde::{Deserialize, Serialize};

/// Batches that a planned run shall have behind its errors.
const BATCHES: u64 = 25;

/// The books of a run.
#[derive(Debug, Clone)]
pub struct Record {
    /// Steps done.
    pub step: u64,
    /// Averages of the cells; `None` before sampling.
    pub averages: Option<Averages>,
    /// Tallies of the obstacles; empty before sampling.
    pub tallies: Option<Tallies>,
    /// History.
    pub history: HistoryLog,
    /// Counters.
    pub counters: Counters,
    /// Decisions, oldest first.
    pub notes: Vec<String>,
    steady: SteadyDetector,
    schedule: Schedule,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Schedule {
    /// First sampled step, once known.
    from: Option<u64>,
    /// Steps between samples of the cells.
    every: u64,
    /// Step at which the run is planned to end.
    end: u64,
}

/// What is kept of the books beside the large arrays.
#[derive(Serialize, Deserialize)]
struct Saved {
    step: u64,
    counters: Counters,
    notes: Vec<String>,
    steady: SteadyDetector,
    schedule: Schedule,
    sampling: bool,
}

impl Record {
    /// Books of a run that starts at step `step`.
    pub fn new(setup: &GasSetup, step: u64) -> Self {
        let transit_steps = setup.transit_steps();
        let interval = (transit_steps / 60.0).floor().clamp(1.0, 100.0) as u64;
        Self {
            step,
            averages: None,
            tallies: None,
            history: HistoryLog::new(setup, interval),
            counters: Counters::default(),
            notes: Vec::new(),
            steady: steady_detector(setup, transit_steps),
            schedule: Schedule::new(setup, step),
        }
    }

    /// Starts averages anew, after a change of the scene; history and counters go on.
    pub fn reset_averages(&mut self, setup: &GasSetup, why: &str) {
        self.averages = None;
        self.tallies = None;
        self.steady = steady_detector(setup, setup.transit_steps());
        self.schedule = Schedule::new(setup, self.step);
        self.notes.push(format!("step {}: {why}, averages start anew", self.step));
    }

    /// Transient or sampling.
    pub fn phase(&self) -> Phase {
        match (&self.averages, self.schedule.from) {
            (Some(averages), Some(since)) => Phase::Sampling { since, samples: averages.samples() },
            _ => Phase::Transient,
        }
    }

    /// First step at which automatic sampling can begin.
    pub fn earliest_sampling(&self) -> u64 {
        self.steady.earliest_step()
    }

    /// Prepares the next step: starts sampling if it is time. Returns whether its cells are sampled.
    pub fn begin_step(&mut self, setup: &GasSetup) -> bool {
        let Some(from) = self.schedule.from.filter(|&from| self.step >= from) else {
            return false;
        };
        if self.averages.is_none() {
            let planned = self.schedule.end.saturating_sub(from).max(1);
            let batch_steps = (planned / BATCHES).max(1);
            let cells = setup.motion.grid.len();
            self.averages = Some(Averages::new(cells, (batch_steps / self.schedule.every).max(1)));
            self.tallies = Some(Tallies::new(setup, batch_steps));
        }
        (self.step - from).is_multiple_of(self.schedule.every)
    }

    /// Whether cells are sampled in step `step`, as far as is known now.
    pub fn samples(&self, step: u64) -> bool {
        self.schedule
            .from
            .is_some_and(|from| step >= from && (step - from).is_multiple_of(self.schedule.every))
    }

    /// Steps, at most `most`, that a device may run from now on before the books have to be kept: to the beginning of
    /// sampling, to the end of a batch, or while it is not known when sampling begins to the next row of the history.
    /// It depends on the step only, so that it does not matter how steps are grouped.
    pub fn horizon(&self, most: u32) -> u32 {
        let mut steps = u64::from(most.max(1));
        match (self.schedule.from, &self.averages, &self.tallies) {
            (None, ..) => steps = steps.min(self.history.until_due(self.step)),
            (Some(from), ..) if from > self.step => steps = steps.min(from - self.step),
            (Some(from), Some(averages), Some(tallies)) => {
                let every = self.schedule.every;
                let next_sample = (self.step - from).next_multiple_of(every) + from - self.step;
                steps = steps.min(next_sample + (averages.until_batch() - 1) * every + 1);
                steps = steps.min(tallies.until_batch());
            }
            _ => steps = 1,
        }
        steps.max(1) as u32
    }

    /// Whether the kinetic energy is due after step `step`, counted from 0.
    pub fn energy_due_after(&self, step: u64) -> bool {
        self.history.due(step + 1)
    }

    /// Whether the device shall sum the kinetic energy in the next step.
    pub fn energy_due(&self) -> bool {
        self.history.due(self.step + 1)
    }

    /// Takes a finished step: its body totals, whether it was sampled, the number of particles and, if it was due,
    /// their kinetic energy per unit mass of a molecule. Tallies are added by the caller, who has the hits.
    pub fn end_step(
        &mut self,
        setup: &GasSetup,
        totals: &[BodyTotals],
        collisions: u64,
        sampled: bool,
        particles: u64,
        energy: Option<f64>,
    ) {
        if let Some(averages) = self.averages.as_mut().filter(|_| sampled) {
            averages.sampled(setup);
        }
        self.step += 1;
        self.history.add_step(totals, collisions);
        if let Some(energy) = energy {
            let watched = self.history.close_row(setup, self.step, particles, energy);
            if let Some(decision) = self.steady.push(self.step, &watched) {
                self.notes.push(decision.reason.clone());
                match self.schedule.from {
                    // A scene that says itself when to sample is taken at its word, but told what it means.
                    Some(from) if from < self.step => self.notes.push(format!(
                        "averages began at step {from}, before that: they hold some of the transient, which their errors \
                         do not show; sample from step {} on",
                        self.step
                    )),
                    _ if setup.gas().sampling == Sampling::Auto => self.schedule.from = Some(self.step),
                    _ => {}
                }
            }
        }
    }

    /// Whether the flow was found steady; the notes say so then.
    pub fn is_steady(&self) -> bool {
        self.steady.decision().is_some()
    }

    /// One line on the transient: what still drifts, or why the flow is taken for steady.
    pub fn steady_status(&self) -> String {
        self.steady.status()
    }

    /// Writes the books to a checkpoint.
    pub fn save(&self, state: &mut Checkpoint) -> Result<(), SimError> {
        let saved = Saved {
            step: self.step,
            counters: self.counters,
            notes: self.notes.clone(),
            steady: self.steady.clone(),
            schedule: self.schedule,
            sampling: self.averages.is_some(),
        };
        state.put_value("record", &saved)?;
        self.history.save(state)?;
        if let (Some(averages), Some(tallies)) = (&self.averages, &self.tallies) {
            averages.save(state)?;
            tallies.save(state)?;
        }
        Ok(())
    }

    /// Reads the books from a checkpoint.
    pub fn load(state: &Checkpoint, setup: &GasSetup) -> Result<Self, SimError> {
        let saved: Saved = state.get_value("record")?;
        let cells = setup.motion.grid.len();
        let (averages, tallies) = if saved.sampling {
            (Some(Averages::load(state, cells)?), Some(Tallies::load(state, setup)?))
        } else {
            (None, None)
        };
        Ok(Self {
            step: saved.step,
            averages,
            tallies,
            history: HistoryLog::load(state)?,
            counters: saved.counters,
            notes: saved.notes,
            steady: saved.steady,
            schedule: saved.schedule,
        })
    }
}

impl Schedule {
    fn new(setup: &GasSetup, step: u64) -> Self {
        let gas = setup.gas();
        let end = gas.steps.max(step + 1);
        match gas.sampling {
            Sampling::From { from, every } => Self { from: Some(from.max(step)), every: every.max(1), end },
            Sampling::Auto => Self { from: None, every: setup.cell_crossing_steps(), end },
        }
    }
}

fn steady_detector(setup: &GasSetup, transit_steps: f64) -> SteadyDetector {
    let mut names = vec!["particle count".to_string(), "kinetic energy".to_string()];
    if setup.stream.dynamic_pressure > 0.0 {
        names.extend(setup.bodies.iter().map(|body| format!("drag of {}", body.name)));
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    SteadyDetector::new(&names, transit_steps)
}
