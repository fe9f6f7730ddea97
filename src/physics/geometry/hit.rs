//! The first wall that a path meets, exactly, and the point where the particle is put down in front of it.
//! Knows nothing of gases or walls' laws of reflection.

use super::Walls;
use super::cells::SOLID;
use super::face::{Face, NONE};
use super::predicates::{Point, exact, meets_in_plane, pierces, side};

/// Where a path meets a wall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The triangle met: of coincident ones, that whose front faces the particle.
    pub triangle: u32,
    /// Whether the particle came from the triangle's front side.
    pub front: bool,
    /// Fraction of the path before the wall, rounded.
    pub t: f64,
    /// The point of the wall, rounded, relative to the domain's corner, m.
    pub position: [f64; 3],
    /// Unit normal towards the side from which the particle came.
    pub normal: [f64; 3],
}

/// Where a particle is put down in front of the wall that it met.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Landing {
    /// A position that the particle can reach from where it came without meeting any wall.
    pub position: [f32; 3],
    /// Whether there was no such position near the wall, so that it is where the particle came from.
    pub put_back: bool,
}

/// A face met, before it is made a hit.
#[derive(Clone, Copy)]
struct Meeting {
    t: f64,
    /// From the front of the face.
    front: bool,
    /// Whether there is a triangle whose front faces the particle.
    faced: bool,
    /// The triangle to report.
    triangle: u32,
    face: u32,
}

impl Face {
    /// Whether a path meets the face, edges, corners and end points included: exactly. Returns the fraction of the
    /// path, rounded, and whether it comes from the front.
    #[inline]
    fn meets(&self, from: Point, to: Point) -> Option<(f64, bool)> {
        let (near, far) = (self.distance(from), self.distance(to));
        let margin = self.margin;
        if (near > margin && far > margin) || (near < -margin && far < -margin) {
            return None;
        }
        let apart = |a: usize| from[a].max(to[a]) < self.low[a] || from[a].min(to[a]) > self.high[a];
        if apart(0) || apart(1) || apart(2) {
            return None;
        }
        let sure = |distance: f64, point: Point| {
            if distance > margin {
                1
            } else if distance < -margin {
                -1
            } else {
                side(&self.corners, point)
            }
        };
        let (start, end) = (sure(near, from), sure(far, to));
        if start * end > 0 {
            return None;
        }
        if start == 0 && end == 0 {
            let t = meets_in_plane(&self.corners, usize::from(self.dropped), from, to)?;
            return Some((t, true));
        }
        if !pierces(&self.corners, from, to) {
            return None;
        }
        let (near, far) = (if start == 0 { 0.0 } else { near.abs() }, if end == 0 { 0.0 } else { far.abs() });
        let t = if near + far > 0.0 { near / (near + far) } else { 0.0 };
        Some((t, start > 0 || end < 0))
    }
}

impl Walls {
    /// The first wall that the straight path between two positions in the domain meets.
    ///
    /// Whether there is one is exact: the path, ends included, as exact numbers, against triangles, edges included.
    /// Where it is, is rounded. A position that lies on a wall already (which no landing does) meets it at t = 0.
    pub fn first_hit(&self, from: [f32; 3], to: [f32; 3]) -> Option<Hit> {
        if self.faces.is_empty() {
            return None;
        }
        let (p, q) = (exact(from), exact(to));
        let u: Point = std::array::from_fn(|a| p[a] * self.per_metre[a]);
        let v: Point = std::array::from_fn(|a| q[a] * self.per_metre[a]);
        let along = |m: usize, n: usize| if (v[n] - u[n]).abs() > (v[m] - u[m]).abs() { n } else { m };
        let a = along(along(0, 1), 2);
        let (b, c) = ((a + 1) % 3, (a + 2) % 3);
        let travel = v[a] - u[a];
        let (first, last) = (self.cell_at(a, u[a]), self.cell_at(a, v[a]));
        let forwards = last > first;
        // Fraction of the path at which two meetings count as one: far below the resolution of f32 positions.
        let length = (0..3).map(|n| (q[n] - p[n]).abs()).fold(0.0, f64::max);
        let tie = (self.reach * 1e-10 / length).min(1.0);
        let mut best: Option<Meeting> = None;
        let mut slab = first;
        let mut enter = 0.0;
        loop {
            let face = if forwards { slab + 1 } else { slab };
            let leave = if slab == last { 1.0 } else { ((face as f64 - u[a]) / travel).clamp(0.0, 1.0) };
            // Cells are taken larger than they are in the lists; this pad only covers rounding here.
            let range = |axis: usize| {
                let (s, e) = (u[axis] + enter * (v[axis] - u[axis]), u[axis] + leave * (v[axis] - u[axis]));
                [self.cell_at(axis, s.min(e) - 1e-6), self.cell_at(axis, s.max(e) + 1e-6)]
            };
            let ([b0, b1], [c0, c1]) = (range(b), range(c));
            for ib in b0..=b1 {
                for ic in c0..=c1 {
                    let mut cell = [0_u32; 3];
                    (cell[a], cell[b], cell[c]) = (slab as u32, ib as u32, ic as u32);
                    self.search(self.grid.index(cell), [from, to], tie, &mut best);
                }
            }
            if slab == last || best.is_some_and(|best| best.t + tie < leave) {
                break;
            }
            enter = leave;
            slab += if forwards { 1 } else { -1 };
        }
        best.map(|best| self.hit(best, p, q))
    }

