//! Filling snapshots of a gas from the books and the particles, the same for every device.
//! Knows nothing of how a device stores particles.

use crate::device::gas::{GasSetup, Record, Tallies};
use crate::physics::moments::CellSums;
use crate::physics::particle::Particle;
use crate::physics::resolution::{CellGas, judge_rated, rate};
use crate::sim::{Criterion, DrawnParticle, Fields, Paint, Probe, Request, Resolution, Snapshot};
use rayon::prelude::*;

/// Fills the status, the history and the surfaces.
pub fn fill(setup: &GasSetup, record: &Record, request: &Request, into: &mut Snapshot) {
    into.step = record.step;
    into.time_step_s = setup.time_step_s;
    into.time_s = record.step as f64 * setup.time_step_s;
    into.phase = record.phase();
    into.weight = setup.weight;
    into.counters = record.counters;
    into.notes.clone_from(&record.notes);
    // Also while averages are taken: a scene may say itself when, and be wrong.
    if !record.is_steady() {
        into.notes.push(record.steady_status());
    }
    into.history = match request.history_from {
        Some(first) => record.history.rows(setup, first),
        None => Default::default(),
    };
    into.surfaces = match (&record.tallies, request.surfaces) {
        (Some(tallies), true) => tallies.surfaces(setup),
        // The bodies are there before their first sample.
        (None, true) => Tallies::default().surfaces(setup),
        (_, false) => Vec::new(),
    };
}

/// Fills fields and judgement; `now` are the sums of the current particles where there are no averages.
pub fn fields(
    setup: &GasSetup,
    record: &Record,
    request: &Request,
    now: Option<&[CellSums]>,
    into: &mut Snapshot,
) {
    into.fields = None;
    if !request.fields {
        return;
    }
    let fields = match (&record.averages, now) {
        (Some(averages), _) => averages.fields(setup, None),
        (None, Some(now)) => super::gas::Averages::default().fields(setup, Some(now)),
        (None, None) => return,
    };
    into.resolution = Some(judgement(setup, &fields));
    into.fields = Some(fields);
}

/// Judges cells and time step by averaged fields.
fn judgement(setup: &GasSetup, fields: &Fields) -> Resolution {
    let column = |key: &str| fields.column(key).map(|column| column.values.as_slice()).unwrap_or_default();
    let (density, temperature) = (column("number_density"), column("temperature"));
    let velocity = [column("velocity_x"), column("velocity_y"), column("velocity_z")];
    let counts = column("sample_count");
    let samples = fields.samples.max(1) as f64;
    // An axis with one cell is not resolved at all: its length says nothing.
    let grid = &setup.motion.grid;
    let size: Vec<f64> = (0..3).filter(|&a| grid.cells[a] > 1).map(|a| grid.cell_size()[a]).collect();
    // Slivers hold so few particles that their density is noise, and they are far from the size of a cell.
    const SLIVER: f64 = 0.1;
    let gas_of = |cell: usize| {
        let gas = f64::from(setup.motion.walls.gas_fraction(cell));
        (gas > SLIVER).then(|| CellGas {
            number_density: f64::from(density[cell]),
            temperature: f64::from(temperature[cell]),
            speed: velocity.iter().map(|v| f64::from(v[cell]).powi(2)).sum::<f64>().sqrt(),
            // A cut cell is judged as if it were whole: its few particles are as dense as its neighbours'.
            particles: f64::from(counts[cell]) / samples / gas,
        })
    };
    let molecules = &setup.gas().gas;
    // Powers for every cell: on all cores, since a window asks several times a second.
    let rated: Vec<_> = (0..density.len())
        .into_par_iter()
        .filter_map(|cell| rate(molecules, &size, setup.time_step_s, &gas_of(cell)?))
        .collect();
    let collide = setup.heavy_from.is_some();
    let criteria = judge_rated(&rated, collide)
        .into_iter()
        .map(|j| Criterion {
            name: j.name.to_string(),
            worst: j.worst,
            median: j.median,
            limit: j.limit,
            upper: j.upper,
            missed: j.missed,
        })
        .collect();
    Resolution { criteria }
}

