//! An app without a window: the same drawing, each finished frame handed back as bytes.
//! Must not know what is drawn.

use super::capture::{Capture, CapturePlugin, Captured, Frame, target_image};
use super::simulation::Exact;
use bevy::app::{Plugins, PluginsState};
use bevy::camera::RenderTarget;
use bevy::prelude::*;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::render_resource::PipelineCache;
use bevy::render::settings::WgpuSettings;
use bevy::render::{RenderApp, RenderPlugin};
use bevy::window::ExitCondition;
use bevy::winit::WinitPlugin;
use thiserror::Error;

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RenderError {
    /// No Vulkan driver.
    #[error(
        "no Vulkan driver was found, and pictures need one: install your graphics card's driver, or a software one (on \
         Debian: apt install libvulkan1 mesa-vulkan-drivers)"
    )]
    NoAdapter,
    /// The frame did not come back.
    #[error("the frame did not come back from the graphics driver ({0}); try another driver, or a smaller size")]
    NoFrame(String),
}

/// An app that draws into an image.
pub struct Headless {
    app: App,
    /// Whether the first frame was drawn.
    warm: bool,
}

/// Whether there is a graphics adapter; Bevy itself ends the program without one.
///
/// # Errors
/// [`RenderError::NoAdapter`].
pub fn check_adapter() -> Result<(), RenderError> {
    let descriptor = wgpu::InstanceDescriptor {
        backends: wgpu::Backends::PRIMARY,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    };
    let instance = wgpu::Instance::new(descriptor);
    let adapters = bevy::tasks::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    if adapters.is_empty() { Err(RenderError::NoAdapter) } else { Ok(()) }
}

/// Bevy's rendering by Vulkan (or Metal, or Direct3D): OpenGL is not looked for, which complains where there is no
/// display, and cannot draw particles from a storage buffer anyway.
pub fn render_plugin() -> RenderPlugin {
    let settings = WgpuSettings { backends: Some(wgpu::Backends::PRIMARY), ..default() };
    RenderPlugin { render_creation: settings.into(), ..default() }
}

impl Headless {
    /// Builds the app with `plugins`; `camera` spawns a camera into the image of that size.
    ///
    /// # Errors
    /// [`RenderError::NoAdapter`].
    pub fn new<M>(
        size: [u32; 2],
        plugins: impl Plugins<M>,
        camera: impl FnOnce(&mut World, RenderTarget),
    ) -> Result<Self, RenderError> {
        check_adapter()?;
        let mut app = App::new();
        app.add_plugins(
            DefaultPlugins
                .build()
                .disable::<WinitPlugin>()
                .disable::<PipelinedRenderingPlugin>()
                .disable::<bevy::log::LogPlugin>()
                .set(WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() })
                .set(RenderPlugin { synchronous_pipeline_compilation: true, ..render_plugin() }),
        );
        app.insert_resource(Exact(true)).add_plugins((CapturePlugin, plugins));
        while app.plugins_state() == PluginsState::Adding {
            bevy::tasks::tick_global_task_pools_on_main_thread();
        }
        app.finish();
        app.cleanup();
        let handle = target_image(&mut app.world_mut().resource_mut::<Assets<Image>>(), size);
        app.world_mut().resource_mut::<Capture>().target = Some(handle.clone());
        camera(app.world_mut(), RenderTarget::Image(handle.into()));
        Ok(Self { app, warm: false })
    }

    /// The world of the app.
    pub fn world(&mut self) -> &mut World {
        self.app.world_mut()
    }

    /// The app itself, for those who step it without capturing.
    pub fn app(&mut self) -> &mut App {
        &mut self.app
    }

    /// Draws a frame of the world as it is.
    ///
    /// # Errors
    /// [`RenderError::NoFrame`].
    pub fn frame(&mut self) -> Result<Frame, RenderError> {
        // A new thing is in the picture only after its assets and pipelines were made: the first frames of an app come
        // without some of them, and each later frame has one update to take over what is new.
        let mut settled = 0;
        for _ in 0..200 {
            if settled >= if self.warm { 1 } else { 4 } {
                break;
            }
            self.app.update();
            let cache = self.app.sub_app(RenderApp).world().resource::<PipelineCache>();
            settled = if cache.waiting_pipelines().count() == 0 { settled + 1 } else { 0 };
        }
        self.warm = true;
        self.app.world_mut().resource_mut::<Capture>().number += 1;
        self.app.update();
        let number = self.app.world().resource::<Capture>().number;
        let captured = self.app.world().resource::<Captured>();
        let frame = std::iter::from_fn(|| captured.next()).last();
        match frame {
            Some(Ok(frame)) if frame.number == number => Ok(frame),
            Some(Err(error)) => Err(RenderError::NoFrame(error)),
            _ => Err(RenderError::NoFrame("nothing was drawn".into())),
        }
    }
}
