//! The panels run through egui without a window, at several states: what they say is read from the finished shapes.
//! Only for tests.

use super::Panels;
use super::layout;
use super::state::{Answer, FlowFacts, KeyLine, Order, ProbeFacts, RecordingFacts, State};
use super::style;
use crate::runner::Status;
use crate::scene::{Impact, Model, Problem, parse};
use crate::sim::{
    Counters, Criterion, Estimate, History, Loads, Phase, Probe, Resolution, SimError, Snapshot,
};
use crate::units::Quantity;
use crate::view::simulation::RunOrder;
use bevy_egui::egui::{self, Event, Modifiers, PointerButton, Pos2, Rect, Shape, pos2, vec2};
use std::path::Path;

/// A text on the screen: what, where, and the part of the screen in which it may be seen.
struct Text {
    text: String,
    rect: Rect,
    clip: Rect,
}

/// The panels in a window of a size, without a window.
struct Bench {
    ctx: egui::Context,
    size: [f32; 2],
    time: f64,
    panels: Panels,
    texts: Vec<Text>,
    free: Rect,
}

impl Bench {
    fn new(size: [f32; 2]) -> Self {
        let ctx = egui::Context::default();
        style::apply(&ctx);
        let panels = Panels::default();
        Self { ctx, size, time: 0.0, panels, texts: Vec::new(), free: Rect::NOTHING }
    }

    /// One pass with these events.
    fn pass(&mut self, state: &State, events: Vec<Event>) -> Answer {
        self.time += 0.2;
        let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, vec2(self.size[0], self.size[1])));
        let input = egui::RawInput { screen_rect, time: Some(self.time), events, ..Default::default() };
        let mut answer = Answer::default();
        let mut free = Rect::NOTHING;
        let panels = &mut self.panels;
        let output = self.ctx.run_ui(input, |ui| {
            let (orders, rect) = layout::show(ui, state, panels, &mut |_, _| ());
            answer.orders.extend(orders.orders);
            answer.dragging |= orders.dragging;
            free = rect;
        });
        self.texts.clear();
        for clipped in &output.shapes {
            texts(&clipped.shape, clipped.clip_rect, &mut self.texts);
        }
        self.free = free;
        // egui writes "First use of widget ID ..." over widgets that share an id, which then share clicks.
        assert!(!self.says(" use of "), "{}", self.all());
        output.drop_without_applying_deltas();
        answer
    }

    /// Passes until the layout has settled; the last one's orders.
    fn settle(&mut self, state: &State) -> Answer {
        for _ in 0..3 {
            self.pass(state, Vec::new());
        }
        self.pass(state, Vec::new())
    }

    fn says(&self, text: &str) -> bool {
        self.texts.iter().any(|shown| shown.text.contains(text))
    }

    fn all(&self) -> String {
        self.texts.iter().map(|text| text.text.as_str()).collect::<Vec<_>>().join(" | ")
    }

    /// Where the text is.
    fn find(&self, text: &str) -> Pos2 {
        let shown = self.texts.iter().find(|shown| shown.text == text);
        shown.unwrap_or_else(|| panic!("no \"{text}\" in {}", self.all())).rect.center()
    }

    fn click(&mut self, state: &State, text: &str) -> Answer {
        let at = self.find(text);
        self.pass(state, vec![Event::PointerMoved(at)]);
        let button = |pressed| Event::PointerButton {
            pos: at,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::default(),
        };
        let mut answer = self.pass(state, vec![button(true)]);
        answer.orders.extend(self.pass(state, vec![button(false)]).orders);
        answer
    }

    /// Drags a text by so many points to the right; the answers of each pass.
    fn drag(&mut self, state: &State, text: &str, by: f32) -> Vec<Answer> {
        let at = self.find(text);
        let button = |pos, pressed| Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::default(),
        };
        let to = at + vec2(by, 0.0);
        let steps = [
            vec![Event::PointerMoved(at)],
            vec![button(at, true)],
            vec![Event::PointerMoved(at + vec2(0.5 * by, 0.0))],
            vec![Event::PointerMoved(to)],
            vec![button(to, false)],
        ];
        steps.into_iter().map(|events| self.pass(state, events)).collect()
    }
}

