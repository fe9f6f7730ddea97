//! Recording without a window: an app that draws into an image, and a simulation that waits for it.
//! Must not know devices, physics or the command line.

use super::sink::Sink;
use super::{RecordError, Recording};
use crate::output::canvas::Canvas;
use crate::runner::{Order, Runner};
use crate::scene::{Model, Scene};
use crate::sim::Snapshot;
use crate::view::capture::shrink;
use crate::view::draw::DrawPlugins;
use crate::view::flow::Flow;
use crate::view::headless::Headless;
use crate::view::legend::{Legend, Title};
use crate::view::look::Look;
use crate::view::simulation::Wanted;
use crate::view::stage::{Stage, spawn_camera};
use bevy::prelude::*;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest wait for a frame's steps.
const PATIENCE: Duration = Duration::from_secs(24 * 3600);

/// Records a flow. An output that ends in `.mp4` is a video, any other a folder of pictures. `progress` is told the
/// frames done (0 on the way to the first) and whether to go on: false ends the recording with what there is. Returns what was written, `None` if
/// there was no frame.
///
/// # Errors
/// The simulation, the graphics driver, the encoder or the disk fail. Frames done by then are kept all the same: the
/// second value says where.
pub fn record(
    scene: &Scene,
    runner: Runner,
    look: &Look,
    recording: &Recording,
    output: &Path,
    mut progress: impl FnMut(u32, &Snapshot) -> bool,
) -> Result<Option<PathBuf>, (RecordError, Option<PathBuf>)> {
    let nothing = |error| (error, None);
    let mut studio = Studio::new(scene, runner, look, recording).map_err(nothing)?;
    let mut sink = Sink::create(output, recording.size, recording.fps).map_err(nothing)?;
    let outcome = studio.run(look, recording, &mut sink, &mut progress);
    match (outcome, sink.finish()) {
        (Ok(()), Ok(written)) => Ok(written),
        (Ok(()), Err(error)) => Err((error, None)),
        (Err(error), kept) => Err((error, kept.ok().flatten())),
    }
}

/// The app, with the flow in it.
struct Studio {
    app: Headless,
}

impl Studio {
    fn new(scene: &Scene, runner: Runner, look: &Look, recording: &Recording) -> Result<Self, RecordError> {
        let viewpoint = recording.shot.at(0, recording);
        let size = recording.size.map(|n| n * recording.supersampling.max(1));
        let mut app = Headless::new(size, DrawPlugins, |world, target| {
            spawn_camera(world, &viewpoint, target);
        })?;
        let Model::Gas(gas) = &scene.model;
        let world = app.world();
        world.insert_resource(Stage::of(&gas.domain));
        world.insert_resource(Title(scene.name.clone()));
        world.init_resource::<Wanted>();
        look.spawn(world);
        world.insert_resource(Flow::new(runner));
        // What is drawn says what it needs.
        app.app().update();
        let request = app.world().resource::<Wanted>().0;
        app.world().resource::<Flow>().with(|runner| runner.order(Order::Observe(request))).transpose()?;
        Ok(Self { app })
    }

    fn run(
        &mut self,
        look: &Look,
        recording: &Recording,
        sink: &mut Sink,
        progress: &mut impl FnMut(u32, &Snapshot) -> bool,
    ) -> Result<(), RecordError> {
        if !self.advance_to(recording.from_step, progress)? {
            return Ok(());
        }
        let checked = self.app.world().resource::<Flow>().read(|snapshot| look.check(snapshot));
        checked.unwrap_or(Ok(())).map_err(RecordError::Look)?;
        for frame in 0..recording.frames {
            self.look_from(recording, frame);
            let picture = self.app.frame()?;
            let legend = recording.legend.then(|| Legend::gather(self.app.world()));
            let told = self.app.world().resource::<Flow>().read(|snapshot| progress(frame + 1, snapshot));
            let last = frame + 1 == recording.frames || !told.unwrap_or(true);
            // The next steps are computed while this frame is encoded.
            let next = (!last).then(|| self.order_steps(recording.every)).transpose()?.flatten();
            let picture = shrink(&picture, recording.supersampling);
            let canvas = match legend {
                Some(legend) => legend.over(&picture)?,
                None => Canvas::over_rgba(picture.size[0] as usize, picture.size[1] as usize, &picture.rgba)?,
            };
            sink.push(&canvas)?;
            if last {
                break;
            }
            if let Some(next) = next {
                crate::runner::receive(&next, PATIENCE)?;
            }
        }
        Ok(())
    }

    fn look_from(&mut self, recording: &Recording, frame: u32) {
        let viewpoint = recording.shot.at(frame, recording);
        let world = self.app.world();
        let mut cameras = world.query_filtered::<(&mut Transform, &mut Projection), With<Camera3d>>();
        for (mut transform, mut projection) in cameras.iter_mut(world) {
            *transform = viewpoint.transform();
            *projection = viewpoint.projection();
        }
    }

    /// Computes up to that step, in pieces of about a second, between which `progress` may end it: false then.
    fn advance_to(
        &mut self,
        step: u64,
        progress: &mut impl FnMut(u32, &Snapshot) -> bool,
    ) -> Result<bool, RecordError> {
        let flow = self.app.world().resource::<Flow>();
        let (mut left, mut piece) = (step, 1_u32);
        loop {
            let steps = piece.min(u32::try_from(left).unwrap_or(u32::MAX));
            let began = Instant::now();
            flow.with(|runner| runner.frame(steps, PATIENCE).map(drop)).transpose()?;
            left -= u64::from(steps);
            if left == 0 {
                return Ok(true);
            }
            if began.elapsed() < Duration::from_millis(500) {
                piece = piece.saturating_mul(2);
            }
            if !flow.read(|snapshot| progress(0, snapshot)).unwrap_or(true) {
                return Ok(false);
            }
        }
    }

    fn order_steps(&mut self, steps: u32) -> Result<Option<crate::runner::Answer>, RecordError> {
        let flow = self.app.world().resource::<Flow>();
        Ok(flow.with(|runner| runner.order_frame(steps)).transpose()?)
    }
}
