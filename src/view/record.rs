//! A flow to a video or to pictures: each frame waits for its steps, so that it is exact whatever the speed.
//! Must not know devices, physics or the command line.

use super::camera::Viewpoint;
use super::draw::domain::{DomainFrame, DomainPlugin};
use super::draw::particles::{ParticlePlugin, ParticleSettings};
use super::draw::slice::{FieldSlice, Plane, SlicePlugin};
use super::draw::surface::{BodySurfaces, SurfacePlugin};
use super::draw::{ColorBar, ColorScale, Colors, particles};
use super::flow::Flow;
use super::headless::{Headless, RenderError};
use super::legend::{Bar, Legend, over};
use super::simulation::Wanted;
use super::stage::{Stage, spawn_camera};
use super::video::{Video, VideoError};
use crate::output::OutputError;
use crate::output::canvas::Canvas;
use crate::output::color::Map;
use crate::output::file::write_whole;
use crate::output::slice::Slice;
use crate::runner::{Order, Runner, RunnerError};
use crate::scene::{Model, Scene};
use crate::sim::{Phase, Request, Snapshot};
use crate::units::{Quantity, si};
use bevy::prelude::*;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// What is recorded, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// Frames a second.
    pub fps: u32,
    /// Number of frames.
    pub frames: u32,
    /// Step of the first frame.
    pub from_step: u64,
    /// Steps from frame to frame.
    pub every: u32,
    /// Particles drawn, at most.
    pub particles: usize,
    /// Field and plane of the slice; `None` for none.
    pub slice: Option<(String, Slice)>,
    /// Camera of the first frame.
    pub viewpoint: Viewpoint,
    /// Degrees that the camera turns over the recording.
    pub turn_deg: f32,
}

