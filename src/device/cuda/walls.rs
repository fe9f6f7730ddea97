//! Obstacles as plain arrays for kernels: the twins of the structs of kernels/walls.cuh.
//! Knows nothing of how they are sent to the device, or of gases.

use crate::physics::geometry::Walls;
use bytemuck::{Pod, Zeroable};
use std::fmt::Write;
use std::mem::{offset_of, size_of};

/// Steps of the lattice of positions in a cell, along each axis, as a power of two.
pub const STEP_BITS: u32 = 21;

/// A face: where one triangle lies, or several that coincide. Lengths in m from the domain's corner.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct FaceData {
    /// Three corners, counter-clockwise seen from the front.
    pub corners: [[f64; 3]; 3],
    /// Unit normal on the front side, rounded.
    pub normal: [f64; 3],
    /// The plane is where normal . x = offset.
    pub offset: f64,
    /// Bound of the rounding error of normal . x - offset, m; infinite for slivers.
    pub margin: f64,
    /// The triangle whose front is the face's front, or `u32::MAX`.
    pub front: u32,
    /// The triangle whose front is the face's back, or `u32::MAX`.
    pub back: u32,
    /// How much the winding number grows from front to back.
    pub weight: i32,
    /// An axis along which the face is not edge-on.
    pub dropped: i32,
}

/// A cell that has faces.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct WallCellData {
    /// Where its faces begin in the list.
    pub start: u32,
    /// Where they end.
    pub end: u32,
    /// Index in the grid.
    pub cell: u32,
    /// Winding number of all closed bodies about the reference.
    pub winding: i32,
    /// A point in the cell, not on a face, m.
    pub reference: [f32; 3],
    /// Share of the cell that is gas, 0 to 1.
    pub gas: f32,
}

/// The plane of a face in single precision.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct SieveData {
    /// Unit normal on the front side.
    pub normal: [f32; 3],
    /// The plane is where normal . x = offset, m.
    pub offset: f32,
    /// Bound of the error of the distance, m.
    pub margin: f32,
}

/// A triangle.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct TriangleData {
    /// Index of the obstacle.
    pub obstacle: u32,
}

/// What kernels get: addresses on the device, and numbers. Arrays as in [`HostWalls`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct WallsView {
    /// Address of the faces.
    pub faces: u64,
    /// Address of the cells' states.
    pub states: u64,
    /// Address of the cells' clearances.
    pub clearance: u64,
    /// Address of the wall cells.
    pub wall_cells: u64,
    /// Address of the list.
    pub list: u64,
    /// Address of the sieves.
    pub sieves: u64,
    /// Address of the triangles.
    pub triangles: u64,
    /// The lattice's step, m.
    pub step: [f64; 3],
    /// Edge lengths of a cell, m.
    pub cell_size: [f64; 3],
    /// Cells a metre.
    pub per_metre: [f64; 3],
    /// Largest edge length of the domain, m.
    pub reach: f64,
    /// Cells along each axis.
    pub cells: [u32; 3],
    /// Number of faces.
    pub face_count: u32,
}

/// All obstacles as plain arrays, ready to be sent.
#[derive(Debug, Clone)]
pub struct HostWalls {
    /// The distinct faces.
    pub faces: Vec<FaceData>,
    /// Per cell: `u32::MAX` in gas, `u32::MAX - 1` in a body, or the index of its wall cell.
    pub states: Vec<u32>,
    /// Per cell: Chebyshev distance in cells to the nearest one that has walls, at most 255.
    pub clearance: Vec<u8>,
    /// Cells with faces, in order of index.
    pub wall_cells: Vec<WallCellData>,
    /// Faces of the wall cells.
    pub list: Vec<u32>,
    /// The sieve of each entry of the list.
    pub sieves: Vec<SieveData>,
    /// All triangles, in order of obstacle and of index in its mesh.
    pub triangles: Vec<TriangleData>,
    /// The view with all addresses 0.
    numbers: WallsView,
}

/// Device addresses of the arrays of [`HostWalls`]. An empty array may have any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WallsAddresses {
    /// Of the faces.
    pub faces: u64,
    /// Of the cells' states.
    pub states: u64,
    /// Of the cells' clearances.
    pub clearance: u64,
    /// Of the wall cells.
    pub wall_cells: u64,
    /// Of the list.
    pub list: u64,
    /// Of the sieves.
    pub sieves: u64,
    /// Of the triangles.
    pub triangles: u64,
}

