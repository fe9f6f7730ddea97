//! The same bits: a run repeated, ordered in other portions, looked at, or saved and resumed ends in the same checkpoint.
//! Must not know how a device computes.

use super::flow::every_face;
use super::{Bed, Effort, Row};
use crate::device::subject::Subject;
use crate::scene::Sampling;
use crate::sim::{Checkpoint, Request, SimError, Snapshot};

/// Compares checkpoints byte for byte.
pub fn run(effort: Effort, bed: &Bed<'_>) -> Result<Vec<Row>, SimError> {
    let steps: u32 = if effort == Effort::Full { 1000 } else { 60 };
    // Sampled from the middle on, so that averages and tallies are in the checkpoint.
    let scene = every_face(111, 0.3, Sampling::From { from: u64::from(steps / 3), every: 2 });
    let whole = end(bed.make(&scene)?.as_mut(), &[steps])?;
    let mut rows = Vec::new();
    let mut compare = |what: &str, one: &Checkpoint, two: &Checkpoint| {
        rows.push(Row::new("BITS", format!("{what}: sections that differ"), differing(one, two), 0.0, 0.0));
    };
    compare("run again", &whole, &end(bed.make(&scene)?.as_mut(), &[steps])?);
    let portions = [1, 7, steps / 2, 0, steps - 8 - steps / 2];
    compare("in other portions", &whole, &end(bed.make(&scene)?.as_mut(), &portions)?);

    let mut watched = bed.make(&scene)?;
    let all = Request {
        particles: 1000,
        probe_cell: Some(21),
        fields: true,
        surfaces: true,
        history_from: Some(0),
        ..Request::default()
    };
    let mut snapshot = Snapshot::default();
    for _ in 0..3 {
        watched.advance(steps / 3)?;
        watched.observe(&all, &mut snapshot)?;
        watched.population()?;
    }
    compare("looked at", &whole, &end(watched.as_mut(), &[steps - 3 * (steps / 3)])?);

    let mut first = bed.make(&scene)?;
    let half = end(first.as_mut(), &[steps / 2])?;
    drop(first);
    let mut second = bed.make(&scene)?;
    // What was there before must leave no trace.
    second.advance(3)?;
    second.load(&half)?;
    compare("just loaded", &half, &second.save()?);
    compare("saved and resumed", &whole, &end(second.as_mut(), &[steps - steps / 2])?);

    let other = crate::scene::Scene { seed: scene.seed + 1, ..scene };
    let differ = differing(&whole, &end(bed.make(&other)?.as_mut(), &[steps])?);
    rows.push(Row::new("BITS", "another seed: something differs (1: yes)", differ.min(1.0), 1.0, 0.0));
    Ok(rows)
}

/// The state after so many steps.
fn end(gas: &mut dyn Subject, portions: &[u32]) -> Result<Checkpoint, SimError> {
    portions.iter().try_for_each(|&steps| gas.advance(steps))?;
    gas.save()
}

/// Sections that are not the same bytes, and anything else that differs.
fn differing(one: &Checkpoint, two: &Checkpoint) -> f64 {
    let names = one.sections.iter().map(|(name, _)| name);
    let sections = names.filter(|name| one.get_bytes(name).ok() != two.get_bytes(name).ok()).count();
    let rest = [one.step != two.step, one.kind != two.kind, one.sections.len() != two.sections.len()];
    sections as f64 + rest.into_iter().filter(|&differs| differs).count() as f64
}
