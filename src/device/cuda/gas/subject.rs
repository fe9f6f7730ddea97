//! What the self-test needs of the gas on CUDA: all particles out, and others in.
//! Must not know what is tested.

use super::CudaGas;
use super::abi::PLACE_BITS;
use super::particles::{Sorted, unpack};
use crate::device::gas::GasSetup;
use crate::device::subject::{Molecule, Population, Subject};
use crate::sim::{Counters, SimError};

impl Subject for CudaGas {
    fn setup(&self) -> &GasSetup {
        self.setup()
    }

    fn counters(&mut self) -> Result<Counters, SimError> {
        Ok(self.record().counters)
    }

    fn population(&mut self) -> Result<Population, SimError> {
        let sorted = self.particles_now()?;
        let (grid, step) = (&self.setup.motion.grid, self.gas.step);
        let mut molecules = Vec::with_capacity(sorted.velocity.len());
        for (cell, pair) in sorted.offsets.windows(2).enumerate() {
            let at = grid.unravel(cell);
            for i in pair[0] as usize..pair[1] as usize {
                let place = unpack(sorted.place[i]);
                let [u, v, w, tag] = sorted.velocity[i];
                let lattice = |a: usize| (u64::from(at[a]) << PLACE_BITS) + u64::from(place[a]);
                molecules.push(Molecule {
                    position: std::array::from_fn(|a| lattice(a) as f64 * step[a]),
                    velocity: [u, v, w],
                    tag: tag.to_bits(),
                    rotation: sorted.rotation.get(i).copied().unwrap_or_default(),
                });
            }
        }
        Ok(Population { molecules, offsets: sorted.offsets })
    }

    fn place(&mut self, molecules: &[Molecule]) -> Result<(), SimError> {
        let (grid, step) = (&self.setup.motion.grid, self.gas.step);
        let mut keyed = Vec::with_capacity(molecules.len());
        for molecule in molecules {
            let mut lattice = [0_u64; 3];
            for a in 0..3 {
                let steps = (molecule.position[a] / step[a]).round();
                let all = u64::from(grid.cells[a]) << PLACE_BITS;
                if steps.is_nan() || steps < 0.0 || steps > all as f64 {
                    return Err(SimError::Scene(format!(
                        "a particle at {:?} m is outside the domain: place it inside",
                        molecule.position
                    )));
                }
                // The upper face is the last point of the lattice that is inside.
                lattice[a] = (steps as u64).min(all - 1);
            }
            let cell = grid.index(lattice.map(|x| (x >> PLACE_BITS) as u32));
            let [x, y, z] = lattice.map(|x| x as u32 & ((1 << PLACE_BITS) - 1));
            keyed.push((cell, [x | (y << 21), (y >> 11) | (z << 10)], molecule));
        }
        // Stable: the order within a cell stays.
        keyed.sort_by_key(|(cell, ..)| *cell);
        let mut sorted = Sorted { offsets: vec![0; grid.len() + 1], ..Sorted::default() };
        for (cell, place, molecule) in keyed {
            let [u, v, w] = molecule.velocity;
            sorted.offsets[cell + 1] += 1;
            sorted.velocity.push([u, v, w, f32::from_bits(molecule.tag)]);
            sorted.place.push(place);
            if self.setup.rotational {
                sorted.rotation.push(molecule.rotation);
            }
        }
        for cell in 0..grid.len() {
            sorted.offsets[cell + 1] += sorted.offsets[cell];
        }
        if !self.buffers.sizes.wide && sorted.offsets.windows(2).any(|pair| pair[1] - pair[0] > 65_535) {
            self.widen()?;
        }
        self.put_particles(&sorted)
    }
}
