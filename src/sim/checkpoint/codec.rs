//! A checkpoint as a stream of bytes, every part of it guarded by a check sum.
//! Must not know files or devices; nothing read here is believed before its check sum holds.
//!
//! ```text
//! preamble   magic 8, format version u32, bytes of all u64, bytes of the head u64, crc32 of these u32
//! head       kind, scene (u64 length + UTF-8 each), step u64, number of sections u64,
//!            then for each section: name (u64 length + UTF-8), bytes u64, crc32 u32
//!            crc32 of the head u32
//! sections   back to back
//! end        crc32 of all before it u32
//! ```
//!
//! All numbers are little-endian.

use super::Checkpoint;
use crate::sim::SimError;
use crc32fast::Hasher;
use std::io::{ErrorKind, Read, Write};

/// Version of the byte format that is written; older ones are read where the format still allows it.
pub const FORMAT_VERSION: u32 = 1;

/// The first byte is no ASCII and the line ends are those that text-mode copies change, as in PNG.
const MAGIC: [u8; 8] = *b"\x89KNU\r\n\x1a\n";
const PREAMBLE_BYTES: usize = 32;
const CRC_BYTES: u64 = 4;
/// Memory taken ahead of the bytes that have really come, whatever a length says.
const READ_AHEAD_BYTES: usize = 1 << 20;

impl Checkpoint {
    /// Writes the checkpoint without copying the sections. Ends with a flush.
    pub fn write_to(&self, output: &mut impl Write) -> std::io::Result<()> {
        let sums: Vec<Hasher> = self.sections.iter().map(|(_, bytes)| hash(bytes)).collect();
        let head = self.head(&sums);
        let total = PREAMBLE_BYTES as u64 + head.len() as u64 + self.section_bytes() + CRC_BYTES;

        let mut preamble = Vec::with_capacity(PREAMBLE_BYTES);
        preamble.extend_from_slice(&MAGIC);
        preamble.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        preamble.extend_from_slice(&total.to_le_bytes());
        preamble.extend_from_slice(&(head.len() as u64).to_le_bytes());
        preamble.extend_from_slice(&crc(&preamble).to_le_bytes());

        let mut all = hash(&preamble);
        all.update(&head);
        output.write_all(&preamble)?;
        output.write_all(&head)?;
        for ((_, bytes), sum) in self.sections.iter().zip(&sums) {
            output.write_all(bytes)?;
            all.combine(sum);
        }
        output.write_all(&all.finalize().to_le_bytes())?;
        output.flush()
    }

    /// The checkpoint as bytes. Holds everything twice: prefer [`Checkpoint::write_to`] for large states.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to a Vec cannot fail.
        let _ = self.write_to(&mut bytes);
        bytes
    }

    fn head(&self, sums: &[Hasher]) -> Vec<u8> {
        let mut head = Vec::new();
        put_text(&mut head, &self.kind);
        put_text(&mut head, &self.scene);
        head.extend_from_slice(&self.step.to_le_bytes());
        head.extend_from_slice(&(self.sections.len() as u64).to_le_bytes());
        for ((name, bytes), sum) in self.sections.iter().zip(sums) {
            put_text(&mut head, name);
            head.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
            head.extend_from_slice(&sum.clone().finalize().to_le_bytes());
        }
        head.extend_from_slice(&crc(&head).to_le_bytes());
        head
    }

    /// Reads a checkpoint up to the end of `input`, which must hold nothing else.
    ///
    /// Never takes more than twice the memory of the bytes that really come (and 1 MiB), whatever the lengths in
    /// them say.
    ///
    /// # Errors
    /// [`SimError::Checkpoint`] says which part is damaged, cut short, foreign or too new.
    pub fn read_from(input: &mut impl Read) -> Result<Self, SimError> {
        let (preamble, total, head_bytes) = read_preamble(input)?;
        let mut source = Source { input, read: PREAMBLE_BYTES as u64, total };
        let head = source.take(head_bytes)?;
        let (body, sum) = head.split_at(head.len().saturating_sub(CRC_BYTES as usize));
        if crc(body).to_le_bytes() != sum {
            return Err(damaged("its head does not match its check sum"));
        }
        let (mut checkpoint, table) = parse_head(body)?;
        let mut all = hash(&preamble);
        all.update(&head);
        for (name, length, expected) in table {
            let bytes = source.take(length)?;
            let sum = hash(&bytes);
            if sum.clone().finalize() != expected {
                return Err(damaged(&format!("its section \"{name}\" does not match its check sum")));
            }
            all.combine(&sum);
            checkpoint.sections.push((name, bytes));
        }
        if source.take(CRC_BYTES)? != all.finalize().to_le_bytes() {
            return Err(damaged("the whole does not match the check sum at its end"));
        }
        source.end()?;
        Ok(checkpoint)
    }

    /// Reads a checkpoint from bytes; see [`Checkpoint::read_from`].
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, SimError> {
        Self::read_from(&mut bytes)
    }
}

