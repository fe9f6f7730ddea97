//! The complete state of a simulation: named sections of plain bytes, typed in and out.
//! Must not know files, devices or what the sections mean.

mod codec;

pub use codec::FORMAT_VERSION;

use super::SimError;
use bytemuck::{AnyBitPattern, NoUninit};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The complete state of a simulation.
///
/// As bytes ([`Checkpoint::write_to`], [`Checkpoint::read_from`]) it is guarded by a check sum a section and one over
/// all. Sections written with [`Checkpoint::put_pod`] keep the byte order of the machine, which is little-endian on
/// every machine that the devices support.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checkpoint {
    /// Who wrote it: "gas/cpu". Only the same kind can load it.
    pub kind: String,
    /// The scene as RON.
    pub scene: String,
    /// Steps done.
    pub step: u64,
    /// Named arrays of bytes, in order.
    pub sections: Vec<(String, Vec<u8>)>,
}

impl Checkpoint {
    /// A checkpoint without sections.
    pub fn new(kind: impl Into<String>, scene: impl Into<String>, step: u64) -> Self {
        Self { kind: kind.into(), scene: scene.into(), step, sections: vec![] }
    }

    /// Fails unless the checkpoint was written by a simulation of kind `kind`.
    pub fn check_kind(&self, kind: &str) -> Result<(), SimError> {
        if self.kind == kind {
            return Ok(());
        }
        Err(SimError::Checkpoint(format!(
            "the checkpoint was written by a \"{}\" simulation and cannot be loaded by \"{kind}\": choose the device \
             that wrote it, or start the scene anew",
            self.kind
        )))
    }

    /// Bytes held by all sections.
    pub fn section_bytes(&self) -> u64 {
        self.sections.iter().map(|(_, bytes)| bytes.len() as u64).sum()
    }

    /// Stores bytes under `name`, in place of what was there.
    pub fn put_bytes(&mut self, name: &str, bytes: Vec<u8>) {
        match self.sections.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = bytes,
            None => self.sections.push((name.to_owned(), bytes)),
        }
    }

    /// The bytes under `name`.
    pub fn get_bytes(&self, name: &str) -> Result<&[u8], SimError> {
        self.sections.iter().find(|(known, _)| known == name).map(|(_, bytes)| bytes.as_slice()).ok_or_else(
            || {
                SimError::Checkpoint(format!(
                    "the checkpoint has no section \"{name}\": it comes from another version or device; start the \
                     scene anew"
                ))
            },
        )
    }

    /// Stores an array of plain-old-data values under `name`.
    pub fn put_pod<T: NoUninit>(&mut self, name: &str, values: &[T]) {
        self.put_bytes(name, bytemuck::cast_slice(values).to_vec());
    }

    /// The array of plain-old-data values under `name`, copied, so that it is aligned wherever the bytes lie.
    pub fn get_pod<T: AnyBitPattern>(&self, name: &str) -> Result<Vec<T>, SimError> {
        let bytes = self.get_bytes(name)?;
        let size = size_of::<T>();
        if size == 0 || !bytes.len().is_multiple_of(size) {
            return Err(SimError::Checkpoint(format!(
                "section \"{name}\" of the checkpoint has {} bytes, which is no whole number of {size}-byte entries: \
                 it comes from another version; start the scene anew",
                bytes.len()
            )));
        }
        Ok(bytes.chunks_exact(size).map(bytemuck::pod_read_unaligned).collect())
    }

    /// As [`Checkpoint::get_pod`], for a section that must hold `count` entries.
    pub fn get_pod_of<T: AnyBitPattern>(&self, name: &str, count: usize) -> Result<Vec<T>, SimError> {
        let values = self.get_pod::<T>(name)?;
        if values.len() != count {
            return Err(SimError::Checkpoint(format!(
                "section \"{name}\" of the checkpoint has {} entries where this scene needs {count}: load it with \
                 the scene that wrote it",
                values.len()
            )));
        }
        Ok(values)
    }

    /// Stores a small value under `name`, as JSON. JSON knows neither NaN nor infinity: store those by
    /// [`Checkpoint::put_pod`].
    pub fn put_value<T: Serialize>(&mut self, name: &str, value: &T) -> Result<(), SimError> {
        let bytes = serde_json::to_vec(value).map_err(|error| {
            SimError::Checkpoint(format!(
                "\"{name}\" cannot be saved ({error}): please report this with the scene"
            ))
        })?;
        self.put_bytes(name, bytes);
        Ok(())
    }

    /// The small value under `name`.
    pub fn get_value<T: DeserializeOwned>(&self, name: &str) -> Result<T, SimError> {
        serde_json::from_slice(self.get_bytes(name)?).map_err(|error| {
            SimError::Checkpoint(format!(
                "section \"{name}\" of the checkpoint cannot be understood ({error}): it comes from another version; \
                 start the scene anew"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{Counters, DrawnParticle};

    #[test]
    fn typed_sections_come_back_and_replace_each_other() {
        let mut checkpoint = Checkpoint::new("gas/cpu", "(scene)", 7);
        let particles = vec![DrawnParticle { position: [1.0, -2.0, f32::NAN], value: 4.0 }; 3];
        checkpoint.put_pod("particles", &particles);
        checkpoint.put_pod("sums", &[1.5f64]);
        checkpoint.put_pod("sums", &[0.1f64, f64::INFINITY]);
        let counters = Counters { collisions: u64::MAX, lost: 3, ..Counters::default() };
        checkpoint.put_value("counters", &counters).unwrap();

        let back: Vec<DrawnParticle> = checkpoint.get_pod("particles").unwrap();
        assert_eq!(bytemuck::cast_slice::<_, u8>(&back), bytemuck::cast_slice::<_, u8>(&particles));
        assert_eq!(checkpoint.get_pod::<f64>("sums").unwrap(), [0.1, f64::INFINITY]);
        assert_eq!(checkpoint.get_pod_of::<f64>("sums", 2).unwrap().len(), 2);
        assert_eq!(checkpoint.get_value::<Counters>("counters").unwrap(), counters);
        assert_eq!(checkpoint.sections.len(), 3);
        let bytes: usize = checkpoint.sections.iter().map(|(_, bytes)| bytes.len()).sum();
        assert_eq!(checkpoint.section_bytes(), bytes as u64);
    }

    #[test]
    fn misuse_is_refused_by_name() {
        let mut checkpoint = Checkpoint::new("gas/cpu", "", 0);
        checkpoint.put_bytes("odd", vec![1, 2, 3]);
        let message = |error: SimError| error.to_string();
        assert!(message(checkpoint.get_pod::<f32>("odd").unwrap_err()).contains("\"odd\""));
        assert!(message(checkpoint.get_pod::<f32>("none").unwrap_err()).contains("no section \"none\""));
        assert!(message(checkpoint.get_pod_of::<u8>("odd", 4).unwrap_err()).contains("3 entries"));
        assert!(message(checkpoint.get_value::<u32>("odd").unwrap_err()).contains("\"odd\""));
        assert!(message(checkpoint.check_kind("gas/cuda").unwrap_err()).contains("gas/cpu"));
        assert!(checkpoint.check_kind("gas/cpu").is_ok());
    }
}
