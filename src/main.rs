//! The `knudsen` program: hands the arguments to `cli` and exits with its code.
//! Must not know formulas, scenes or devices.

fn main() -> std::process::ExitCode {
    knudsen::cli::main()
}
