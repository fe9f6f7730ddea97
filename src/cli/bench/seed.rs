//! `knudsen bench seed`: the seed's choices against each other on this card, each with its checks.
//! Prints what it ran; judges nothing but whether the checks hold.

use super::measure::median;
use super::quoted;
use crate::device::cuda::bench::layout::Case;
use crate::device::cuda::bench::roofline;
use crate::device::cuda::bench::variants::{Layout, Measured, Placement, Variant, Variants};
use clap::Args;

/// Arguments of `knudsen bench seed`.
#[derive(Args)]
pub struct SeedArgs {
    /// Particles of an undisturbed cell.
    #[arg(long, value_delimiter = ',', default_values_t = [100, 300], value_parser = clap::value_parser!(u32).range(4..=1000))]
    per_cell: Vec<u32>,
    /// Cells along each edge of the cube.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(8..=400))]
    cells: u32,
    /// Measured steps, a repeat.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(4..=100_000))]
    steps: u32,
    /// Steps before, in which the shock grows.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    warm: u32,
    /// Number of the GPU.
    #[arg(long, default_value_t = 0)]
    gpu: usize,
    /// Repeats; the median is told.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: u32,
}

/// The seed's own: a thread a cell below 300 particles, six arrays, sorted in memory in every step.
const SEED: Variant = Variant {
    placement: Placement::Threads,
    layout: Layout::SixArrays,
    heavy_from: u32::MAX,
    sort_every: 1,
    threads: 32,
};
/// What the tables vary, one choice at a time.
const QUEUE: Variant =
    Variant { placement: Placement::Queue, layout: Layout::Float4, heavy_from: 300, ..SEED };

fn tables(per_cell: u32) -> Vec<(&'static str, Vec<(String, Variant)>)> {
    // Few particles: a warp a cell, more: two, as is fastest on an H200.
    let fused =
        Variant { placement: Placement::Fused, threads: if per_cell <= 120 { 32 } else { 64 }, ..QUEUE };
    let row = |name: &str, variant| (name.to_string(), variant);
    let mut collide = vec![
        row("a thread a cell, No-Time-Counter", Variant { placement: Placement::Threads, ..QUEUE }),
        row("queue, No-Time-Counter in all", Variant { heavy_from: u32::MAX, ..QUEUE }),
    ];
    for from in [1000, 500, 300, 200, 100] {
        collide.push((format!("queue, half-split from {from} on"), Variant { heavy_from: from, ..QUEUE }));
    }
    collide.push(row("queue, half-split in all", Variant { heavy_from: 0, ..QUEUE }));
    let sort = |every| (format!("sorted every {every} steps"), Variant { sort_every: every, ..QUEUE });
    let by_layout = |base: Variant| {
        let fits = move |layout: &Layout| base.placement == Placement::Fused || layout.is_absolute();
        (Layout::ALL.into_iter().filter(fits))
            .map(move |layout| (layout.name().to_string(), Variant { layout, ..base }))
            .collect::<Vec<_>>()
    };
    let threads = [Layout::Float4, Layout::Packed].into_iter().flat_map(|layout| {
        [32, 64, 128, 256].map(|threads| {
            (format!("{threads} threads a cell, {}", layout.name()), Variant { layout, threads, ..fused })
        })
    });
    vec![
        ("the seed's way", vec![row("thread a cell, six arrays", SEED)]),
        ("who collides a cell (two float4, sorted in every step)", collide),
        ("sorting in memory, by index between (queue, two float4)", [1, 2, 5, 10, 20].map(sort).to_vec()),
        ("layouts, a kernel a phase (queue)", by_layout(QUEUE)),
        ("layouts, one kernel for all, unordered", by_layout(fused)),
        ("threads a cell, one kernel for all, unordered", threads.collect()),
    ]
}

