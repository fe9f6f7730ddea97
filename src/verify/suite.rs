//! The list of cases, and what to make of the rows of one.
//! Must not know what a case computes.

use super::{
    Bed, Effort, Row, Verdict, balance, collisions, conservation, equilibrium, flat_plate, flight,
    free_molecular, half_split, inflow, leaks, relaxation, repeat, row, sparta_sphere, versus, viscosity,
};
use crate::sim::SimError;

/// What a case tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// A device; in the self-test.
    Device,
    /// A device; too long for the self-test.
    DeviceAtLength,
    /// Formulas of the CPU, without any device; not in the self-test.
    Formulas,
}

/// A case of the self-test.
pub struct Case {
    /// Name for `--only`: "free-molecular-sphere".
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// What it tests.
    pub on: On,
    /// Computes its rows.
    pub run: fn(Effort, &Bed<'_>) -> Result<Vec<Row>, SimError>,
}

/// What came of a case.
pub struct Outcome {
    /// The rows that count.
    pub rows: Vec<Row>,
    /// Rows of the first attempt, if a statistical comparison was beyond its bounds and the case was repeated.
    pub first: Option<Vec<Row>>,
}

/// What the rows of a case say together: nothing if all is well.
pub fn complaint(rows: &[Row]) -> Option<String> {
    if rows.is_empty() {
        return Some("nothing was compared".into());
    }
    let bad = rows.iter().filter(|row| row.verdict() != Verdict::Pass).count();
    if bad > 0 {
        return Some(format!("{bad} of {} comparisons do not pass", rows.len()));
    }
    row::family(&statistical(rows))
}

/// Comparisons that chance decides, to which the rule for all together applies: those with a statistical error that their
/// systematic allowance does not exceed. What is two per cent from another program's total is so in every run: its z says
/// nothing about how errors are distributed.
pub fn statistical(rows: &[Row]) -> Vec<Row> {
    rows.iter().filter(|row| row.sigma > 0.0 && row.sigma >= row.allowance / 4.0).cloned().collect()
}

impl Case {
    /// Runs the case; once more, with other random numbers, if only statistical comparisons complain. Among the hundreds of
    /// comparisons of a self-test one in some runs is beyond its bounds by chance; a mistake is so again.
    ///
    /// # Errors
    /// It cannot be computed.
    pub fn judge(&self, effort: Effort, bed: &Bed<'_>) -> Result<Outcome, SimError> {
        let rows = (self.run)(effort, bed)?;
        let failed = |row: &&Row| row.verdict() != Verdict::Pass;
        // Formulas have no random numbers but their own; what has no statistical error is no matter of chance.
        let by_chance = self.on != On::Formulas && rows.iter().filter(failed).all(|row| row.sigma > 0.0);
        if complaint(&rows).is_none() || rows.is_empty() || !by_chance {
            return Ok(Outcome { rows, first: None });
        }
        Ok(Outcome { rows: (self.run)(effort, &bed.again())?, first: Some(rows) })
    }
}

/// All cases, in the order in which they are run.
pub fn cases() -> Vec<Case> {
    let case = |on, name, about, run| Case { name, about, on, run };
    vec![
        case(On::Device, "repeat", "the same bits twice, in any portions, and after a resume", repeat::run),
        case(
            On::Device,
            "balance",
            "every particle is accounted for, between faces of every kind",
            balance::run,
        ),
        case(
            On::Device,
            "leaks",
            "no particle passes a wall, in steps of several cells",
            leaks::closed_boxes,
        ),
        case(
            On::Device,
            "inflow",
            "B1: an empty box in a stream, and what enters a void",
            inflow::empty_boxes,
        ),
        case(
            On::Device,
            "free-molecular-sphere",
            "B2, B3, B6, B7: drag, hits and heat of spheres",
            free_molecular::spheres,
        ),
        case(
            On::Device,
            "collision-rate",
            "C1: collisions a step by every scheme, from light to heavy cells",
            collisions::moving_boxes,
        ),
        case(
            On::Device,
            "relaxation",
            "C3: T_x = 2 T decays at the right rate by every scheme",
            flight::anisotropy,
        ),
        case(
            On::Device,
            "equilibrium",
            "a Maxwellian gas stays one between walls of every kind, in short and far steps",
            equilibrium::run,
        ),
        case(
            On::Device,
            "conservation",
            "C6: energy, momentum and particles of closed boxes stay",
            conservation::run,
        ),
        case(On::Device, "versus", "Mach 4 past a sphere: the device against another", versus::run),
        case(
            On::DeviceAtLength,
            "free-molecular-plate",
            "B4: both sides of a thin plate",
            flat_plate::plates,
        ),
        case(On::DeviceAtLength, "free-molecular-box", "B5: boxes at yaw", free_molecular::boxes),
        case(On::DeviceAtLength, "free-molecular-mesh", "B5: bodies from files", free_molecular::polyhedra),
        case(On::DeviceAtLength, "sparta-sphere", "totals of SPARTA's SPHERE", sparta_sphere::totals),
        case(On::Formulas, "emission", "B1: number and speeds of molecules through a face", inflow::emission),
        case(
            On::Formulas,
            "collision-counts",
            "C1: collisions a step in frozen cells, for every model, scheme and majorant",
            collisions::frozen_cells,
        ),
        case(
            On::Formulas,
            "equilibrium-speeds",
            "C2: equal speeds become the Maxwell distribution",
            relaxation::speeds,
        ),
        case(On::Formulas, "anisotropy", "C3: T_x = 2 T decays at the right rate", relaxation::anisotropy),
        case(On::Formulas, "bkw", "C5: the exact BKW solution of Maxwell molecules", relaxation::bkw),
        case(
            On::Formulas,
            "half-split-counts",
            "H: Half-Split-Shuffle makes the right number of collisions, with the right scatter",
            half_split::counts,
        ),
        case(
            On::Formulas,
            "half-split-pairs",
            "H: every pair is equally likely, and independent of the step before",
            half_split::pairs,
        ),
        case(
            On::Formulas,
            "half-split-relaxation",
            "H: relaxation follows the exact factor of the scheme; unshuffled pairs would not",
            half_split::relaxation,
        ),
        case(
            On::Formulas,
            "couette",
            "H-visc, D4: shear stress between moving walls does not depend on scheme and time step",
            viscosity::run,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn no_device(_: &crate::scene::Scene) -> Result<Box<dyn crate::device::subject::Subject>, SimError> {
        Err(SimError::Device("none is needed".into()))
    }

    fn case(run: fn(Effort, &Bed<'_>) -> Result<Vec<Row>, SimError>) -> Case {
        Case { name: "x", about: "", on: On::Device, run }
    }

    /// What chance decides is tried again once, and then counts; what it does not decide fails at once.
    #[test]
    fn only_chance_gets_a_second_attempt() {
        static ATTEMPTS: AtomicU32 = AtomicU32::new(0);
        let once: fn(Effort, &Bed<'_>) -> Result<Vec<Row>, SimError> = |_, _| {
            let off = if ATTEMPTS.fetch_add(1, Ordering::Relaxed) == 0 { 4.5 } else { 0.5 };
            Ok(vec![Row::new("X", "", off, 0.0, 1.0)])
        };
        let bed = Bed::new(&no_device, 1);
        let outcome = case(once).judge(Effort::Quick, &bed).unwrap();
        assert!(complaint(&outcome.rows).is_none());
        assert!(outcome.first.is_some_and(|rows| complaint(&rows).is_some()));

        let always =
            case(|_, _| Ok(vec![Row::new("X", "", 4.5, 0.0, 1.0)])).judge(Effort::Quick, &bed).unwrap();
        assert!(always.first.is_some() && complaint(&always.rows).is_some());

        let exact = case(|_, _| Ok(vec![Row::new("X", "", 1.0, 0.0, 0.0), Row::new("X", "", 4.5, 0.0, 1.0)]));
        let outcome = exact.judge(Effort::Quick, &bed).unwrap();
        assert!(outcome.first.is_none() && complaint(&outcome.rows).is_some());
        assert!(complaint(&[]).is_some());
    }

    /// Systematic deviations within their allowance do not break the rule for scatter.
    #[test]
    fn allowances_are_no_scatter() {
        let off = |allowance: f64| Row { allowance, ..Row::new("X", "", 3.0, 0.0, 1.0) };
        assert_eq!(complaint(&vec![off(4.0 * 2.0); 5]), None);
        assert!(complaint(&vec![off(4.0 * 0.5); 5]).is_some());
    }
}
