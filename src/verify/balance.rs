//! No particle is made or lost without being counted: those at the start, and entered, less left, are those now.
//! Must not know how a device computes.

use super::flow::every_face;
use super::{Bed, Effort, Row};
use crate::scene::Sampling;
use crate::sim::SimError;

/// A flow between all kinds of faces, in short steps and in ones that cross several cells.
pub fn run(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let steps = if effort == Effort::Full { 2000 } else { 100 };
    let mut rows = Vec::new();
    for (i, (name, cells_a_step)) in [("short steps", 0.3), ("far steps", 2.6)].into_iter().enumerate() {
        let never = Sampling::From { from: u64::MAX, every: 1 };
        let mut gas = bed.make(&every_face(101 + i as u64, cells_a_step, never))?;
        let start = gas.population()?.molecules.len() as f64;
        // The numbers are looked at often: a mistake that a later one undoes is seen too.
        let mut worst = 0.0_f64;
        for _ in 0..10 {
            gas.advance(steps / 10)?;
            let counters = gas.counters()?;
            let now = gas.population()?.molecules.len() as f64;
            let counted = start + counters.entered as f64 - counters.left as f64 - counters.lost as f64;
            if (now - counted).abs() >= worst.abs() {
                worst = now - counted;
            }
        }
        let counters = gas.counters()?;
        let row = |what: &str, value: f64, reference: f64| {
            Row::new("BOOK", format!("{name}: {what}"), value, reference, 0.0)
        };
        rows.push(row("particles beyond those at the start + entered - left - lost", worst, 0.0));
        rows.push(row("lost", counters.lost as f64, 0.0));
        rows.push(row("moves stopped at too many walls", counters.bounce_limit as f64, 0.0));
        rows.push(row("Half-Split-Shuffle pairs clipped", counters.probability_clipped as f64, 0.0));
        // Otherwise the balance says nothing.
        for (what, count) in [
            ("have entered", counters.entered),
            ("have left", counters.left),
            ("have hit a body", counters.wall_hits),
            ("have collided", counters.collisions),
        ] {
            let seen = f64::from(u8::from(count > 1000));
            rows.push(row(&format!("more than 1000 {what} (1: yes)"), seen, 1.0));
        }
    }
    Ok(rows)
}