fn texts(shape: &Shape, clip: Rect, to: &mut Vec<Text>) {
    match shape {
        Shape::Text(text) => {
            let rect = text.visual_bounding_rect();
            to.push(Text { text: text.galley.text().to_owned(), rect, clip });
        }
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts(shape, clip, to)),
        _ => {}
    }
}

fn sphere_state() -> State {
    let text = include_str!("../../../scenes/sphere.ron");
    let mut state = State::default();
    state.document.scene = parse(text, "sphere.ron", Path::new(".")).expect("a shipped scene");
    state.document.path = Some("scenes/sphere.ron".into());
    state.device = "CPU, 2 threads".into();
    state
}

fn estimate(value: f64, error: f64) -> Estimate {
    Estimate { value, error, batches: 30 }
}

fn loads() -> Loads {
    Loads {
        force_n: [estimate(0.0123, 0.0004), estimate(0.0, 0.0003), estimate(0.0, 0.0003)],
        moment_n_m: [estimate(0.0, 1e-5); 3],
        heat_w: estimate(12.0, 0.5),
        hits_per_s: estimate(3e20, 1e18),
        drag_coefficient: Some(estimate(1.4023, 0.0131)),
        lift_coefficient: Some(estimate(0.0, 0.01)),
        side_coefficient: None,
        free_molecular_drag_coefficient: Some(2.3456),
        reference_area_m2: 0.07,
        reference_length_m: 0.3,
    }
}

/// A flow in full run, with `bodies` bodies.
fn full_state(bodies: usize) -> State {
    let mut state = sphere_state();
    let Model::Gas(gas) = &mut state.document.scene.model;
    let body = gas.obstacles[0].clone();
    gas.obstacles =
        (0..bodies).map(|i| crate::scene::Obstacle { name: format!("body {i}"), ..body.clone() }).collect();
    let mut columns = vec![
        Quantity::new("step", "step", "", ""),
        Quantity::new("time", "time", "t", "s"),
        Quantity::new("particles", "simulated particles", "N", ""),
    ];
    columns.extend((0..bodies).map(|i| Quantity {
        key: format!("drag_coefficient_body {i}").into(),
        name: format!("drag coefficient of body {i}").into(),
        symbol: "C_D".into(),
        unit: "".into(),
    }));
    let row = |step: usize| {
        let start = [step as f64, 1e-5 * step as f64, 1e6];
        start.into_iter().chain((0..bodies).map(move |i| 1.4 + 0.01 * i as f64))
    };
    let values = (1..=50).flat_map(|i| row(10 * i)).collect();
    let criterion = |name: &str, median: f64, missed: f64| Criterion {
        name: name.into(),
        worst: 3.0,
        median,
        limit: 1.0,
        upper: true,
        missed,
    };
    let velocities =
        (0..500).map(|i| [(i % 37) as f32 * 20.0, (i % 11) as f32 * 30.0, (i % 5) as f32]).collect();
    let snapshot = Snapshot {
        step: 500,
        time_s: 5e-3,
        time_step_s: 1e-5,
        phase: Phase::Sampling { since: 300, samples: 20 },
        particles: 1_250_000,
        weight: 2.9e12,
        history: History { columns, first_row: 0, values },
        counters: Counters { lost: 3, particle_steps: 1_000_000, ..Counters::default() },
        resolution: Some(Resolution {
            criteria: vec![
                criterion("cell size / mean free path", 0.4, 0.0),
                criterion("time step / mean collision time", 0.8, 0.2),
                criterion("cells crossed in a time step", 1.8, 0.9),
            ],
        }),
        probe: Some(Probe { cell: 77, velocities, mass_kg: 6.6e-26 }),
        ..Snapshot::default()
    };
    if let Some(probe) = &snapshot.probe {
        state.gathered.add(probe, snapshot.step);
    }
    state.take(&snapshot, 0.0, true);
    state.take(&Snapshot { step: 700, ..snapshot }, 2.0, true);
    let flow = state.flow.as_mut().expect("taken");
    flow.bodies = (0..bodies).map(|i| (format!("body {i}"), Some(loads()))).collect();
    state.run.status = Status::Running;
    state.run.step = 700;
    state.probe = Some(ProbeFacts { cell: 77, middle_m: [0.5, 0.5, 0.51] });
    state.hover = Some("temperature T = 213.0 ± 0.5 K".into());
    state
}

