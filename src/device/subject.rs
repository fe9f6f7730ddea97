//! What the self-test needs of a device beyond a simulation: all molecules out, and others in.
//! Must not know what is tested.

use super::cpu::CpuGas;
use super::gas::GasSetup;
use crate::physics::particle::Particle;
use crate::scene::Scene;
use crate::sim::{Counters, SimError, Simulation};

/// A gas simulation that can be tested: its molecules can be read and replaced.
pub trait Subject: Simulation {
    /// The scene made ready.
    fn setup(&self) -> &GasSetup;

    /// Counters since the start. A device may have to wait for its steps to tell them.
    fn counters(&mut self) -> Result<Counters, SimError>;

    /// All particles, sorted by cell. Looking changes nothing: the run goes on with the same bits.
    fn population(&mut self) -> Result<Population, SimError>;

    /// Puts these particles in place of all there are; cells are found here, the order within a cell is that given.
    /// Positions are rounded to what the device can hold, and one that [`Subject::population`] told is kept exactly.
    /// Majorants, averages and counters stay as they are. Rotation is ignored where the gas has none.
    ///
    /// # Errors
    /// A position is outside the domain, or there is no room for so many.
    fn place(&mut self, molecules: &[Molecule]) -> Result<(), SimError>;

    /// Replaces velocities by a function of the particle's index in [`Subject::population`].
    fn set_velocities(&mut self, velocity: &dyn Fn(usize) -> [f32; 3]) -> Result<(), SimError> {
        let mut molecules = self.population()?.molecules;
        molecules.iter_mut().enumerate().for_each(|(i, molecule)| molecule.velocity = velocity(i));
        self.place(&molecules)
    }
}

/// Builds subjects of a scene on one device.
pub type Maker<'a> = dyn Fn(&Scene) -> Result<Box<dyn Subject>, SimError> + Sync + 'a;

/// A particle as every device can tell it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Molecule {
    /// Position relative to the domain's lower corner, m: exactly that of the device.
    pub position: [f64; 3],
    /// Velocity, m/s.
    pub velocity: [f32; 3],
    /// As in [`Particle::tag`].
    pub tag: u32,
    /// Specific rotational energy, J/kg; 0 if the gas has none.
    pub rotation: f32,
}

/// All particles of a simulation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Population {
    /// Those of cell `c` are `offsets[c]..offsets[c + 1]`.
    pub molecules: Vec<Molecule>,
    /// First particle of each cell (index as in [`crate::sim::Fields`]), and the number of particles at the end.
    pub offsets: Vec<u32>,
}

impl Population {
    /// The particles of each cell, in the order of the cells.
    pub fn cells(&self) -> impl Iterator<Item = &[Molecule]> {
        let bounds = self.offsets.windows(2);
        bounds.map(|pair| self.molecules.get(pair[0] as usize..pair[1] as usize).unwrap_or_default())
    }
}

impl Subject for CpuGas {
    fn setup(&self) -> &GasSetup {
        self.setup()
    }

    fn counters(&mut self) -> Result<Counters, SimError> {
        Ok(Self::counters(self))
    }

    fn population(&mut self) -> Result<Population, SimError> {
        let rotation = |i: usize| self.rotation().get(i).copied().unwrap_or_default();
        let molecule = |(i, p): (usize, &Particle)| Molecule {
            position: p.position.map(f64::from),
            velocity: p.velocity,
            tag: p.tag,
            rotation: rotation(i),
        };
        let molecules = self.particles().iter().enumerate().map(molecule).collect();
        Ok(Population { molecules, offsets: self.offsets().to_vec() })
    }

    fn place(&mut self, molecules: &[Molecule]) -> Result<(), SimError> {
        let grid = &self.setup().motion.grid;
        let mut keyed = Vec::with_capacity(molecules.len());
        for molecule in molecules {
            let position = molecule.position.map(|x| x as f32);
            if !grid.contains(position) {
                return Err(SimError::Scene(format!(
                    "a particle at {:?} m is outside the domain: place it inside",
                    molecule.position
                )));
            }
            let particle = Particle { position, velocity: molecule.velocity, tag: molecule.tag };
            keyed.push((grid.index(grid.indices(position)), particle, molecule.rotation));
        }
        // Stable: the order within a cell stays.
        keyed.sort_by_key(|(cell, ..)| *cell);
        let mut offsets = vec![0_u32; grid.len() + 1];
        keyed.iter().for_each(|(cell, ..)| offsets[cell + 1] += 1);
        for cell in 0..grid.len() {
            offsets[cell + 1] += offsets[cell];
        }
        let rotational = self.setup().rotational;
        let rotation = if rotational { keyed.iter().map(|k| k.2).collect() } else { Vec::new() };
        self.replace(keyed.into_iter().map(|k| k.1).collect(), rotation, offsets);
        Ok(())
    }
}
