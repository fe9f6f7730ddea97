//! What a case is run on: the device under test, the device it is compared with, threads for the case's own sums.
//! Must not know which devices there are.

use crate::device::subject::{Maker, Subject};
use crate::scene::Scene;
use crate::sim::SimError;

/// Where a case builds its simulations.
pub struct Bed<'a> {
    /// Threads for what a case computes itself (0: one a core).
    pub threads: usize,
    /// What the device under test is compared with: "CPU".
    pub rival_name: &'a str,
    maker: &'a Maker<'a>,
    rival: &'a Maker<'a>,
    salt: u64,
}

/// Added to seeds for each repetition, and for a rival: far from any seed of a case.
const SALT: u64 = 0x5_eed0_0000;

impl<'a> Bed<'a> {
    /// A device that is compared with itself, with other random numbers.
    pub fn new(maker: &'a Maker<'a>, threads: usize) -> Self {
        Self { threads, rival_name: "itself with another seed", maker, rival: maker, salt: 0 }
    }

    /// Compared with another device.
    pub fn against(self, rival: &'a Maker<'a>, rival_name: &'a str) -> Self {
        Self { rival, rival_name, ..self }
    }

    /// The same with other random numbers in every simulation.
    pub fn again(&self) -> Self {
        Self { salt: self.salt + 2 * SALT, ..*self }
    }

    /// The scene on the device under test.
    ///
    /// # Errors
    /// It cannot be computed there.
    pub fn make(&self, scene: &Scene) -> Result<Box<dyn Subject>, SimError> {
        (self.maker)(&salted(scene, self.salt))
    }

    /// The scene on the device to compare with, with random numbers of its own.
    ///
    /// # Errors
    /// It cannot be computed there.
    pub fn make_rival(&self, scene: &Scene) -> Result<Box<dyn Subject>, SimError> {
        (self.rival)(&salted(scene, self.salt + SALT))
    }
}

fn salted(scene: &Scene, salt: u64) -> Scene {
    Scene { seed: scene.seed.wrapping_add(salt), ..scene.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::scenes;
    use std::sync::Mutex;

    #[test]
    fn repetitions_and_rivals_have_random_numbers_of_their_own() {
        let seeds = Mutex::new(Vec::new());
        let maker = |scene: &Scene| {
            seeds.lock().unwrap().push(scene.seed);
            Err(SimError::Device("none".into()))
        };
        let flow = scenes::FreeFlow::new(1.0, crate::scene::Shape::Sphere { radius_m: 1.0 }, 10.0);
        let scene = flow.scene().unwrap();
        let bed = Bed::new(&maker, 1);
        for bed in [&bed, &bed.again(), &bed.again().again()] {
            assert!(bed.make(&scene).is_err() && bed.make_rival(&scene).is_err());
        }
        let mut seeds = seeds.into_inner().unwrap();
        assert_eq!(seeds[0], scene.seed);
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 6);
    }
}
