//! Recording and screenshots while the window is open: a camera of their own sees what the window's camera sees, without
//! the panels, at any size; each frame waits for its steps, the window does not.
//! Must not know devices or physics.

use super::sink::Sink;
use super::{RecordError, Recording, Shot};
use crate::output::canvas::Canvas;
use crate::runner::{Answer, RunnerError};
use crate::view::camera::Viewpoint;
use crate::view::capture::{Capture, Captured, Frame, shrink, target_image};
use crate::view::document::Selection;
use crate::view::flow::Flow;
use crate::view::legend::Legend;
use crate::view::simulation::Exact;
use bevy::camera::RenderTarget;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::prelude::*;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::TryRecvError;
use std::time::Instant;

/// Marks the camera of the window, whose view is recorded.
#[derive(Debug, Clone, Copy, Default, Component)]
pub struct WindowCamera;

/// What panels and keys order.
#[derive(Debug, Clone, PartialEq, Message)]
pub enum RecordOrder {
    /// Begins a recording by [`RecordSettings`].
    Start,
    /// Ends the recording and keeps what there is.
    Stop,
    /// Writes one picture of the flow as it is, without panels.
    Screenshot,
}

/// How the next recording is made; a panel shows it.
#[derive(Debug, Clone, PartialEq, Resource)]
pub struct RecordSettings {
    /// A name that ends in .mp4, or a folder of pictures.
    pub output: PathBuf,
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// Frames are drawn so many times larger each way and averaged.
    pub supersampling: u32,
    /// Frames a second.
    pub fps: u32,
    /// Length, seconds.
    pub seconds: f32,
    /// Steps from frame to frame.
    pub every: u32,
    /// How the camera goes; `None`: as the window's does.
    pub shot: Option<Shot>,
    /// Title, time, colour bars over the picture.
    pub legend: bool,
}

impl Default for RecordSettings {
    fn default() -> Self {
        Self {
            output: PathBuf::from("out/window.mp4"),
            size: [1280, 720],
            supersampling: 1,
            fps: 30,
            seconds: 5.0,
            every: 2,
            shot: None,
            legend: true,
        }
    }
}

/// How far the recording is; a panel shows it.
#[derive(Debug, Clone, Default, PartialEq, Resource)]
pub struct RecordState {
    /// Frames done and to do, and the seconds left, while a recording runs.
    pub running: Option<Progress>,
    /// How the last one ended: what was written, or why not.
    pub message: Option<Result<String, String>>,
}

/// How far a recording is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Frames done.
    pub done: u32,
    /// Frames in all.
    pub total: u32,
    /// Seconds left at the pace so far; `None` before the first frame.
    pub eta_s: Option<f64>,
}

/// Records what the window shows.
pub struct WindowRecordPlugin;

impl Plugin for WindowRecordPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<RecordOrder>()
            .init_resource::<RecordSettings>()
            .init_resource::<RecordState>()
            .init_resource::<Work>()
            .add_systems(First, drive)
            .add_systems(Last, keep_at_the_end.run_if(on_message::<AppExit>))
            .add_systems(PostUpdate, follow.before(TransformSystems::Propagate));
    }
}

/// The recording in the making.
#[derive(Resource, Default)]
struct Work(Option<Running>);

struct Running {
    recording: Recording,
    follows: bool,
    /// A picture instead of a video.
    single: bool,
    sink: Sink,
    camera: Entity,
    began: Instant,
    stage: Waiting,
}

enum Waiting {
    /// For the app to have everything drawn once: that many frames.
    WarmUp(u32),
    /// For the steps of the next frame.
    Steps(Mutex<Answer>),
    /// For the captured frame of that number.
    Frame(u64),
}

/// The camera of the recording sees what it shall.
fn follow(
    work: Res<Work>,
    window: Query<(&Transform, &Projection), With<WindowCamera>>,
    mut cameras: Query<(&mut Transform, &mut Projection), Without<WindowCamera>>,
) {
    let Some(running) = &work.0 else { return };
    let Ok((mut transform, mut projection)) = cameras.get_mut(running.camera) else { return };
    if running.follows {
        let Ok((seen, by)) = window.single() else { return };
        (*transform, *projection) = (*seen, by.clone());
    } else {
        let viewpoint = running.recording.shot.at(running.sink.frames(), &running.recording);
        (*transform, *projection) = (viewpoint.transform(), viewpoint.projection());
    }
}

fn drive(world: &mut World) {
    let orders: Vec<RecordOrder> = world.resource_mut::<Messages<RecordOrder>>().drain().collect();
    for order in orders {
        match (order, world.resource::<Work>().0.is_some()) {
            (RecordOrder::Stop, true) => end(world, Ok(())),
            (RecordOrder::Start, false) => start(world, false),
            (RecordOrder::Screenshot, false) => start(world, true),
            _ => {}
        }
    }
    let Some(mut running) = world.resource_mut::<Work>().0.take() else { return };
    let outcome = running.go_on(world);
    let done = running.sink.frames();
    let finished = done == running.recording.frames;
    let progress = Progress {
        done,
        total: running.recording.frames,
        eta_s: (done > 0).then(|| {
            let left = f64::from(running.recording.frames - done);
            running.began.elapsed().as_secs_f64() / f64::from(done) * left
        }),
    };
    world.resource_mut::<RecordState>().running = Some(progress);
    world.resource_mut::<Work>().0 = Some(running);
    if finished || outcome.is_err() {
        end(world, outcome);
    }
}