fn read_preamble(input: &mut impl Read) -> Result<([u8; PREAMBLE_BYTES], u64, u64), SimError> {
    let mut preamble = [0; PREAMBLE_BYTES];
    let mut came = 0;
    while came < PREAMBLE_BYTES {
        match input.read(&mut preamble[came..]) {
            Ok(0) => break,
            Ok(count) => came += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(&error)),
        }
    }
    if came == 0 {
        return Err(refused("the checkpoint is empty"));
    }
    if preamble[..came.min(8)] != MAGIC[..came.min(8)] {
        return Err(SimError::Checkpoint(
            "this is not a knudsen checkpoint (it does not begin as one): give a file that knudsen wrote"
                .into(),
        ));
    }
    if came < PREAMBLE_BYTES {
        return Err(refused(&format!("the checkpoint is cut short: it ends after {came} bytes")));
    }
    let mut fields = Fields { rest: &preamble[8..] };
    let version = fields.u32()?;
    if version != FORMAT_VERSION {
        let which = if version > FORMAT_VERSION { "newer" } else { "unknown" };
        return Err(SimError::Checkpoint(format!(
            "the checkpoint has the {which} format version {version}, and this knudsen reads version \
             {FORMAT_VERSION}: use the knudsen that wrote it, or start the scene anew"
        )));
    }
    let (total, head_bytes, sum) = (fields.u64()?, fields.u64()?, fields.u32()?);
    if crc(&preamble[..PREAMBLE_BYTES - 4]) != sum {
        return Err(damaged("its first bytes do not match their check sum"));
    }
    Ok((preamble, total, head_bytes))
}

/// What the head says: the checkpoint without sections, and (name, bytes, crc32) of each section.
type Head = (Checkpoint, Vec<(String, u64, u32)>);

fn parse_head(head: &[u8]) -> Result<Head, SimError> {
    let mut fields = Fields { rest: head };
    let kind = fields.text()?;
    let scene = fields.text()?;
    let step = fields.u64()?;
    let count = fields.u64()?;
    // Not sized by `count`, which may say anything.
    let mut table: Vec<(String, u64, u32)> = vec![];
    for _ in 0..count {
        let (name, length, sum) = (fields.text()?, fields.u64()?, fields.u32()?);
        if table.iter().any(|(known, ..)| *known == name) {
            return Err(damaged(&format!("it has two sections \"{name}\"")));
        }
        table.push((name, length, sum));
    }
    if !fields.rest.is_empty() {
        return Err(damaged("its head is longer than what it holds"));
    }
    Ok((Checkpoint::new(kind, scene, step), table))
}

/// The rest of the input, and how much there should be.
struct Source<'a, R: Read> {
    input: &'a mut R,
    read: u64,
    total: u64,
}

