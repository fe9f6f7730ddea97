//! Meshes and random numbers for the tests of walls.
//! Knows nothing of the shapes of scenes.

use crate::physics::grid::Grid;
use crate::scene::{Domain, TriangleMesh};

/// SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xD129_0D3E_1A7B_5A5F))
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * 2.0_f64.powi(-53)
    }

    pub fn direction(&mut self) -> [f64; 3] {
        let z = 2.0 * self.unit() - 1.0;
        let (s, c) = (std::f64::consts::TAU * self.unit()).sin_cos();
        let r = (1.0 - z * z).sqrt();
        [r * c, r * s, z]
    }

    /// On the side of a normal; every fourth one close to grazing.
    pub fn direction_off(&mut self, normal: [f64; 3]) -> [f64; 3] {
        let d = self.direction();
        let along = d[0] * normal[0] + d[1] * normal[1] + d[2] * normal[2];
        let keep = if self.below(4) == 0 { 1e-6 } else { 1.0 };
        std::array::from_fn(|a| d[a] - along * normal[a] + keep * along.abs() * normal[a])
    }

    pub fn position(&mut self, grid: &Grid) -> [f32; 3] {
        std::array::from_fn(|a| ((self.unit() * grid.size[a]) as f32).min(grid.extent[a]))
    }
}

/// The unit cube, or another box at the origin.
pub fn grid(size_m: [f64; 3], cells: [u32; 3]) -> Grid {
    Grid::new(&Domain { corner_m: [0.0; 3], size_m, cells })
}

pub fn mesh(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>, closed: bool) -> TriangleMesh {
    let part = vec![0; triangles.len()];
    TriangleMesh { vertices, triangles, part, closed }
}

pub fn cuboid(low: [f64; 3], high: [f64; 3]) -> TriangleMesh {
    let vertices =
        (0..8).map(|n| std::array::from_fn(|a| if n >> a & 1 == 0 { low[a] } else { high[a] })).collect();
    let sides = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = sides.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    mesh(vertices, triangles, true)
}

/// A two-sided parallelogram. `extra` vertices off its edges do not exist: two triangles a side.
pub fn plate(corner: [f64; 3], u: [f64; 3], v: [f64; 3]) -> TriangleMesh {
    let at = |m: f64, n: f64| std::array::from_fn(|a| corner[a] + m * u[a] + n * v[a]);
    let vertices = vec![at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)];
    mesh(vertices, vec![[0, 1, 2], [0, 2, 3], [2, 1, 0], [0, 3, 2]], false)
}

pub fn icosphere(centre: [f64; 3], radius: f64, level: u32) -> TriangleMesh {
    let g = (1.0 + 5.0_f64.sqrt()) / 2.0;
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    for (s, t) in [(-1.0, g), (1.0, g), (-1.0, -g), (1.0, -g)] {
        vertices.push([s, t, 0.0]);
    }
    for (s, t) in [(-1.0, g), (1.0, g), (-1.0, -g), (1.0, -g)] {
        vertices.push([0.0, s, t]);
    }
    for (s, t) in [(-1.0, g), (1.0, g), (-1.0, -g), (1.0, -g)] {
        vertices.push([t, 0.0, s]);
    }
    let mut triangles: Vec<[u32; 3]> = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    for _ in 0..level {
        let mut middle = std::collections::HashMap::new();
        let mut next = Vec::new();
        for [a, b, c] in triangles {
            let mut half = |m: u32, n: u32| {
                *middle.entry((m.min(n), m.max(n))).or_insert_with(|| {
                    let (p, q) = (unit(vertices[m as usize]), unit(vertices[n as usize]));
                    vertices.push(std::array::from_fn(|i| p[i] + q[i]));
                    vertices.len() as u32 - 1
                })
            };
            let (ab, bc, ca) = (half(a, b), half(b, c), half(c, a));
            next.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        triangles = next;
    }
    let vertices = vertices
        .into_iter()
        .map(|p| {
            let p = unit(p);
            std::array::from_fn(|a| centre[a] + radius * p[a])
        })
        .collect();
    mesh(vertices, triangles, true)
}

fn unit(p: [f64; 3]) -> [f64; 3] {
    let r = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]).sqrt();
    p.map(|x| x / r)
}

/// Volume by the divergence theorem over whole triangles.
pub fn volume(mesh: &TriangleMesh) -> f64 {
    mesh.triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|n| mesh.vertices[n as usize]);
            (a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
                + a[2] * (b[0] * c[1] - b[1] * c[0]))
                / 6.0
        })
        .sum()
}

/// Winding number by solid angles (van Oosterom and Strackee 1983), rounded arithmetic.
pub fn winding(mesh: &TriangleMesh, point: [f64; 3]) -> f64 {
    let mut sum = 0.0;
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|n| std::array::from_fn(|i| mesh.vertices[n as usize][i] - point[i]));
        let dot = |p: [f64; 3], q: [f64; 3]| p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
        let det = a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0]);
        let (la, lb, lc) = (dot(a, a).sqrt(), dot(b, b).sqrt(), dot(c, c).sqrt());
        let below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
        sum += 2.0 * det.atan2(below);
    }
    sum / (4.0 * std::f64::consts::PI)
}
