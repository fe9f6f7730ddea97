//! The uniform grid of collision cells over the domain, and where a particle is in it.
//! Knows nothing of gases or walls.

use crate::scene::Domain;

/// Uniform grid. Particle positions are f32, relative to the domain's lower corner, from 0 to `extent` inclusive.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Cells along each axis.
    pub cells: [u32; 3],
    /// Lower corner of the domain, m.
    pub corner: [f64; 3],
    /// Edge lengths of the domain, m: exactly the f32 values of `extent`.
    pub size: [f64; 3],
    /// Edge lengths as particles see them, m.
    pub extent: [f32; 3],
    /// Cells a metre.
    pub inverse: [f32; 3],
}

impl Grid {
    /// The grid of a domain. Edge lengths are rounded to f32, in which particles move.
    pub fn new(domain: &Domain) -> Self {
        let extent = domain.size_m.map(|size| size as f32);
        let inverse = std::array::from_fn(|a| (f64::from(domain.cells[a]) / f64::from(extent[a])) as f32);
        Self { cells: domain.cells, corner: domain.corner_m, size: extent.map(f64::from), extent, inverse }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.cells.iter().map(|&n| n as usize).product()
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Edge lengths of a cell, m.
    pub fn cell_size(&self) -> [f64; 3] {
        std::array::from_fn(|a| self.size[a] / f64::from(self.cells[a]))
    }

    /// Volume of a cell, m^3.
    pub fn cell_volume(&self) -> f64 {
        self.cell_size().iter().product()
    }

    /// Indices of the cell at a position inside the domain.
    #[inline]
    pub fn indices(&self, position: [f32; 3]) -> [u32; 3] {
        // A cast saturates: below 0 gives 0; the upper face belongs to the last cell.
        std::array::from_fn(|a| ((position[a] * self.inverse[a]) as u32).min(self.cells[a] - 1))
    }

    /// Index of a cell, x running fastest.
    #[inline]
    pub fn index(&self, [i, j, k]: [u32; 3]) -> usize {
        ((k as usize * self.cells[1] as usize) + j as usize) * self.cells[0] as usize + i as usize
    }

    /// Indices of a cell along the axes.
    pub fn unravel(&self, cell: usize) -> [u32; 3] {
        let (nx, ny) = (self.cells[0] as usize, self.cells[1] as usize);
        [(cell % nx) as u32, (cell / nx % ny) as u32, (cell / nx / ny) as u32]
    }

    /// Whether a position lies in the domain, faces included; NaN does not.
    #[inline]
    pub fn contains(&self, position: [f32; 3]) -> bool {
        (0..3).all(|a| position[a] >= 0.0 && position[a] <= self.extent[a])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_and_unravel_agree() {
        let grid = Grid::new(&Domain { corner_m: [0.0; 3], size_m: [1.0, 2.0, 3.0], cells: [4, 5, 6] });
        assert_eq!(grid.len(), 120);
        for cell in 0..grid.len() {
            assert_eq!(grid.index(grid.unravel(cell)), cell);
        }
        assert_eq!(grid.indices([1.0, 2.0, 3.0]), [3, 4, 5]);
        assert_eq!(grid.indices([0.26, 0.0, 2.99]), [1, 0, 5]);
    }
}