#[test]
fn nothing_is_there_yet() {
    let mut bench = Bench::new([1280.0, 720.0]);
    let answer = bench.settle(&State::default());
    assert!(answer.orders.is_empty() && !answer.dragging, "{:?}", answer.orders);
    for text in ["no scene", "paused", "no problems", "No body in the flow", "No history yet", "Restart"] {
        assert!(bench.says(text), "no \"{text}\" in {}", bench.all());
    }
}

#[test]
fn a_flow_in_full_run() {
    let mut bench = Bench::new([1280.0, 1400.0]);
    let state = full_state(1);
    let answer = bench.settle(&state);
    assert!(answer.orders.is_empty(), "{:?}", answer.orders);
    for text in [
        "sphere",
        "running",
        "step 700 of 2000",
        "100 steps/s",
        "1.25 M particles",
        "sampling, 20 since step 300",
        "13 s left",
        "CPU, 2 threads",
        "1.402 ± 0.013",
        "2.3456 (theory)",
        "12.30 ± 0.40 mN",
        "12.00 ± 0.50 W",
        "ok",
        "coarse",
        "bad",
        "3 particles lost",
        "drag coefficient C_D",
        "cell 77 at",
        "temperature T = 213.0 ± 0.5 K",
        "Maxwellian of",
        "averages",
        "Pause",
        "Mach number",
    ] {
        assert!(bench.says(text), "no \"{text}\" in {}", bench.all());
    }
}

#[test]
fn a_failed_simulation_says_what_to_do() {
    let mut bench = Bench::new([1280.0, 720.0]);
    let mut state = full_state(1);
    state.run.status = Status::Failed(SimError::Numerical("the energy grew without bound at step 12".into()));
    bench.settle(&state);
    for text in ["The simulation failed", "the energy grew without bound", "smaller time step", "1 problem"] {
        assert!(bench.says(text), "no \"{text}\" in {}", bench.all());
    }
    assert_eq!(bench.click(&state, "Restart the flow").orders, [Order::Run(RunOrder::Restart)]);
    // What cannot be ordered from a dead simulation is not.
    assert!(bench.click(&state, "Step").orders.is_empty());
}

#[test]
fn problems_are_listed_with_their_lines() {
    let mut bench = Bench::new([1280.0, 720.0]);
    let mut state = sphere_state();
    state.document.problems = vec![Problem {
        file: "a.ron".into(),
        line: 12,
        column: 5,
        field: "model.stream.temperature_k".into(),
        message: "must be above 0".into(),
        source_line: "    temperature_k: -3.0,".into(),
    }];
    state.document.messages = vec!["body.stl cannot be read: no such file".into()];
    state.document.pending = Some(Impact::Restart);
    bench.settle(&state);
    assert!(bench.says("1 problem") && bench.says("this edit will restart the flow"), "{}", bench.all());
    bench.click(&state, "■ 1 problem");
    bench.settle(&state);
    for text in
        ["a.ron:12:5: model.stream.temperature_k: must be above 0", "temperature_k: -3.0", "body.stl cannot"]
    {
        assert!(bench.says(text), "no \"{text}\" in {}", bench.all());
    }
}

#[test]
fn buttons_order_what_they_say() {
    let mut bench = Bench::new([1280.0, 1000.0]);
    let mut state = sphere_state();
    state.document.can_undo = true;
    bench.settle(&state);
    assert_eq!(bench.click(&state, "Play").orders, [Order::Run(RunOrder::Play)]);
    assert_eq!(bench.click(&state, "Step").orders, [Order::Run(RunOrder::Step(1))]);
    assert_eq!(bench.click(&state, "Steps").orders, [Order::Run(RunOrder::Step(100))]);
    assert_eq!(bench.click(&state, "Until steady").orders, [Order::Run(RunOrder::UntilSteady)]);
    assert_eq!(bench.click(&state, "To the end").orders, [Order::Run(RunOrder::UntilEnd)]);
    assert_eq!(bench.click(&state, "Undo").orders, [Order::Undo]);
    assert_eq!(bench.click(&state, "Redo").orders, []);
    assert_eq!(bench.click(&state, "sphere   sphere").orders, [Order::Select(Some(0))]);
    state.document.selected = Some(0);
    bench.settle(&state);
    assert_eq!(bench.click(&state, "Duplicate").orders, [Order::Duplicate(0)]);
    assert!(matches!(bench.click(&state, "cone").orders[..], [Order::Add(crate::scene::Shape::Cone { .. })]));
    bench.click(&state, "Open...");
    state.shipped = vec![("wing".into(), "a wing".into())];
    bench.settle(&state);
    assert_eq!(bench.click(&state, "wing").orders, [Order::OpenShipped("wing".into())]);
    bench.settle(&state);
    assert!(!bench.says("Shipped scenes"), "the window closes when something was opened");
}

