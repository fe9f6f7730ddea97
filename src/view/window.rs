//! The window: all plugins together, on a display.
//! Must not know devices or physics: it is handed what builds simulations.

use super::camera::{CameraOrder, CameraPlugin, Rig};
use super::display::{DisplayError, check_display};
use super::document::{Document, DocumentPlugin, asset_plugin, shipped};
use super::draw::DrawPlugins;
use super::headless::{RenderError, check_adapter, render_plugin};
use super::keys::KeysPlugin;
use super::legend::Title;
use super::look::{Drawn, Look};
use super::panel::PanelPlugin;
use super::pick::PickPlugin;
use super::probe::ProbePlugin;
use super::record::window::{WindowCamera, WindowRecordPlugin};
use super::simulation::{Exact, Factories, RunOrder, SimulationPlugin};
use super::stage::spawn_camera;
use crate::scene::{Domain, Model, Scene};
use bevy::log::{Level, LogPlugin};
use bevy::prelude::*;
use bevy::window::PresentMode;
use std::path::PathBuf;
use thiserror::Error;

/// How the window opens.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowOptions {
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// Begins to compute at once.
    pub play: bool,
    /// Name of the device that computes.
    pub device: String,
}

/// Why there is no window.
#[derive(Debug, Error)]
pub enum WindowError {
    /// No display.
    #[error(transparent)]
    Display(#[from] DisplayError),
    /// No graphics driver.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// The shipped scene.
    #[error("the scene that ships with the program cannot be unpacked: {0}")]
    Shipped(String),
    /// The app ended by itself.
    #[error("the window was closed by an error; what it was is told above")]
    Ended,
}

/// Opens the window on a scene and its file, or on the first shipped scene; returns when it is closed.
///
/// # Errors
/// [`WindowError`].
pub fn run(
    scene: Option<(Scene, PathBuf)>,
    factories: Factories,
    options: WindowOptions,
) -> Result<(), WindowError> {
    check_display()?;
    check_adapter()?;
    let (scene, path) = match scene {
        Some((scene, path)) => (scene, Some(path)),
        None => (first_shipped()?, None),
    };
    let mut app = App::new();
    let window = Window {
        title: format!("{} - knudsen", scene.name),
        resolution: options.size.into(),
        present_mode: PresentMode::AutoVsync,
        ..default()
    };
    app.add_plugins(
        DefaultPlugins
            .set(WindowPlugin { primary_window: Some(window), ..default() })
            .set(render_plugin())
            .set(asset_plugin())
            // A file that cannot be read is told by the document, in its own words.
            .set(LogPlugin { level: Level::ERROR, filter: "error,bevy_asset=off".into(), ..default() }),
    );
    app.add_plugins((
        super::capture::CapturePlugin,
        SimulationPlugin { factories, device: options.device },
        DocumentPlugin { scene, path },
        PickPlugin,
        DrawPlugins,
        CameraPlugin,
        KeysPlugin,
        ProbePlugin,
        WindowRecordPlugin,
        super::actions::ActionsPlugin,
        PanelPlugin,
    ));
    app.init_resource::<Exact>().init_resource::<Title>();
    app.add_systems(Startup, |world: &mut World| {
        let view = super::camera::Viewpoint::default();
        let camera = spawn_camera(world, &view, ());
        world.entity_mut(camera).insert((WindowCamera, Rig::at(view)));
    });
    app.add_systems(PreUpdate, look_anew);
    if options.play {
        // Orders that come before the first runner has been started are void.
        app.add_systems(First, |mut frame: Local<u32>, mut orders: MessageWriter<RunOrder>| {
            *frame = frame.saturating_add(1);
            if *frame == 2 {
                orders.write(RunOrder::Play);
            }
        });
    }
    match app.run() {
        AppExit::Success => Ok(()),
        AppExit::Error(_) => Err(WindowError::Ended),
    }
}

fn first_shipped() -> Result<Scene, WindowError> {
    let sphere = shipped().iter().find(|shipped| shipped.name.starts_with("sphere")).or(shipped().first());
    let sphere = sphere.ok_or_else(|| WindowError::Shipped("it is missing".into()))?;
    let folder = std::env::current_dir().map_err(|error| WindowError::Shipped(error.to_string()))?;
    sphere.scene(&folder).map_err(|error| WindowError::Shipped(error.to_string()))
}

/// Another document is shown by what suits it; edits of the same one keep the look, unless its domain changes.
fn look_anew(world: &mut World, mut shown: Local<Option<(Option<PathBuf>, Domain)>>) {
    let document = world.resource_ref::<Document>();
    if !document.is_changed() {
        return;
    }
    let Model::Gas(gas) = &document.scene.model;
    let now = (document.path.clone(), gas.domain.clone());
    let (look, name) = (Look::of(&document.scene), document.scene.name.clone());
    if world.resource::<Title>().0 != name {
        let mut windows = world.query::<&mut Window>();
        windows.iter_mut(world).for_each(|mut window| window.title = format!("{name} - knudsen"));
        world.resource_mut::<Title>().0 = name;
    }
    if shown.as_ref() == Some(&now) {
        return;
    }
    *shown = Some(now);
    let old: Vec<Entity> = world.query_filtered::<Entity, With<Drawn>>().iter(world).collect();
    old.into_iter().for_each(|entity| {
        world.despawn(entity);
    });
    look.spawn(world);
    world.write_message(CameraOrder::FrameAll);
}
