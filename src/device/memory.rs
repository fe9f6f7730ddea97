//! How much memory a scene needs, and how much there is; asked before anything is taken.
//! Knows nothing of how it is used.

use super::gas::{GasSetup, gas_scene};
use crate::physics::particle::Particle;
use crate::scene::Scene;
use crate::sim::SimError;

/// Bytes of a particle on the CPU: two copies for the sort, a key, rotation where there is any, 4 % slack.
fn particle_bytes(rotational: bool) -> f64 {
    let rotation = if rotational { 8.0 } else { 0.0 };
    1.04 * (2.0 * size_of::<Particle>() as f64 + 4.0 + rotation)
}

/// Bytes of a cell on the CPU: offsets, counts, majorant, walls, averages with errors.
const CELL_BYTES: f64 = 20.0 + 216.0;

/// Estimated need of a scene on the CPU, bytes. A bow shock may hold more particles than the undisturbed gas: half
/// as many again are allowed for.
pub fn estimate(cells: u64, particles: f64, rotational: bool) -> u64 {
    (1.5 * particles * particle_bytes(rotational) + cells as f64 * CELL_BYTES) as u64
}

/// Free memory, bytes, where the system tells (Linux).
pub fn available() -> Option<u64> {
    of_system("MemAvailable:")
}

/// All memory, bytes, where the system tells (Linux).
pub fn total() -> Option<u64> {
    of_system("MemTotal:")
}

fn of_system(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// Refuses a scene whose cells alone do not fit: asked before its walls are cut, which takes memory for each cell.
pub fn check_cells(scene: &Scene) -> Result<(), SimError> {
    let gas = gas_scene(scene);
    let cells = gas.domain.cells.iter().fold(1_u64, |product, &n| product.saturating_mul(u64::from(n)));
    check_numbers(cells, 0.0, false, gas.particles_per_cell, available())
}

/// Refuses a scene that does not fit, with the largest size that would.
pub fn check(setup: &GasSetup) -> Result<(), SimError> {
    let cells = setup.motion.grid.len() as u64;
    let particles = setup.expected_particles();
    check_numbers(cells, particles, setup.rotational, setup.gas().particles_per_cell, available())
}

/// The same from numbers alone.
pub fn check_numbers(
    cells: u64,
    particles: f64,
    rotational: bool,
    particles_per_cell: f64,
    available: Option<u64>,
) -> Result<(), SimError> {
    let needed_bytes = estimate(cells, particles, rotational);
    let Some(available_bytes) = available else { return Ok(()) };
    // u32 offsets number the particles.
    let too_many = particles * 1.5 > f64::from(u32::MAX);
    if needed_bytes <= available_bytes && !too_many {
        return Ok(());
    }
    let for_particles = available_bytes as f64 - cells as f64 * CELL_BYTES;
    let fitting = (for_particles / (1.5 * particle_bytes(rotational))).min(f64::from(u32::MAX) / 1.5);
    let suggestion = if fitting > 0.0 && particles > 0.0 {
        let per_cell = particles_per_cell * fitting / particles;
        format!("particles_per_cell: {per_cell:.1} would fit with these cells")
    } else {
        format!("already the {cells} cells are too many: take fewer")
    };
    Err(SimError::Memory { needed_bytes, available_bytes, suggestion })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        assert!(check_numbers(1000, 1e5, false, 100.0, Some(1 << 30)).is_ok());
        let Err(SimError::Memory { needed_bytes, available_bytes, suggestion }) =
            check_numbers(1000, 1e9, false, 1e6, Some(1 << 30))
        else {
            panic!("must be refused")
        };
        assert!(needed_bytes > available_bytes);
        let per_cell: f64 = suggestion.split([' ']).nth(1).unwrap().parse().unwrap();
        assert!(check_numbers(1000, per_cell * 999.0, false, per_cell, Some(1 << 30)).is_ok());
        let Err(error) = check_numbers(1 << 40, 1e9, false, 10.0, Some(1 << 30)) else { panic!("refused") };
        assert!(error.to_string().contains("too many"));
    }
}
