//! The step of the peers with a kernel a phase.
//! Must not know what is compared with what.

#![allow(unsafe_code)]

use super::{BLOCK, Peer};
use crate::device::cuda::bench::card::launch;
use crate::device::cuda::bench::variants::Placement;
use crate::sim::SimError;

impl Peer<'_> {
    /// Collides, moves, lets in, and sorts in memory or by index.
    pub(super) fn step_apart(&mut self) -> Result<(), SimError> {
        let queue = self.variant.placement == Placement::Queue;
        self.prepare(if queue { self.counters } else { 0 }, 0, 0)?;
        let (blocks, listed, list) = (self.cell_blocks(), self.listed(), self.list);
        if queue {
            let (classes, cursor, head) = (self.counters, self.counters + 4 * 256, listed + 4);
            self.phase("heaviest first", |peer| {
                // SAFETY: arguments as in the kernel; 256 classes, cursors and threads.
                unsafe {
                    launch!(
                        peer.card,
                        peer.kernels,
                        "heaviest_first",
                        blocks,
                        256,
                        1024,
                        peer.setup,
                        peer.buffers,
                        classes,
                        cursor,
                        list,
                        listed
                    )
                }
            })?;
            // Four warps a block, each with 256 locks.
            let workers = 16 * self.multiprocessors;
            self.phase("collide", |peer| {
                // SAFETY: arguments as in the kernel.
                unsafe {
                    launch!(
                        peer.card,
                        peer.kernels,
                        "collide_queue",
                        workers,
                        128,
                        4096,
                        peer.setup,
                        peer.buffers,
                        list,
                        listed,
                        head
                    )
                }
            })?;
        } else {
            self.phase("collide", |peer| {
                let blocks = peer.cells().div_ceil(128);
                // SAFETY: arguments as in the kernel.
                unsafe {
                    launch!(
                        peer.card,
                        peer.kernels,
                        "collide_threads",
                        blocks,
                        128,
                        0,
                        peer.setup,
                        peer.buffers
                    )
                }
            })?;
        }
        let workers = 16 * self.multiprocessors;
        self.phase("move", |peer| {
            // SAFETY: arguments as in the kernel.
            unsafe {
                launch!(peer.card, peer.kernels, "move_slots", workers, BLOCK, 0, peer.setup, peer.buffers)
            }
        })?;
        self.let_in(false)?;
        self.phase("scan", |peer| peer.scan(peer.buffers.next_count, peer.buffers.next_start))?;
        if self.setup.step.is_multiple_of(self.variant.sort_every) {
            self.phase("place particles", |peer| {
                // SAFETY: arguments as in the kernel; `to` has the capacity of `from`.
                unsafe {
                    launch!(
                        peer.card,
                        peer.kernels,
                        "place_particles",
                        workers,
                        BLOCK,
                        0,
                        peer.setup,
                        peer.buffers
                    )
                }
            })?;
            self.swap_particles();
            self.swap_cells();
            self.buffers.order = 0;
            self.set_slots(self.buffers.start + 4 * u64::from(self.cells()), 0)
        } else {
            self.phase("place indices", |peer| {
                let order = peer.order;
                // SAFETY: arguments as in the kernel; `order` has a place for each slot.
                unsafe {
                    launch!(peer.card, peer.kernels, "place_indices", workers, BLOCK, 0, peer.buffers, order)
                }
            })?;
            self.swap_cells();
            self.buffers.order = self.order;
            Ok(())
        }
    }
}
