//! The free flight of one particle through a step: walls and faces, as many as it meets.
//! Knows nothing of collisions, threads or where particles are stored.

use super::geometry::{Hit, Walls};
use super::grid::Grid;
use super::particle::Particle;
use super::rng::Stream;
use super::wall::WallLaw;

/// What a face of the domain does with a particle that reaches it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FaceLaw {
    /// It leaves.
    Open,
    /// It comes back in through the opposite face.
    Periodic,
    /// It is reflected.
    Wall(WallLaw),
}

/// Hits in one step after which a particle is left where it is until the next; a wedge so narrow that this is reached
/// is counted.
const BOUNCE_LIMIT: u32 = 200;

/// One hit on an obstacle, per unit mass of the molecule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WallHit {
    /// Triangle, by its index in the walls.
    pub triangle: u32,
    /// Species of the molecule.
    pub species: u32,
    /// Where, relative to the domain's corner, m.
    pub position: [f32; 3],
    /// Velocity before less velocity after, m/s.
    pub impulse: [f32; 3],
    /// Specific energy before less after, translation and rotation, J/kg.
    pub energy: f32,
}

/// What the moves of some particles met.
#[derive(Debug, Clone, Default)]
pub struct MotionLog {
    /// Hits on obstacles, in the order of the particles.
    pub hits: Vec<WallHit>,
    /// Particles that left.
    pub left: u64,
    /// Hits on walls that are faces of the domain.
    pub face_hits: u64,
    /// Moves stopped by the bounce limit.
    pub bounce_limit: u64,
    /// Hits whose particle was put back to the start of its flight.
    pub put_back: u64,
    /// Particles removed because their position or velocity was not finite, or lay inside a body.
    pub lost: u64,
}

/// Everything that bounds free flight.
#[derive(Debug, Clone)]
pub struct Motion {
    /// The grid.
    pub grid: Grid,
    /// The obstacles.
    pub walls: Walls,
    /// Law of each face: axis `i / 2`, upper if `i` is odd.
    pub faces: [FaceLaw; 6],
    /// Law of each obstacle.
    pub laws: Vec<WallLaw>,
}

impl Motion {
    /// Moves a particle that meets neither wall nor face; returns its new cell, or `None` if it may meet one and has
    /// not been moved. `at` are the indices and `cell` the index of the cell where it starts.
    #[inline]
    pub fn fly_free(&self, particle: &mut Particle, at: [u32; 3], cell: usize, time_s: f32) -> Option<u32> {
        let target: [f32; 3] = std::array::from_fn(|a| particle.position[a] + particle.velocity[a] * time_s);
        if !self.grid.contains(target) {
            return None;
        }
        let to = self.grid.indices(target);
        let clearance = u32::from(self.walls.clearance(cell));
        let distance = at[0].abs_diff(to[0]).max(at[1].abs_diff(to[1])).max(at[2].abs_diff(to[2]));
        if distance >= clearance {
            return None;
        }
        particle.position = target;
        Some(self.grid.index(to) as u32)
    }

    /// Moves a particle for `time_s` with all walls and faces in its way; returns its new cell, or `None` if it left.
    ///
    /// Every corner of its path is an f32 point whose segments were tested exactly, so that it cannot pass through a
    /// wall. `rotation` is its specific rotational energy, J/kg; `rng` is drawn from only at walls.
    pub fn fly(
        &self,
        particle: &mut Particle,
        rotation: &mut f32,
        time_s: f32,
        rng: &mut Stream,
        log: &mut MotionLog,
    ) -> Option<u32> {
        let mut remaining = time_s;
        for _ in 0..BOUNCE_LIMIT {
            let from = particle.position;
            let target: [f32; 3] = std::array::from_fn(|a| from[a] + particle.velocity[a] * remaining);
            if !target.iter().all(|x| x.is_finite()) {
                log.lost += 1;
                return None;
            }
            let (to, face, fraction) = self.clip(from, target);
            if let Some(hit) = self.walls.first_hit(from, to) {
                let landing = self.walls.landing(from, to, &hit);
                log.put_back += u64::from(landing.put_back);
                self.hit_obstacle(particle, rotation, &hit, landing.position, rng, log);
                remaining *= 1.0 - hit.t as f32 * fraction;
            } else {
                particle.position = to;
                let Some(face) = face else {
                    return Some(self.grid.index(self.grid.indices(to)) as u32);
                };
                remaining *= 1.0 - fraction;
                if !self.hit_face(particle, rotation, face, rng, log) {
                    return None;
                }
            }
        }
        log.bounce_limit += 1;
        Some(self.grid.index(self.grid.indices(particle.position)) as u32)
    }

