//! The simulation in the app: what the window orders from it, and what it says of itself. Never waits.
//! Must not know devices or physics: it is handed what builds simulations.

mod engine;
#[cfg(test)]
mod tests;

use super::document::DocumentSystems;
use super::flow::Flow;
use crate::runner::{Pace, Status};
use crate::scene::Scene;
use crate::sim::{Factory, Phase, Request, Snapshot};
use bevy::prelude::*;
use engine::Engine;
use std::path::PathBuf;
use std::sync::Arc;

/// What the drawn things and panels need of the snapshots. Everybody who needs something says so in every frame, in
/// `Update`; what nobody asks for is not computed.
#[derive(Debug, Clone, Copy, PartialEq, Resource, Default)]
pub struct Wanted(pub Request);

/// Makes what builds simulations: every runner takes one of its own.
pub type Factories = Arc<dyn Fn() -> Factory + Send + Sync>;

/// What panels and keys order of the simulation.
#[derive(Debug, Clone, PartialEq, Message)]
pub enum RunOrder {
    /// Computes as fast as it can.
    Play,
    /// Stands still.
    Pause,
    /// So many steps more, then stands still.
    Step(u32),
    /// From the beginning; the pace stays.
    Restart,
    /// Computes until averages are being taken (with automatic sampling: until the flow is steady), then stands still.
    UntilSteady,
    /// Computes up to the last step of the scene.
    UntilEnd,
    /// So many simulated seconds in a second.
    RealTime(f64),
    /// Writes a checkpoint to this file.
    Save(PathBuf),
}

/// What the simulation says of itself, as of this frame.
#[derive(Debug, Clone, PartialEq, Resource)]
pub struct RunState {
    /// What the thread does.
    pub status: Status,
    /// The pace ordered last.
    pub pace: Pace,
    /// Whether it stops when averages are taken.
    pub until_steady: bool,
    /// Steps done.
    pub step: u64,
    /// Last step of the run, by the scene.
    pub steps: u64,
    /// Steps a second; 0 while standing still.
    pub steps_per_s: f64,
    /// Simulated time, s.
    pub time_s: f64,
    /// Particles.
    pub particles: u64,
    /// Whether averages are being taken.
    pub phase: Phase,
    /// Seconds to the last step of the scene at this speed; `None` while standing still or beyond it.
    pub eta_s: Option<f64>,
    /// Why the last change of the scene was refused, while the old one goes on.
    pub refusal: Option<String>,
    /// Why there is no simulation.
    pub error: Option<String>,
    /// What was saved, or could not be, last.
    pub message: Option<String>,
    /// Name of the device.
    pub device: String,
}

impl RunState {
    fn new(device: &str) -> Self {
        Self {
            status: Status::Building,
            pace: Pace::Paused,
            until_steady: false,
            step: 0,
            steps: 0,
            steps_per_s: 0.0,
            time_s: 0.0,
            particles: 0,
            phase: Phase::Transient,
            eta_s: None,
            refusal: None,
            error: None,
            message: None,
            device: device.into(),
        }
    }
}

/// The scene that the simulation shall have next: what the document hands over, and keeps until it is taken.
#[derive(Debug, Default, Resource)]
pub struct Handover {
    scene: Option<Box<Scene>>,
    anew: bool,
}

impl Handover {
    /// Goes on with a changed scene. Of several only the last counts.
    pub fn adopt(&mut self, scene: Scene) {
        self.scene = Some(Box::new(scene));
    }

    /// Ends the old simulation and starts one of this scene.
    pub fn start(&mut self, scene: Scene) {
        *self = Self { scene: Some(Box::new(scene)), anew: true };
    }

    /// The scene that waits, and whether it is another than the one that runs.
    pub fn waiting(&self) -> Option<(&Scene, bool)> {
        self.scene.as_deref().map(|scene| (scene, self.anew))
    }
}

/// Runs the simulation of the document: `Flow`, [`RunState`] and [`Wanted`] are there as soon as it is added.
pub struct SimulationPlugin {
    /// What makes the simulations.
    pub factories: Factories,
    /// Name of the device, to be shown.
    pub device: String,
}

impl Plugin for SimulationPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Wanted>()
            .init_resource::<Handover>()
            .insert_resource(RunState::new(&self.device))
            .insert_resource(Flow::still(Snapshot::default()))
            .insert_resource(Engine::new(Arc::clone(&self.factories)))
            .add_message::<RunOrder>()
            .add_systems(First, forget_wishes)
            .add_systems(PreUpdate, engine::report)
            .add_systems(Update, engine::take_orders.after(DocumentSystems))
            .add_systems(Last, (engine::take_scene, engine::ask, engine::send).chain());
    }
}

fn forget_wishes(mut wanted: ResMut<Wanted>) {
    *wanted = Wanted::default();
}
/// Whether every frame must show its snapshot exactly: then long computations of drawn things are waited for. Set in
/// apps without a window; in a window no frame waits, and such things follow when they are ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Resource, Default)]
pub struct Exact(pub bool);
