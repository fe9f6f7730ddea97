//! The way of bytes into persistent GPU buffers: a few upload buffers that stay, mapped, filled, copied, mapped again.
//! Must not know what the bytes are.
//!
//! `Queue::write_buffer` would make a staging buffer at each call, and copy with one core.

use bevy::render::render_resource::{
    Buffer, BufferDescriptor, BufferUsages, CommandEncoderDescriptor, MapMode, PollType,
};
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::tasks::ComputeTaskPool;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Upload buffers at most. One is filled while the driver still copies from another; the third is for hiccups.
const SLOTS: usize = 3;
/// Bytes that a task copies.
const CHUNK: usize = 1 << 18;

const READY: u8 = 0;
const BUSY: u8 = 1;
/// Could not be mapped again.
const BROKEN: u8 = 2;

/// Bytes and the buffer that they go to the beginning of. Lengths are multiples of 8, but for the last of 4.
pub(super) type Part<'a> = (&'a [u8], Buffer);

/// The upload buffers.
#[derive(Default)]
pub(super) struct Ring {
    slots: Vec<Slot>,
    /// Buffers made so far.
    pub(super) made: u64,
}

struct Slot {
    buffer: Buffer,
    state: Arc<AtomicU8>,
}

/// An upload buffer that is ready.
pub(super) struct Ticket(usize);

impl Ring {
    /// An upload buffer for so many bytes; `None` if all are in use. With `exact` the driver is waited for.
    pub(super) fn reserve(&mut self, device: &RenderDevice, bytes: u64, exact: bool) -> Option<Ticket> {
        // Too small ones are let go; the driver keeps them until it has copied.
        self.slots.retain(|slot| slot.buffer.size() >= bytes && slot.state.load(Ordering::Acquire) != BROKEN);
        if let Some(ticket) = self.ready() {
            return Some(ticket);
        }
        // Buffers become ready when the driver is asked.
        let poll = device.poll(PollType::Poll);
        if let (Ok(_), Some(ticket)) = (poll, self.ready()) {
            return Some(ticket);
        }
        if self.slots.len() < SLOTS {
            self.made += 1;
            let buffer = device.create_buffer(&BufferDescriptor {
                label: Some("particle_upload"),
                size: roomy(bytes).min(device.limits().max_buffer_size),
                usage: BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC,
                mapped_at_creation: true,
            });
            self.slots.push(Slot { buffer, state: Arc::new(AtomicU8::new(READY)) });
            return Some(Ticket(self.slots.len() - 1));
        }
        if exact {
            // An error here means a lost device; the frame will say so.
            device.poll(PollType::wait_indefinitely()).ok()?;
        }
        self.ready()
    }

    fn ready(&self) -> Option<Ticket> {
        let ready = |slot: &Slot| slot.state.load(Ordering::Acquire) == READY;
        self.slots.iter().position(ready).map(Ticket)
    }

    /// Copies the parts. What is submitted to the queue from now on sees them.
    pub(super) fn upload(
        &mut self,
        Ticket(slot): Ticket,
        device: &RenderDevice,
        queue: &RenderQueue,
        parts: &[Part<'_>],
    ) {
        let Some(slot) = self.slots.get(slot) else { return };
        let total: usize = parts.iter().map(|(bytes, _)| bytes.len()).sum();
        if total == 0 {
            return;
        }
        let mut at = 0;
        let mut jobs = Vec::with_capacity(total / CHUNK + parts.len());
        for chunk in parts.iter().flat_map(|(bytes, _)| bytes.chunks(CHUNK)) {
            let range = at..at + chunk.len() as u64;
            at = range.end;
            jobs.push((range, chunk));
        }
        // Each job has a view of its own piece of the mapped memory.
        let copy = |(range, from): (Range<u64>, &[u8])| {
            slot.buffer.slice(range).get_mapped_range_mut().copy_from_slice(from);
        };
        match ComputeTaskPool::try_get() {
            // A single core fills 32 MB in 3 ms or more.
            Some(pool) if jobs.len() > 3 => {
                let copy = &copy;
                pool.scope(|scope| jobs.into_iter().for_each(|job| scope.spawn(async move { copy(job) })));
            }
            _ => jobs.into_iter().for_each(copy),
        }
        slot.buffer.unmap();
        slot.state.store(BUSY, Ordering::Release);
        let mut encoder =
            device.create_command_encoder(&CommandEncoderDescriptor { label: Some("particle_upload") });
        let mut at = 0;
        for (bytes, to) in parts.iter().filter(|(bytes, _)| !bytes.is_empty()) {
            let length = bytes.len() as u64;
            encoder.copy_buffer_to_buffer(&slot.buffer, at, to, 0, length);
            at += length;
        }
        queue.submit([encoder.finish()]);
        let state = Arc::clone(&slot.state);
        slot.buffer.slice(..).map_async(MapMode::Write, move |result| {
            state.store(if result.is_ok() { READY } else { BROKEN }, Ordering::Release);
        });
    }
}

/// Some room for more, so that a fluctuating number does not make a new buffer each time; a multiple of 256.
pub(super) fn roomy(bytes: u64) -> u64 {
    (bytes + bytes / 8).next_multiple_of(256).max(256)
}
