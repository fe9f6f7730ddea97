//! The particles on the host: sorted by cell for checkpoints, tests and probes, and back onto the card.
//! Knows nothing of steps.

use super::abi::{BINS, FAR, FarRecord, HOME, PLACE_BITS};
use super::buffers::Sizes;
use super::{CudaGas, more};
use crate::scene::Face;
use crate::sim::{Checkpoint, SimError};
use rayon::prelude::*;

/// All particles, sorted by cell, in the order in which the next step takes them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sorted {
    /// Velocity (m/s) and the bits of the tag.
    pub velocity: Vec<[f32; 4]>,
    /// Place in the cell, three lattice coordinates of 21 bits.
    pub place: Vec<[u32; 2]>,
    /// Specific rotational energy, J/kg; empty if molecules do not rotate.
    pub rotation: Vec<f32>,
    /// First particle of each cell, and their number.
    pub offsets: Vec<u32>,
}

impl Sorted {
    /// Writes the particles to a checkpoint.
    pub fn save(&self, state: &mut Checkpoint) {
        state.put_pod("velocity", &self.velocity);
        state.put_pod("place", &self.place);
        state.put_pod("rotation", &self.rotation);
        state.put_pod("offsets", &self.offsets);
    }

    /// Reads particles from a checkpoint of a scene with so many cells.
    pub fn load(state: &Checkpoint, cells: usize, rotational: bool) -> Result<Self, SimError> {
        let sorted = Self {
            velocity: state.get_pod("velocity")?,
            place: state.get_pod("place")?,
            rotation: state.get_pod("rotation")?,
            offsets: state.get_pod("offsets")?,
        };
        let count = sorted.velocity.len();
        let fits = sorted.offsets.len() == cells + 1
            && sorted.offsets.windows(2).all(|pair| pair[0] <= pair[1])
            && sorted.offsets.last().is_some_and(|&last| last as usize == count)
            && sorted.place.len() == count
            && sorted.rotation.len() == if rotational { count } else { 0 };
        if !fits {
            return Err(SimError::Checkpoint(format!(
                "this checkpoint is for {} cells, the scene has {cells}, or their gases differ: resume with the scene \
                 that wrote it",
                sorted.offsets.len().saturating_sub(1)
            )));
        }
        Ok(sorted)
    }
}

/// Lattice coordinates of a place.
pub fn unpack([low, high]: [u32; 2]) -> [u32; 3] {
    const MASK: u32 = (1 << PLACE_BITS) - 1;
    [low & MASK, (low >> 21) | ((high & 0x3ff) << 11), (high >> 10) & MASK]
}

impl CudaGas {
    /// Brings all particles to the host.
    pub(super) fn particles_now(&self) -> Result<Sorted, SimError> {
        let Sizes { cells, rotational, wide, .. } = self.buffers.sizes;
        let state = self.buffers.present();
        let offset: Vec<u32> = state.offset.read(0, cells + 1)?;
        let total = offset[cells] as usize;
        let ends: Vec<u32> = if wide {
            state.ends.read(0, BINS * cells)?
        } else {
            let narrow: Vec<u16> = state.ends.read(0, BINS * cells)?;
            narrow.into_iter().map(u32::from).collect()
        };
        let velocity: Vec<[f32; 4]> = state.velocity.read(0, total)?;
        let place: Vec<[u32; 2]> = state.place.read(0, total)?;
        let rotation: Vec<f32> = match &state.rotation {
            Some(rotation) if rotational => rotation.read(0, total)?,
            _ => Vec::new(),
        };
        let far_total = self.control()?.far_total[self.buffers.parity] as usize;
        let mut far: Vec<FarRecord> = self.buffers.far_records.read(0, far_total)?;
        far.sort_by_key(|record| (record.cell, record.index));

        // Indices of each cell's particles, in the order of the kernels: by direction, then far ones by index.
        let indices = |cell: usize| -> Vec<u32> {
            let mut list = Vec::new();
            for direction in 0..FAR {
                let Some(source) = self.source_of(cell, direction) else { continue };
                let begin = if direction == 0 { 0 } else { ends[(direction - 1) * cells + source] };
                let end = ends[direction * cells + source];
                list.extend((begin..end).map(|i| offset[source] + i));
            }
            let first = far.partition_point(|record| (record.cell as usize) < cell);
            list.extend(far[first..].iter().take_while(|r| r.cell as usize == cell).map(|r| r.index));
            list
        };
        let lists: Vec<Vec<u32>> = (0..cells).into_par_iter().map(indices).collect();
        let mut sorted = Sorted::default();
        sorted.offsets.push(0);
        for list in &lists {
            sorted.velocity.extend(list.iter().map(|&i| velocity[i as usize]));
            sorted.place.extend(list.iter().map(|&i| place[i as usize]));
            if rotational {
                sorted.rotation.extend(list.iter().map(|&i| rotation[i as usize]));
            }
            sorted.offsets.push(sorted.velocity.len() as u32);
        }
        Ok(sorted)
    }

    /// Cell from which a particle of a direction came to a cell; `None` beyond a face that is not periodic.
    fn source_of(&self, cell: usize, direction: usize) -> Option<usize> {
        let grid = &self.setup.motion.grid;
        let faces = self.setup.gas().faces.as_array();
        let step = [direction % 3, direction / 3 % 3, direction / 9].map(|e| e as i64 - 1);
        let at = grid.unravel(cell);
        let mut from = [0; 3];
        for a in 0..3 {
            let (index, cells) = (i64::from(at[a]) - step[a], i64::from(grid.cells[a]));
            let face = if index < 0 { Some(2 * a) } else { (index >= cells).then_some(2 * a + 1) };
            if face.is_some_and(|face| faces[face] != Face::Periodic) {
                return None;
            }
            from[a] = index.rem_euclid(cells) as u32;
        }
        Some(grid.index(from))
    }

    /// Replaces the particles on the card. All of them are at home in their cells.
    pub(super) fn put_particles(&mut self, sorted: &Sorted) -> Result<(), SimError> {
        let cells = self.buffers.sizes.cells;
        let count = sorted.velocity.len() as u32;
        for _ in 0..2 {
            // Both states, so that the next step has room too.
            if self.buffers.work(self.buffers.parity).capacity < count {
                self.grow(more(count))?;
            }
            self.buffers.parity ^= 1;
        }
        let state = &mut self.buffers.states[self.buffers.parity];
        state.offset.write(0, &sorted.offsets)?;
        state.velocity.write(0, &sorted.velocity)?;
        state.place.write(0, &sorted.place)?;
        if let Some(rotation) = &mut state.rotation {
            rotation.write(0, &sorted.rotation)?;
        }
        let numbers = sorted.offsets.windows(2).map(|pair| pair[1] - pair[0]);
        let at_home: Vec<u32> = numbers.collect();
        let mut ends = vec![0_u32; HOME * cells];
        for _ in HOME..BINS {
            ends.extend(&at_home);
        }
        if self.buffers.sizes.wide {
            state.ends.write(0, &ends)?;
        } else {
            let narrow: Vec<u16> =
                ends.iter().map(|&end| u16::try_from(end)).collect::<Result<_, _>>().map_err(|_| {
                    SimError::Checkpoint("a cell has more than 65,535 particles here".to_string())
                })?;
            state.ends.write(0, &narrow)?;
        }
        self.buffers.forget_far()?;
        let mut control = self.control()?;
        control.far_total = [0; 2];
        control.stalled = 0;
        control.step = self.record.step;
        self.buffers.control.write(0, &[control])?;
        self.particles = u64::from(count);
        Ok(())
    }
}
