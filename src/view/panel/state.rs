//! What the panels show, and what they order: plain values, so that a panel is a function that tests can call.
//! Must not know egui, Bevy, devices or physics.

use super::history::{HistoryStore, Speedometer};
use crate::output::distribution::Gathered;
use crate::runner::Status;
use crate::scene::{GasScene, Impact, Model, Problem, Scene, Shape};
use crate::sim::{Counters, Loads, Phase, Resolution, Snapshot};
use crate::units::Quantity;
use crate::view::camera::CameraOrder;
use crate::view::simulation::RunOrder;
use std::path::PathBuf;

/// Everything that the panels show.
#[derive(Debug, Default)]
pub struct State {
    /// The document.
    pub document: DocumentFacts,
    /// What the runner says of itself.
    pub run: RunFacts,
    /// What the newest snapshot says; `None` before the first.
    pub flow: Option<FlowFacts>,
    /// Rows of the history so far.
    pub history: HistoryStore,
    /// Steps a second over wall time.
    pub speed: Speedometer,
    /// Velocities gathered in the probed cell; the probe gathers them.
    pub gathered: Gathered,
    /// The probed cell.
    pub probe: Option<ProbeFacts>,
    /// What is under the cursor, with its unit and error.
    pub hover: Option<String>,
    /// Scenes that are shipped: name, and what they show.
    pub shipped: Vec<(String, String)>,
    /// Keys: group, key, what it does.
    pub keys: Vec<KeyLine>,
    /// The recording in progress.
    pub recording: Option<RecordingFacts>,
    /// The device that computes.
    pub device: String,
    /// What the panels themselves have to say (a file written or not), newest last.
    pub messages: Vec<String>,
}

/// The open document.
#[derive(Debug, Clone)]
pub struct DocumentFacts {
    /// The scene as its entities stand.
    pub scene: Scene,
    /// Its file.
    pub path: Option<PathBuf>,
    /// Whether it differs from its file.
    pub dirty: bool,
    /// The selected body, by its place among the obstacles.
    pub selected: Option<usize>,
    /// What the edit in progress will cost.
    pub pending: Option<Impact>,
    /// What is wrong with the scene or its file.
    pub problems: Vec<Problem>,
    /// What else went wrong, newest last.
    pub messages: Vec<String>,
    /// Whether there is an edit to take back, and one to make again.
    pub can_undo: bool,
    /// See `can_undo`.
    pub can_redo: bool,
}

/// What the runner says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFacts {
    /// What it does.
    pub status: Status,
    /// Steps done; ahead of the snapshot.
    pub step: u64,
    /// The step at which it will stop, where there is one.
    pub goal: Option<u64>,
    /// Whether it goes on until the flow is steady.
    pub until_steady: bool,
    /// Why the last edit was refused.
    pub refusal: Option<String>,
}

/// What the newest snapshot says, without its large parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FlowFacts {
    /// Steps done.
    pub step: u64,
    /// Simulated time, s.
    pub time_s: f64,
    /// Time step, s.
    pub time_step_s: f64,
    /// Transient or sampling.
    pub phase: Phase,
    /// Simulated particles.
    pub particles: u64,
    /// Molecules a particle stands for.
    pub weight: f64,
    /// Particles that are drawn.
    pub drawn: u64,
    /// Bytes held by the simulation.
    pub memory_bytes: u64,
    /// What was clipped, exceeded or lost.
    pub counters: Counters,
    /// Judgement of cells and time step.
    pub resolution: Option<Resolution>,
    /// Name and loads of each body.
    pub bodies: Vec<(String, Option<Loads>)>,
    /// Fields there are.
    pub fields: Vec<Quantity>,
    /// Surface tallies there are.
    pub tallies: Vec<Quantity>,
    /// What was decided on the way.
    pub notes: Vec<String>,
}

/// The probed cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbeFacts {
    /// Index of the cell.
    pub cell: u32,
    /// Its middle, m.
    pub middle_m: [f64; 3],
}