    /// Index of the cell along an axis, of a coordinate in cells.
    #[inline]
    fn cell_at(&self, axis: usize, coordinate: f64) -> i64 {
        // A cast saturates, and NaN gives 0.
        (coordinate as i64).clamp(0, i64::from(self.grid.cells[axis]) - 1)
    }

    /// Betters `best` by the faces of a cell.
    fn search(&self, cell: usize, [from, to]: [[f32; 3]; 2], tie: f64, best: &mut Option<Meeting>) {
        let state = self.cells.state[cell];
        if state >= SOLID {
            return;
        }
        let wall = &self.cells.walls[state as usize];
        let sieves = &self.cells.sieves[wall.start as usize..wall.end as usize];
        for (&index, sieve) in self.cells.faces_of(wall).iter().zip(sieves) {
            if sieve.passes_by(from, to) {
                continue;
            }
            let face = &self.faces[index as usize];
            let Some((t, front)) = face.meets(exact(from), exact(to)) else { continue };
            let (facing, other) = if front { (face.front, face.back) } else { (face.back, face.front) };
            let faced = facing != NONE;
            let triangle = if faced { facing } else { other };
            let better = best.is_none_or(|best| {
                if (t - best.t).abs() > tie {
                    t < best.t
                } else if faced != best.faced {
                    faced
                } else {
                    triangle < best.triangle
                }
            });
            if better {
                *best = Some(Meeting { t, front, faced, triangle, face: index });
            }
        }
    }

    fn hit(&self, meeting: Meeting, p: Point, q: Point) -> Hit {
        let face = &self.faces[meeting.face as usize];
        let sign = if meeting.front { 1.0 } else { -1.0 };
        Hit {
            triangle: meeting.triangle,
            front: meeting.faced,
            t: meeting.t,
            position: std::array::from_fn(|a| p[a] + meeting.t * (q[a] - p[a])),
            normal: face.normal.map(|x| sign * x),
        }
    }

    /// Where the particle on the path `from`..`to` is put down in front of the wall that it met: within a few steps of
    /// f32 of the wall, or if something is in the way, back along the path.
    ///
    /// The straight path from `from` to the landing meets no wall, exactly, so that a particle which moves on from
    /// landing to landing never passes one.
    pub fn landing(&self, from: [f32; 3], to: [f32; 3], hit: &Hit) -> Landing {
        let extent = self.grid.extent;
        let largest = hit.position.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs())) as f32;
        let ulp = f64::from(largest.next_up() - largest);
        let near =
            |point: Point| -> [f32; 3] { std::array::from_fn(|a| (point[a] as f32).clamp(0.0, extent[a])) };
        let free = |position: &[f32; 3]| self.first_hit(from, *position).is_none();
        // One step off the wall is nearly always enough; none at all is for gaps narrower than that.
        for steps in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 0.0] {
            let position = near(std::array::from_fn(|a| hit.position[a] + hit.normal[a] * steps * ulp));
            if free(&position) {
                return Landing { position, put_back: false };
            }
        }
        let (p, q) = (exact(from), exact(to));
        let length = (0..3).map(|a| (q[a] - p[a]).abs()).fold(f64::MIN_POSITIVE, f64::max);
        for steps in [1.0, 2.0, 4.0, 16.0, 64.0, 256.0, 4096.0] {
            let t = hit.t - steps * ulp / length;
            if t <= 0.0 {
                break;
            }
            let position = near(std::array::from_fn(|a| p[a] + t * (q[a] - p[a])));
            if free(&position) {
                return Landing { position, put_back: false };
            }
        }
        Landing { position: from, put_back: true }
    }
}
