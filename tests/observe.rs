//! Snapshots of a gas: the drawn subset, what it is painted by, and the probe.
//! Knows nothing of windows.

#![allow(clippy::unwrap_used)]

use knudsen::device::cpu::CpuGas;
use knudsen::physics::particle::Particle;
use knudsen::scene::{Face, Faces, GasScene, Model, Scene, Start, parse};
use knudsen::sim::{Paint, Request, Simulation, Snapshot};
use std::path::Path;

/// A sphere in a stream, changed.
fn changed(change: impl Fn(&mut GasScene)) -> CpuGas {
    on_threads(2, change)
}

fn on_threads(threads: usize, change: impl Fn(&mut GasScene)) -> CpuGas {
    let text = include_str!("../scenes/sphere.ron");
    let mut scene: Scene = parse(text, "sphere.ron", Path::new("scenes")).unwrap();
    let Model::Gas(gas) = &mut scene.model;
    gas.domain.cells = [20; 3];
    gas.particles_per_cell = 10.0;
    change(gas);
    CpuGas::new(&scene, threads).unwrap()
}

fn everything(paint: Paint) -> Request {
    Request { particles: usize::MAX, paint, ..Request::default() }
}

fn observed(gas: &mut CpuGas, request: Request) -> Snapshot {
    let mut snapshot = Snapshot::default();
    gas.observe(&request, &mut snapshot).unwrap();
    assert_eq!(snapshot.paint, request.paint);
    snapshot
}

#[test]
fn particles_are_painted_by_what_was_asked_for() {
    let mut gas = changed(|_| {});
    gas.advance(20).unwrap();
    let particles = gas.particles().to_vec();
    for paint in Paint::ALL {
        let drawn = observed(&mut gas, everything(paint)).drawn;
        assert_eq!(drawn.len(), particles.len());
        for (drawn, particle) in drawn.iter().zip(&particles) {
            let [x, y, z] = particle.velocity;
            let value = match paint {
                Paint::Speed => (x * x + y * y + z * z).sqrt(),
                Paint::VelocityX => x,
                Paint::VelocityY => y,
                Paint::VelocityZ => z,
                Paint::Species => 0.0,
                Paint::Origin => particle.origin() as f32,
            };
            assert_eq!(drawn.value, value, "{paint:?}");
        }
    }
}

#[test]
fn the_probe_holds_the_particles_of_its_cell() {
    let mut gas = changed(|_| {});
    gas.advance(3).unwrap();
    let mut snapshot = Snapshot::default();
    for cell in [421, 0, 7999, 421] {
        gas.observe(&Request { probe_cell: Some(cell), ..Request::default() }, &mut snapshot).unwrap();
        let probe = snapshot.probe.as_ref().unwrap();
        let range = gas.offsets()[cell as usize] as usize..gas.offsets()[cell as usize + 1] as usize;
        let velocities: Vec<_> = gas.particles()[range].iter().map(|particle| particle.velocity).collect();
        assert_eq!((probe.cell, &probe.velocities), (cell, &velocities));
        assert_eq!(probe.mass_kg, gas.setup().mass_kg);
        assert!(cell != 421 || !velocities.is_empty());
        // Asked again, it is written into the same memory.
        let memory = (probe.velocities.as_ptr(), probe.velocities.capacity());
        gas.observe(&Request { probe_cell: Some(cell), ..Request::default() }, &mut snapshot).unwrap();
        let again = &snapshot.probe.as_ref().unwrap().velocities;
        assert_eq!((again.as_ptr(), again.capacity()), memory);
        assert_eq!(*again, velocities);
    }
    for cell in [Some(8000), Some(u32::MAX), None] {
        gas.observe(&Request { probe_cell: cell, ..Request::default() }, &mut snapshot).unwrap();
        assert_eq!(snapshot.probe, None);
    }
}

/// Particles of each origin.
fn origins(gas: &CpuGas) -> [u64; 8] {
    let mut count = [0; 8];
    gas.particles().iter().for_each(|particle| count[particle.origin() as usize] += 1);
    count
}

