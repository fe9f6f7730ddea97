//! The program of a scene: which `-D` constants its kernels are compiled with, and the check of shared structs.
//! Knows nothing of launches.

use super::abi::{Control, FarRecord, Gas, Orders, PairModel, State, WallLaw, Work};
use super::launch::{Classes, Kernels};
use crate::device::cuda::{Context, CudaError, Module, Options};
use crate::device::gas::GasSetup;
use crate::physics::motion::FaceLaw;

/// The constants of a scene's kernels; `wide`: ends of bins have 32 bits.
pub fn specialise(setup: &GasSetup, wide: bool) -> Vec<String> {
    let model = setup.pairs.single();
    let power = match model.exponent {
        0.5 => 1,
        0.25 => 2,
        0.0 => 3,
        _ => 0,
    };
    let mut options = vec![format!("-DVHS_POWER={power}")];
    let mut set = |wanted: bool, name: &str| {
        if wanted {
            options.push(format!("-D{name}=1"));
        }
    };
    set(!setup.motion.walls.is_empty(), "WALLS");
    set(setup.heavy_from.is_some(), "COLLISIONS");
    set(setup.rotational, "ROTATION");
    set(model.inverse_alpha != 1.0, "VSS");
    set(setup.motion.faces.contains(&FaceLaw::Periodic), "PERIODIC");
    set(wide, "WIDE_BINS");
    let heavy_from = setup.heavy_from.map_or(u32::MAX, |from| from.min(u32::MAX as usize) as u32);
    options.push(format!("-DHEAVY_FROM={heavy_from}u"));
    options
}

/// C++ that fails to compile where a shared struct has another layout in the kernels.
pub fn abi_checks() -> String {
    let mut checks = crate::device::cuda::walls::layout_asserts();
    checks += &abi!(Control { step, stalled, needed, far_total, listed, taken, scratch, spare });
    checks += &abi!(FarRecord { index, cell });
    checks += &abi!(PairModel { coefficient, exponent, inverse_alpha, first_share });
    checks += &abi!(WallLaw { accommodation, thermal_speed, rotational });
    checks += &abi!(State { velocity, place, rotation, ends, offset });
    checks += &abi!(Orders { slot, sample, energy, tally });
    checks += &abi!(Work {
        control,
        block_sums,
        far_records,
        far_count,
        far_offset,
        far_index,
        site_counts,
        lists,
        edges,
        cores,
        numbers,
        words,
        queue,
        scratch,
        scratch_at,
        majorants,
        sums,
        counts,
        log,
        capacity,
        far_capacity,
        scratch_capacity,
        parity,
        edge_count,
        core_count,
        queue_capacity,
        spare
    });
    checks += &abi!(Gas {
        cells,
        cell_count,
        step,
        advance,
        time_step,
        seed,
        pair,
        majorant_ratio,
        heavy_from,
        exposure,
        faces,
        face_laws,
        stream,
        inflow_speed,
        inflow_mean,
        inflow_base,
        site_count,
        body_count,
        impulse_scale,
        moment_scale,
        energy_scale,
        kinetic_scale,
        fill_mean,
        thermal_speed,
        walls,
        laws,
        origins,
        tallies,
        body_sums
    });
    checks
}

/// Blocks of the warp-a-cell kernel that shall fit on a multiprocessor, as far as its memory allows: 4 leave 64 registers a thread.
const STEP_BLOCKS: u32 = 4;

/// All constants of a scene's kernels on a card, and the size classes: `limits` are the threads that a multiprocessor holds
/// and the most shared memory of a block, bytes.
fn for_card(
    program: &[String],
    options: &Options,
    setup: &GasSetup,
    limits: (u32, u32),
) -> (Vec<String>, Classes) {
    let mut program = program.to_vec();
    let blocks = options.step_blocks.unwrap_or(STEP_BLOCKS);
    program.push(format!("-DSTEP_BLOCKS={}", blocks.min(limits.0 / 256)));
    let cells = setup.motion.grid.len();
    let usual = setup.expected_particles() / cells.max(1) as f64;
    let words = if setup.rotational { 8 } else { 7 };
    let mut classes = Classes::new(limits.1, words, usual);
    if let Some(direct) = options.direct_class {
        classes.direct = direct.min(3);
    }
    for (threads, limit) in [32, 64, 128, 512].into_iter().zip(classes.limits) {
        program.push(format!("-DCAP_{threads}={limit}"));
    }
    (program, classes)
}

/// All constants with which the kernels of a scene are compiled for a card that need not be here; `limits` as its driver
/// tells them: threads of a multiprocessor, and most shared memory of a block, bytes.
pub fn all_constants(setup: &GasSetup, wide: bool, limits: (u32, u32)) -> Vec<String> {
    for_card(&specialise(setup, wide), &Options::default(), setup, limits).0
}

/// Compiles the kernels of a scene and looks them up.
pub fn build(
    context: &Context,
    options: &Options,
    program: &[String],
    setup: &GasSetup,
) -> Result<Kernels, CudaError> {
    let limits = (context.gpu.threads_per_multiprocessor, context.gpu.shared_bytes_per_block);
    let (program, classes) = for_card(program, options, setup, limits);
    let cells = setup.motion.grid.len();
    let source = options.kernels.assemble(&abi_checks())?;
    let module = Module::compile(context, &source, &program)?;
    Kernels::new(context, &module, classes, setup.rotational, cells as u32)
}
