//! The volume of cut cells that closed bodies take, exactly: the divergence theorem over the faces, cell by cell.
//! Knows nothing of particles or of the inside test.

use super::cells::{Cells, WallCell};
use super::face::Face;
use super::predicates::Point;
use crate::physics::grid::Grid;

/// A convex polygon; more corners than any triangle cut by the six planes of a cell can have.
#[derive(Clone, Copy)]
struct Polygon {
    corners: [Point; 16],
    len: usize,
}

impl Polygon {
    const EMPTY: Self = Self { corners: [[0.0; 3]; 16], len: 0 };

    fn push(&mut self, point: Point) {
        debug_assert!(self.len < 16);
        if self.len < 16 {
            self.corners[self.len] = point;
            self.len += 1;
        }
    }

    fn corners(&self) -> &[Point] {
        &self.corners[..self.len]
    }

    /// The parts at and below, and at and above, `level` on an axis.
    fn split(&self, axis: usize, level: f64) -> (Self, Self) {
        let (mut below, mut above) = (Self::EMPTY, Self::EMPTY);
        let corners = self.corners();
        for (n, &here) in corners.iter().enumerate() {
            let next = corners[(n + 1) % corners.len()];
            if here[axis] <= level {
                below.push(here);
            }
            if here[axis] >= level {
                above.push(here);
            }
            if (here[axis] < level && next[axis] > level) || (here[axis] > level && next[axis] < level) {
                // Always from the lower end: neighbours that share the edge then get the same point.
                let (low, high) = if here[axis] < level { (here, next) } else { (next, here) };
                let t = (level - low[axis]) / (high[axis] - low[axis]);
                let mut point: Point = std::array::from_fn(|a| low[a] + t * (high[a] - low[a]));
                point[axis] = level;
                below.push(point);
                above.push(point);
            }
        }
        (below, above)
    }

    /// Signed area of the projection along x, and the integral over it of x - `level`.
    fn integrals(&self, level: f64) -> (f64, f64) {
        let (mut area, mut moment) = (0.0, 0.0);
        for pair in self.corners().windows(2).skip(1) {
            let (a, b, c) = (self.corners[0], pair[0], pair[1]);
            let part = 0.5 * ((b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]));
            area += part;
            moment += part * ((a[0] - level) + (b[0] - level) + (c[0] - level)) / 3.0;
        }
        (area, moment)
    }
}

/// The volume inside closed bodies of each wall cell, m^3, every point counted as often as bodies enclose it.
///
/// V = sum over faces of the integral of clamp(x - x0, 0, h) dA_x: what lies below a face that looks along +x is inside.
pub(super) fn solid_volumes(grid: &Grid, faces: &[Face], cells: &Cells) -> Vec<f64> {
    let mut sum =
        Sums { grid, cells, volume: vec![0.0; cells.walls.len()], below: vec![0.0; cells.walls.len()] };
    for face in faces.iter().filter(|face| face.weight != 0) {
        sum.add(face);
    }
    // What a face adds to every cell of its row that lies below it.
    let mut carried = 0.0;
    let mut row = u32::MAX;
    for n in (0..cells.walls.len()).rev() {
        let here = cells.walls[n].cell / grid.cells[0];
        if here != row {
            (carried, row) = (0.0, here);
        }
        carried += sum.below[n];
        sum.volume[n] += carried;
    }
    sum.volume
}

struct Sums<'a> {
    grid: &'a Grid,
    cells: &'a Cells,
    volume: Vec<f64>,
    /// For the highest wall cell below a face: volume to add to it and to all wall cells below it in the row.
    below: Vec<f64>,
}

