//! Snapshots of a gas: the drawn subset, what it is painted by, and the probe.
//! Knows nothing of windows.

use knudsen::device::cpu::CpuGas;
use knudsen::scene::{Face, Model, Scene, parse};
use knudsen::sim::{Paint, Request, Simulation, Snapshot};
use std::path::Path;

/// A sphere in a stream; inflow through all faces but z_min, which reflects.
fn scene(threads: usize) -> CpuGas {
    let text = include_str!("../scenes/sphere.ron");
    let mut scene: Scene = parse(text, "sphere.ron", Path::new("scenes")).unwrap();
    let Model::Gas(gas) = &mut scene.model;
    gas.domain.cells = [20; 3];
    gas.particles_per_cell = 10.0;
    gas.faces.z_min = Face::Specular;
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
    let mut gas = scene(2);
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
    let mut gas = scene(2);
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
