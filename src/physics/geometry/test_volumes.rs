//! Tests: gas volumes of cut cells, clearance, and the inside test against formulas.
//! Knows nothing of particles' paths.

use super::test_meshes::{Random, cuboid, grid, icosphere, mesh, plate, volume, winding};
use super::{GeometryError, Walls};
use crate::physics::grid::Grid;
use crate::scene::TriangleMesh;

fn solid_volume(walls: &Walls, grid: &Grid) -> f64 {
    // The fraction is kept in f32; its error is that of single cells, 6e-8.
    (0..grid.len()).map(|cell| 1.0 - f64::from(walls.gas_fraction(cell))).sum::<f64>() * grid.cell_volume()
}

/// Largest difference of a cell's fraction from that of an axis-parallel box.
fn worst_of_box(walls: &Walls, grid: &Grid, low: [f64; 3], high: [f64; 3]) -> f64 {
    let size = grid.cell_size();
    (0..grid.len())
        .map(|cell| {
            let index = grid.unravel(cell).map(f64::from);
            let solid: f64 = (0..3)
                .map(|a| {
                    (high[a].min((index[a] + 1.0) * size[a]) - low[a].max(index[a] * size[a])).max(0.0)
                        / size[a]
                })
                .product();
            (1.0 - f64::from(walls.gas_fraction(cell)) - solid).abs()
        })
        .fold(0.0, f64::max)
}

#[test]
fn sums_before_f32_are_exact() {
    let grid = grid([1.0, 1.0, 1.0], [23, 17, 19]);
    let sphere = icosphere([0.52, 0.47, 0.5], 0.31, 3);
    let (_, faces) = super::face::flatten(std::slice::from_ref(&sphere), [0.0; 3], 1.0).unwrap();
    let mut cells = super::cells::Cells::build(&grid, &faces).unwrap();
    super::winding::settle(&grid, &faces, &mut cells).unwrap();
    let cut: f64 = super::volume::solid_volumes(&grid, &faces, &cells).iter().sum();
    let inside = cells.state.iter().filter(|&&state| state == super::SOLID).count();
    assert!(inside > 100);
    let total = cut + inside as f64 * grid.cell_volume();
    assert!((total - volume(&sphere)).abs() < 1e-9 * grid.cell_volume(), "{total} {}", volume(&sphere));
}

#[test]
fn sphere_has_the_volume_of_its_mesh() {
    for (cells, level) in [([8, 9, 10], 0), ([20, 20, 20], 2), ([31, 7, 40], 4)] {
        let grid = grid([1.0, 1.2, 0.9], cells);
        let sphere = icosphere([0.5, 0.55, 0.47], 0.3, level);
        let walls = Walls::build(&grid, std::slice::from_ref(&sphere)).unwrap();
        let (found, expected) = (solid_volume(&walls, &grid), volume(&sphere));
        assert!((found - expected).abs() < 1e-6 * grid.cell_volume() * walls.wall_cells().count() as f64);
        assert!((found - expected).abs() < 1e-7, "{found} {expected}");
    }
}

#[test]
fn boxes_aligned_and_straddling() {
    let grid = grid([1.0, 1.0, 1.0], [10, 20, 8]);
    let cases = [
        ([0.25, 0.25, 0.25], [0.75, 0.75, 0.75]),
        ([0.2, 0.3, 0.375], [0.5, 0.65, 0.875]),
        ([0.23, 0.31, 0.4], [0.24, 0.32, 0.41]),
        ([0.0, 0.0, 0.0], [1.0, 0.5, 0.5]),
        ([0.05, 0.05, 0.05], [0.95, 0.97, 0.93]),
        // Out of the domain on some sides, on all, and beyond it.
        ([-0.5, 0.2, 0.3], [0.33, 0.71, 1.5]),
        ([0.61, -3.0, -2.0], [7.0, 0.33, 4.0]),
        ([-1.0, -1.0, -1.0], [2.0, 2.0, 2.0]),
        ([1.5, 0.2, 0.2], [2.0, 0.8, 0.8]),
        ([-2.0, 0.2, 0.2], [-1.0, 0.8, 0.8]),
    ];
    for (low, high) in cases {
        let walls = Walls::build(&grid, &[cuboid(low, high)]).unwrap();
        let worst = worst_of_box(&walls, &grid, low, high);
        assert!(worst < 7e-8, "{low:?} {high:?}: {worst}");
    }
}

