//! An app without a window: the same drawing, each finished frame handed back as bytes.
//! Must not know what is drawn.

use bevy::app::PluginsState;
use bevy::camera::RenderTarget;
use bevy::image::Image;
use bevy::prelude::*;
use bevy::render::extract_resource::{ExtractResource, ExtractResourcePlugin};
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::*;
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::texture::GpuImage;
use bevy::render::{Render, RenderApp, RenderPlugin, RenderSystems};
use bevy::window::ExitCondition;
use bevy::winit::WinitPlugin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
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
    #[error(
        "the frame did not come back from the graphics driver ({0}); try another driver, or a smaller size"
    )]
    NoFrame(String),
}

/// An app that draws into an image.
pub struct Headless {
    app: App,
    frames: Receiver<Result<Vec<u8>, String>>,
}

#[derive(Resource, Clone, ExtractResource)]
struct CaptureTarget(Handle<Image>, bool);

#[derive(Resource)]
struct FrameSender(Mutex<Sender<Result<Vec<u8>, String>>>);

/// Whether there is a graphics adapter; Bevy itself ends the program without one.
fn adapter_found() -> bool {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    !bevy::tasks::block_on(instance.enumerate_adapters(wgpu::Backends::all())).is_empty()
}

impl Headless {
    /// Builds the app with `plugins` and a camera into an image of that size by `camera`.
    ///
    /// # Errors
    /// [`RenderError::NoAdapter`].
    pub fn new<M>(
        [width, height]: [u32; 2],
        plugins: impl bevy::app::Plugins<M>,
        camera: impl FnOnce(&mut World, RenderTarget),
    ) -> Result<Self, RenderError> {
        if !adapter_found() {
            return Err(RenderError::NoAdapter);
        }
        let (sender, frames) = channel();
        let mut app = App::new();
        app.add_plugins(
            DefaultPlugins
                .build()
                .disable::<WinitPlugin>()
                .disable::<PipelinedRenderingPlugin>()
                .disable::<bevy::log::LogPlugin>()
                .set(WindowPlugin {
                    primary_window: None,
                    exit_condition: ExitCondition::DontExit,
                    ..default()
                })
                .set(RenderPlugin { synchronous_pipeline_compilation: true, ..default() }),
        );
        app.add_plugins(plugins).add_plugins(ExtractResourcePlugin::<CaptureTarget>::default());
        if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
            render_app
                .insert_resource(FrameSender(Mutex::new(sender)))
                .add_systems(Render, capture.after(RenderSystems::Render).before(RenderSystems::Cleanup));
        }
        while app.plugins_state() == PluginsState::Adding {
            bevy::tasks::tick_global_task_pools_on_main_thread();
        }
        app.finish();
        app.cleanup();
        let mut image = Image::new_target_texture(width, height, TextureFormat::Rgba8UnormSrgb, None);
        image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
        let handle = app.world_mut().resource_mut::<Assets<Image>>().add(image);
        app.insert_resource(CaptureTarget(handle.clone(), false));
        camera(app.world_mut(), RenderTarget::Image(handle.into()));
        Ok(Self { app, frames })
    }

    /// The world of the app.
    pub fn world(&mut self) -> &mut World {
        self.app.world_mut()
    }

    /// The app itself, for those who step it without capturing.
    pub fn app(&mut self) -> &mut App {
        self.app.world_mut().resource_mut::<CaptureTarget>().1 = false;
        &mut self.app
    }

    /// Draws a frame: red, green, blue, alpha bytes from the top left.
    ///
    /// # Errors
    /// [`RenderError::NoFrame`].
    pub fn frame(&mut self) -> Result<Vec<u8>, RenderError> {
        self.app.world_mut().resource_mut::<CaptureTarget>().1 = true;
        while self.frames.try_recv().is_ok() {}
        // The first frames of a new thing come without it, while its assets and pipelines are made.
        let mut settled = 0;
        for _ in 0..200 {
            self.app.update();
            let cache = self.app.sub_app(RenderApp).world().resource::<PipelineCache>();
            settled = if cache.waiting_pipelines().count() == 0 { settled + 1 } else { 0 };
            if settled >= 3 {
                break;
            }
        }
        let mut last = None;
        while let Ok(frame) = self.frames.try_recv() {
            last = Some(frame);
        }
        last.unwrap_or_else(|| Err("nothing was drawn".into())).map_err(RenderError::NoFrame)
    }
}

/// Copies the finished target into a buffer and waits for it.
fn capture(
    target: Option<Res<CaptureTarget>>,
    images: Res<RenderAssets<GpuImage>>,
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
    sender: Res<FrameSender>,
    mut kept: Local<Option<Buffer>>,
) {
    let Some(image) = target.filter(|target| target.1).and_then(|target| images.get(&target.0)) else {
        return;
    };
    let size = image.texture_descriptor.size;
    let row = size.width as usize * 4;
    let padded = RenderDevice::align_copy_bytes_per_row(row);
    let buffer = kept.get_or_insert_with(|| {
        device.create_buffer(&BufferDescriptor {
            label: Some("capture"),
            size: (padded * size.height as usize) as u64,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    });
    let mut encoder = device.create_command_encoder(&CommandEncoderDescriptor::default());
    encoder.copy_texture_to_buffer(
        image.texture.as_image_copy(),
        TexelCopyBufferInfo {
            buffer,
            layout: TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(padded as u32),
                rows_per_image: None,
            },
        },
        size,
    );
    queue.submit([encoder.finish()]);
    let (done, mapped) = channel();
    buffer.slice(..).map_async(MapMode::Read, move |result| {
        // The receiver lives until this was called.
        let _ = done.send(result.map_err(|error| error.to_string()));
    });
    let waited = device.poll(PollType::wait_indefinitely()).map_err(|error| error.to_string());
    let outcome = waited.and_then(|_| mapped.recv().map_err(|error| error.to_string())?);
    let frame = outcome.map(|()| {
        let view = buffer.slice(..).get_mapped_range();
        let mut pixels = Vec::with_capacity(row * size.height as usize);
        view.chunks(padded).for_each(|line| pixels.extend_from_slice(&line[..row]));
        pixels
    });
    if frame.is_ok() {
        buffer.unmap();
    }
    let sender = sender.0.lock().unwrap_or_else(PoisonError::into_inner);
    // Nobody listens any more when the app is dropped.
    let _ = sender.send(frame);
}