/// A line of the help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyLine {
    /// Heading under which it stands.
    pub group: String,
    /// Key or mouse gesture.
    pub key: String,
    /// What it does.
    pub does: String,
}

/// A recording in progress.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordingFacts {
    /// Frames written.
    pub frames: u32,
    /// Frames in all; `None` for until it is stopped.
    pub total: Option<u32>,
    /// Where it goes.
    pub path: PathBuf,
    /// Seconds left at the pace so far.
    pub eta_s: Option<f64>,
}

/// What the panels order. Nothing is done by a panel itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// What the simulation shall do.
    Run(RunOrder),
    /// What the camera shall do.
    Camera(CameraOrder),
    /// The scene shall be this one: numbers of the stream, the domain, the settings and the bodies that are there.
    Edit(Box<Scene>),
    /// Selects a body.
    Select(Option<usize>),
    /// A second body like this.
    Duplicate(usize),
    /// Takes a body away.
    Delete(usize),
    /// Adds a body.
    Add(Shape),
    /// Opens a scene file, or adds a triangle file.
    Open(PathBuf),
    /// Opens a shipped scene.
    OpenShipped(String),
    /// Writes the scene to its file.
    Save,
    /// Writes the scene to this file from now on.
    SaveAs(PathBuf),
    /// Takes the last edit back.
    Undo,
    /// Makes it again.
    Redo,
    /// Writes the history as CSV.
    ExportHistory,
    /// Starts a recording of the window.
    Record(RecordChoice),
    /// Ends it; what there is is kept.
    StopRecording,
    /// A picture of the window.
    Screenshot,
    /// No cell is probed any more.
    EndProbe,
}

/// What a recording shall be.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordChoice {
    /// Frames a second of the video.
    pub fps: u32,
    /// Time steps a frame.
    pub every: u32,
    /// Length of the video, s; 0 for until it is stopped.
    pub seconds: f64,
    /// Where it goes: a file that ends in .mp4, or a folder for PNG pictures.
    pub path: PathBuf,
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// Frames are drawn so many times larger each way and averaged.
    pub supersampling: u32,
    /// Along the key frames of the scene, instead of as the window's camera goes.
    pub along_path: bool,
}

impl Default for RecordChoice {
    fn default() -> Self {
        Self {
            fps: 30,
            every: 5,
            seconds: 10.0,
            path: "flow.mp4".into(),
            size: [1280, 720],
            supersampling: 1,
            along_path: false,
        }
    }
}

/// What came out of a pass over the panels.
#[derive(Debug, Default, PartialEq)]
pub struct Answer {
    /// Orders, in turn.
    pub orders: Vec<Order>,
    /// Whether a number is being dragged: the edit is not finished then.
    pub dragging: bool,
}

impl Answer {
    /// Adds an order.
    pub fn order(&mut self, order: Order) {
        self.orders.push(order);
    }
}

impl State {
    /// Takes over what a snapshot says.
    pub fn take(&mut self, snapshot: &Snapshot, wall_s: f64, running: bool) {
        self.history.take(&snapshot.history, snapshot.step);
        self.speed.record(wall_s, snapshot.step, running);
        let old = self.flow.take().unwrap_or_default();
        // Fields and surfaces are only in snapshots while somebody asks for them: their names stay known.
        let fields = snapshot.fields.as_ref();
        let fields = fields.map(|f| f.columns.iter().map(|c| c.quantity.clone()).collect());
        let tallies = snapshot.surfaces.first();
        let tallies = tallies.map(|s| s.columns.iter().map(|c| c.quantity.clone()).collect());
        self.flow = Some(FlowFacts {
            step: snapshot.step,
            time_s: snapshot.time_s,
            time_step_s: snapshot.time_step_s,
            phase: snapshot.phase,
            particles: snapshot.particles,
            weight: snapshot.weight,
            drawn: snapshot.drawn.len() as u64,
            memory_bytes: snapshot.memory_bytes,
            counters: snapshot.counters,
            resolution: snapshot.resolution.clone(),
            bodies: snapshot.surfaces.iter().map(|s| (s.name.clone(), s.loads.clone())).collect(),
            fields: fields.unwrap_or(old.fields),
            tallies: tallies.unwrap_or(old.tallies),
            notes: snapshot.notes.clone(),
        });
    }