#[test]
fn faces_on_cell_planes_leave_no_slivers() {
    let grid = grid([1.0, 1.1, 0.7], [10, 11, 7]);
    let walls = Walls::build(&grid, &[cuboid([0.2, 0.3, 0.1], [0.7, 0.9, 0.4])]).unwrap();
    let solid = (0..grid.len()).filter(|&cell| walls.gas_fraction(cell) == 0.0).count();
    let gas = (0..grid.len()).filter(|&cell| walls.gas_fraction(cell) == 1.0).count();
    assert_eq!((solid, gas), (5 * 6 * 3, grid.len() - 90));
}

#[test]
fn scene_corner_is_taken_off() {
    let domain =
        crate::scene::Domain { corner_m: [-5.0, 2.0, 1.0], size_m: [10.0, 4.0, 4.0], cells: [10, 8, 8] };
    let grid = Grid::new(&domain);
    let walls = Walls::build(&grid, &[cuboid([-1.25, 3.0, 2.0], [2.0, 4.25, 3.0])]).unwrap();
    assert!(worst_of_box(&walls, &grid, [3.75, 1.0, 1.0], [7.0, 2.25, 2.0]) < 7e-8);
}

#[test]
fn plates_take_no_volume() {
    let grid = grid([1.0; 3], [10, 10, 10]);
    let mut wing = plate([0.3, 0.5, 0.3], [0.2, 0.0, 0.0], [0.0, 0.03, 0.4]);
    for closed in [false, true] {
        wing.closed = closed;
        let walls = Walls::build(&grid, std::slice::from_ref(&wing)).unwrap();
        assert!((0..grid.len()).all(|cell| walls.gas_fraction(cell) == 1.0));
        let mut random = Random::new(5);
        assert!((0..20_000).all(|_| walls.in_gas(random.position(&grid))));
    }
}

#[test]
fn overlapping_bodies_count_once() {
    let grid = grid([1.0; 3], [10, 10, 10]);
    // Two boxes that share a corner region, one with a third inside it, one that touches.
    let boxes = [
        cuboid([0.13, 0.2, 0.2], [0.52, 0.61, 0.6]),
        cuboid([0.43, 0.35, 0.41], [0.83, 0.75, 0.77]),
        cuboid([0.55, 0.45, 0.5], [0.65, 0.55, 0.55]),
        cuboid([0.83, 0.35, 0.41], [0.93, 0.75, 0.77]),
    ];
    let walls = Walls::build(&grid, &boxes).unwrap();
    let expected = 0.39 * 0.41 * 0.4 + 0.5 * 0.4 * 0.36 - 0.09 * 0.26 * 0.19;
    assert!((solid_volume(&walls, &grid) - expected).abs() < 0.05 * grid.cell_volume());
    assert!(
        walls.in_gas([0.95, 0.5, 0.5]) && !walls.in_gas([0.6, 0.5, 0.52]) && !walls.in_gas([0.45, 0.4, 0.45])
    );
    // The shared face of the boxes that touch is a wall, though both its sides are solid.
    assert!(!walls.in_gas([0.83, 0.5, 0.5]) && !walls.in_gas([0.84, 0.5, 0.5]));
}

