//! `knudsen bench`: particle-steps a second, the share of each phase, bytes a particle, beside what others reach.
//! Prints what it ran; judges nothing.

mod measure;
mod quoted;
mod scenes;
#[cfg(feature = "cuda")]
mod seed;
mod sizes;
#[cfg(feature = "view")]
mod view;

use super::DeviceName;
use super::common::{open_device, threads};
use crate::device::Chosen;
use crate::scene::{Scene, Scheme};
use clap::{Args, Subcommand, ValueEnum};
use measure::{Measured, Plan, measure};
use scenes::{argon_box, argon_sphere, seed_sphere};

/// Arguments of `knudsen bench`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BenchArgs {
    #[command(subcommand)]
    other: Option<Other>,
    /// What to measure.
    #[arg(long, value_enum, default_value_t = Case::All)]
    case: Case,
    /// Particles, about: 1e6, 1e9 [default: 1e7 on a GPU, 1e6 on the CPU].
    #[arg(long, value_parser = particles)]
    particles: Option<u64>,
    #[command(flatten)]
    how: How,
}

/// How to measure, whatever is measured.
#[derive(Args)]
pub struct How {
    /// Device.
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
    /// Threads of the CPU; 0: measure one thread and all cores.
    #[arg(long, default_value_t = 0, value_parser = threads())]
    threads: usize,
    /// Measured steps, a repeat [default: 60 on the CPU; on a GPU what takes a second, 50 to 2000].
    #[arg(long, value_parser = clap::value_parser!(u32).range(4..=1_000_000))]
    steps: Option<u32>,
    /// Steps before, in which the flow develops [default: a quarter of the steps on the CPU, half on a GPU].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    warm: Option<u32>,
    /// Repeats; the median is told [default: 1 on the CPU, 5 on a GPU].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: Option<u32>,
    /// Sample the cells every so many steps; 0: never [default: 0 on the CPU, 10 on a GPU].
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    every: Option<u32>,
    /// Sample the cells in every step: --every 1.
    #[arg(long, conflicts_with = "every")]
    sampled: bool,
}