impl<R: Read> Source<'_, R> {
    /// The next `length` bytes; memory grows with what comes.
    fn take(&mut self, length: u64) -> Result<Vec<u8>, SimError> {
        if length > self.total.saturating_sub(self.read) {
            return Err(damaged("one of its lengths points beyond its end"));
        }
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < length {
            let wanted = (length - bytes.len() as u64).min(bytes.len().max(READ_AHEAD_BYTES) as u64);
            bytes.try_reserve_exact(wanted as usize).map_err(|_| {
                SimError::Checkpoint(format!(
                    "there is no memory for the {} bytes of the checkpoint: free some, or use a larger machine",
                    self.total
                ))
            })?;
            let came =
                self.input.take(wanted).read_to_end(&mut bytes).map_err(|error| unreadable(&error))? as u64;
            self.read += came;
            if came < wanted {
                return Err(refused(&format!(
                    "the checkpoint is cut short: it ends after {} of {} bytes",
                    self.read, self.total
                )));
            }
        }
        Ok(bytes)
    }

    /// Fails unless this is the end.
    fn end(&mut self) -> Result<(), SimError> {
        let mut more = Vec::new();
        self.input.take(1).read_to_end(&mut more).map_err(|error| unreadable(&error))?;
        if more.is_empty() && self.read == self.total {
            return Ok(());
        }
        Err(refused(&format!(
            "the checkpoint goes on after its end at {} of {} bytes",
            self.read, self.total
        )))
    }
}

/// Fields of a head, one after the other.
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn bytes(&mut self, length: u64) -> Result<&'a [u8], SimError> {
        match usize::try_from(length).ok().and_then(|length| self.rest.split_at_checked(length)) {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(damaged("its head is shorter than what it should hold")),
        }
    }

    fn u32(&mut self) -> Result<u32, SimError> {
        let bytes = self.bytes(4)?;
        Ok(bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)))
    }

    fn u64(&mut self) -> Result<u64, SimError> {
        let bytes = self.bytes(8)?;
        Ok(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn text(&mut self) -> Result<String, SimError> {
        let length = self.u64()?;
        let bytes = self.bytes(length)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| damaged("a text in its head is not UTF-8"))
    }
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

fn hash(bytes: &[u8]) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.update(bytes);
    hasher
}

fn crc(bytes: &[u8]) -> u32 {
    hash(bytes).finalize()
}

fn refused(what: &str) -> SimError {
    SimError::Checkpoint(format!("{what}: use an older checkpoint, or start the scene anew"))
}

fn damaged(what: &str) -> SimError {
    refused(&format!("the checkpoint is damaged ({what})"))
}

