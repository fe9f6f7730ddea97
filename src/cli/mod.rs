//! The commands: arguments in, exit code out. The composition root, the only code that sees every side.
//! Must not know formulas.

/// Prints a line to standard output. A reader that has gone (`| head`) or a full disk must not end a run: what cannot be
/// printed is not.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}

/// As [`say`], without the end of the line.
macro_rules! say_on {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = write!(std::io::stdout(), $($text)*);
    }};
}

/// As [`say`], to standard error.
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

mod bench;
mod check;
mod common;
mod devices;
pub mod plot;
mod progress;
#[cfg(feature = "view")]
mod record;
#[cfg(feature = "view")]
mod record_look;
mod report;
mod run;
mod verify;
#[cfg(feature = "view")]
mod view;

use clap::builder::PossibleValue;
use clap::{Parser, Subcommand, ValueEnum};
use std::process::ExitCode;

/// An interactive wind tunnel for rarefied gas (DSMC).
///
/// Start with: knudsen view (or, without a display: knudsen record scenes/sphere.ron --every 3)
#[derive(Parser)]
#[command(name = "knudsen", version, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compute a scene to the end and write fields, surfaces, plots, history and a summary.
    Run(run::RunArgs),
    /// Validate a scene and print what it means, without running it.
    Check(check::CheckArgs),
    /// Open the window: fly through the flow while it is computed, change it, record it.
    #[cfg(feature = "view")]
    View(view::ViewArgs),
    /// Record a scene to a video or to pictures, without a window.
    #[cfg(feature = "view")]
    Record(Box<record::RecordArgs>),
    /// Draw a slice of a field to a PNG.
    Plot(plot::PlotArgs),
    /// Measure the speed of a device.
    Bench(bench::BenchArgs),
    /// Test the physics of a device against theory: value, reference, sigma, verdict.
    Verify(verify::VerifyArgs),
    /// List the CPU and the GPUs, and what is missing to compute on them.
    Devices,
}

/// Device, as named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum DeviceName {
    /// The fastest there is.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// An NVIDIA GPU, by its number: `cuda` is 0, `cuda:1` the next.
    Cuda(u8),
}

/// `cuda:1` and so on; as many as any machine has. Of the first, `cuda` is short for `cuda:0`.
const GPUS: [&str; 16] = [
    "cuda:0", "cuda:1", "cuda:2", "cuda:3", "cuda:4", "cuda:5", "cuda:6", "cuda:7", "cuda:8", "cuda:9",
    "cuda:10", "cuda:11", "cuda:12", "cuda:13", "cuda:14", "cuda:15",
];

impl ValueEnum for DeviceName {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [DeviceName; 18] = {
            let mut all = [DeviceName::Auto; 18];
            all[1] = DeviceName::Cpu;
            let mut number = 0;
            while number < GPUS.len() {
                all[number + 2] = DeviceName::Cuda(number as u8);
                number += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Auto => PossibleValue::new("auto").help("The fastest there is"),
            Self::Cpu => PossibleValue::new("cpu").help("The CPU"),
            Self::Cuda(0) => PossibleValue::new("cuda")
                .alias(GPUS[0])
                .help("An NVIDIA GPU; cuda:1 is the second, as `knudsen devices` lists them"),
            Self::Cuda(number) => PossibleValue::new(GPUS[usize::from(*number)]).hide(true),
        })
    }
}

impl From<DeviceName> for crate::device::Choice {
    fn from(name: DeviceName) -> Self {
        match name {
            DeviceName::Auto => Self::Auto,
            DeviceName::Cpu => Self::Cpu,
            DeviceName::Cuda(number) => Self::Cuda(number.into()),
        }
    }
}

/// Runs the program; exit code 0: done, 1: an error that was printed, or a comparison of `verify` that does not hold,
/// 2: wrong arguments, 130: interrupted, with everything written.
pub fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::run(&args).map(|()| ExitCode::SUCCESS),
        #[cfg(feature = "view")]
        Command::View(args) => view::run(&args),
        #[cfg(feature = "view")]
        Command::Record(args) => record::run(&args),
        Command::Plot(args) => plot::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Bench(args) => bench::run(&args).map(|()| ExitCode::SUCCESS),
        Command::Verify(args) => verify::run(&args),
        Command::Devices => {
            devices::run();
            Ok(ExitCode::SUCCESS)
        }
    };
    result.unwrap_or_else(|error| {
        // Each cause on its own line; backtraces are for developers.
        let mut told = String::new();
        for (depth, cause) in error.chain().enumerate() {
            // Some errors repeat their cause in their own words.
            let text = cause.to_string();
            if told.contains(&text) {
                continue;
            }
            tell!("{}{text}", if depth == 0 { "error: " } else { "  because: " });
            told = text;
        }
        ExitCode::FAILURE
    })
}
