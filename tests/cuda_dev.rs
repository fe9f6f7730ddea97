//! Development driver: not a test of the suite.
#![cfg(feature = "cuda")]
use knudsen::device::cuda::{CudaGas, Options};
use knudsen::scene::*;
use knudsen::sim::*;
use std::time::Instant;
fn rates(name: &str, scene: &Scene, steps: u32, warm: u32, timed: bool) {
    let mut options = Options::default();
    if let Ok(v) = std::env::var("BLOCKS") {
        options.step_blocks = v.parse().ok();
    }
    if let Ok(v) = std::env::var("DIRECT") {
        options.direct_class = v.parse().ok();
    }
    let t = Instant::now();
    let mut sim = match CudaGas::new(scene, &options) {
        Ok(s) => s,
        Err(e) => {
            println!("{name}: {e}");
            return;
        }
    };
    let built = t.elapsed().as_secs_f64();
    if timed {
        sim.time_phases();
    }
    if let Err(e) = sim.advance(warm) {
        println!("{name}: {e}");
        return;
    }
    let mut snap = Snapshot::default();
    let req = Request {
        particles: 0,
        paint: Paint::Speed,
        probe_cell: None,
        fields: false,
        surfaces: false,
        history_from: None,
    };
    sim.observe(&req, &mut snap).unwrap();
    let before = snap.counters;
    let t = Instant::now();
    if let Err(e) = sim.advance(steps) {
        println!("{name}: {e}");
        return;
    }
    let s = t.elapsed().as_secs_f64();
    sim.observe(&req, &mut snap).unwrap();
    let c = snap.counters;
    println!(
        "{name}: built {built:.2} s, {} particles, {:.2} G/s, {:.1} us/step, coll/particle-step {:.4}, bytes {:.1} {:?}",
        snap.particles,
        (c.particle_steps - before.particle_steps) as f64 / s / 1e9,
        s / steps as f64 * 1e6,
        (c.collisions - before.collisions) as f64 / (c.particle_steps - before.particle_steps) as f64,
        snap.memory_bytes as f64 / snap.particles as f64,
        snap.timings
    );
    println!("   {:?}", c);
    let balance = snap.particles as i64 - (c.entered as i64 - c.left as i64 - c.lost as i64);
    println!("   start by balance {balance}");
}
#[test]
fn dev() {
    let which = std::env::var("DEV").unwrap_or_else(|_| "box".into());
    let steps: u32 = std::env::var("STEPS").ok().and_then(|v| v.parse().ok()).unwrap_or(100);
    let timed = std::env::var("TIMED").is_ok();
    for name in which.split(',') {
        let (file, ppc) = name.split_once(':').unwrap();
        let mut s = load(std::path::Path::new(file)).unwrap();
        let Model::Gas(gas) = &mut s.model;
        if let Ok(v) = ppc.parse::<f64>() {
            gas.particles_per_cell = v;
        }
        gas.sampling = Sampling::From { from: 0, every: 10 };
        gas.steps = 100_000;
        if std::env::var("NOWALL").is_ok() {
            gas.obstacles.clear();
        }
        rates(name, &s, steps, steps / 2, timed);
    }
}
