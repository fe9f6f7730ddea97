//! The constants of a run as the kernels read them, and the tables behind them.
//! Knows nothing of launches.

use super::abi::{Gas, PLACE_BITS, PairModel, WallLaw};
use super::buffers::{Array, Buffers};
use crate::device::cuda::CudaError;
use crate::device::cuda::walls::{HostWalls, WallsAddresses, WallsView};
use crate::device::gas::GasSetup;
use crate::physics::motion::FaceLaw;
use crate::physics::wall;
use cudarc::driver::CudaStream;
use std::sync::Arc;

/// Tables that stay for the whole run.
#[derive(Debug)]
pub struct Tables {
    /// What the view points to.
    _walls: [Array; 7],
    view: WallsView,
    laws: Array,
    origins: Array,
}

impl Tables {
    /// Uploads the tables of a setup.
    pub fn new(stream: &Arc<CudaStream>, setup: &GasSetup) -> Result<Self, CudaError> {
        let laws: Vec<WallLaw> = setup.motion.laws.iter().map(law).collect();
        let origins: Vec<f64> = setup.bodies.iter().flat_map(|body| body.origin).collect();
        let host = HostWalls::new(&setup.motion.walls);
        let walls = [
            Array::from_slice(stream, &host.faces)?,
            Array::from_slice(stream, &host.states)?,
            Array::from_slice(stream, &host.clearance)?,
            Array::from_slice(stream, &host.wall_cells)?,
            Array::from_slice(stream, &host.list)?,
            Array::from_slice(stream, &host.sieves)?,
            Array::from_slice(stream, &host.triangles)?,
        ];
        let [faces, states, clearance, wall_cells, list, sieves, triangles] =
            std::array::from_fn(|i| walls[i].address());
        let view =
            host.view(WallsAddresses { faces, states, clearance, wall_cells, list, sieves, triangles });
        Ok(Self {
            _walls: walls,
            view,
            laws: Array::from_slice(stream, &laws)?,
            origins: Array::from_slice(stream, &origins)?,
        })
    }
}

fn law(law: &wall::WallLaw) -> WallLaw {
    WallLaw {
        accommodation: law.accommodation,
        thermal_speed: law.thermal_speed,
        rotational: u32::from(law.rotational),
    }
}

/// The cells at a face of the domain or with walls in them or beside them, and the others, each in order.
pub fn cell_kinds(setup: &GasSetup) -> (Vec<u32>, Vec<u32>) {
    let grid = &setup.motion.grid;
    let is_edge = |&cell: &u32| {
        let at = grid.unravel(cell as usize);
        (0..3).any(|a| at[a] == 0 || at[a] + 1 == grid.cells[a])
            || setup.motion.walls.clearance(cell as usize) < 2
    };
    (0..grid.len() as u32).partition(is_edge)
}

/// Sites of each face: cells of a face through which gas enters, from the first one on.
fn sites(setup: &GasSetup) -> ([u32; 6], u32) {
    let (mut base, mut total) = ([0; 6], 0);
    for face in &setup.inflow.faces {
        let cells = setup.motion.grid.cells;
        base[face.face] = total;
        total += cells[(face.face / 2 + 1) % 3] * cells[(face.face / 2 + 2) % 3];
    }
    (base, total)
}

/// Number of sites.
pub fn site_count(setup: &GasSetup) -> u32 {
    sites(setup).1
}

/// Fixed-point units of the sums: m/s, m^2/s, J/kg of hits, J/kg of all particles.
///
/// A hit in the scale of speeds is 2^30 units, so that 2^31 hits of that size fit into 63 bits and rounding is 1e-9 of
/// it; a particle's energy is 2^20 units.
pub fn scales(setup: &GasSetup) -> [f64; 4] {
    let laws = setup.motion.laws.iter().map(|law| f64::from(law.thermal_speed));
    let faces = setup.motion.faces.iter().map(|face| match face {
        FaceLaw::Wall(law) => f64::from(law.thermal_speed),
        _ => 0.0,
    });
    let hottest = laws.chain(faces).fold(setup.stream.most_probable_speed, f64::max);
    let speed = 4.0 * (setup.stream.speed + 4.0 * hottest);
    let length = setup.motion.grid.size.iter().map(|size| size * size).sum::<f64>().sqrt();
    let unit = f64::from(1_u32 << 30);
    [unit / speed, unit / (speed * length), unit / (speed * speed), f64::from(1 << 20) / (speed * speed)]
}

/// Reads the tallies as sums per unit mass of a molecule: hits, impulse, energy.
pub fn tally_values(setup: &GasSetup, sums: &[i64; 5]) -> [f64; 5] {
    let [impulse, _, energy, _] = scales(setup);
    let j = |k: usize| sums[k] as f64 / impulse;
    [sums[0] as f64, j(1), j(2), j(3), sums[4] as f64 / energy]
}

/// The constants of a setup.
pub fn gas(setup: &GasSetup, tables: &Tables, buffers: &Buffers) -> Gas {
    let grid = &setup.motion.grid;
    let lattice = f64::from(1_u32 << PLACE_BITS);
    let step: [f64; 3] = std::array::from_fn(|a| grid.size[a] / (f64::from(grid.cells[a]) * lattice));
    let model = setup.pairs.single();
    let (mut inflow_mean, (inflow_base, site_count)) = ([0.0; 6], sites(setup));
    for face in &setup.inflow.faces {
        let across = grid.cells[(face.face / 2 + 2) % 3];
        inflow_mean[face.face] = face.mean_per_row / f64::from(across);
    }
    let [impulse_scale, moment_scale, energy_scale, kinetic_scale] = scales(setup);
    Gas {
        cells: grid.cells,
        cell_count: grid.len() as u32,
        step,
        advance: std::array::from_fn(|a| (setup.time_step_s / step[a]) as f32),
        time_step: setup.time_step_s as f32,
        seed: setup.scene.seed,
        pair: PairModel {
            coefficient: model.coefficient,
            exponent: model.exponent,
            inverse_alpha: model.inverse_alpha,
            first_share: model.first_share,
        },
        majorant_ratio: setup.majorant_ratio,
        heavy_from: setup.heavy_from.map_or(u32::MAX, |from| from.min(u32::MAX as usize) as u32),
        exposure: setup.exposure,
        faces: setup.motion.faces.map(|face| match face {
            FaceLaw::Open => 0,
            FaceLaw::Periodic => 1,
            FaceLaw::Wall(_) => 2,
        }),
        face_laws: setup.motion.faces.map(|face| match face {
            FaceLaw::Wall(of) => law(&of),
            _ => WallLaw::default(),
        }),
        stream: setup.field_scale.stream,
        inflow_speed: setup.stream.most_probable_speed as f32,
        inflow_mean,
        inflow_base,
        site_count,
        body_count: setup.bodies.len() as u32,
        impulse_scale,
        moment_scale,
        energy_scale,
        kinetic_scale,
        fill_mean: setup.gas().particles_per_cell as f32,
        thermal_speed: (setup.stream.most_probable_speed * std::f64::consts::FRAC_1_SQRT_2) as f32,
        walls: tables.view,
        laws: tables.laws.address(),
        origins: tables.origins.address(),
        tallies: buffers.tallies.address(),
        body_sums: buffers.body_sums.address(),
    }
}