/// Particles of a task: enough to be worth one, few enough to share out well.
const CHUNK: usize = 1 << 11;
/// Particles that are packed before they are put into their places: so few that they stay in the cache, 2 MB.
const GROUP: usize = 64 * CHUNK;

/// Picks a stable subset of at most `request.particles` particles by their tags: a particle stays drawn from frame to
/// frame. In the order of the particles, for any number of threads of the pool that this is called in.
pub fn draw(setup: &GasSetup, particles: &[Particle], request: &Request, into: &mut Snapshot) {
    into.paint = request.paint;
    let (most, out) = (request.particles, &mut into.drawn);
    let corner = setup.motion.grid.corner;
    let pack = |particle: &Particle| DrawnParticle {
        position: std::array::from_fn(|a| (corner[a] + f64::from(particle.position[a])) as f32),
        value: value(particle, request.paint),
    };
    // What an older snapshot left is written over, not cleared first.
    let lengthen = |out: &mut Vec<DrawnParticle>, length: usize| {
        if out.len() < length {
            out.resize(length, DrawnParticle::default());
        }
    };
    if particles.len() <= most {
        lengthen(out, particles.len());
        out.truncate(particles.len());
        let packed = out.par_chunks_mut(CHUNK).zip(particles.par_chunks(CHUNK));
        packed.for_each(|(out, chunk)| out.iter_mut().zip(chunk).for_each(|(to, from)| *to = pack(from)));
        return;
    }
    let below = drawn_tags(particles.len(), most);
    let mut packed = vec![DrawnParticle::default(); GROUP.min(particles.len())];
    let (mut counts, mut length) = (Vec::new(), 0);
    for group in particles.chunks(GROUP).take_while(|_| below > 0) {
        let chosen = packed.par_chunks_mut(CHUNK).zip(group.par_chunks(CHUNK)).map(|(packed, chunk)| {
            let mut count = 0;
            for particle in chunk {
                // Written in any case, and then kept or written over: a branch by chance costs more than that.
                if let Some(place) = packed.get_mut(count) {
                    *place = pack(particle);
                }
                count += usize::from(particle.random_tag() < below);
            }
            count
        });
        chosen.collect_into_vec(&mut counts);
        let end = (length + counts.iter().sum::<usize>()).min(most);
        lengthen(out, end);
        let mut rest = &mut out[length..end];
        let mut places = Vec::with_capacity(counts.len());
        for &count in &counts {
            let (place, tail) = rest.split_at_mut(count.min(rest.len()));
            places.push(place);
            rest = tail;
        }
        let placed = places.into_par_iter().zip(packed.par_chunks(CHUNK));
        placed.for_each(|(place, packed)| place.copy_from_slice(&packed[..place.len()]));
        length = end;
    }
    out.truncate(length);
}

/// Random tags below which particles are drawn, so that of `particles` at most `most` are: in steps of 9 %, so that a
/// fluctuating number of particles does not make the subset flicker.
pub fn drawn_tags(particles: usize, most: usize) -> u32 {
    if particles <= most {
        return Particle::TAG_RANGE;
    }
    let share = ((8.0 * (most as f64 / particles as f64).log2()).floor() / 8.0).exp2();
    (share * f64::from(Particle::TAG_RANGE)) as u32
}

/// What a particle is painted by.
#[inline]
fn value(particle: &Particle, paint: Paint) -> f32 {
    let v = particle.velocity;
    match paint {
        Paint::Speed => (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt(),
        Paint::VelocityX => v[0],
        Paint::VelocityY => v[1],
        Paint::VelocityZ => v[2],
        Paint::Species => particle.species() as f32,
        Paint::Origin => particle.origin() as f32,
    }
}

/// Fills the probe with the particles of the cell that was asked for; `None` where there is no such cell.
pub fn probe(setup: &GasSetup, request: &Request, members: Option<&[Particle]>, into: &mut Snapshot) {
    let mut velocities = into.probe.take().map(|probe| probe.velocities).unwrap_or_default();
    let (Some(cell), Some(members)) = (request.probe_cell, members) else { return };
    velocities.clear();
    velocities.extend(members.iter().map(|particle| particle.velocity));
    into.probe = Some(Probe { cell, velocities, mass_kg: setup.mass_kg });
}
