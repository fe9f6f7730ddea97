//! Triangle meshes: the form in which a simulation and the view see every obstacle.
//! Knows nothing of scenes, gases or files other than the readers beside it.

/// Triangles in space, metres. Each triangle's front side is the one from which its corners run counter-clockwise.
///
/// A closed body has all fronts outside. A thin plate has each triangle twice, once per side: a molecule
/// always meets the side that faces it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TriangleMesh {
    /// Corners, m.
    pub vertices: Vec<[f64; 3]>,
    /// Indices of the corners.
    pub triangles: Vec<[u32; 3]>,
    /// Which part of a group, or which shape, each triangle came from (0 for a simple shape).
    pub part: Vec<u32>,
    /// Whether it encloses a volume. A plate does not; a group is closed if all its closed parts are and it has any.
    pub closed: bool,
}
