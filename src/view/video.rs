//! mp4 without an external program: H.264 by openh264, put into a file by muxide.
//! Must not know what is in the frames.

use openh264::OpenH264API;
use openh264::encoder::{
    Encoder, EncoderConfig, FrameRate, FrameType, IntraFramePeriod, QpRange, RateControlMode, UsageType,
    VuiConfig,
};
use openh264::formats::{RgbSliceU8, YUVBuffer};
use std::io::Write;
use thiserror::Error;

/// Why there is no video.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum VideoError {
    /// The encoder needs an even number of pixels each way.
    #[error("a video of {0} x {1} pixels is not possible: both must be even, from 16 to 3840")]
    Size(u32, u32),
    /// The encoder failed.
    #[error("the video encoder failed: {0}; record a PNG sequence instead (name a folder as the output)")]
    Encoder(String),
    /// The container failed.
    #[error("the mp4 file cannot be put together: {0}")]
    Container(String),
}

/// A video in the making; frames are encoded as they come, and written when it is finished.
pub struct Video {
    encoder: Encoder,
    yuv: YUVBuffer,
    size: [u32; 2],
    fps: u32,
    /// Encoded frames, and whether each can be decoded by itself.
    frames: Vec<(Vec<u8>, bool)>,
}

impl Video {
    /// A video of that size.
    ///
    /// # Errors
    /// [`VideoError::Size`], or the encoder does not start.
    pub fn new([width, height]: [u32; 2], fps: u32) -> Result<Self, VideoError> {
        let fits = |n: u32| n.is_multiple_of(2) && (16..=3840).contains(&n);
        if !fits(width) || !fits(height) {
            return Err(VideoError::Size(width, height));
        }
        let config = EncoderConfig::new()
            .usage_type(UsageType::CameraVideoRealTime)
            .max_frame_rate(FrameRate::from_hz(fps as f32))
            // The same quality for every frame, however large: a quantiser of 24 keeps small particles.
            .rate_control_mode(RateControlMode::Off)
            .qp(QpRange::new(24, 24))
            // Its default drops frames to hold the rate: never in an exact recording.
            .skip_frames(false)
            .num_threads(2)
            .intra_frame_period(IntraFramePeriod::from_num_frames(60))
            // Its conversion from RGB is BT.601 in limited range; players must know.
            .vui(VuiConfig::bt601());
        let encoder = Encoder::with_api_config(OpenH264API::from_source(), config)
            .map_err(|error| VideoError::Encoder(error.to_string()))?;
        let yuv = YUVBuffer::new(width as usize, height as usize);
        Ok(Self { encoder, yuv, size: [width, height], fps, frames: Vec::new() })
    }

    /// Encodes a frame of three bytes a pixel; returns its bytes in the H.264 stream.
    ///
    /// # Errors
    /// [`VideoError::Encoder`].
    pub fn push(&mut self, rgb: &[u8]) -> Result<&[u8], VideoError> {
        let [width, height] = self.size.map(|n| n as usize);
        self.yuv.read_rgb8(RgbSliceU8::new(rgb, (width, height)));
        let bits = self.encoder.encode(&self.yuv).map_err(|error| VideoError::Encoder(error.to_string()))?;
        let key = matches!(bits.frame_type(), FrameType::IDR | FrameType::I);
        self.frames.push((bits.to_vec(), key));
        Ok(self.frames.last().map(|(bytes, _)| bytes.as_slice()).unwrap_or_default())
    }

    /// Writes the mp4 file of the first `count` frames.
    ///
    /// # Errors
    /// [`VideoError::Container`], the writer's own failures included.
    pub fn finish(self, count: u32, to: impl Write) -> Result<(), VideoError> {
        let failed = |error: &dyn std::fmt::Display| VideoError::Container(error.to_string());
        let fps = f64::from(self.fps);
        let mut muxer = muxide::api::MuxerBuilder::new(to)
            .video(muxide::api::VideoCodec::H264, self.size[0], self.size[1], fps)
            .with_fast_start(true)
            .build()
            .map_err(|error| failed(&error))?;
        for (i, (frame, key)) in self.frames.iter().take(count as usize).enumerate() {
            muxer.write_video(i as f64 / fps, frame, *key).map_err(|error| failed(&error))?;
        }
        muxer.finish().map_err(|error| failed(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use openh264::decoder::Decoder;
    use openh264::formats::YUVSource;

    /// Every frame that goes in comes out of a decoder, in order, with its own brightness.
    #[test]
    fn frames_come_back_one_by_one() {
        let size = [64, 48];
        let mut video = Video::new(size, 30).unwrap();
        for i in 0..12_u8 {
            video.push(&vec![20 * i; 64 * 48 * 3]).unwrap();
        }
        assert_eq!(video.frames.len(), 12);
        let mut decoder = Decoder::new().unwrap();
        let mut shades = Vec::new();
        for (frame, _) in &video.frames {
            let picture = decoder.decode(frame).unwrap().expect("a picture for every frame");
            assert_eq!(picture.dimensions(), (64, 48));
            shades.push(picture.y()[0]);
        }
        assert_eq!(shades.len(), 12);
        assert!(shades.windows(2).all(|pair| pair[1] > pair[0] + 8), "{shades:?}");
        let mut file = Vec::new();
        video.finish(12, &mut file).unwrap();
        assert_eq!(&file[4..8], b"ftyp");
    }

    #[test]
    fn odd_sizes_are_refused() {
        assert_eq!(Video::new([641, 480], 30).err(), Some(VideoError::Size(641, 480)));
        assert_eq!(Video::new([0, 480], 30).err(), Some(VideoError::Size(0, 480)));
    }
}
