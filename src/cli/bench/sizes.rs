//! `knudsen bench sizes`: the time of a particle-step against the number of particles, and against those a cell.
//! Prints what it ran; judges nothing.

use super::measure::measure;
use super::scenes::seed_sphere;
use super::{How, Limits, print_head};
use crate::cli::common::open_device;
use clap::Args;

/// Arguments of `knudsen bench sizes`.
#[derive(Args)]
pub struct SizesArgs {
    /// Most particles [default: 1e8 on a GPU, 1e7 on the CPU].
    #[arg(long, value_parser = super::particles)]
    most: Option<u64>,
    #[command(flatten)]
    how: How,
}

/// Measures the seed's sphere.
pub fn run(args: &SizesArgs) -> anyhow::Result<()> {
    let device = open_device(args.how.device, args.how.threads)?;
    let limits = Limits::begin(&device)?;
    let most = args.most.unwrap_or(if !device.is_cpu() { 100_000_000 } else { 10_000_000 });
    let mut times = vec![];
    let mut one = |count: u64, per_cell: f64| -> anyhow::Result<()> {
        let plan = args.how.plan(&device, count);
        let measured = measure("sizes", &seed_sphere(count, per_cell), &device, plan)?;
        limits.print("seed", &measured, plan);
        times.push((measured.particles, per_cell, 1e9 / measured.rate().max(1.0)));
        Ok(())
    };
    print_head(&device);
    if most < 1_000_000 {
        one(most, 100.0)?;
    }
    for count in [1, 2, 4, 8, 16, 32, 64, 100, 200, 400, 800].map(|millions| millions * 1_000_000) {
        if count <= most {
            one(count, 100.0)?;
        }
    }
    let count = most.min(10_000_000);
    for per_cell in [10.0, 30.0, 100.0, 300.0, 1000.0] {
        one(count, per_cell)?;
    }
    let large = times.iter().filter(|(particles, ..)| *particles >= 4_000_000);
    let (least, largest) = large.fold((f64::MAX, 0.0_f64), |(a, b), (.., time)| (a.min(*time), b.max(*time)));
    limits.print_legend();
    if largest > 0.0 {
        say!(
            "\na particle-step takes {least:.4} to {largest:.4} ns from 4e6 particles on: {:.0} % from least to most",
            100.0 * (largest / least - 1.0)
        );
    }
    Ok(())
}