#[derive(Subcommand)]
enum Other {
    /// Measure what the picture costs: CPU time a frame, GPU buffers, steps of a watched simulation.
    #[cfg(feature = "view")]
    View(view::ViewArgs),
    /// Measure the seed's choices against each other on this GPU: thread or warp a cell, Half-Split-Shuffle, sorting, layouts.
    #[cfg(feature = "cuda")]
    Seed(seed::SeedArgs),
    /// Measure from 1e6 particles up, and from 10 to 1000 particles a cell.
    Sizes(sizes::SizesArgs),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Case {
    /// All of them; on a GPU without the table, on the CPU without the scenes of 50 x 50 x 50 cells.
    All,
    /// Closed box of argon, 10 particles a cell, nu dt = 0.14 (SPARTA's COLLIDE).
    Collide,
    /// The same without collisions (SPARTA's FREE).
    Free,
    /// Argon past a sphere, 10 particles a cell (SPARTA's SPHERE).
    Sphere,
    /// The seed's sphere at 10, 50, 100, 200 and 300 particles a cell.
    Table,
    /// The seed's sphere, 50 x 50 x 50 cells of 100 particles, or as many as are asked for.
    Seed100,
    /// The same with 300 particles a cell.
    Seed300,
}

/// Reads a number of particles: 1000000, 1e6.
fn particles(text: &str) -> Result<u64, String> {
    let refuse = || format!("{text} is no number of particles: write it as 1000000 or 1e6");
    let value: f64 = text.parse().map_err(|_| refuse())?;
    if !(value.is_finite() && value >= 0.0 && value.fract() == 0.0) {
        return Err(refuse());
    }
    if !(1e3..=4e9).contains(&value) {
        let which = if value < 1e3 { "few" } else { "many" };
        return Err(format!("{text} is too {which} to measure: at least 1000, at most 4e9"));
    }
    Ok(value as u64)
}

/// Runs the benchmark.
pub fn run(args: &BenchArgs) -> anyhow::Result<()> {
    match &args.other {
        #[cfg(feature = "view")]
        Some(Other::View(args)) => return view::run(args),
        #[cfg(feature = "cuda")]
        Some(Other::Seed(args)) => return seed::run(args),
        Some(Other::Sizes(args)) => return sizes::run(args),
        None => {}
    }
    let device = open_device(args.how.device, args.how.threads)?;
    let gpu = !device.is_cpu();
    let limits = Limits::begin(&device)?;
    let count = args.particles.unwrap_or(if gpu { 10_000_000 } else { 1_000_000 });
    let all = args.case == Case::All;
    for device in devices(&device, &args.how)? {
        print_head(&device);
        let wants = |case| args.case == case || all;
        let run = |name: &str, scene: &Scene, count: u64| -> anyhow::Result<()> {
            let plan = args.how.plan(&device, count);
            limits.print(name, &measure(name, scene, &device, plan)?, plan);
            Ok(())
        };
        if wants(Case::Collide) {
            run("collide", &argon_box(count, Scheme::Ntc), count)?;
        }
        if wants(Case::Free) {
            run("free", &argon_box(count, Scheme::Off), count)?;
        }
        if wants(Case::Sphere) {
            run("sphere", &argon_sphere(count), count)?;
        }
        for (case, per_cell) in [(Case::Seed100, 100), (Case::Seed300, 300)] {
            if args.case == case || all && gpu {
                let count = args.particles.unwrap_or(125_000 * per_cell);
                run(&format!("seed {per_cell}"), &seed_sphere(count, per_cell as f64), count)?;
            }
        }
        if args.case == Case::Table || all && !gpu {
            for per_cell in [10.0, 50.0, 100.0, 200.0, 300.0] {
                run(&format!("seed {per_cell}"), &seed_sphere(count, per_cell), count)?;
            }
        }
    }
    limits.print_legend();
    quoted::print();
    Ok(())
}

impl How {
    /// Steps and repeats for a device and a number of particles.
    fn plan(&self, device: &Chosen, particles: u64) -> Plan {
        let gpu = !device.is_cpu();
        // About a second at the speed that the memory of a large card allows.
        let second = (3e10 / particles.max(1) as f64).clamp(50.0, 2000.0) as u32;
        let steps = self.steps.unwrap_or(if gpu { second } else { 60 });
        Plan {
            warm: self.warm.unwrap_or(if gpu { steps.div_ceil(2) } else { steps / 4 }),
            steps,
            repeat: self.repeat.unwrap_or(if gpu { 5 } else { 1 }),
            every: self.every.unwrap_or(match (self.sampled, gpu) {
                (true, _) => 1,
                (false, true) => 10,
                (false, false) => 0,
            }),
        }
    }
}

/// The device, or the CPU with one thread and with all of its cores.
fn devices(device: &Chosen, how: &How) -> anyhow::Result<Vec<Chosen>> {
    if !device.is_cpu() || how.threads != 0 || device.threads() == 1 {
        return Ok(vec![device.clone()]);
    }
    Ok(vec![open_device(DeviceName::Cpu, 1)?, device.clone()])
}

/// What the memory of the device allows, measured in the same run.
struct Limits {
    /// Copied bytes a second, read and written counted, by a kernel that copies 16 bytes a thread; `None` on the CPU.
    copy: Option<f64>,
    /// Bytes that a step is designed to move a particle, read and written.
    designed: f64,
}

impl Limits {
    /// Measures them, and prints what is about to run.
    fn begin(device: &Chosen) -> anyhow::Result<Self> {
        say!("device {}, particles f32 with f64 sums, version {}", device.name, env!("CARGO_PKG_VERSION"));
        if !device.remark.is_empty() {
            say!("note: {}", device.remark);
        }
        #[cfg(feature = "cuda")]
        if let Some(ordinal) = device.clone().cuda().map(|options| options.ordinal) {
            use crate::device::cuda::bench::{STEP_BYTES, roofline};
            let rates = roofline::measure(ordinal)?;
            say!("memory, measured now, read and written counted, GB/s:");
            for (name, rate) in rates.rows() {
                say!("  {name:<44} {:>7.0}", rate / 1e9);
            }
            say!(
                "the step is designed to move {STEP_BYTES:.0} bytes a particle: at most {:.1} G particle-steps/s by the copy rate",
                rates.copy_float4 / STEP_BYTES / 1e9
            );
            return Ok(Self { copy: Some(rates.copy_float4), designed: STEP_BYTES });
        }
        Ok(Self { copy: None, designed: 0.0 })
    }

