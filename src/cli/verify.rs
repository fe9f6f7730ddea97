//! `knudsen verify`: the physics self-test on a device, with value, reference, sigma and verdict of every comparison.
//! Must not know formulas, nor what a case compares.

use super::common;
use crate::device::{Choice, Chosen, choose};
use crate::scene::Scene;
use crate::verify::{Bed, Case, Effort, On, Row, Verdict, cases, row, suite};
use anyhow::bail;
use clap::{Args, ValueEnum};
use std::process::ExitCode;
use std::time::Instant;

/// Arguments of `knudsen verify`.
///
/// Exit code 0: every comparison holds on every device that was tested. 1: one does not, says nothing, or could not be
/// computed; or the device that was asked for is not there.
#[derive(Args)]
pub struct VerifyArgs {
    /// Device under test; `all` tests each that there is, and says which there is not.
    #[arg(long, value_enum, default_value_t)]
    device: Tested,
    /// Run only cases whose name contains this, also ones beyond the self-test; may be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// All cases at the sizes of the acceptance table: most of an hour on two cores, instead of about a minute.
    #[arg(long)]
    full: bool,
    /// Print only comparisons that do not pass, beside the counts.
    #[arg(long)]
    brief: bool,
    /// List the cases instead of running them.
    #[arg(long)]
    list: bool,
    /// Threads of the CPU device; 0: one a core.
    #[arg(long, default_value_t = 0, value_parser = common::threads())]
    threads: usize,
}

/// Devices that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Tested {
    /// The fastest there is.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// Each there is.
    All,
}