#[test]
fn clearance_is_the_chebyshev_distance() {
    let grid = grid([1.0; 3], [13, 9, 11]);
    let walls = Walls::build(&grid, &[icosphere([0.3, 0.3, 0.4], 0.06, 1)]).unwrap();
    let near: Vec<[u32; 3]> = walls.wall_cells().map(|cell| grid.unravel(cell)).collect();
    assert!(!near.is_empty() && near.len() < 40);
    for cell in 0..grid.len() {
        let here = grid.unravel(cell);
        let least = near.iter().map(|p| (0..3).map(|a| p[a].abs_diff(here[a])).max().unwrap()).min().unwrap();
        assert_eq!(u32::from(walls.clearance(cell)), least);
    }
    let empty = Walls::build(&grid, &[]).unwrap();
    assert!(empty.is_empty() && empty.clearance(7) == 255 && empty.gas_fraction(7) == 1.0);
    assert!(empty.first_hit([0.0; 3], [1.0; 3]).is_none() && empty.in_gas([0.5; 3]));
}

/// Every cell that any of a cloud of points on a triangle lies in has the triangle in its list.
#[test]
fn lists_lose_no_face() {
    let mut random = Random::new(8);
    let grid = grid([1.0, 0.7, 1.3], [37, 21, 50]);
    for _ in 0..300 {
        let scale = [0.02, 0.3, 3.0][random.below(3) as usize];
        let a: [f64; 3] = std::array::from_fn(|n| random.unit() * grid.size[n]);
        let mut corner = || std::array::from_fn(|n| a[n] + scale * (random.unit() - 0.5));
        let corners: [[f64; 3]; 3] = [a, corner(), corner()];
        let walls = Walls::build(&grid, &[mesh(corners.to_vec(), vec![[0, 1, 2]], false)]).unwrap();
        for _ in 0..500 {
            let (mut s, mut t) = (random.unit(), random.unit());
            if s + t > 1.0 {
                (s, t) = (1.0 - s, 1.0 - t);
            }
            let point: [f32; 3] = std::array::from_fn(|n| {
                (corners[0][n] + s * (corners[1][n] - corners[0][n]) + t * (corners[2][n] - corners[0][n]))
                    as f32
            });
            if grid.contains(point) {
                assert_eq!(walls.clearance(grid.index(grid.indices(point))), 0);
            }
        }
    }
}

#[test]
fn inside_of_a_box_exactly() {
    let grid = grid([1.0; 3], [10, 12, 7]);
    let (low, high) = ([0.25_f32, 0.3, 0.125], [0.75_f32, 0.8, 0.5]);
    let walls = Walls::build(&grid, &[cuboid(low.map(f64::from), high.map(f64::from))]).unwrap();
    let mut random = Random::new(2);
    let mut count = [0; 2];
    for n in 0..150_000 {
        let mut p = random.position(&grid);
        if n % 3 > 0 {
            // In the plane of a face, or one f32 beside it; at times on an edge or a corner.
            for _ in 0..1 + random.below(3) {
                let a = random.below(3) as usize;
                let x = [low[a], high[a]][random.below(2) as usize];
                p[a] = [x, x.next_up(), x.next_down()][random.below(3) as usize];
            }
        }
        let outside = (0..3).any(|a| p[a] < low[a] || p[a] > high[a]);
        assert_eq!(walls.in_gas(p), outside, "{p:?}");
        count[usize::from(outside)] += 1;
    }
    assert!(count[0] > 10_000 && count[1] > 10_000);
}

#[test]
fn inside_of_a_wedge_exactly() {
    // Between y = 0.5 and y = 0.5 + (x - 0.125) / 1024, x < 0.875, 0.25 < z < 0.75: all corners are f32 values.
    let tip = 0.75 / 1024.0;
    let wedge = wedge(tip);
    let grid = grid([1.0; 3], [16, 15, 9]);
    let walls = Walls::build(&grid, &[wedge]).unwrap();
    let mut random = Random::new(3);
    let mut inside = 0;
    for n in 0..150_000 {
        let mut p = random.position(&grid);
        let slope = |x: f32| (0.5 + (f64::from(x) - 0.125) / 1024.0) as f32;
        match n % 4 {
            0 => p[1] = 0.5,
            1 => p[1] = slope(p[0]),
            2 => p[1] = 0.5 + (random.unit() * tip) as f32,
            _ => {}
        }
        if random.below(8) == 0 {
            p[2] = 0.25;
        }
        let height = f64::from(p[1]) - 0.5;
        let solid = height >= 0.0
            && height <= (f64::from(p[0]) - 0.125) / 1024.0
            && p[0] <= 0.875
            && (0.25..=0.75).contains(&p[2]);
        assert_eq!(walls.in_gas(p), !solid, "{p:?}");
        inside += usize::from(solid);
    }
    assert!(inside > 10_000);
    let expected = 0.5 * 0.75 * tip * 0.5;
    assert!((solid_volume(&walls, &grid) - expected).abs() < 1e-8);
}

