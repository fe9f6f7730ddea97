//! The initial particles: undisturbed gas in every cell's gas volume.
//! Knows nothing of steps or threads' number.

use super::state::{Particles, Run};
use crate::device::gas::GasSetup;
use crate::physics::particle::Particle;
use crate::physics::rng::{Purpose, Stream};
use crate::physics::sample::gauss_triple;
use crate::scene::Start;
use rayon::ThreadPool;
use rayon::prelude::*;

/// Tries for a place in the gas part of a cell before a sliver of gas is left empty.
const TRIES: u32 = 10_000;

/// Fills the domain. Each cell gets its gas volume's share of `particles_per_cell`, rounded at random.
pub fn fill(setup: &GasSetup, pool: &ThreadPool) -> Particles {
    let cells = setup.motion.grid.len();
    let mut particles = Particles::new(cells);
    if setup.gas().start == Start::Empty {
        return particles;
    }
    let expected = setup.expected_particles();
    particles.reserve((expected * 1.01) as usize, setup.rotational);
    let chunk = 4096;
    let filled: Vec<Vec<(Particle, f32)>> = pool.install(|| {
        (0..cells.div_ceil(chunk))
            .into_par_iter()
            .map(|block| {
                let mut out = Vec::new();
                for cell in block * chunk..cells.min((block + 1) * chunk) {
                    fill_cell(setup, cell, &mut out);
                }
                out
            })
            .collect()
    });
    let grid = &setup.motion.grid;
    let (mut lowest, mut highest) = (u32::MAX, 0);
    for (particle, rotation) in filled.into_iter().flatten() {
        // Rounding to f32 may have put it next door.
        let key = grid.index(grid.indices(particle.position)) as u32;
        (lowest, highest) = (lowest.min(key), highest.max(key));
        particles.list.push(particle);
        particles.keys.push(key);
        if setup.rotational {
            particles.rotation.push(rotation);
        }
    }
    let run = Run { start: 0, end: particles.list.len(), lowest, highest };
    particles.sort(pool, &[run]);
    particles
}

fn fill_cell(setup: &GasSetup, cell: usize, out: &mut Vec<(Particle, f32)>) {
    let motion = &setup.motion;
    let gas = motion.walls.gas_fraction(cell);
    if gas <= 0.0 {
        return;
    }
    let mut rng = Stream::new(setup.scene.seed, 0, Purpose::Fill, cell as u32);
    let size = motion.grid.cell_size();
    let corner: [f64; 3] = std::array::from_fn(|a| f64::from(motion.grid.unravel(cell)[a]) * size[a]);
    let thermal = setup.stream.most_probable_speed as f32 * std::f32::consts::FRAC_1_SQRT_2;
    let drift = setup.stream.velocity.map(|v| v as f32);
    for _ in 0..rng.round(setup.gas().particles_per_cell * f64::from(gas)) {
        for _ in 0..TRIES {
            let position: [f32; 3] = std::array::from_fn(|a| {
                ((corner[a] + rng.unit_f64() * size[a]) as f32).clamp(0.0, motion.grid.extent[a])
            });
            if motion.walls.in_gas(position) {
                let g = gauss_triple(&mut rng);
                let velocity = std::array::from_fn(|a| drift[a] + thermal * g[a]);
                let rotation = if setup.rotational { -thermal * thermal * rng.unit().ln() } else { 0.0 };
                out.push((Particle { position, velocity, tag: Particle::make_tag(0, rng.bits()) }, rotation));
                break;
            }
        }
    }
}
