//! The result of a run as JSON: what was simulated, how, and what came out, each with its error.
//! Must not know devices, files or pictures.

use crate::scene::Scene;
use crate::sim::{Counters, Loads, Phase, Resolution, Snapshot};
use serde::{Deserialize, Serialize};

/// `summary.json`. SI units; numbers that are not finite (an error before the second batch) are `null`.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// "knudsen 0.1.0": who wrote it.
    pub version: String,
    /// Name of the scene.
    pub name: String,
    /// Seed of the random numbers: scene, seed and kind of device together give the same bits again.
    pub seed: u64,
    /// The device, in its own words.
    pub device: String,
    /// Steps done.
    pub steps: u64,
    /// Simulated time, s.
    pub time_s: f64,
    /// Time step, s.
    pub time_step_s: f64,
    /// Whether averages are being taken, since which step, and from how many samples.
    pub phase: Phase,
    /// Simulated particles at the end.
    pub particles: u64,
    /// Real molecules a simulated particle stands for.
    pub weight: f64,
    /// Batches behind the errors of the fields; `null` without fields.
    pub batches: Option<u32>,
    /// One entry an obstacle, in the order of the scene.
    pub obstacles: Vec<ObstacleSummary>,
    /// What was clipped, exceeded or lost.
    pub counters: Counters,
    /// Judgement of cells, time step and particles a cell; `null` before the first average.
    pub resolution: Option<Resolution>,
    /// Wall-clock time by phase of a step.
    pub timings: Vec<Timing>,
    /// Bytes held by the simulation.
    pub memory_bytes: u64,
    /// What was decided on the way, oldest first.
    pub notes: Vec<String>,
    /// The whole scene that was run.
    pub scene: Scene,
}

/// An obstacle in a [`Summary`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObstacleSummary {
    /// Name in the scene.
    pub name: String,
    /// Triangles of its surface.
    pub triangles: usize,
    /// Force, moment, heat and coefficients with their errors; `null` before the first sample.
    pub loads: Option<Loads>,
}

/// Wall-clock time of a phase in a [`Summary`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Phase of a step: "move", "collide".
    pub phase: String,
    /// Seconds since the start.
    pub seconds: f64,
    /// Its part of all phases, 0 to 1.
    pub share: f64,
}

impl Summary {
    /// What a snapshot says about a run of `scene` on `device`.
    pub fn from_snapshot(scene: &Scene, device: &str, snapshot: &Snapshot) -> Self {
        let total: f64 = snapshot.timings.iter().map(|(_, seconds)| seconds).sum();
        let timing = |&(phase, seconds): &(&'static str, f64)| Timing {
            phase: phase.to_owned(),
            seconds,
            share: if total > 0.0 { seconds / total } else { 0.0 },
        };
        Self {
            version: concat!("knudsen ", env!("CARGO_PKG_VERSION")).to_owned(),
            name: scene.name.clone(),
            seed: scene.seed,
            device: device.to_owned(),
            steps: snapshot.step,
            time_s: snapshot.time_s,
            time_step_s: snapshot.time_step_s,
            phase: snapshot.phase,
            particles: snapshot.particles,
            weight: snapshot.weight,
            batches: snapshot.fields.as_ref().map(|fields| fields.batches),
            obstacles: snapshot
                .surfaces
                .iter()
                .map(|surface| ObstacleSummary {
                    name: surface.name.clone(),
                    triangles: surface.mesh.triangles.len(),
                    loads: surface.loads.clone(),
                })
                .collect(),
            counters: snapshot.counters,
            resolution: snapshot.resolution.clone(),
            timings: snapshot.timings.iter().map(timing).collect(),
            memory_bytes: snapshot.memory_bytes,
            notes: snapshot.notes.clone(),
            scene: scene.clone(),
        }
    }
}
