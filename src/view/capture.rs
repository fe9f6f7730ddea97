//! Finished frames as bytes: copies a target image into memory, when and only when a frame is asked for.
//! Must not know what is drawn.

use bevy::image::Image;
use bevy::prelude::*;
use bevy::render::extract_resource::{ExtractResource, ExtractResourcePlugin};
use bevy::render::render_asset::RenderAssets;
use bevy::render::render_resource::*;
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::texture::GpuImage;
use bevy::render::{Render, RenderApp, RenderSystems};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

/// Which frame is asked for. To ask: raise `number` in the frame to be captured.
#[derive(Debug, Clone, Default, Resource, ExtractResource)]
pub struct Capture {
    /// The image that is copied.
    pub target: Option<Handle<Image>>,
    /// Number of the frame asked for last; 0 for none yet.
    pub number: u64,
}

/// A captured frame.
#[derive(Debug)]
pub struct Frame {
    /// The number that it was asked for by.
    pub number: u64,
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// Red, green, blue, alpha bytes from the top left.
    pub rgba: Vec<u8>,
}

/// Frames as they come back.
#[derive(Resource)]
pub struct Captured(Mutex<Receiver<Result<Frame, String>>>);

impl Captured {
    /// The next frame that has come back; why it failed.
    pub fn next(&self) -> Option<Result<Frame, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).try_recv().ok()
    }
}

/// Copies frames.
pub struct CapturePlugin;

#[derive(Resource)]
struct FrameSender(Mutex<Sender<Result<Frame, String>>>);

impl Plugin for CapturePlugin {
    fn build(&self, app: &mut App) {
        let (sender, receiver) = channel();
        app.init_resource::<Capture>()
            .insert_resource(Captured(Mutex::new(receiver)))
            .add_plugins(ExtractResourcePlugin::<Capture>::default());
        if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
            render_app
                .insert_resource(FrameSender(Mutex::new(sender)))
                .add_systems(Render, capture.after(RenderSystems::Render).before(RenderSystems::Cleanup));
        }
    }
}

/// An image that can be drawn into and captured.
pub fn target_image(images: &mut Assets<Image>, [width, height]: [u32; 2]) -> Handle<Image> {
    let mut image = Image::new_target_texture(width, height, TextureFormat::Rgba8UnormSrgb, None);
    image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    images.add(image)
}

/// Averages blocks of `factor` x `factor` pixels: a frame drawn larger than it is shown has smooth edges.
pub fn shrink(frame: &Frame, factor: u32) -> Frame {
    if factor <= 1 {
        return Frame { rgba: frame.rgba.clone(), ..*frame };
    }
    let size = frame.size.map(|n| n / factor);
    let row = 4 * frame.size[0] as usize;
    let mut rgba = Vec::with_capacity(4 * size[0] as usize * size[1] as usize);
    for y in 0..size[1] as usize {
        for x in 0..size[0] as usize {
            let mut sums = [0_u32; 4];
            for j in 0..factor as usize {
                let start = (y * factor as usize + j) * row + 4 * x * factor as usize;
                for pixel in frame.rgba[start..start + 4 * factor as usize].chunks_exact(4) {
                    pixel.iter().zip(&mut sums).for_each(|(&byte, sum)| *sum += u32::from(byte));
                }
            }
            rgba.extend(sums.map(|sum| (sum / (factor * factor)) as u8));
        }
    }
    Frame { number: frame.number, size, rgba }
}

/// Copies the finished target into a buffer and waits for it.
fn capture(
    wanted: Option<Res<Capture>>,
    images: Res<RenderAssets<GpuImage>>,
    device: Res<RenderDevice>,
    queue: Res<RenderQueue>,
    sender: Res<FrameSender>,
    mut kept: Local<Option<Buffer>>,
    mut done: Local<u64>,
) {
    let Some(wanted) = wanted.filter(|wanted| wanted.number > *done) else { return };
    let Some(image) = wanted.target.as_ref().and_then(|target| images.get(target)) else { return };
    *done = wanted.number;
    let size = image.texture_descriptor.size;
    let row = size.width as usize * 4;
    let padded = RenderDevice::align_copy_bytes_per_row(row);
    let bytes = (padded * size.height as usize) as u64;
    if kept.as_ref().is_none_or(|buffer| buffer.size() != bytes) {
        *kept = Some(device.create_buffer(&BufferDescriptor {
            label: Some("capture"),
            size: bytes,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        }));
    }
    let Some(buffer) = &*kept else { return };
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
    let (mapped, waiting) = channel();
    buffer.slice(..).map_async(MapMode::Read, move |result| {
        // The receiver lives until this was called.
        let _ = mapped.send(result.map_err(|error| error.to_string()));
    });
    let polled = device.poll(PollType::wait_indefinitely()).map_err(|error| error.to_string());
    let outcome = polled.and_then(|_| waiting.recv().map_err(|error| error.to_string())?);
    let frame = outcome.map(|()| {
        let view = buffer.slice(..).get_mapped_range();
        let mut rgba = Vec::with_capacity(row * size.height as usize);
        view.chunks(padded).for_each(|line| rgba.extend_from_slice(&line[..row]));
        Frame { number: wanted.number, size: [size.width, size.height], rgba }
    });
    if frame.is_ok() {
        buffer.unmap();
    }
    // Nobody listens any more when the app is dropped.
    let _ = sender.0.lock().unwrap_or_else(PoisonError::into_inner).send(frame);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrinking_averages_blocks() {
        let rgba = [[0, 0, 0, 255], [4, 8, 0, 255], [8, 0, 0, 255], [4, 8, 0, 255]].concat();
        let small = shrink(&Frame { number: 7, size: [2, 2], rgba: rgba.clone() }, 2);
        assert_eq!((small.number, small.size, small.rgba), (7, [1, 1], vec![4, 4, 0, 255]));
        assert_eq!(shrink(&Frame { number: 7, size: [2, 2], rgba: rgba.clone() }, 1).rgba, rgba);
    }
}
