//! What a scene file keeps for whoever looks at it: cameras to come back to, and the path of a camera through a video.
//! Must not know how a camera is moved between two key frames, nor anything of the simulation.

use serde::{Deserialize, Serialize};

/// Cameras kept with a scene. No simulation sees them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct View {
    /// Cameras to come back to.
    pub bookmarks: Vec<Bookmark>,
    /// The camera through a video, in the order of time; without key frames the video has another camera.
    pub path: Vec<KeyFrame>,
}

impl View {
    /// Whether there is nothing to be kept.
    pub fn is_empty(&self) -> bool {
        self.bookmarks.is_empty() && self.path.is_empty()
    }
}

/// A camera with a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bookmark {
    /// Name, unique among the bookmarks.
    pub name: String,
    /// Where it looks from, and at what.
    pub camera: Camera,
}

/// A camera at a time of a video.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyFrame {
    /// Time in the video, s, from 0 on; not the time of the flow.
    pub time_s: f64,
    /// Where it looks from then, and at what.
    pub camera: Camera,
}

/// From where one looks, at what, and how wide.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// Where the eye is, m.
    pub eye_m: [f64; 3],
    /// The point in the middle of the picture, m.
    pub target_m: [f64; 3],
    /// What is upwards in the picture; need be neither of length 1 nor across the view.
    #[serde(default = "upwards")]
    pub up: [f64; 3],
    /// Angle between the lower and the upper edge of the picture, degrees. An orthographic camera shows what this
    /// angle spans at the target.
    #[serde(default = "field_of_view_deg")]
    pub field_of_view_deg: f64,
    /// Parallel projection: sizes do not depend on distances.
    #[serde(default)]
    pub orthographic: bool,
}

impl Camera {
    /// A perspective camera of 45 degrees with y upwards.
    pub fn new(eye_m: [f64; 3], target_m: [f64; 3]) -> Self {
        let (up, field_of_view_deg) = (upwards(), field_of_view_deg());
        Self { eye_m, target_m, up, field_of_view_deg, orthographic: false }
    }
}

fn upwards() -> [f64; 3] {
    [0.0, 1.0, 0.0]
}

fn field_of_view_deg() -> f64 {
    45.0
}
