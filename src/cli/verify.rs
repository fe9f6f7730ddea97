//! `knudsen verify`: the physics self-test on a device, with value, reference, sigma and verdict of every comparison.
//! Must not know formulas, nor what a case compares.

use super::DeviceName;
use super::common::open_device;
use crate::verify::{Case, Effort, Row, Verdict, cases, row};
use anyhow::bail;
use clap::Args;
use std::process::ExitCode;
use std::time::Instant;

/// Arguments of `knudsen verify`.
#[derive(Args)]
pub struct VerifyArgs {
    /// Device under test.
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
    /// Run only cases whose name contains this; may be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Small samples, seconds a case, instead of those that resolve what the acceptance table says.
    #[arg(long)]
    quick: bool,
    /// Print only comparisons that do not pass, beside the counts.
    #[arg(long)]
    brief: bool,
    /// List the cases instead of running them.
    #[arg(long)]
    list: bool,
    /// Threads of the CPU device; 0: one a core.
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

/// Exit code if a comparison failed or is void.
const FAILED: u8 = 3;

/// Runs the self-test.
pub fn run(args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let chosen: Vec<Case> = cases().into_iter().filter(|case| wanted(case, &args.only)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = cases().iter().map(|case| case.name).collect();
        bail!("no case is named like {:?}; the cases are: {}", args.only, names.join(", "));
    }
    if args.list {
        for case in &chosen {
            say!("{:<24} {}", case.name, case.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let device = open_device(args.device, args.threads)?;
    let effort = if args.quick { Effort::Quick } else { Effort::Full };
    say!("{}{}", device.name, if args.quick { ", small samples" } else { "" });
    let started = Instant::now();
    let mut total = Count::default();
    for case in &chosen {
        say!("\n{}: {}", case.name, case.about);
        let started = Instant::now();
        match (case.run)(effort, device.threads()) {
            Ok(rows) => total.add(&judge(&rows, args.brief)),
            Err(error) => {
                say!("  not computed: {error}");
                total.failed += 1;
            }
        }
        say!("  {:.1} s", started.elapsed().as_secs_f64());
    }
    let elapsed = started.elapsed().as_secs_f64();
    say!("\n{} in {elapsed:.0} s", total.text());
    Ok(if total.sound() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn wanted(case: &Case, only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|name| case.name.contains(name.as_str()))
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
fn judge(rows: &[Row], brief: bool) -> Count {
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
    // Comparisons without a statistical error say nothing about how errors are distributed.
    let statistical: Vec<Row> = rows.iter().filter(|row| row.sigma > 0.0).cloned().collect();
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
        let count = judge(&rows, true);
        // The rule for all fails beside the one: mean z^2 is 33.
        assert_eq!(count, Count { passed: 1, failed: 2, void: 1 });
        assert!(!count.sound());
        assert!(judge(&rows[..1], false).sound());
        assert!(!judge(&[], false).sound(), "nothing compared is no success");
    }

    #[test]
    fn cases_are_chosen_by_name() {
        let names: Vec<&str> = cases().iter().map(|case| case.name).collect();
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        assert!(cases().iter().all(|case| wanted(case, &[]) && !wanted(case, &["nothing".into()])));
        assert!(cases().iter().filter(|case| wanted(case, &["sphere".into()])).count() >= 1);
    }
}