/// Who quits in the middle of a recording keeps what there is of it.
fn keep_at_the_end(world: &mut World) {
    end(world, Ok(()));
}

fn start(world: &mut World, single: bool) {
    let settings = world.resource::<RecordSettings>().clone();
    if let Err(error) = try_start(world, &settings, single) {
        world.resource_mut::<RecordState>().message = Some(Err(error.to_string()));
    }
}

fn try_start(world: &mut World, settings: &RecordSettings, single: bool) -> Result<(), RecordError> {
    let frames = if single { 1 } else { (settings.seconds * settings.fps as f32).round().max(1.0) as u32 };
    let recording = Recording {
        size: settings.size,
        supersampling: if single { 2 } else { settings.supersampling.clamp(1, 4) },
        fps: settings.fps,
        frames,
        from_step: 0,
        every: settings.every,
        shot: settings.shot.clone().unwrap_or(Shot::Turn { from: Viewpoint::default(), degrees: 0.0 }),
        legend: settings.legend,
    };
    let sink = match single {
        true => Sink::picture(&settings.output)?,
        false => Sink::create(&settings.output, settings.size, settings.fps)?,
    };
    let size = recording.size.map(|n| n * recording.supersampling);
    let image = target_image(&mut world.resource_mut::<Assets<Image>>(), size);
    world.resource_mut::<Capture>().target = Some(image.clone());
    let camera = world
        .spawn((
            Camera3d::default(),
            // Before the window's.
            Camera { order: -1, ..default() },
            Tonemapping::None,
            Msaa::Sample4,
            RenderTarget::Image(image.into()),
        ))
        .id();
    // Nothing of the editor in the picture.
    if let Some(mut selection) = world.get_resource_mut::<Selection>() {
        selection.0 = None;
    }
    world.insert_resource(Exact(true));
    let follows = single || settings.shot.is_none();
    let stage = Waiting::WarmUp(4);
    let running = Running { recording, follows, single, sink, camera, began: Instant::now(), stage };
    world.resource_mut::<Work>().0 = Some(running);
    world.resource_mut::<RecordState>().message = None;
    Ok(())
}

fn end(world: &mut World, outcome: Result<(), RecordError>) {
    let Some(running) = world.resource_mut::<Work>().0.take() else { return };
    world.despawn(running.camera);
    world.resource_mut::<Capture>().target = None;
    world.insert_resource(Exact(false));
    let frames = running.sink.frames();
    let single = running.single;
    let kept = running.sink.finish();
    let message = match (outcome, kept) {
        (Ok(()), Ok(Some(path))) if single => Ok(format!("written to {}", path.display())),
        (Ok(()), Ok(Some(path))) => Ok(format!("{frames} frames written to {}", path.display())),
        (Ok(()), Ok(None)) => Err("stopped before the first frame: nothing was written".into()),
        (Err(error), Ok(Some(path))) => {
            Err(format!("{error}; the {frames} frames before are in {}", path.display()))
        }
        (Err(error), Ok(None)) | (Ok(()), Err(error)) | (Err(error), Err(_)) => Err(error.to_string()),
    };
    let mut state = world.resource_mut::<RecordState>();
    *state = RecordState { running: None, message: Some(message) };
}

impl Running {
    /// Goes on as far as it can without waiting.
    fn go_on(&mut self, world: &mut World) -> Result<(), RecordError> {
        match &mut self.stage {
            Waiting::WarmUp(0) => self.ask(world),
            Waiting::WarmUp(left) => *left -= 1,
            Waiting::Steps(answer) => {
                let answer = answer.get_mut().map(|answer| answer.try_recv());
                match answer {
                    Ok(Ok(done)) => {
                        done?;
                        self.ask(world);
                    }
                    Ok(Err(TryRecvError::Disconnected)) | Err(_) => return Err(RunnerError::Stopped.into()),
                    Ok(Err(TryRecvError::Empty)) => {}
                }
            }
            Waiting::Frame(number) => {
                let number = *number;
                let captured = world.resource::<Captured>();
                match std::iter::from_fn(|| captured.next()).last() {
                    Some(Ok(frame)) if frame.number == number => self.take(world, &frame)?,
                    Some(Err(error)) => return Err(crate::view::headless::RenderError::NoFrame(error).into()),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Asks for the picture of this frame.
    fn ask(&mut self, world: &mut World) {
        let mut capture = world.resource_mut::<Capture>();
        capture.number += 1;
        self.stage = Waiting::Frame(capture.number);
    }

    /// Takes a picture, and orders the steps to the next.
    fn take(&mut self, world: &mut World, frame: &Frame) -> Result<(), RecordError> {
        let frame = shrink(frame, self.recording.supersampling);
        let canvas = match self.recording.legend {
            true => Legend::gather(world).over(&frame)?,
            false => Canvas::over_rgba(frame.size[0] as usize, frame.size[1] as usize, &frame.rgba)?,
        };
        self.sink.push(&canvas)?;
        if self.sink.frames() < self.recording.frames {
            let steps = self.recording.every;
            let flow = world.get_resource::<Flow>();
            let answer = flow.and_then(|flow| flow.with(|runner| runner.order_frame(steps))).transpose()?;
            self.stage = match answer {
                Some(answer) => Waiting::Steps(Mutex::new(answer)),
                None => Waiting::WarmUp(0),
            };
        }
        Ok(())
    }
}
