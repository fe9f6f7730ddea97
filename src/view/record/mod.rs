//! A flow to a video or to pictures: each frame waits for its steps, so that it is exact whatever the speed.
//! Must not know devices, physics or the command line.
//!
//! | file | is |
//! |---|---|
//! | [`sink`] | where frames go: an mp4 file or a folder of pictures, nothing lost when the disk is full |
//! | [`studio`] | recording without a window |
//! | [`window`] | recording and screenshots in the window |

pub mod sink;
pub mod studio;
pub mod window;

use super::camera::Viewpoint;
use super::camera::path::Path;
use super::headless::RenderError;
use super::stage::Stage;
use super::video::VideoError;
use crate::output::OutputError;
use crate::runner::RunnerError;
use crate::scene::{Model, Scene};
use thiserror::Error;

/// What is recorded, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// Frames are drawn so many times larger each way and averaged: 1, 2, 3 or 4.
    pub supersampling: u32,
    /// Frames a second.
    pub fps: u32,
    /// Number of frames.
    pub frames: u32,
    /// Step of the first frame.
    pub from_step: u64,
    /// Steps from frame to frame.
    pub every: u32,
    /// The camera.
    pub shot: Shot,
    /// Title, time, colour bars and scale over the picture.
    pub legend: bool,
}

/// How the camera goes.
#[derive(Debug, Clone, PartialEq)]
pub enum Shot {
    /// From a viewpoint, turned about the vertical through its target by so many degrees over the recording.
    Turn {
        /// Viewpoint of the first frame.
        from: Viewpoint,
        /// Degrees over the whole recording.
        degrees: f32,
    },
    /// Along the key frames of a scene.
    Path(Path),
}

impl Shot {
    /// Along the key frames of a scene; `None` if it has none.
    pub fn path_of(scene: &Scene) -> Option<Self> {
        let Model::Gas(gas) = &scene.model;
        Path::new(&scene.view.path, &Stage::of(&gas.domain)).map(Self::Path)
    }

    /// From the upper left in front, so far that the whole domain is seen all along the turn.
    pub fn around(scene: &Scene, degrees: f32, aspect: f32) -> Self {
        let Model::Gas(gas) = &scene.model;
        let half = 0.5 * Stage::of(&gas.domain).extent();
        let distance = (0..=12)
            .map(|i| Viewpoint::default().turned(degrees * i as f32 / 12.0).framing([-half, half], aspect))
            .map(|view| view.eye.distance(view.target))
            .fold(0.0, f32::max);
        let from = Viewpoint::default();
        Self::Turn { from: Viewpoint { eye: from.eye.normalize_or_zero() * distance, ..from }, degrees }
    }

    /// The viewpoint of a frame of so many.
    pub fn at(&self, frame: u32, recording: &Recording) -> Viewpoint {
        match self {
            Self::Turn { from, degrees } => {
                from.turned(degrees * frame as f32 / recording.frames.max(1) as f32)
            }
            Self::Path(path) => path.at(f64::from(frame) / f64::from(recording.fps.max(1))),
        }
    }
}

/// Why a recording ended before its last frame.
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
    /// The name of the output asks for another kind of file.
    #[error("files that end in .{0} cannot be written: name an .mp4 file, or a folder for PNG pictures")]
    Ending(String),
    /// Something shall be drawn that the simulation does not have.
    #[error("{0}")]
    Look(String),
}
