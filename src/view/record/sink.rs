//! Where frames go: an mp4 file, or a folder of PNG pictures. What was recorded is kept, whatever happens.
//! Must not know where frames come from.

use super::RecordError;
use crate::output::OutputError;
use crate::output::canvas::Canvas;
use crate::output::file::{create_folder, write_whole};
use crate::view::video::Video;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Endings of files that somebody may hope for, and that would become folders of that name.
const OTHERS: [&str; 12] =
    ["avi", "gif", "jpeg", "jpg", "m4v", "mkv", "mov", "mpeg", "mpg", "png", "webm", "wmv"];

/// A recording in the making.
pub struct Sink {
    output: PathBuf,
    frames: u32,
    kind: Kind,
}

enum Kind {
    /// The encoded frames, and a copy of them on the disk, which a crash or a power failure leaves behind. It is a raw
    /// H.264 stream: players and converters take it as it is.
    Video {
        video: Box<Video>,
        spare: File,
        spare_path: PathBuf,
    },
    Pictures,
    /// One picture, of the name of the output.
    Picture,
}

impl Sink {
    /// An output that ends in `.mp4` is a video, any other a folder of pictures.
    ///
    /// # Errors
    /// The size is impossible for a video, or nothing can be written there.
    pub fn create(output: &Path, size: [u32; 2], fps: u32) -> Result<Self, RecordError> {
        let ending =
            output.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
        if OTHERS.contains(&ending.as_str()) {
            return Err(RecordError::Ending(ending));
        }
        let kind = if output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("mp4")) {
            let video = Box::new(Video::new(size, fps)?);
            if let Some(folder) = output.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                create_folder(folder)?;
            }
            if output.is_dir() {
                return Err(OutputError::write(output, std::io::ErrorKind::IsADirectory.into()).into());
            }
            let spare_path = output.with_extension("part.h264");
            let spare =
                File::create(&spare_path).map_err(|source| OutputError::write(&spare_path, source))?;
            Kind::Video { video, spare, spare_path }
        } else {
            create_folder(output)?;
            Kind::Pictures
        };
        Ok(Self { output: output.to_owned(), frames: 0, kind })
    }

    /// A single picture beside `output`: its name with `_0001.png` and so on, the first number that is free.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub fn picture(output: &Path) -> Result<Self, RecordError> {
        let folder = output.parent().unwrap_or(Path::new(""));
        if !folder.as_os_str().is_empty() {
            create_folder(folder)?;
        }
        let stem = output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let free = (1..).map(|i| folder.join(format!("{stem}_{i:04}.png"))).find(|path| !path.exists());
        Ok(Self { output: free.unwrap_or_default(), frames: 0, kind: Kind::Picture })
    }

    /// Takes the next frame. After an error the frames before it are still there, and [`Sink::finish`] keeps them.
    ///
    /// # Errors
    /// The encoder or the disk.
    pub fn push(&mut self, frame: &Canvas) -> Result<(), RecordError> {
        match &mut self.kind {
            Kind::Video { video, spare, spare_path } => {
                let encoded = video.push(frame.pixels())?;
                spare
                    .write_all(encoded)
                    .map_err(|source| OutputError::write(spare_path.as_path(), source))?;
            }
            Kind::Pictures => {
                let path = self.output.join(format!("frame_{:05}.png", self.frames));
                write_whole(&path, |to| frame.write_png(to))?;
            }
            Kind::Picture => {
                write_whole(&self.output, |to| frame.write_png(to))?;
            }
        }
        self.frames += 1;
        Ok(())
    }

    /// Frames so far.
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// Puts the file together. `None` if there is no frame.
    ///
    /// # Errors
    /// The container or the disk; the raw stream then stays where the message says.
    pub fn finish(self) -> Result<Option<PathBuf>, RecordError> {
        if let Kind::Video { video, spare, spare_path } = self.kind {
            drop(spare);
            // In memory first: a failure of the container is then not mistaken for one of the disk.
            let mut bytes = Vec::new();
            let file = if self.frames > 0 { video.finish(self.frames, &mut bytes).map(Some)? } else { None };
            // The video needs the room of its copy: on a full disk there is no other. Everything is in memory.
            let _ = std::fs::remove_file(&spare_path);
            if file.is_some() {
                write_whole(&self.output, |to| to.write_all(&bytes))?;
            }
        }
        Ok((self.frames > 0).then_some(self.output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(shade: u8) -> Canvas {
        Canvas::new(64, 48, [shade; 3]).unwrap()
    }

    #[test]
    fn a_video_leaves_nothing_but_itself() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("below/a.mp4");
        let mut sink = Sink::create(&output, [64, 48], 30).unwrap();
        for i in 0..5 {
            sink.push(&frame(40 * i)).unwrap();
            let spare = std::fs::metadata(output.with_extension("part.h264")).unwrap().len();
            assert!(spare > 0, "the copy on the disk has the frame at once");
        }
        assert_eq!(sink.frames(), 5);
        assert_eq!(sink.finish().unwrap().as_deref(), Some(output.as_path()));
        let names: Vec<_> =
            std::fs::read_dir(output.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["a.mp4"]);
        assert_eq!(&std::fs::read(&output).unwrap()[4..8], b"ftyp");
    }

    #[test]
    fn pictures_are_numbered_and_no_frame_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut sink = Sink::create(&folder.path().join("frames"), [64, 48], 30).unwrap();
        sink.push(&frame(1)).unwrap();
        sink.push(&frame(2)).unwrap();
        sink.finish().unwrap();
        assert!(folder.path().join("frames/frame_00001.png").is_file());
        let none = folder.path().join("none.mp4");
        assert_eq!(Sink::create(&none, [64, 48], 30).unwrap().finish().unwrap(), None);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "only the pictures");
    }

    #[test]
    fn impossible_outputs_are_said_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let wrong = |path: &Path| Sink::create(path, [64, 48], 30).err().unwrap().to_string();
        assert!(wrong(Path::new("/proc/none/a.mp4")).contains("/proc/none"));
        let taken = folder.path().join("taken.mp4");
        std::fs::create_dir(&taken).unwrap();
        assert!(wrong(&taken).contains("taken.mp4"));
        assert!(Sink::create(&folder.path().join("odd.mp4"), [63, 48], 30).is_err());
        assert!(
            wrong(&folder.path().join("a.AVI")).contains(".avi") && !folder.path().join("a.AVI").exists()
        );
    }
}