/// Measures and prints the tables.
pub fn run(args: &SeedArgs) -> anyhow::Result<()> {
    say!("peers of the step on GPU {}, f32, version {}", args.gpu, env!("CARGO_PKG_VERSION"));
    let rates = roofline::measure(args.gpu)?;
    for (name, rate) in rates.rows() {
        say!("  {name:<44} {:>7.0} GB/s, read and written counted", rate / 1e9);
    }
    let variants = Variants::new(args.gpu)?;
    let mut failed = 0;
    for &per_cell in &args.per_cell {
        let case = Case { edge: args.cells, per_cell, open: true };
        say!(
            "\nsphere in the seed's stream, {0} x {0} x {0} cells, {per_cell} a cell; {1} steps, then {2} x {3}; sampled every 10th step",
            args.cells,
            args.warm,
            args.repeat,
            args.steps
        );
        let mut seed_rate = None;
        for (title, rows) in tables(per_cell) {
            say!("\n{title}");
            say!(
                "  {:<34} {:>10} {:>9} {:>6} {:>6} {:>6}  checks, and of a closed box: energy, collisions/theory",
                "",
                "M steps/s",
                "ms a step",
                "seed=1",
                "copy%",
                "bytes"
            );
            for (name, variant) in rows {
                let measured = variants.measure(case, variant, args.warm, args.steps, args.repeat)?;
                // The same variant in a closed box, where theory knows the collisions.
                let boxed = Case { edge: args.cells.min(32), open: false, ..case };
                let checked = variants.measure(boxed, variant, 20, 50, 2)?;
                let rate = median(&measured.rates);
                let seed = *seed_rate.get_or_insert(rate);
                let moved = 2.0 * variant.layout.bytes() as f64 * rate;
                say!(
                    "  {name:<34} {:>10.1} {:>9.4} {:>6.2} {:>6.1} {:>6.1}  {}",
                    rate / 1e6,
                    1e3 * measured.step_s,
                    rate / seed.max(1.0),
                    100.0 * moved / rates.copy_float4,
                    measured.bytes,
                    checks(&measured, &checked, &mut failed)
                );
                let phases: Vec<String> =
                    measured.phases.iter().map(|(name, time)| format!("{name} {:.4}", 1e3 * time)).collect();
                say!("    ms: {}", phases.join(", "));
            }
        }
    }
    say!(
        "\ncopy%: one read and one write of a particle's bytes in a step, of the float4 copy rate. Unordered: atomics decide the order\n\
         of particles in a cell, so that no two runs give the same bits; without triangles and tallies. `knudsen bench` has the\n\
         product's step, which is reproducible."
    );
    quoted::print();
    anyhow::ensure!(failed == 0, "{failed} checks of peers failed: their speeds above mean nothing");
    Ok(())
}

/// Tells the checks of the stream and of the closed box.
fn checks(stream: &Measured, closed: &Measured, failed: &mut u32) -> String {
    let off = (closed.checks.collisions - 1.0).abs();
    let right = [stream, closed]
        .iter()
        .all(|run| run.checks.balance == 0.0 && run.checks.misplaced == 0 && run.checks.errors == 0)
        && closed.checks.energy.abs() < 1e-4
        && off < 5.0 * closed.checks.collisions_sigma;
    if !right {
        *failed += 1;
    }
    format!(
        "{} count {:+} misplaced {} errors {} overflow {} heaviest {}; {:+.1e}, {:.4} +- {:.4}",
        if right { "ok" } else { "FAILED" },
        stream.checks.balance,
        stream.checks.misplaced + closed.checks.misplaced,
        stream.checks.errors + closed.checks.errors,
        stream.checks.overflow_peak,
        stream.checks.heaviest,
        closed.checks.energy,
        closed.checks.collisions,
        closed.checks.collisions_sigma
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_hold_only_variants_that_exist() {
        for (title, rows) in [100, 300].into_iter().flat_map(tables) {
            assert!(!rows.is_empty(), "{title}");
            for (name, variant) in rows {
                assert!(
                    variant.placement == Placement::Fused || variant.layout.is_absolute(),
                    "{title}: {name}"
                );
                assert!([32, 64, 128, 256].contains(&variant.threads), "{title}: {name}");
            }
        }
    }
}
