//! Which faces each cell has, and how far each cell is from the nearest face.
//! Knows nothing of inside and outside, or of particles' paths.

use super::GeometryError;
use super::face::{Face, dot};
use super::predicates::Point;
use crate::physics::grid::Grid;

/// State of a cell without faces that is full of gas.
pub(crate) const GAS: u32 = u32::MAX;
/// State of a cell without faces that is inside a body.
pub(crate) const SOLID: u32 = u32::MAX - 1;

/// A cell that has faces.
#[derive(Debug, Clone)]
pub(crate) struct WallCell {
    /// Index in the grid.
    pub cell: u32,
    /// Where its faces begin in the list.
    pub start: u32,
    /// Where they end.
    pub end: u32,
    /// A point in the cell, not on a face.
    pub reference: [f32; 3],
    /// Winding number of all closed bodies about it.
    pub winding: i32,
    /// Share of the cell that is gas, 0 to 1.
    pub gas: f32,
}

/// The plane of a face in single precision, to pass by most faces of a cell in a few operations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sieve {
    /// Unit normal on the front side, rounded.
    pub normal: [f32; 3],
    /// The plane is where normal . x = offset, m.
    pub offset: f32,
    /// Bound of the error of the distance, m.
    pub margin: f32,
}

impl Sieve {
    fn new(face: &Face) -> Self {
        // Rounding of normal, offset, products and sums is at most 13 x 2^-24 of the largest coordinate.
        let margin = face.margin + 4e-6 * face.largest;
        Self { normal: face.normal.map(|x| x as f32), offset: face.offset as f32, margin: margin as f32 }
    }

    /// Whether both ends are surely on the same side of the face's plane, off it.
    #[inline]
    pub fn passes_by(&self, from: [f32; 3], to: [f32; 3]) -> bool {
        let n = self.normal;
        let near = n[0] * from[0] + n[1] * from[1] + n[2] * from[2] - self.offset;
        let far = n[0] * to[0] + n[1] * to[1] + n[2] * to[2] - self.offset;
        near.min(far) > self.margin || near.max(far) < -self.margin
    }
}

/// The cells of the grid as walls see them.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    /// Per cell: GAS, SOLID, or the index of its wall cell.
    pub state: Vec<u32>,
    /// Per cell: Chebyshev distance in cells to the nearest cell that has faces, at most 255.
    pub clearance: Vec<u8>,
    /// Cells with faces, in order of index.
    pub walls: Vec<WallCell>,
    /// Faces of the wall cells, in order of index within each.
    pub list: Vec<u32>,
    /// The sieve of each entry of the list.
    pub sieves: Vec<Sieve>,
}

impl Cells {
    /// Faces of a cell.
    #[inline]
    pub fn faces(&self, cell: usize) -> &[u32] {
        self.state
            .get(cell)
            .and_then(|&state| self.walls.get(state as usize))
            .map_or(&[], |wall| self.faces_of(wall))
    }

    /// Faces of a wall cell.
    #[inline]
    pub fn faces_of(&self, wall: &WallCell) -> &[u32] {
        &self.list[wall.start as usize..wall.end as usize]
    }

    /// Finds the faces of each cell. A cell is taken a little larger than it is, so that neither the rounding of
    /// `Grid::indices` nor that of the overlap test can lose a face.
    pub fn build(grid: &Grid, faces: &[Face]) -> Result<Self, GeometryError> {
        if grid.len() >= SOLID as usize {
            return Err(GeometryError::TooManyCells { cells: grid.len() });
        }
        let mut pairs: Vec<u64> = Vec::new();
        for (index, face) in faces.iter().enumerate() {
            overlapped(grid, face, |cell| pairs.push((cell as u64) << 32 | index as u64));
        }
        if pairs.len() >= u32::MAX as usize {
            return Err(GeometryError::TooManyTriangles { triangles: faces.len() });
        }
        pairs.sort_unstable();
        let mut state = vec![GAS; grid.len()];
        let mut walls: Vec<WallCell> = Vec::new();
        let mut list = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let cell = (pair >> 32) as u32;
            list.push(pair as u32);
            let end = list.len() as u32;
            match walls.last_mut() {
                Some(wall) if wall.cell == cell => wall.end = end,
                _ => {
                    state[cell as usize] = walls.len() as u32;
                    walls.push(WallCell {
                        cell,
                        start: end - 1,
                        end,
                        reference: [0.0; 3],
                        winding: 0,
                        gas: 1.0,
                    });
                }
            }
        }
        let clearance = clearance(grid, &state);
        let sieves = list.iter().map(|&face: &u32| Sieve::new(&faces[face as usize])).collect();
        Ok(Self { state, clearance, walls, list, sieves })
    }
}

/// By how much a cell is taken larger on each side, m: far more than f32 rounding of a position times cells a metre.
fn padding(grid: &Grid, face: &Face) -> Point {
    let size = grid.cell_size();
    std::array::from_fn(|a| {
        size[a] * (1e-4 + 2.5e-7 * f64::from(grid.cells[a])) + 256.0 * f64::EPSILON * face.largest
    })
}

