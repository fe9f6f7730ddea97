//! Which points are gas: winding numbers of the closed bodies, carried exactly from cell to cell.
//! Knows nothing of particles' paths or of the bodies' walls.

use super::cells::{Cells, GAS, SOLID, WallCell};
use super::face::Face;
use super::predicates::{Crossing, Point, crossing, exact, on_triangle};
use super::{GeometryError, Walls};
use crate::physics::grid::Grid;

/// Points tried before a cell is given up; each fails only by an exact coincidence.
const ATTEMPTS: u32 = 64;

/// A point of which the winding number is known.
#[derive(Clone, Copy)]
struct Known {
    cell: usize,
    /// None: any point of the cell, which has no walls.
    point: Option<Point>,
    winding: i32,
}

/// Mixing function of SplitMix64 (Steele, Lea and Flood 2014), for points without pattern.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A point in the middle half of a cell, another for every attempt.
fn candidate(grid: &Grid, cell: usize, attempt: u32) -> [f32; 3] {
    let index = grid.unravel(cell).map(f64::from);
    let size = grid.cell_size();
    let mut bits = mix(cell as u64 ^ u64::from(attempt) << 40);
    std::array::from_fn(|a| {
        bits = mix(bits);
        let share = 0.25 + 0.5 * (bits >> 11) as f64 * 2.0_f64.powi(-53);
        ((index[a] + share) * size[a]) as f32
    })
}

/// By how much the winding number grows over a segment through the given faces; None if it meets an edge.
fn change<'a>(faces: impl Iterator<Item = &'a Face>, p: Point, q: Point) -> Option<i32> {
    let mut sum = 0;
    for face in faces.filter(|face| face.weight != 0) {
        match crossing(&face.corners, p, q) {
            Crossing::None => {}
            Crossing::Inwards => sum += face.weight,
            Crossing::Outwards => sum -= face.weight,
            Crossing::Degenerate => return None,
        }
    }
    Some(sum)
}

fn on_any<'a>(mut faces: impl Iterator<Item = &'a Face>, point: Point) -> bool {
    faces.any(|face| on_triangle(&face.corners, usize::from(face.dropped), point))
}

/// Tells free cells in gas from those in bodies, and gives every wall cell a reference point.
pub(super) fn settle(grid: &Grid, faces: &[Face], cells: &mut Cells) -> Result<(), GeometryError> {
    let mut plane = first(grid, faces, cells)?;
    for k in 0..grid.cells[2] {
        if k > 0 {
            plane = step(grid, faces, cells, &plane, grid.index([0, 0, k]))?;
        }
        let mut row = plane;
        for j in 0..grid.cells[1] {
            if j > 0 {
                row = step(grid, faces, cells, &row, grid.index([0, j, k]))?;
            }
            let mut here = row;
            for i in 1..grid.cells[0] {
                here = step(grid, faces, cells, &here, grid.index([i, j, k]))?;
            }
        }
    }
    Ok(())
}

fn record(cells: &mut Cells, cell: usize, point: [f32; 3], winding: i32) {
    let state = cells.state[cell];
    if state >= SOLID {
        cells.state[cell] = if winding > 0 { SOLID } else { GAS };
    } else if let Some(wall) = cells.walls.get_mut(state as usize) {
        (wall.reference, wall.winding) = (point, winding);
    }
}

/// The first cell, by a segment to a point outside of everything.
fn first(grid: &Grid, faces: &[Face], cells: &mut Cells) -> Result<Known, GeometryError> {
    let mut least = [0.0_f64; 3];
    for point in faces.iter().flat_map(|face| face.corners) {
        least = std::array::from_fn(|a| least[a].min(point[a]));
    }
    for attempt in 0..ATTEMPTS {
        let point = candidate(grid, 0, attempt);
        let shift = candidate(grid, 0, attempt + ATTEMPTS);
        let outside: Point = std::array::from_fn(|a| {
            least[a] - grid.size[a] * 0.1 - f64::from(shift[a]) * f64::from(grid.cells[a])
        });
        let own = cells.faces(0).iter().map(|&f| &faces[f as usize]);
        if on_any(own, exact(point)) {
            continue;
        }
        if let Some(winding) = change(faces.iter(), outside, exact(point)) {
            record(cells, 0, point, winding);
            return Ok(Known { cell: 0, point: Some(exact(point)), winding });
        }
    }
    Err(GeometryError::NoReference { cell: 0 })
}

/// From a cell to a neighbour.
fn step(
    grid: &Grid,
    faces: &[Face],
    cells: &mut Cells,
    from: &Known,
    cell: usize,
) -> Result<Known, GeometryError> {
    if cells.state[from.cell] >= SOLID && cells.state[cell] >= SOLID {
        // No wall between the two, and any point of a cell without walls stands for it.
        cells.state[cell] = cells.state[from.cell];
        return Ok(Known { cell, point: None, winding: from.winding });
    }
    let start = from.point.unwrap_or_else(|| exact(candidate(grid, from.cell, 0)));
    for attempt in 0..ATTEMPTS {
        let point = candidate(grid, cell, attempt);
        let (known, own) = (cells.faces(from.cell), cells.faces(cell));
        if on_any(own.iter().map(|&f| &faces[f as usize]), exact(point)) {
            continue;
        }
        // A face in both cells counts once; lists are sorted.
        let others = known.iter().filter(|face| own.binary_search(face).is_err());
        let both = own.iter().chain(others).map(|&f| &faces[f as usize]);
        if let Some(change) = change(both, start, exact(point)) {
            let winding = from.winding + change;
            record(cells, cell, point, winding);
            return Ok(Known { cell, point: Some(exact(point)), winding });
        }
    }
    Err(GeometryError::NoReference { cell })
}

/// Winding number at a point of a wall cell, exactly; None on a wall.
pub(super) fn winding_at(
    grid: &Grid,
    faces: &[Face],
    cells: &Cells,
    wall: &WallCell,
    position: [f32; 3],
) -> Option<i32> {
    let own = || cells.faces_of(wall).iter().map(|&f| &faces[f as usize]);
    let point = exact(position);
    if on_any(own(), point) {
        return None;
    }
    let reference = exact(wall.reference);
    if let Some(change) = change(own(), reference, point) {
        return Some(wall.winding + change);
    }
    // An edge is in the way: round it by another point.
    for attempt in ATTEMPTS..2 * ATTEMPTS {
        let detour = exact(candidate(grid, wall.cell as usize, attempt));
        if on_any(own(), detour) {
            continue;
        }
        if let (Some(a), Some(b)) = (change(own(), reference, detour), change(own(), detour, point)) {
            return Some(wall.winding + a + b);
        }
    }
    None
}

impl Walls {
    /// Whether gas can be at a position: false inside a closed body, exactly on a wall, and outside the domain.
    pub fn in_gas(&self, position: [f32; 3]) -> bool {
        if !self.grid.contains(position) {
            return false;
        }
        match self.cells.state[self.grid.index(self.grid.indices(position))] {
            GAS => true,
            SOLID => false,
            state => {
                let wall = &self.cells.walls[state as usize];
                winding_at(&self.grid, &self.faces, &self.cells, wall, position)
                    .is_some_and(|winding| winding <= 0)
            }
        }
    }
}
