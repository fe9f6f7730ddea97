//! Obstacles on the grid: triangles per cell, gas volumes of cut cells, inside test, exact hits.
//! Knows nothing of gases or walls' laws of reflection.
//!
//! # Why no particle passes a wall
//!
//! A particle's path is a chain of straight segments between f32 points. Each segment that could meet a wall is tested
//! by [`Walls::first_hit`] in exact arithmetic against closed triangles (edges, corners and the segment's ends
//! included), so that a segment found free has no point in common with any wall. Where a wall is met the particle is
//! put at [`Walls::landing`], a point that a free segment joins to where the particle was. So whole paths have no point
//! in common with any wall, and a mesh without gaps is never passed, whatever the rounding of hits and landings.
//!
//! Two conditions are the caller's: a particle's first position is one for which [`Walls::in_gas`] holds, and it changes
//! position only by segments tested free (or spared the test by [`Walls::clearance`]).
//!
//! # Accuracy
//!
//! Gas volumes of cut cells are exact to rounding, except in cells where surfaces of two overlapping bodies meet: there
//! the overlap is measured along 256 lines.

mod cells;
mod face;
mod hit;
mod predicates;
#[cfg(test)]
mod test_leaks;
#[cfg(test)]
mod test_meshes;
#[cfg(test)]
mod test_volumes;
mod volume;
mod winding;

pub use face::Triangle;
pub use hit::{Hit, Landing};

use super::grid::Grid;
use crate::scene::TriangleMesh;
use cells::{Cells, GAS, SOLID};
use face::Face;
use thiserror::Error;

/// Why obstacles could not be put on the grid.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GeometryError {
    /// A triangle with a corner that does not exist or is not a finite number.
    #[error(
        "obstacle {obstacle}, triangle {triangle}: a corner is missing, not finite, or farther than 1e30 m: \
         repair the mesh, or its scale and position"
    )]
    BadTriangle {
        /// Index of the obstacle.
        obstacle: usize,
        /// Index of the triangle in its mesh.
        triangle: usize,
    },
    /// More triangles than 32 bits count.
    #[error(
        "{triangles} triangles make lists longer than 4 billion entries: simplify the meshes or take larger cells"
    )]
    TooManyTriangles {
        /// How many there are.
        triangles: usize,
    },
    /// More cells than 32 bits count.
    #[error("{cells} cells are more than 4 billion: take fewer cells")]
    TooManyCells {
        /// How many there are.
        cells: usize,
    },
    /// No point of a cell could be told inside or outside.
    #[error(
        "no point of cell {cell} can be told inside or outside of the obstacles: take larger cells or repair the mesh"
    )]
    NoReference {
        /// Index of the cell.
        cell: usize,
    },
}

/// All obstacles, ready for particles. Positions are relative to the domain's corner, m.
#[derive(Debug, Clone)]
pub struct Walls {
    grid: Grid,
    triangles: Vec<Triangle>,
    faces: Vec<Face>,
    cells: Cells,
    /// Cells a metre.
    per_metre: [f64; 3],
    /// Largest coordinate of the domain, m.
    reach: f64,
}

impl Walls {
    /// Puts obstacles (corners in the scene's axes, m) on a grid. Closed ones have all fronts outside.
    ///
    /// # Errors
    /// A triangle without finite corners, or more triangles or cells than 32 bits count.
    pub fn build(grid: &Grid, meshes: &[TriangleMesh]) -> Result<Self, GeometryError> {
        let reach = grid.size.iter().fold(0.0_f64, |most, &x| most.max(x));
        let (triangles, faces) = face::flatten(meshes, grid.corner, reach)?;
        let mut cells = Cells::build(grid, &faces)?;
        if !faces.is_empty() {
            winding::settle(grid, &faces, &mut cells)?;
            let volumes = volume::solid_volumes(grid, &faces, &cells);
            let whole = grid.cell_volume();
            // Positions and edge lengths of the domain are f32, so that cells' faces are known to this share of a cell:
            // slivers thinner than that are rounding, as of a body's face that is meant to lie in a cell's face.
            let sliver = 1e-9 + 2.5e-7 * f64::from(grid.cells.into_iter().max().unwrap_or(1));
            for (n, solid) in volumes.into_iter().enumerate() {
                let wall = &cells.walls[n];
                let winding = |position| winding::winding_at(grid, &faces, &cells, wall, position);
                let twice = volume::overlap(grid, &faces, &cells, wall, winding);
                let gas = 1.0 - ((solid - twice) / whole).clamp(0.0, 1.0);
                let gas = if gas < sliver {
                    0.0
                } else if gas > 1.0 - sliver {
                    1.0
                } else {
                    gas
                };
                cells.walls[n].gas = gas as f32;
            }
        }
        let per_metre = std::array::from_fn(|a| f64::from(grid.cells[a]) / grid.size[a]);
        Ok(Self { grid: grid.clone(), triangles, faces, cells, per_metre, reach })
    }

    /// Whether there is no triangle.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// Chebyshev distance in cells from a cell to the nearest one that has walls; 255 means at least that.
    ///
    /// A move that starts in the cell and ends fewer cells away along every axis meets no wall.
    #[inline]
    pub fn clearance(&self, cell: usize) -> u8 {
        self.cells.clearance[cell]
    }

    /// Share of a cell's volume that is gas, 0 to 1. A particle right at a wall that lies in a cell's face may, by
    /// rounding, be in a cell without any gas.
    #[inline]
    pub fn gas_fraction(&self, cell: usize) -> f32 {
        match self.cells.state[cell] {
            GAS => 1.0,
            SOLID => 0.0,
            wall => self.cells.walls[wall as usize].gas,
        }
    }

    /// All triangles, in order of obstacle and of index in its mesh.
    #[inline]
    pub fn triangles(&self) -> &[Triangle] {
        &self.triangles
    }

    /// Cells that have walls, in order of index.
    pub fn wall_cells(&self) -> impl Iterator<Item = usize> {
        self.cells.walls.iter().map(|wall| wall.cell as usize)
    }

    /// The distinct faces, for other devices.
    #[cfg(feature = "cuda")]
    pub(crate) fn faces(&self) -> &[Face] {
        &self.faces
    }

    /// Which faces each cell has, for other devices.
    #[cfg(feature = "cuda")]
    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The grid.
    #[cfg(feature = "cuda")]
    pub(crate) fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        std::mem::size_of_val(self.cells.state.as_slice())
            + self.cells.clearance.len()
            + std::mem::size_of_val(self.cells.walls.as_slice())
            + std::mem::size_of_val(self.cells.list.as_slice())
            + std::mem::size_of_val(self.cells.sieves.as_slice())
            + std::mem::size_of_val(self.triangles.as_slice())
            + std::mem::size_of_val(self.faces.as_slice())
    }
}