    fn print(&self, name: &str, measured: &Measured, plan: Plan) {
        let copy = match self.copy {
            Some(copy) => format!("{:.1}", 100.0 * measured.rate() * self.designed / copy),
            None => "-".to_string(),
        };
        let spread =
            measured.rates.last().zip(measured.rates.first()).map_or(0.0, |(most, least)| most - least);
        say!(
            "{:<10} {:>11} {:>10} {:>7} {:>6} {:>6} {:>5} {:>10.2} {:>7.1} {:>10.4} {:>6} {:>7.1}",
            name,
            measured.particles,
            measured.cells,
            measured.per_cell,
            plan.warm,
            format!("{}x{}", plan.repeat, plan.steps),
            plan.every,
            measured.rate() / 1e6,
            100.0 * spread / measured.rate().max(1.0),
            1e3 * measured.step_s,
            copy,
            measured.bytes
        );
        let total: f64 = measured.phases.iter().map(|(_, time)| time).sum();
        let phases: Vec<String> = (measured.phases.iter())
            .map(|(name, time)| {
                let share = time / total.max(f64::MIN_POSITIVE);
                format!("{name} {:.1} % ({:.4} ms)", 100.0 * share, 1e3 * measured.step_s * share)
            })
            .collect();
        if !phases.is_empty() {
            say!("  phases: {}", phases.join(", "));
        }
        if measured.lost > 0 {
            say!("  {} particles were lost: this is a fault, please report it", measured.lost);
        }
    }

    fn print_legend(&self) {
        say!(
            "\nwarm, steps: steps before, and repeats x measured steps; every: steps from sample to sample of the cells, 0 for none.\n\
             M steps/s: millions of particle-steps a second, whole steps by the wall clock, median of the repeats; +-%: slowest to\n\
             fastest repeat; phases: their shares as the device measures them, of the time of a step; bytes: all buffers, a particle."
        );
        if self.copy.is_some() {
            say!("copy%: designed traffic of the step, of the float4 copy rate above.");
        }
    }
}

fn print_head(device: &Chosen) {
    say!("\n{}", device.name);
    say!(
        "{:<10} {:>11} {:>10} {:>7} {:>6} {:>6} {:>5} {:>10} {:>7} {:>10} {:>6} {:>7}",
        "case",
        "particles",
        "cells",
        "a cell",
        "warm",
        "steps",
        "every",
        "M steps/s",
        "+-%",
        "ms a step",
        "copy%",
        "bytes"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_particles() {
        for (text, expected) in
            [("1000", Some(1000)), ("1e9", Some(1_000_000_000)), ("2.5e6", Some(2_500_000))]
        {
            assert_eq!(particles(text).ok(), expected);
        }
        for (text, says) in [
            ("10", "at least 1000"),
            ("5e9", "at most 4e9"),
            ("many", "write it as"),
            ("1000.5", "write it as"),
            ("-1e6", "write it as"),
            ("NaN", "write it as"),
            ("inf", "write it as"),
        ] {
            assert!(particles(text).unwrap_err().contains(says), "{text}");
        }
    }
}