impl Sums<'_> {
    fn add(&mut self, face: &Face) {
        let size = self.grid.cell_size();
        let mut whole = Polygon::EMPTY;
        face.corners.iter().for_each(|&corner| whole.push(corner));
        let Some([j0, j1]) = self.range(&whole, 1) else { return };
        let mut rest = whole;
        for j in j0..=j1 {
            // The first and last cut also take off what lies outside the domain.
            let (strip, above) = cut(&mut rest, 1, j, j0, size[1]);
            rest = above;
            let Some([k0, k1]) = self.range(&strip, 2) else { continue };
            let mut rest = strip;
            for k in k0..=k1 {
                let (column, above) = cut(&mut rest, 2, k, k0, size[2]);
                rest = above;
                self.column(&column, j, k, f64::from(face.weight));
            }
        }
    }

    /// First and last cell of a polygon along an axis, within the domain.
    fn range(&self, polygon: &Polygon, axis: usize) -> Option<[u32; 2]> {
        let size = self.grid.cell_size()[axis];
        let least = polygon.corners().iter().fold(f64::INFINITY, |least, p| least.min(p[axis])) / size;
        let most = polygon.corners().iter().fold(f64::NEG_INFINITY, |most, p| most.max(p[axis])) / size;
        let cells = self.grid.cells[axis];
        // Casts saturate: below 0 gives 0.
        (polygon.len > 2 && most >= 0.0 && least < f64::from(cells))
            .then(|| [least as u32, (most as u32).min(cells - 1)])
    }

    /// Adds a polygon that lies within the column (j, k) of cells along x.
    fn column(&mut self, polygon: &Polygon, j: u32, k: u32, weight: f64) {
        let grid = self.grid;
        let size = grid.cell_size()[0];
        let (_, mut rest) = polygon.split(0, 0.0);
        if rest.len < 3 {
            return;
        }
        let least = rest.corners().iter().fold(f64::INFINITY, |least, p| least.min(p[0])) / size;
        let most = rest.corners().iter().fold(f64::NEG_INFINITY, |most, p| most.max(p[0])) / size;
        let first = (least as u32).min(grid.cells[0]);
        let last = (most as u32).min(grid.cells[0] - 1);
        let row = grid.index([0, j, k]);
        let walls = &self.cells.walls;
        let lower = walls.partition_point(|wall| (wall.cell as usize) < row + first as usize);
        if let Some(wall) = lower.checked_sub(1)
            && walls[wall].cell as usize >= row
        {
            self.below[wall] += weight * size * rest.integrals(0.0).0;
        }
        for i in first..=last {
            let (here, above) = rest.split(0, f64::from(i + 1) * size);
            let volume = here.integrals(f64::from(i) * size).1 + size * above.integrals(0.0).0;
            rest = above;
            if let Some(sum) = self.volume.get_mut(self.cells.state[row + i as usize] as usize) {
                *sum += weight * volume;
            }
        }
    }
}

/// Takes slab `n` off `rest`, of which the slabs before `first` are still uncut.
fn cut(rest: &mut Polygon, axis: usize, n: u32, first: u32, size: f64) -> (Polygon, Polygon) {
    if n == first {
        *rest = rest.split(axis, f64::from(n) * size).1;
    }
    rest.split(axis, f64::from(n + 1) * size)
}

/// How much of a cell's volume lies in more than one body, counted once for every body too many, m^3.
///
/// Exact along 16 x 16 lines, so it is only near where surfaces of two bodies cut each other that volumes are not exact.
/// `winding`: the winding number at a point of the cell, None where it cannot be told.
pub(super) fn overlap(
    grid: &Grid,
    faces: &[Face],
    cells: &Cells,
    wall: &WallCell,
    winding: impl Fn([f32; 3]) -> Option<i32>,
) -> f64 {
    const LINES: u32 = 16;
    let list = cells.faces_of(wall);
    let mut bodies =
        list.iter().map(|&f| &faces[f as usize]).filter(|face| face.weight != 0).map(|face| face.body);
    let Some(one) = bodies.next() else { return 0.0 };
    if bodies.all(|body| body == one) {
        return 0.0;
    }
    let size = grid.cell_size();
    let index = grid.unravel(wall.cell as usize).map(f64::from);
    let x0 = index[0] * size[0];
    let mut excess = 0.0;
    let mut lines = 0;
    let mut crossings: Vec<(f64, i32)> = Vec::new();
    for line in 0..LINES * LINES {
        // Off the middle of each square, so that lines seldom run in a face.
        let y = (index[1] + (f64::from(line % LINES) + 0.487) / f64::from(LINES)) * size[1];
        let z = (index[2] + (f64::from(line / LINES) + 0.521) / f64::from(LINES)) * size[2];
        let start = [x0 as f32, y as f32, z as f32];
        let Some(mut number) = winding(start) else { continue };
        let (y, z) = (f64::from(start[1]), f64::from(start[2]));
        crossings.clear();
        for face in list.iter().map(|&f| &faces[f as usize]).filter(|face| face.weight != 0) {
            if let Some(x) = along_x(face, y, z)
                && x > f64::from(start[0])
                && x < x0 + size[0]
            {
                // Entering where the front looks back along x.
                crossings.push((x, if face.normal[0] < 0.0 { face.weight } else { -face.weight }));
            }
        }
        crossings.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut x = x0;
        for &(next, change) in crossings.iter().chain(std::iter::once(&(x0 + size[0], 0))) {
            excess += f64::from((number - 1).max(0)) * (next - x);
            (x, number) = (next, number + change);
        }
        lines += 1;
    }
    if lines == 0 { 0.0 } else { excess / f64::from(lines) * size[1] * size[2] }
}

/// Where the line along x at (y, z) passes a face.
fn along_x(face: &Face, y: f64, z: f64) -> Option<f64> {
    let [a, b, c] = face.corners;
    let turn = |p: Point, q: Point| (q[1] - p[1]) * (z - p[2]) - (q[2] - p[2]) * (y - p[1]);
    let turns = [turn(b, c), turn(c, a), turn(a, b)];
    let total: f64 = turns.iter().sum();
    let inside = turns.iter().all(|&t| t > 0.0) || turns.iter().all(|&t| t < 0.0);
    inside.then(|| (turns[0] * a[0] + turns[1] * b[0] + turns[2] * c[0]) / total)
}