/// Why a recording ended.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The simulation.
    #[error(transparent)]
    Runner(#[from] RunnerError),
    /// The graphics.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// The video.
    #[error(transparent)]
    Video(#[from] VideoError),
    /// The files.
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// Longest wait for a frame's steps.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Where frames go.
enum Sink {
    Video(Box<Video>),
    Pictures,
}

/// Records a flow. An output that ends in `.mp4` is a video, any other a folder of pictures. `progress` is told the
/// frames done and whether to go on: false ends the recording with what there is. Returns what was written.
///
/// # Errors
/// The simulation, the graphics driver, the encoder or the disk fail. Frames done by then are still written.
pub fn record(
    scene: &Scene,
    runner: Runner,
    recording: &Recording,
    output: &Path,
    mut progress: impl FnMut(u32, &Snapshot) -> bool,
) -> Result<PathBuf, RecordError> {
    let is_video = output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("mp4"));
    let mut sink = if is_video {
        Sink::Video(Box::new(Video::new(recording.size, recording.fps)?))
    } else {
        crate::output::file::create_folder(output)?;
        Sink::Pictures
    };
    let mut studio = Studio::new(scene, runner, recording)?;
    let outcome = studio.run(recording, output, &mut sink, &mut progress);
    if let Sink::Video(video) = sink
        && !video.is_empty()
    {
        // Put together in memory first: a failure of the container is then not mistaken for one of the disk.
        let mut bytes = Vec::new();
        video.finish(&mut bytes)?;
        write_whole(output, |to| to.write_all(&bytes))?;
    }
    outcome?;
    Ok(output.to_owned())
}

/// The app, the flow in it, and what the legend says.
struct Studio {
    app: Headless,
    title: String,
    camera: Viewpoint,
}

impl Studio {
    fn new(scene: &Scene, runner: Runner, recording: &Recording) -> Result<Self, RecordError> {
        let request = Request {
            particles: recording.particles,
            fields: recording.slice.is_some(),
            surfaces: true,
            ..Request::default()
        };
        runner.order(Order::Observe(request))?;
        let camera = recording.viewpoint;
        let plugins = (particles::ParticlePlugin, SlicePlugin, SurfacePlugin, DomainPlugin);
        let _: &ParticlePlugin = &plugins.0;
        let mut app = Headless::new(recording.size, plugins, |world, target| {
            spawn_camera(world, &camera, target);
        })?;
        let Model::Gas(gas) = &scene.model;
        app.world().insert_resource(Stage::of(&gas.domain));
        app.world().insert_resource(Flow::new(runner));
        app.world().insert_resource(Wanted(request));
        app.world().spawn(BodySurfaces::default());
        app.world().spawn(DomainFrame::default());
        if let Some((field, slice)) = recording.slice.clone() {
            let slice = FieldSlice { field, plane: Plane::Axis(slice), opacity: 0.85, ..Default::default() };
            app.world().spawn(slice);
        }
        Ok(Self { app, title: scene.name.clone(), camera })
    }

    fn run(
        &mut self,
        recording: &Recording,
        output: &Path,
        sink: &mut Sink,
        progress: &mut impl FnMut(u32, &Snapshot) -> bool,
    ) -> Result<(), RecordError> {
        self.advance(u32::try_from(recording.from_step).unwrap_or(u32::MAX))?;
        for frame in 0..recording.frames {
            if frame > 0 {
                self.advance(recording.every)?;
            }
            let turned = recording.turn_deg * frame as f32 / recording.frames.max(1) as f32;
            self.camera = recording.viewpoint.turned(turned);
            let picture = self.picture(recording.size)?;
            match sink {
                Sink::Video(video) => video.push(picture.pixels())?,
                Sink::Pictures => {
                    let path = output.join(format!("frame_{frame:05}.png"));
                    write_whole(&path, |to| picture.write_png(to))?;
                }
            }
            let flow = self.app.world().resource::<Flow>();
            if !flow.read(|snapshot| progress(frame + 1, snapshot)).unwrap_or(true) {
                break;
            }
        }
        Ok(())
    }

    fn advance(&mut self, steps: u32) -> Result<(), RecordError> {
        let flow = self.app.world().resource::<Flow>();
        flow.with(|runner| runner.frame(steps, PATIENCE).map(drop)).transpose()?;
        Ok(())
    }

    /// Draws the flow as it is, with its legend.
    fn picture(&mut self, size: [u32; 2]) -> Result<Canvas, RecordError> {
        let camera = self.camera.transform();
        let world = self.app.world();
        let mut cameras = world.query_filtered::<&mut Transform, With<Camera3d>>();
        for mut transform in cameras.iter_mut(world) {
            *transform = camera;
        }
        self.color_particles();
        let frame = self.app.frame()?;
        let legend = self.legend();
        Ok(over(&frame, size, &legend)?)
    }

    /// Sets the colours of the particles from the first snapshot; they stay, so that frames can be compared.
    fn color_particles(&mut self) {
        let world = self.app.world();
        if world.contains_resource::<ParticleSettings>() {
            return;
        }
        let speeds = |snapshot: &Snapshot| {
            ColorScale::of(Map::Viridis).resolve(snapshot.drawn.iter().map(|particle| particle.value))
        };
        let colors = world.resource::<Flow>().read(speeds).flatten();
        let Some(colors) = colors else { return };
        let settings = ParticleSettings {
            visible: true,
            colors: Colors { low: 0.0, ..colors },
            radius: 0.003,
            min_pixels: 1.2,
        };
        world.insert_resource(settings);
    }

    fn legend(&mut self) -> Legend {
        let world = self.app.world();
        let mut bars = Vec::new();
        if let Some(settings) = world.get_resource::<ParticleSettings>() {
            let quantity = Quantity::new("speed", "particle.value", "c", "m/s");
            bars.push(Bar { quantity, colors: settings.colors });
        }
        let mut explained = world.query::<&ColorBar>();
        bars.extend(
            explained.iter(world).cloned().map(|bar| Bar { quantity: bar.quantity, colors: bar.colors }),
        );
        let flow = world.resource::<Flow>();
        let told = flow.read(|snapshot| {
            let phase = match snapshot.phase {
                Phase::Transient => "transient".to_string(),
                Phase::Sampling { samples, .. } => format!("mean of {samples} samples"),
            };
            let subtitle = format!("t = {}, step {}, {phase}", si(snapshot.time_s, "s"), snapshot.step);
            let million = |n: f64| format!("{:.2} M", n / 1e6);
            let drawn = million(snapshot.drawn.len() as f64);
            let mut status = format!("{drawn} of {} particles drawn", million(snapshot.particles as f64));
            for surface in &snapshot.surfaces {
                if let Some(drag) = surface.loads.as_ref().and_then(|loads| loads.drag_coefficient) {
                    status += &format!("   {}: C_D {:.3} +- {:.3}", surface.name, drag.value, drag.error);
                }
            }
            (subtitle, status)
        });
        let (subtitle, status) = told.unwrap_or_default();
        Legend { title: self.title.clone(), subtitle, status, bars }
    }
}