    /// The part of a flight inside the domain: its end, the face that ends it, and its share of the whole.
    fn clip(&self, from: [f32; 3], target: [f32; 3]) -> ([f32; 3], Option<usize>, f32) {
        if self.grid.contains(target) {
            return (target, None, 1.0);
        }
        let mut face = 0;
        let mut fraction = 2.0_f64;
        for a in 0..3 {
            let bound = if target[a] < 0.0 {
                0.0
            } else if target[a] > self.grid.extent[a] {
                self.grid.extent[a]
            } else {
                continue;
            };
            let t = f64::from(bound - from[a]) / (f64::from(target[a]) - f64::from(from[a]));
            if t < fraction {
                fraction = t;
                face = 2 * a + usize::from(bound > 0.0);
            }
        }
        let to = std::array::from_fn(|a| {
            if a == face / 2 {
                if face % 2 == 1 { self.grid.extent[a] } else { 0.0 }
            } else {
                let x = f64::from(from[a]) + fraction * (f64::from(target[a]) - f64::from(from[a]));
                (x as f32).clamp(0.0, self.grid.extent[a])
            }
        });
        (to, Some(face), fraction as f32)
    }

    fn hit_obstacle(
        &self,
        particle: &mut Particle,
        rotation: &mut f32,
        hit: &Hit,
        position: [f32; 3],
        rng: &mut Stream,
        log: &mut MotionLog,
    ) {
        let obstacle = self.walls.triangles()[hit.triangle as usize].obstacle;
        let before = particle.velocity;
        let (after, rotation_after) =
            self.laws[obstacle as usize].reflect(before, *rotation, hit.normal, rng);
        let square = |v: [f32; 3]| v.iter().map(|&c| f64::from(c).powi(2)).sum::<f64>();
        log.hits.push(WallHit {
            triangle: hit.triangle,
            species: particle.species() as u32,
            position,
            impulse: std::array::from_fn(|k| before[k] - after[k]),
            energy: (0.5 * (square(before) - square(after)) + f64::from(*rotation)
                - f64::from(rotation_after)) as f32,
        });
        particle.velocity = after;
        particle.touch_body();
        particle.position = position;
        *rotation = rotation_after;
    }

    /// Carries out the law of a face; false if the particle left.
    fn hit_face(
        &self,
        particle: &mut Particle,
        rotation: &mut f32,
        face: usize,
        rng: &mut Stream,
        log: &mut MotionLog,
    ) -> bool {
        let (axis, upper) = (face / 2, face % 2 == 1);
        match self.faces[face] {
            FaceLaw::Open => {
                log.left += 1;
                false
            }
            FaceLaw::Periodic => {
                particle.position[axis] = if upper { 0.0 } else { self.grid.extent[axis] };
                let inside = self.walls.in_gas(particle.position);
                log.lost += u64::from(!inside);
                inside
            }
            FaceLaw::Wall(law) => {
                let mut normal = [0.0; 3];
                normal[axis] = if upper { -1.0 } else { 1.0 };
                log.face_hits += 1;
                // A specular face is a mirror: what comes from it is what the same flow on its other side would send.
                if law.accommodation > 0.0 {
                    particle.touch_face(face);
                }
                (particle.velocity, *rotation) = law.reflect(particle.velocity, *rotation, normal, rng);
                true
            }
        }
    }
}