impl HostWalls {
    /// Copies what kernels need.
    pub fn new(walls: &Walls) -> Self {
        let (grid, cells) = (walls.grid(), walls.cells());
        let faces: Vec<FaceData> = walls
            .faces()
            .iter()
            .map(|face| FaceData {
                corners: face.corners,
                normal: face.normal,
                offset: face.offset,
                margin: face.margin,
                front: face.front,
                back: face.back,
                weight: face.weight,
                dropped: i32::from(face.dropped),
            })
            .collect();
        let wall_cells = cells.walls.iter().map(|wall| WallCellData {
            start: wall.start,
            end: wall.end,
            cell: wall.cell,
            winding: wall.winding,
            reference: wall.reference,
            gas: wall.gas,
        });
        // Positions are not f32 here: the sieve's margin of 67 x 2^-24 of the largest coordinate covers their
        // rounding, 2 x 2^-24, beside the 13 x 2^-24 for which it was made.
        let sieves = cells.sieves.iter().map(|sieve| SieveData {
            normal: sieve.normal,
            offset: sieve.offset,
            margin: sieve.margin,
        });
        let steps = f64::from(1_u32 << STEP_BITS);
        let numbers = WallsView {
            step: std::array::from_fn(|a| grid.size[a] / (f64::from(grid.cells[a]) * steps)),
            cell_size: grid.cell_size(),
            per_metre: std::array::from_fn(|a| f64::from(grid.cells[a]) / grid.size[a]),
            reach: grid.size.iter().fold(0.0, |most: f64, &x| most.max(x)),
            cells: grid.cells,
            // Triangles, and so faces, are fewer than 2^32: `Walls::build` refuses more.
            face_count: faces.len() as u32,
            ..WallsView::zeroed()
        };
        Self {
            faces,
            states: cells.state.clone(),
            clearance: cells.clearance.clone(),
            wall_cells: wall_cells.collect(),
            list: cells.list.clone(),
            sieves: sieves.collect(),
            triangles: walls.triangles().iter().map(|t| TriangleData { obstacle: t.obstacle }).collect(),
            numbers,
        }
    }

    /// The view, once the arrays are on the device.
    pub fn view(&self, at: WallsAddresses) -> WallsView {
        let WallsAddresses { faces, states, clearance, wall_cells, list, sieves, triangles } = at;
        WallsView { faces, states, clearance, wall_cells, list, sieves, triangles, ..self.numbers }
    }

    /// The lattice's step along each axis, m: point X is at `X as f64 * step` from the domain's corner.
    pub fn step(&self) -> [f64; 3] {
        self.numbers.step
    }
}

/// A struct of kernels/walls.cuh: its name, size, and the offset of each field.
pub type Layout = (&'static str, usize, &'static [(&'static str, usize)]);

macro_rules! layout {
    ($name:ident: $($field:ident),*) => {
        (concat!("walls::", stringify!($name)), size_of::<$name>(),
            &[$((stringify!($field), offset_of!($name, $field))),*])
    };
}

/// How the structs lie in memory, for the kernels' compiler to check.
pub const LAYOUTS: [Layout; 5] = [
    layout!(FaceData: corners, normal, offset, margin, front, back, weight, dropped),
    layout!(WallCellData: start, end, cell, winding, reference, gas),
    layout!(SieveData: normal, offset, margin),
    layout!(TriangleData: obstacle),
    layout!(WallsView: faces, states, clearance, wall_cells, list, sieves, triangles, step, cell_size, per_metre,
        reach, cells, face_count),
];

/// C++ that fails to compile where a struct of kernels/walls.cuh is not as its twin here; goes after that header.
pub fn layout_asserts() -> String {
    // NVRTC has no header for `offsetof`; this is what its front end means by it.
    let mut text = "#if defined(__CUDACC_RTC__) && !defined(offsetof)\n\
        #define offsetof(type, field) __INTADDR__(&((type*)0)->field)\n#endif\n"
        .to_string();
    for (name, size, fields) in LAYOUTS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "static_assert(sizeof({name}) == {size}, \"size of {name}\");");
        for (field, offset) in fields {
            let _ =
                writeln!(text, "static_assert(offsetof({name}, {field}) == {offset}, \"{name}::{field}\");");
        }
    }
    text
}
