//! Inflow by flux: the molecules of the undisturbed gas that cross a face in one step (Bird 1994, section 12.1).
//! Knows nothing of threads or of where particles are stored.

use super::motion::{Motion, MotionLog};
use super::particle::Particle;
use super::rng::{Purpose, Stream};
use super::sample::{gauss_pair, inflow_speed, poisson};

/// The gas beyond an open face, in f32 as the kernels see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Inflow {
    /// One entry a face that lets gas in.
    pub faces: Vec<InflowFace>,
    /// Most probable speed of each species, m/s.
    pub most_probable_speed: Vec<f32>,
    /// Mean velocity, m/s.
    pub velocity: [f32; 3],
    /// Whether molecules have two rotational degrees of freedom.
    pub rotational: bool,
}

/// Inflow through one face, divided into rows of cells so that rows can be worked on in parallel.
#[derive(Debug, Clone, PartialEq)]
pub struct InflowFace {
    /// Face: axis `i / 2`, upper if `i` is odd.
    pub face: usize,
    /// Rows, along the axis after the face's own.
    pub rows: u32,
    /// Expected particles through a row in one step.
    pub mean_per_row: f64,
    /// Cumulative shares of the species in the flux.
    pub shares: Vec<f32>,
}

/// A particle that entered, with its specific rotational energy and its cell.
pub type Entered = (Particle, f32, u32);

impl Inflow {
    /// Emits and moves what enters through one row of a face during a step: each molecule crosses the face at a
    /// uniform instant of the step and flies for the rest of it, so that corners and edges get what is theirs.
    /// Returns the number that crossed into the gas; `out` receives those that are inside at the end of the step.
    pub fn emit_row(
        &self,
        motion: &Motion,
        which: usize,
        row: u32,
        time_step_s: f32,
        seed: u64,
        step: u64,
        out: &mut Vec<Entered>,
        log: &mut MotionLog,
    ) -> u64 {
        let InflowFace { face, rows, mean_per_row, ref shares } = self.faces[which];
        let (axis, upper) = (face / 2, face % 2 == 1);
        let (along, across) = ((axis + 1) % 3, (axis + 2) % 3);
        let extent = motion.grid.extent;
        let mut rng = Stream::new(seed, step, Purpose::Inflow, (face as u32) << 24 | row);
        let mut entered = 0;
        for _ in 0..poisson(mean_per_row, &mut rng) {
            let mut position = [0.0; 3];
            position[axis] = if upper { extent[axis] } else { 0.0 };
            position[along] = ((row as f32 + rng.unit()) / rows as f32 * extent[along]).min(extent[along]);
            position[across] = rng.unit() * extent[across];
            let species = pick_species(shares, &mut rng);
            let speed = self.most_probable_speed[species];
            let inward = if upper { -1.0 } else { 1.0 };
            let normal = inflow_speed(inward * self.velocity[axis] / speed, &mut rng) * speed;
            let [g1, g2] = gauss_pair(&mut rng).map(|g| g * speed * std::f32::consts::FRAC_1_SQRT_2);
            let mut velocity = [0.0; 3];
            velocity[axis] = inward * normal;
            velocity[along] = self.velocity[along] + g1;
            velocity[across] = self.velocity[across] + g2;
            let mut rotation = if self.rotational { -0.5 * speed * speed * rng.unit().ln() } else { 0.0 };
            let rest = rng.unit() * time_step_s;
            let tag = Particle::make_tag(species as u32, rng.bits());
            if !motion.walls.in_gas(position) {
                continue;
            }
            entered += 1;
            let mut particle = Particle { position, velocity, tag };
            particle.touch_face(face);
            if let Some(cell) = motion.fly(&mut particle, &mut rotation, rest, &mut rng, log) {
                out.push((particle, rotation, cell));
            }
        }
        entered
    }
}

fn pick_species(shares: &[f32], rng: &mut Stream) -> usize {
    if shares.len() == 1 {
        return 0;
    }
    let u = rng.unit();
    shares.iter().position(|&share| u < share).unwrap_or(shares.len() - 1)
}
