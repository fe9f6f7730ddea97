//! The particles of the CPU device, kept sorted by cell, and the stable parallel sort that keeps them so.
//! Knows nothing of collisions, walls or averages.

use super::queue;
use crate::physics::particle::Particle;
use rayon::ThreadPool;

/// Key of a particle that has left.
pub const GONE: u32 = u32::MAX;

/// A run of particles with the range of their keys, so that a sort can pass over runs that do not concern it.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// First particle.
    pub start: usize,
    /// One past the last particle.
    pub end: usize,
    /// Lowest key of a particle that stays; above `highest` if none stays.
    pub lowest: u32,
    /// Highest key of a particle that stays.
    pub highest: u32,
}

/// Particles sorted by cell.
#[derive(Debug, Default)]
pub struct Particles {
    /// The particles; those of cell `c` are `offsets[c]..offsets[c + 1]`.
    pub list: Vec<Particle>,
    /// Specific rotational energy of each, J/kg; empty if the gas has none.
    pub rotation: Vec<f32>,
    /// Cell of each particle after a move.
    pub keys: Vec<u32>,
    /// First particle of each cell, and the number of particles at the end.
    pub offsets: Vec<u32>,
    spare: Vec<Particle>,
    spare_rotation: Vec<f32>,
    counts: Vec<u32>,
}

/// Lengthens `list` to `length`, with little slack: these arrays are most of the memory.
fn lengthen<T: Clone + Default>(list: &mut Vec<T>, length: usize) {
    if list.len() < length {
        if list.capacity() < length {
            list.reserve_exact(length + length / 50 - list.len());
        }
        list.resize(length, T::default());
    }
}

impl Particles {
    /// No particles in `cells` cells.
    pub fn new(cells: usize) -> Self {
        Self { offsets: vec![0; cells + 1], counts: vec![0; cells], ..Self::default() }
    }

    /// Sorted particles as they were saved.
    pub fn restore(list: Vec<Particle>, rotation: Vec<f32>, offsets: Vec<u32>) -> Self {
        let cells = offsets.len() - 1;
        let keys = vec![GONE; list.len()];
        Self { list, rotation, keys, offsets, counts: vec![0; cells], ..Self::default() }
    }

    /// Makes room for `count` more without the doubling of a plain vector.
    pub fn reserve(&mut self, count: usize, rotational: bool) {
        let want = self.list.len() + count;
        if self.list.capacity() < want {
            let more = want + want / 50 - self.list.len();
            self.list.reserve_exact(more);
            self.keys.reserve_exact(more);
            if rotational {
                self.rotation.reserve_exact(more);
            }
        }
    }