fn wedge(tip: f64) -> TriangleMesh {
    let mut vertices = Vec::new();
    for z in [0.25, 0.75] {
        vertices.extend([[0.125, 0.5, z], [0.875, 0.5, z], [0.875, 0.5 + tip, z]]);
    }
    let triangles =
        vec![[0, 2, 1], [3, 4, 5], [0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4], [2, 0, 3], [2, 3, 5]];
    mesh(vertices, triangles, true)
}

#[test]
fn inside_of_a_sphere_and_of_a_hollow_one() {
    let grid = grid([1.0; 3], [20, 20, 20]);
    let outer = icosphere([0.5; 3], 0.4, 2);
    let mut hollow = outer.clone();
    let inner = icosphere([0.5; 3], 0.3, 1);
    hollow.vertices.extend(&inner.vertices);
    let shift = outer.vertices.len() as u32;
    hollow.triangles.extend(inner.triangles.iter().map(|t| [t[0] + shift, t[2] + shift, t[1] + shift]));
    for body in [outer, hollow] {
        let walls = Walls::build(&grid, std::slice::from_ref(&body)).unwrap();
        let mut random = Random::new(4);
        for _ in 0..10_000 {
            let p = random.position(&grid);
            assert_eq!(walls.in_gas(p), winding(&body, p.map(f64::from)) < 0.5, "{p:?}");
        }
        assert!((solid_volume(&walls, &grid) - volume(&body)).abs() < 1e-6);
        assert!(!walls.in_gas([f32::NAN, 0.5, 0.5]) && !walls.in_gas([-0.1, 0.5, 0.5]));
    }
}

#[test]
fn triangles_keep_obstacle_and_index() {
    let grid = grid([1.0; 3], [4, 4, 4]);
    let mut body = cuboid([0.2; 3], [0.4; 3]);
    // One without area: it is counted, and stops nothing.
    body.triangles.push([0, 0, 1]);
    body.part.push(3);
    let walls =
        Walls::build(&grid, &[plate([0.5, 0.5, 0.2], [0.2, 0.0, 0.0], [0.0, 0.0, 0.5]), body.clone()])
            .unwrap();
    let triangles = walls.triangles();
    assert_eq!(triangles.len(), 4 + 13);
    assert_eq!((triangles[5].obstacle, triangles[5].local), (1, 1));
    assert_eq!((triangles[16].part, triangles[16].area), (3, 0.0));
    assert_eq!(triangles[0].normal, triangles[2].normal.map(|x| -x));
    assert!((triangles[..4].iter().map(|t| t.area).sum::<f64>() - 0.2).abs() < 1e-12);
    assert!(walls.memory_bytes() > 64 * 5);
    body.triangles.push([0, 1, 99]);
    assert_eq!(
        Walls::build(&grid, &[plate([0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]), body]).unwrap_err(),
        GeometryError::BadTriangle { obstacle: 1, triangle: 13 }
    );
}

#[test]
fn twenty_thousand_triangles_on_a_million_cells() {
    let grid = grid([1.0; 3], [100, 100, 100]);
    let sphere = icosphere([0.5; 3], 0.4, 5);
    assert_eq!(sphere.triangles.len(), 20_480);
    let begun = std::time::Instant::now();
    let walls = Walls::build(&grid, std::slice::from_ref(&sphere)).unwrap();
    println!("{:?}, {} bytes", begun.elapsed(), walls.memory_bytes());
    assert!((solid_volume(&walls, &grid) - volume(&sphere)).abs() < 1e-7);
    assert!(walls.memory_bytes() < 20_000_000);
}