fn unreadable(error: &std::io::Error) -> SimError {
    SimError::Checkpoint(format!("the checkpoint cannot be read ({error}): check the file and the disk"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Checkpoint {
        let mut checkpoint = Checkpoint::new("gas/cpu", "(name: \"λ\")", 1234);
        checkpoint.put_pod("particles", &[1.0f32, -2.5, 3.25]);
        checkpoint.put_bytes("empty", vec![]);
        checkpoint.put_pod("sums", &[u64::MAX, 7]);
        checkpoint
    }

    fn message(bytes: &[u8]) -> String {
        Checkpoint::from_bytes(bytes).expect_err("must be refused").to_string()
    }

    /// Gives changed bytes the check sums of preamble and head that they should have.
    fn reseal(bytes: &mut [u8]) {
        let head = u64::from_le_bytes(bytes[20..28].try_into().unwrap()) as usize;
        let sum = crc(&bytes[..28]);
        bytes[28..32].copy_from_slice(&sum.to_le_bytes());
        if let Some(end) = head.checked_add(28).filter(|end| end + 4 <= bytes.len()) {
            let sum = crc(&bytes[32..end]);
            bytes[end..end + 4].copy_from_slice(&sum.to_le_bytes());
        }
    }

    #[test]
    fn bytes_come_back() {
        let checkpoint = sample();
        let bytes = checkpoint.to_bytes();
        assert_eq!(Checkpoint::from_bytes(&bytes).unwrap(), checkpoint);
        assert_eq!(Checkpoint::from_bytes(&Checkpoint::default().to_bytes()).unwrap(), Checkpoint::default());
        // More than one piece of read-ahead, from a reader that gives little at a time.
        let mut large = sample();
        large.put_bytes(
            "large",
            (0..3_000_001u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect(),
        );
        let bytes = large.to_bytes();
        let mut slow = std::io::BufReader::with_capacity(1000, bytes.as_slice());
        assert_eq!(Checkpoint::read_from(&mut slow).unwrap(), large);
        assert_eq!(bytes[bytes.len() - 4..], crc(&bytes[..bytes.len() - 4]).to_le_bytes());
    }

    #[test]
    fn every_truncation_is_named() {
        let bytes = sample().to_bytes();
        assert!(message(&[]).contains("is empty"));
        for length in 1..bytes.len() {
            let text = message(&bytes[..length]);
            assert!(text.contains("cut short") && text.contains(&length.to_string()), "{length}: {text}");
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(message(&longer).contains("goes on after its end"));
    }

    #[test]
    fn every_flipped_bit_is_found_and_placed() {
        let checkpoint = sample();
        let bytes = checkpoint.to_bytes();
        let sections = bytes.len() - 4 - checkpoint.section_bytes() as usize;
        for at in 0..bytes.len() {
            let expected = match at {
                0..8 => "not a knudsen checkpoint",
                8..12 => "format version",
                12..32 => "first bytes",
                _ if at < sections => "its head",
                _ if at < sections + 12 => "section \"particles\"",
                _ if at < sections + 28 => "section \"sums\"",
                _ => "check sum at its end",
            };
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                let text = message(&flipped);
                assert!(text.contains(expected), "byte {at}, bit {bit}: {text}");
            }
        }
    }

    #[test]
    fn foreign_and_newer_files_are_named() {
        assert!(message(b"solid sphere\n facet normal 0 0 1").contains("not a knudsen checkpoint"));
        assert!(message(b"PK").contains("not a knudsen checkpoint"));
        let mut newer = sample().to_bytes();
        newer[8..12].copy_from_slice(&(FORMAT_VERSION + 1).to_le_bytes());
        assert!(message(&newer).contains("newer format version 2"));
    }

    /// Lengths with right check sums, as a malicious file would have them: an allocation of that size would abort.
    #[test]
    fn lying_lengths_take_no_memory() {
        let bytes = sample().to_bytes();
        let mut head = bytes.clone();
        head[20..28].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
        reseal(&mut head);
        assert!(message(&head).contains("beyond its end"));
        head[12..20].copy_from_slice(&u64::MAX.to_le_bytes());
        reseal(&mut head);
        assert!(message(&head).contains("cut short"));

        let mut kind = bytes.clone();
        kind[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
        reseal(&mut kind);
        assert!(message(&kind).contains("head is shorter"));

        let count = 32 + 8 + "gas/cpu".len() + 8 + sample().scene.len() + 8;
        let mut many = bytes.clone();
        many[count..count + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        reseal(&mut many);
        assert!(message(&many).contains("head is shorter"));

        let length = count + 8 + 8 + "particles".len();
        let mut section = bytes;
        section[length..length + 8].copy_from_slice(&(1u64 << 60).to_le_bytes());
        reseal(&mut section);
        assert!(message(&section).contains("beyond its end"));
        section[12..20].copy_from_slice(&u64::MAX.to_le_bytes());
        reseal(&mut section);
        assert!(message(&section).contains("cut short"));
    }

    #[test]
    fn errors_of_the_disk_are_passed_on() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(std::io::Error::other("cable pulled"))
            }
        }
        impl Write for Broken {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::Error::other("disk full"))
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let error = Checkpoint::read_from(&mut Broken).unwrap_err().to_string();
        assert!(error.contains("cable pulled"), "{error}");
        assert!(sample().write_to(&mut Broken).unwrap_err().to_string().contains("disk full"));
        let bytes = sample().to_bytes();
        let mut later = bytes[..100].chain(Broken);
        assert!(Checkpoint::read_from(&mut later).unwrap_err().to_string().contains("cable pulled"));
    }
}