/// Runs the self-test.
pub fn run(args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let chosen: Vec<Case> = cases().into_iter().filter(|case| wanted(case, &args.only, args.full)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = cases().iter().map(|case| case.name).collect();
        bail!("no case is named like {:?}; the cases are: {}", args.only, names.join(", "));
    }
    if args.list {
        for case in cases().iter().filter(|case| wanted(case, &args.only, true)) {
            let beyond = if case.on == On::Device { "" } else { " (--full)" };
            say!("{:<24} {}{beyond}", case.name, case.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let devices = devices(args.device, args.threads)?;
    let cpu = choose(Choice::Cpu, args.threads)?;
    let on_cpu = |scene: &Scene| cpu.make_subject(scene);
    let mut totals = Vec::new();
    for device in &devices {
        let maker = |scene: &Scene| device.make_subject(scene);
        let bed = Bed::new(&maker, args.threads);
        let bed = if device.is_cpu() { bed } else { bed.against(&on_cpu, "the CPU") };
        let of_device = chosen.iter().filter(|case| case.on != On::Formulas);
        totals.extend(run_all(&device.name, of_device, &bed, args));
    }
    let bed = Bed::new(&on_cpu, args.threads);
    totals.extend(run_all("formulas", chosen.iter().filter(|case| case.on == On::Formulas), &bed, args));
    say!("");
    for (name, count, seconds) in &totals {
        say!("{name:<32} {} in {seconds:.0} s", count.text());
    }
    let sound = totals.iter().all(|(_, count, _)| count.sound());
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The devices to test; what is left out of all is told.
fn devices(tested: Tested, threads: usize) -> anyhow::Result<Vec<Chosen>> {
    let choice = match tested {
        Tested::Auto => Choice::Auto,
        Tested::Cpu => Choice::Cpu,
        Tested::Cuda => Choice::Cuda(0),
        Tested::All => {
            let mut found = vec![choose(Choice::Cpu, threads)?];
            match choose(Choice::Cuda(0), threads) {
                Ok(device) => found.push(device),
                Err(error) => say!("CUDA is not tested: {error}"),
            }
            return Ok(found);
        }
    };
    Ok(vec![choose(choice, threads)?])
}

fn wanted(case: &Case, only: &[String], full: bool) -> bool {
    let in_suite = full || case.on == On::Device;
    if only.is_empty() { in_suite } else { only.iter().any(|name| case.name.contains(name.as_str())) }
}

/// Runs cases on a device; nothing if there are none.
fn run_all<'a>(
    name: &str,
    cases: impl Iterator<Item = &'a Case>,
    bed: &Bed<'_>,
    args: &VerifyArgs,
) -> Option<(String, Count, f64)> {
    let effort = if args.full { Effort::Full } else { Effort::Quick };
    let started = Instant::now();
    let mut total = None;
    for case in cases {
        if total.is_none() {
            say!("\n== {name}{}", if args.full { ", full samples" } else { "" });
        }
        let total: &mut Count = total.get_or_insert_default();
        say!("\n{}: {}", case.name, case.about);
        let started = Instant::now();
        match case.judge(effort, bed) {
            Ok(outcome) => {
                if let Some(first) = outcome.first {
                    report(&first, true);
                    say!(
                        "  beyond what chance allows in most runs: once more, with other random numbers; these count:"
                    );
                }
                total.add(&report(&outcome.rows, args.brief));
            }
            Err(error) => {
                say!("  not computed: {error}");
                total.failed += 1;
            }
        }
        say!("  {:.1} s", started.elapsed().as_secs_f64());
    }
    total.map(|total| (name.to_string(), total, started.elapsed().as_secs_f64()))
}

/// Outcomes of comparisons.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    passed: usize,
    failed: usize,
    void: usize,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.void += other.void;
    }

    fn sound(&self) -> bool {
        self.failed + self.void == 0
    }

    fn text(&self) -> String {
        format!("{} passed, {} failed, {} void", self.passed, self.failed, self.void)
    }
}

/// Prints the comparisons of a case and the rule for all of them together; a broken rule counts as a failure.
fn report(rows: &[Row], brief: bool) -> Count {
    let mut count = Count::default();
    let mut head = false;
    for row in rows {
        let verdict = row.verdict();
        let word = match verdict {
            Verdict::Pass => "pass",
            Verdict::Fail => "FAIL",
            Verdict::Void => "VOID",
        };
        match verdict {
            Verdict::Pass => count.passed += 1,
            Verdict::Fail => count.failed += 1,
            Verdict::Void => count.void += 1,
        }
        if brief && verdict == Verdict::Pass {
            continue;
        }
        if !head {
            say!(
                "  {:<4} {:<72} {:>13} {:>13} {:>9} {:>9} {:>6}",
                "id",
                "what",
                "value",
                "reference",
                "sigma",
                "allowance",
                "z"
            );
            head = true;
        }
        say!(
            "  {:<4} {:<72} {:>13.6e} {:>13.6e} {:>9.1e} {:>9.1e} {:>6.2} {word}",
            row.id,
            row.what,
            row.value,
            row.reference,
            row.sigma,
            row.allowance,
            row.z()
        );
    }
    if rows.is_empty() {
        say!("  nothing was compared");
        count.failed += 1;
    }
    let statistical = suite::statistical(rows);
    if let Some(broken) = row::family(&statistical) {
        say!("  FAIL all together: {broken}");
        count.failed += 1;
    } else if statistical.len() > 1 {
        let m = statistical.len() as f64;
        let mean = statistical.iter().map(|row| row.z().powi(2)).sum::<f64>() / m;
        say!("  all together: mean z^2 {mean:.2} of {m} comparisons, pass");
    }
    say!("  {}", count.text());
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_counted() {
        let rows = [
            Row::new("X", "passes", 1.0, 1.0, 0.1),
            Row::new("X", "fails", 2.0, 1.0, 0.1),
            Row::new("X", "void", 1.0, 1.0, 0.1).must_resolve(0.01),
        ];
        let count = report(&rows, true);
        // The rule for all fails beside the one: mean z^2 is 33.
        assert_eq!(count, Count { passed: 1, failed: 2, void: 1 });
        assert!(!count.sound());
        assert!(report(&rows[..1], false).sound());
        assert!(!report(&[], false).sound(), "nothing compared is no success");
    }

    #[test]
    fn cases_are_chosen_by_name() {
        let names: Vec<&str> = cases().iter().map(|case| case.name).collect();
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        assert!(
            cases().iter().all(|case| wanted(case, &[], true) && !wanted(case, &["nothing".into()], true))
        );
        // By name also what the self-test leaves out.
        assert!(cases().iter().filter(|case| wanted(case, &["sphere".into()], false)).count() >= 2);
        let of_self_test = cases().iter().filter(|case| wanted(case, &[], false)).count();
        assert!(of_self_test >= 8 && of_self_test < cases().len());
    }
}