    /// Sorts by `keys`, stably: equal keys keep their order, so that the result does not depend on how the work is
    /// shared out. Particles with key [`GONE`] are dropped. `runs` cover the particles in order.
    pub fn sort(&mut self, pool: &ThreadPool, runs: &[Run]) {
        let cells = self.counts.len();
        // One part a thread: runs at the border of two parts are read for both.
        let parts = pool.current_num_threads();
        let bounds = self.split_cells(parts.min(cells).max(1));
        let keys = &self.keys;

        let mut rest = self.counts.as_mut_slice();
        let mut tasks = Vec::with_capacity(bounds.len());
        for window in bounds.windows(2) {
            let (part, tail) = rest.split_at_mut(window[1] - window[0]);
            rest = tail;
            tasks.push((window[0] as u32, part));
        }
        queue::run(pool, tasks, |(first, counts): (u32, &mut [u32])| {
            counts.fill(0);
            for run in concerned(runs, first, counts.len()) {
                for &key in &keys[run.start..run.end] {
                    if let Some(count) = counts.get_mut(key.wrapping_sub(first) as usize) {
                        *count += 1;
                    }
                }
            }
        });

        let mut total = 0_u32;
        for (offset, &count) in self.offsets.iter_mut().zip(&self.counts) {
            *offset = total;
            total += count;
        }
        self.offsets[cells] = total;
        let total = total as usize;
        let rotational = !self.rotation.is_empty();
        lengthen(&mut self.spare, total);
        if rotational {
            lengthen(&mut self.spare_rotation, total);
        }

        let (list, rotation, offsets) = (&self.list, &self.rotation, &self.offsets);
        let mut rest =
            (self.spare.as_mut_slice(), self.spare_rotation.as_mut_slice(), self.counts.as_mut_slice());
        let mut tasks = Vec::with_capacity(bounds.len());
        for window in bounds.windows(2) {
            let length = (offsets[window[1]] - offsets[window[0]]) as usize;
            let (out, tail) = rest.0.split_at_mut(length);
            let (out_rotation, tail_rotation) =
                if rotational { rest.1.split_at_mut(length) } else { rest.1.split_at_mut(0) };
            let (cursor, tail_cursor) = rest.2.split_at_mut(window[1] - window[0]);
            rest = (tail, tail_rotation, tail_cursor);
            tasks.push((window[0], out, out_rotation, cursor));
        }
        type Task<'a> = (usize, &'a mut [Particle], &'a mut [f32], &'a mut [u32]);
        queue::run(pool, tasks, |(first, out, out_rotation, cursor): Task<'_>| {
            let base = offsets[first];
            for (cursor, offset) in cursor.iter_mut().zip(&offsets[first..]) {
                *cursor = offset - base;
            }
            for run in concerned(runs, first as u32, cursor.len()) {
                for (i, &key) in (run.start..).zip(&keys[run.start..run.end]) {
                    if let Some(cursor) = cursor.get_mut(key.wrapping_sub(first as u32) as usize) {
                        out[*cursor as usize] = list[i];
                        if rotational {
                            out_rotation[*cursor as usize] = rotation[i];
                        }
                        *cursor += 1;
                    }
                }
            }
        });

        std::mem::swap(&mut self.list, &mut self.spare);
        self.list.truncate(total);
        if rotational {
            std::mem::swap(&mut self.rotation, &mut self.spare_rotation);
            self.rotation.truncate(total);
        }
    }

    /// Cells divided into `parts` ranges with about the same number of particles, by the offsets of the last sort.
    fn split_cells(&self, parts: usize) -> Vec<usize> {
        let cells = self.counts.len();
        let total = u64::from(self.offsets[cells]);
        let mut bounds = vec![0];
        for part in 1..parts {
            let want = (total * part as u64 / parts as u64) as u32;
            let by_particles = self.offsets.partition_point(|&offset| offset < want);
            // Without particles yet, divide by cells.
            let bound = if total == 0 { cells * part / parts } else { by_particles.min(cells) };
            bounds.push(bound.max(bounds[part - 1]));
        }
        bounds.push(cells);
        bounds
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> u64 {
        let particles = self.list.capacity() + self.spare.capacity();
        let words = self.rotation.capacity()
            + self.spare_rotation.capacity()
            + self.keys.capacity()
            + self.offsets.capacity()
            + self.counts.capacity();
        (particles * size_of::<Particle>() + words * 4) as u64
    }
}

/// The runs that may hold keys in `first..first + length`.
fn concerned(runs: &[Run], first: u32, length: usize) -> impl Iterator<Item = &Run> {
    let end = first as usize + length;
    runs.iter().filter(move |run| run.highest >= first && (run.lowest as usize) < end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(threads: usize) -> ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    fn run(start: usize, keys: &[u32]) -> Run {
        let kept = || keys.iter().copied().filter(|&key| key != GONE);
        Run {
            start,
            end: start + keys.len(),
            lowest: kept().min().unwrap_or(GONE),
            highest: kept().max().unwrap_or(0),
        }
    }

    #[test]
    fn sort_is_stable_drops_the_gone_and_ignores_the_number_of_threads() {
        let cells = 50;
        let keys: Vec<u32> = (0..10_000_u32)
            .map(|i| if i % 17 == 3 { GONE } else { i.wrapping_mul(2_654_435_761) >> 16 & 63 })
            .collect();
        let keys: Vec<u32> = keys.into_iter().map(|k| if k == GONE { k } else { k % cells }).collect();
        let mut want: Vec<(u32, u32)> =
            keys.iter().enumerate().filter(|(_, k)| **k != GONE).map(|(i, &k)| (k, i as u32)).collect();
        want.sort();
        for threads in [1, 2, 3] {
            let mut particles = Particles::new(cells as usize);
            particles.list =
                (0..keys.len() as u32).map(|i| Particle { tag: i, ..Particle::default() }).collect();
            particles.rotation = (0..keys.len()).map(|i| i as f32).collect();
            particles.keys.clone_from(&keys);
            let runs = [run(0, &keys[..3000]), run(3000, &keys[3000..3001]), run(3001, &keys[3001..])];
            particles.sort(&pool(threads), &runs);
            assert_eq!(
                particles.list.iter().map(|p| p.tag).collect::<Vec<_>>(),
                want.iter().map(|w| w.1).collect::<Vec<_>>()
            );
            assert_eq!(particles.rotation, want.iter().map(|w| w.1 as f32).collect::<Vec<_>>());
            for cell in 0..cells as usize {
                let range = particles.offsets[cell] as usize..particles.offsets[cell + 1] as usize;
                assert!(want[range].iter().all(|w| w.0 as usize == cell));
            }
        }
    }

    #[test]
    fn an_empty_list_sorts() {
        let mut particles = Particles::new(4);
        particles.sort(&pool(2), &[]);
        assert_eq!(particles.offsets, [0; 5]);
    }
}