/// Calls `found` for every cell that a face overlaps.
fn overlapped(grid: &Grid, face: &Face, mut found: impl FnMut(usize)) {
    let size = grid.cell_size();
    let pad = padding(grid, face);
    let half: Point = std::array::from_fn(|a| 0.5 * size[a] + pad[a]);
    let mut low = [0_i64; 3];
    let mut high = [0_i64; 3];
    for a in 0..3 {
        let least = face.corners.iter().fold(f64::INFINITY, |least, p| least.min(p[a])) - pad[a];
        let most = face.corners.iter().fold(f64::NEG_INFINITY, |most, p| most.max(p[a])) + pad[a];
        low[a] = ((least / size[a]).floor() as i64).max(0);
        high[a] = ((most / size[a]).floor() as i64).min(i64::from(grid.cells[a]) - 1);
    }
    // Along the axis nearest to the normal the plane leaves only a few cells of each column.
    let a = face.dominant();
    let (b, c) = ((a + 1) % 3, (a + 2) % 3);
    let thin = face.margin < pad[a];
    for ib in low[b]..=high[b] {
        for ic in low[c]..=high[c] {
            let (mut first, mut last) = (low[a], high[a]);
            let (yb, yc) = ((ib as f64 + 0.5) * size[b], (ic as f64 + 0.5) * size[c]);
            if thin {
                let n = face.normal;
                let centre = (face.offset - n[b] * yb - n[c] * yc) / n[a];
                let spread = (n[b].abs() * half[b] + n[c].abs() * half[c]) / n[a].abs() + 3.0 * pad[a];
                first = first.max(((centre - spread) / size[a]).floor() as i64);
                last = last.min(((centre + spread) / size[a]).floor() as i64);
            }
            for ia in first..=last {
                let mut centre = [0.0; 3];
                (centre[a], centre[b], centre[c]) = ((ia as f64 + 0.5) * size[a], yb, yc);
                if overlaps(face, centre, half) {
                    let mut cell = [0_u32; 3];
                    (cell[a], cell[b], cell[c]) = (ia as u32, ib as u32, ic as u32);
                    found(grid.index(cell));
                }
            }
        }
    }
}

/// Whether a face overlaps a box: separating axes (Akenine-Moller 2001, "Fast 3D triangle-box overlap testing").
fn overlaps(face: &Face, centre: Point, half: Point) -> bool {
    let radius = dot(face.normal.map(f64::abs), half);
    if (dot(face.normal, centre) - face.offset).abs() > radius + face.margin {
        return false;
    }
    let v: [Point; 3] = face.corners.map(|p| std::array::from_fn(|a| p[a] - centre[a]));
    for a in 0..3 {
        if v[0][a].min(v[1][a]).min(v[2][a]) > half[a] || v[0][a].max(v[1][a]).max(v[2][a]) < -half[a] {
            return false;
        }
    }
    for n in 0..3 {
        let (from, to) = (v[n], v[(n + 1) % 3]);
        let edge: Point = std::array::from_fn(|a| to[a] - from[a]);
        for a in 0..3 {
            // The axis is the edge times unit vector a.
            let (b, c) = ((a + 1) % 3, (a + 2) % 3);
            let reach = v.map(|p| edge[c] * p[b] - edge[b] * p[c]);
            let radius = edge[c].abs() * half[b] + edge[b].abs() * half[c];
            if reach[0].min(reach[1]).min(reach[2]) > radius || reach[0].max(reach[1]).max(reach[2]) < -radius
            {
                return false;
            }
        }
    }
    true
}

/// Chebyshev distance of every cell to the nearest wall cell: two sweeps over half of the 26 neighbours each are exact
/// for this metric (Rosenfeld and Pfaltz 1968, "Distance functions on digital pictures").
fn clearance(grid: &Grid, state: &[u32]) -> Vec<u8> {
    let mut distance: Vec<u8> = state.iter().map(|&s| if s < SOLID { 0 } else { u8::MAX }).collect();
    if !distance.contains(&0) {
        return distance;
    }
    let [nx, ny, nz] = grid.cells.map(|n| n as usize);
    let row_of = |j: usize, k: usize| (k * ny + j) * nx;
    for back in [false, true] {
        for k in 0..nz {
            for j in 0..ny {
                // The second sweep runs from the last cell to the first.
                let (j, k) = if back { (ny - 1 - j, nz - 1 - k) } else { (j, k) };
                let row = row_of(j, k);
                let beside = [j.checked_sub(1), Some(j), (j + 1 < ny).then_some(j + 1)];
                let k_done = if back { (k + 1 < nz).then_some(k + 1) } else { k.checked_sub(1) };
                let j_done = if back { beside[2] } else { beside[0] };
                // Rows already swept: three in the plane before, one in this plane.
                let plane = beside.map(|j| j.zip(k_done));
                for other in plane.into_iter().chain([j_done.map(|j| (j, k))]).flatten() {
                    let other = row_of(other.0, other.1);
                    for i in 0..nx {
                        let (first, last) = (i.saturating_sub(1), (i + 1).min(nx - 1));
                        let least =
                            distance[other + first].min(distance[other + i]).min(distance[other + last]);
                        distance[row + i] = distance[row + i].min(least.saturating_add(1));
                    }
                }
                for step in 1..nx {
                    let (i, near) = if back { (nx - 1 - step, nx - step) } else { (step, step - 1) };
                    distance[row + i] = distance[row + i].min(distance[row + near].saturating_add(1));
                }
            }
        }
    }
    distance
}
