//! The complete state of a simulation as plain bytes.
//! Must not know files or devices.

/// The complete state of a simulation.
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