#[test]
fn the_origin_is_what_a_molecule_touched_last() {
    // All there from the start; after one step, those that came in or hit the sphere know it.
    let mut gas = changed(|_| {});
    let total = gas.particles().len() as u64;
    assert_eq!(origins(&gas), [total, 0, 0, 0, 0, 0, 0, 0]);
    gas.advance(1).unwrap();
    let (count, events) = (origins(&gas), gas.counters());
    let entered: u64 = count[1..=6].iter().sum();
    assert!(events.entered > 300 && events.wall_hits > 50, "{events:?}");
    // Some leave in the step in which they came; some hit twice.
    assert!(entered <= events.entered && 10 * entered > 8 * events.entered, "{count:?} {events:?}");
    assert!(count[7] <= events.wall_hits && 10 * count[7] > 9 * events.wall_hits, "{count:?} {events:?}");
    // At Mach 4 next to nothing comes in against the stream.
    assert!(count[2] == 0 && count[1] > count[3] && count[1] > count[6], "{count:?}");

    // Each stands where it can have come from: the fastest is at most this far from what it touched.
    let speed = |particle: &Particle| particle.velocity.iter().map(|v| v * v).sum::<f32>().sqrt();
    let dt = gas.setup().time_step_s as f32;
    for particle in gas.particles() {
        let reach = 1.001 * speed(particle) * dt + 1e-6;
        let [x, y, z] = particle.position;
        match particle.origin() {
            1 => assert!(x <= reach),
            3 => assert!(y <= reach),
            6 => assert!(1.0 - z <= reach),
            7 => {
                // 1 mm for the facets of the sphere.
                let [x, y, z] = [x - 0.6, y - 0.6, z - 0.5];
                assert!(((x * x + y * y + z * z).sqrt() - 0.15).abs() <= reach + 1e-3, "{x} {y} {z}");
            }
            _ => {}
        }
    }
}

#[test]
fn diffuse_faces_count_as_touched_and_mirrors_do_not() {
    let mut gas = changed(|gas| {
        gas.start = Start::Empty;
        gas.faces.z_max = Face::Periodic;
        gas.faces.z_min = Face::Periodic;
        gas.faces.y_min = Face::Specular;
        gas.faces.y_max = Face::Diffuse { temperature_k: 300.0 };
    });
    gas.advance(100).unwrap();
    let count = origins(&gas);
    for (origin, some) in [false, true, false, false, true, false, false, true].into_iter().enumerate() {
        assert_eq!(count[origin] > 0, some, "origin {origin}: {count:?}");
    }
}

#[test]
fn the_drawn_subset_is_stable_and_uniform() {
    let mut gas = changed(|gas| {
        let face = Face::Diffuse { temperature_k: 300.0 };
        gas.faces = Faces { x_min: face, x_max: face, y_min: face, y_max: face, z_min: face, z_max: face };
    });
    let tags = |gas: &CpuGas| {
        let mut tags: Vec<_> = gas.particles().iter().map(Particle::random_tag).collect();
        tags.sort_unstable();
        tags
    };
    let before = tags(&gas);
    gas.advance(100).unwrap();
    let touched = origins(&gas);
    assert!(touched.iter().all(|&count| count > 100), "{touched:?}");
    // Nobody enters or leaves: the same molecules are drawn, whatever they touched.
    assert!(tags(&gas) == before, "tags changed");

    // A tenth of the particles with each origin is drawn, within four standard deviations of a binomial number.
    let request = Request { particles: before.len() / 10, paint: Paint::Origin, ..Request::default() };
    let drawn = observed(&mut gas, request).drawn;
    let share = drawn.len() as f64 / before.len() as f64;
    assert!(share > 0.9 * 0.1 && share <= 0.1, "{share}");
    for (origin, &count) in touched.iter().enumerate() {
        let found = drawn.iter().filter(|particle| particle.value == origin as f32).count() as f64;
        let (want, sigma) = (share * count as f64, (share * (1.0 - share) * count as f64).sqrt());
        assert!((found - want).abs() < 4.0 * sigma, "origin {origin}: {found} drawn, {want} +- {sigma}");
    }
}

#[test]
fn the_same_is_drawn_in_the_same_order_by_any_number_of_threads() {
    for threads in [1, 2, 3, 5] {
        let mut gas = on_threads(threads, |gas| gas.particles_per_cell = 40.0);
        gas.advance(1).unwrap();
        let particles = gas.particles().to_vec();
        assert!(particles.len() > 300_000, "more than are packed at once");
        // One snapshot for all, so that each finds what a larger or smaller one has left.
        let mut snapshot = Snapshot::default();
        for most in [1000, 250_000, 0, 40_000, particles.len(), usize::MAX, particles.len() - 1, 1] {
            gas.observe(&Request { particles: most, ..Request::default() }, &mut snapshot).unwrap();
            let share = most as f64 / particles.len() as f64;
            let share = if share >= 1.0 { 1.0 } else { ((8.0 * share.log2()).floor() / 8.0).exp2() };
            let below = (share * f64::from(Particle::TAG_RANGE)) as u32;
            let chosen: Vec<_> = particles.iter().filter(|p| p.random_tag() < below).take(most).collect();
            assert_eq!(snapshot.drawn.len(), chosen.len(), "{most} on {threads} threads");
            let same = snapshot.drawn.iter().zip(chosen).all(|(drawn, particle)| {
                let [x, y, z] = particle.velocity;
                drawn.position == particle.position && drawn.value == (x * x + y * y + z * z).sqrt()
            });
            assert!(same, "{most} on {threads} threads");
        }
    }
}
