//! `knudsen verify`.
//! x
use std::process::ExitCode;
/// Arguments.
#[derive(clap::Args)]
pub struct VerifyArgs {}
/// Runs.
pub fn run(_args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    Ok(ExitCode::SUCCESS)
}