    /// What is wrong; messages of the document, which also tell what went well, are not counted.
    pub fn problem_count(&self) -> usize {
        self.document.problems.len()
            + usize::from(self.run.refusal.is_some())
            + usize::from(matches!(self.run.status, Status::Failed(_)))
    }
}

impl DocumentFacts {
    /// The gas of the scene.
    pub fn gas(&self) -> &GasScene {
        let Model::Gas(gas) = &self.scene.model;
        gas
    }

    /// What a change of the gas would cost, before it is made.
    pub fn cost(&self, change: impl FnOnce(&mut GasScene)) -> Impact {
        let mut changed = self.scene.clone();
        let Model::Gas(gas) = &mut changed.model;
        change(gas);
        crate::scene::impact(&self.scene, &changed)
    }
}

impl Default for DocumentFacts {
    fn default() -> Self {
        Self {
            scene: empty_scene(),
            path: None,
            dirty: false,
            selected: None,
            pending: None,
            problems: Vec::new(),
            messages: Vec::new(),
            can_undo: false,
            can_redo: false,
        }
    }
}

impl Default for RunFacts {
    fn default() -> Self {
        Self { status: Status::Paused, step: 0, goal: None, until_steady: false, refusal: None }
    }
}

/// Nothing at all: stands in before a scene is open.
fn empty_scene() -> Scene {
    use crate::scene::{Density, Domain, Faces, Gas, Reference, Sampling, Start, Stream, TimeStep, Velocity};
    let stream = Stream {
        velocity: Velocity::Mach(1.0),
        density: Density::PressurePa(1.0),
        temperature_k: 300.0,
        incidence_deg: 0.0,
        sideslip_deg: 0.0,
    };
    let gas = GasScene {
        gas: Gas { species: Vec::new() },
        stream,
        domain: Domain { corner_m: [0.0; 3], size_m: [1.0; 3], cells: [1; 3] },
        particles_per_cell: 1.0,
        time_step: TimeStep::Auto,
        steps: 0,
        sampling: Sampling::Auto,
        collisions: Default::default(),
        start: Start::default(),
        faces: Faces::default(),
        reference: Reference::default(),
        obstacles: Vec::new(),
    };
    Scene {
        name: String::new(),
        about: String::new(),
        seed: 1,
        model: Model::Gas(gas),
        view: Default::default(),
        folder: PathBuf::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Fields;

    #[test]
    fn costs_are_known_beforehand() {
        let facts = DocumentFacts::default();
        assert_eq!(facts.cost(|gas| gas.stream.incidence_deg = 3.0), Impact::AveragesReset);
        assert_eq!(facts.cost(|gas| gas.steps += 1), Impact::Live);
        assert_eq!(facts.cost(|gas| gas.domain.cells[0] = 9), Impact::Restart);
        assert_eq!(facts.cost(|_| ()), Impact::Nothing);
    }

    #[test]
    fn names_of_fields_stay_known() {
        let mut state = State::default();
        let column = crate::sim::Column {
            quantity: Quantity::new("temperature", "temperature", "T", "K"),
            values: vec![1.0],
            errors: Vec::new(),
        };
        let fields = Fields { cells: [1; 3], columns: vec![column], ..Fields::default() };
        state.take(&Snapshot { step: 5, fields: Some(fields), ..Snapshot::default() }, 0.0, true);
        state.take(&Snapshot { step: 6, ..Snapshot::default() }, 0.1, true);
        let flow = state.flow.expect("a snapshot was taken");
        assert_eq!((flow.step, flow.fields.len()), (6, 1));
    }
}
