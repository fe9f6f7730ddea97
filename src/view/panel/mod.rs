//! The egui panels of the window, one file a panel: functions of plain values that answer with orders.
//! Must not know devices or physics. What the orders mean to Bevy's world stands in `plugin` alone.
//!
//! | file | is |
//! |---|---|
//! | [`layout`] | where the panels stand |
//! | [`run_control`] | play, pause, steps, restart, progress |
//! | [`stream`], [`body`] | the scene as controls that say what they cost |
//! | [`camera`] | where the flow is seen from |
//! | [`loads`], [`plots`], [`resolution`], [`distribution`] | what comes out |
//! | [`windows`], [`status`] | problems, help, opening, recording; the bottom line |
//! | [`display`], [`drawn`], [`bars`] | the settings of what is drawn, and its colour bars |
//! | [`plugin`] | the panels in Bevy's world |
//! | [`state`], [`history`], [`text`], [`style`], [`edit`] | what they share |

pub mod bars;
pub mod body;
pub mod camera;
pub mod display;
pub mod distribution;
pub mod drawn;
pub mod edit;
pub mod history;
pub mod layout;
pub mod loads;
pub mod plots;
pub mod plugin;
pub mod resolution;
pub mod run_control;
pub mod state;
pub mod status;
pub mod stream;
pub mod style;
#[cfg(test)]
mod tests;
pub mod text;
pub mod windows;

use bevy::prelude::Resource;

pub use plugin::{FreeArea, PanelPlugin, PanelSystems, Shown, WindowOrder, WindowRecording};

/// What the panels themselves remember.
#[derive(Debug, Clone, Resource)]
pub struct Panels {
    /// Nothing but the flow is to be seen.
    pub hidden: bool,
    /// Whether the panel with the scene is there.
    pub left: bool,
    /// Whether the panel with the results is there.
    pub right: bool,
    /// Size of everything, 1 at first.
    pub zoom: f32,
    /// Windows that are open.
    pub open: Windows,
    /// Steps of the "Steps" button.
    pub steps: u32,
    /// Steps a second of wall time of the "Paced" button.
    pub paced_steps_per_s: f64,
    /// Whether plots are against time, not step.
    pub plot_time: bool,
    /// Whether somebody has chosen which plots are open.
    pub plots_chosen: bool,
    /// Titles of the plots that are open.
    pub plots: Vec<String>,
    /// Whether the speed is plotted.
    pub plot_speed: bool,
    /// What the recording shall be.
    pub recording: state::RecordChoice,
    /// Path in the window that opens files.
    pub open_path: String,
    /// Path in the window that saves.
    pub save_path: String,
    /// Path of a triangle file to add.
    pub add_path: String,
    /// The histogram as last counted.
    pub distribution: distribution::Shown,
}

/// Windows that can be open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Windows {
    /// What is wrong.
    pub problems: bool,
    /// Keys.
    pub help: bool,
    /// Opening files and shipped scenes.
    pub gallery: bool,
    /// Saving under another name.
    pub save_as: bool,
    /// Recording.
    pub recording: bool,
}

impl Default for Panels {
    fn default() -> Self {
        Self {
            hidden: false,
            left: true,
            right: true,
            zoom: 1.0,
            open: Windows::default(),
            steps: 100,
            paced_steps_per_s: 60.0,
            plot_time: false,
            plots_chosen: false,
            plots: Vec::new(),
            plot_speed: false,
            recording: Default::default(),
            open_path: String::new(),
            save_path: String::new(),
            add_path: String::new(),
            distribution: Default::default(),
        }
    }
}