#[test]
fn a_dragged_number_is_an_edit_that_says_so() {
    let mut bench = Bench::new([1280.0, 1000.0]);
    let state = sphere_state();
    bench.settle(&state);
    // The temperature of the stream; the Mach number is the first number, 4.
    let answers = bench.drag(&state, "200", 40.0);
    let edits: Vec<&Order> = answers.iter().flat_map(|answer| &answer.orders).collect();
    let Some(Order::Edit(scene)) = edits.last() else { panic!("no edit in {edits:?}") };
    let Model::Gas(gas) = &scene.model;
    assert!(gas.stream.temperature_k > 210.0, "{}", gas.stream.temperature_k);
    let Model::Gas(before) = &state.document.scene.model;
    assert_eq!(gas.domain, before.domain);
    assert!(answers.iter().any(|answer| answer.dragging));
    assert!(!bench.settle(&state).dragging);
}

#[test]
fn nothing_is_clipped_at_the_smallest_size() {
    let mut bench = Bench::new([1280.0, 720.0]);
    let mut state = full_state(4);
    state.document.selected = Some(0);
    state.keys =
        vec![KeyLine { group: "Camera".into(), key: "F".into(), does: "frames the selection".into() }];
    bench.settle(&state);
    for text in &bench.texts {
        // Scrolled away below or above is no fault; cut at its side is.
        let seen = text.rect.intersects(text.clip);
        let inside =
            text.rect.left() >= text.clip.left() - 1.5 && text.rect.right() <= text.clip.right() + 1.5;
        assert!(!seen || inside, "\"{}\" at {:?} is cut by {:?}", text.text, text.rect, text.clip);
    }
    // The flow keeps at least half of the width and most of the height.
    assert!(bench.free.width() >= 640.0 && bench.free.height() >= 600.0, "{:?}", bench.free);
}

#[test]
fn panels_can_be_hidden() {
    let mut bench = Bench::new([1280.0, 720.0]);
    let state = full_state(1);
    bench.settle(&state);
    let with = bench.free;
    bench.click(&state, "Results");
    bench.settle(&state);
    assert!(bench.free.width() > with.width() + 200.0 && !bench.says("Resolution"));
    bench.panels.hidden = true;
    bench.settle(&state);
    assert_eq!(bench.free.size(), vec2(1280.0, 720.0));
    assert!(bench.texts.is_empty(), "{}", bench.all());
    assert_eq!(bench.free.min, pos2(0.0, 0.0));
}

#[test]
fn windows_open() {
    let mut bench = Bench::new([1280.0, 900.0]);
    let mut state = full_state(1);
    state.keys =
        vec![KeyLine { group: "Camera".into(), key: "F".into(), does: "frames the selection".into() }];
    bench.panels.open.help = true;
    bench.settle(&state);
    assert!(bench.says("frames the selection") && bench.says("What an edit costs"), "{}", bench.all());
    bench.panels.open.help = false;
    bench.panels.open.recording = true;
    bench.settle(&state);
    let answer = bench.click(&state, "Start recording");
    assert!(matches!(&answer.orders[..], [Order::Record(choice)] if choice.fps == 30), "{answer:?}");
    state.recording =
        Some(RecordingFacts { frames: 12, total: Some(300), path: "flow.mp4".into(), eta_s: Some(90.0) });
    bench.settle(&state);
    assert!(bench.says("12 of 300 frames in flow.mp4"));
    assert_eq!(bench.click(&state, "Stop").orders, [Order::StopRecording]);
}

#[test]
fn many_bodies_are_all_there() {
    let mut bench = Bench::new([1280.0, 3000.0]);
    let state = full_state(12);
    bench.settle(&state);
    for i in 0..12 {
        assert!(bench.says(&format!("body {i}   sphere")), "{i}: {}", bench.all());
    }
    assert_eq!(FlowFacts::default().bodies.len(), 0);
}
