//! Tests of kernels/walls.cuh on the host: against `physics::geometry`, and that nothing passes a wall.
//! Knows nothing of GPUs: g++ compiles the device functions as plain C++.
#![cfg(feature = "cuda")]
// Helpers of tests may fall over as tests do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use bytemuck::{Pod, Zeroable};
use knudsen::device::cuda::walls::HostWalls;
use knudsen::physics::geometry::Walls;
use knudsen::physics::grid::Grid;
// The meshes of the geometry's own tests name these two by `crate::`.
use knudsen::{physics, scene};
use program::{packed, put, run};
use scene::TriangleMesh;
use test_meshes::{Random, cuboid, grid, icosphere, mesh, plate, winding};

#[path = "cuda_host/walls_program.rs"]
mod program;
#[allow(dead_code)]
#[path = "../src/physics/geometry/test_meshes.rs"]
mod test_meshes;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Met {
    t: f64,
    position: [f64; 3],
    normal: [f64; 3],
    landing: [i64; 3],
    found: u32,
    triangle: u32,
    front: u32,
    put_back: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Inside {
    in_gas: u32,
    cell: u32,
    clearance: u32,
    gas_fraction: f32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Segment {
    end: [i64; 3],
    flags: u32,
    in_gas: u32,
}

fn sign(value: f64) -> i32 {
    i32::from(value > 0.0) - i32::from(value < 0.0)
}

/// A number a few units in the last place away, or not.
fn nudged(random: &mut Random, x: f64) -> f64 {
    match random.below(6) {
        // Next to 0 are the smallest f64, which no mesh has: see the head of predicates.cuh.
        _ if x.abs() < 1e-50 => x,
        0 => x.next_up(),
        1 => x.next_down(),
        2 => x.next_up().next_up(),
        _ => x,
    }
}

/// Points near a plane: combinations of three corners, rounded and nudged. Sizes of all kinds.
fn near_plane(random: &mut Random, n: usize) -> [[f64; 3]; 4] {
    let spread = [0.0, 1e-3, 1e-9, 1e12][n % 4];
    let scale = [1.0, 1e-5, 1e-30, 1e17][n / 4 % 4];
    let coarse = (n / 16).is_multiple_of(2);
    let mut number = |around: f64| {
        let x = around + if spread == 0.0 { 1.0 } else { spread } * (random.unit() - 0.5);
        scale * if coarse { (x * 256.0).round() / 256.0 } else { x }
    };
    let [a, b, c]: [[f64; 3]; 3] = std::array::from_fn(|_| std::array::from_fn(|a| number(a as f64)));
    let (u, v) = match n / 32 % 3 {
        0 => (random.unit(), random.unit()),
        1 => (random.below(9) as f64 / 8.0, random.below(9) as f64 / 8.0),
        _ => (random.below(3) as f64, 0.0),
    };
    let d = std::array::from_fn(|i| {
        let x = a[i] + u * (b[i] - a[i]) + v * (c[i] - a[i]);
        nudged(random, x)
    });
    let mut points = [a, b, c, d];
    points.rotate_left(n % 3);
    points
}

#[test]
fn orientation_in_space_agrees_with_robust() {
    let mut random = Random::new(1);
    let cases: Vec<[[f64; 3]; 4]> = (0..300_000).map(|n| near_plane(&mut random, n)).collect();
    let mut input = vec![];
    put(&mut input, &cases);
    let found: Vec<[f64; 2]> = run("orient3d", input);
    assert_eq!(found.len(), cases.len());
    let mut signs = [0; 3];
    for (points, [fast, exact]) in cases.iter().zip(found) {
        let [a, b, c, d] = points.map(|[x, y, z]| robust::Coord3D { x, y, z });
        let expected = sign(robust::orient3d(a, b, c, d));
        assert_eq!([sign(fast), sign(exact)], [expected; 2], "{points:?}");
        signs[(expected + 1) as usize] += 1;
    }
    assert!(signs.iter().all(|&n| n > 20_000), "{signs:?}");
}

#[test]
fn orientation_in_the_plane_agrees_with_robust() {
    let mut random = Random::new(2);
    let cases: Vec<[[f64; 2]; 3]> = (0..300_000)
        .map(|n| {
            let [a, b, _, _] = near_plane(&mut random, n);
            let t = if n % 2 == 0 { random.unit() } else { random.below(9) as f64 / 4.0 };
            let c = std::array::from_fn(|i| {
                let x = a[i] + t * (b[i] - a[i]);
                nudged(&mut random, x)
            });
            [[a[0], a[1]], [b[0], b[1]], c]
        })
        .collect();
    let mut input = vec![];
    put(&mut input, &cases);
    let found: Vec<[f64; 2]> = run("orient2d", input);
    assert_eq!(found.len(), cases.len());
    let mut signs = [0; 3];
    for (points, [fast, exact]) in cases.iter().zip(found) {
        let [a, b, c] = points.map(|[x, y]| robust::Coord { x, y });
        let expected = sign(robust::orient2d(a, b, c));
        assert_eq!([sign(fast), sign(exact)], [expected; 2], "{points:?}");
        signs[(expected + 1) as usize] += 1;
    }
    assert!(signs.iter().all(|&n| n > 20_000), "{signs:?}");
}

/// Steps of the lattice along an edge of `unit_grid`: all points are multiples of 2^-24.
const UNIT: i64 = 1 << 24;

/// The unit cube in 8 x 8 x 8 cells: lattice points are f32 positions, so that both sides judge the same path.
fn unit_grid() -> Grid {
    grid([1.0; 3], [8; 3])
}

fn single(point: [i64; 3]) -> [f32; 3] {
    point.map(|x| (x as f64 / UNIT as f64) as f32)
}

/// Closed and open bodies, with faces in cells' faces, at multiples of 1/16, and anywhere.
fn bodies() -> Vec<Vec<TriangleMesh>> {
    let mut random = Random::new(71);
    let mut soup = mesh(Vec::new(), Vec::new(), false);
    for n in 0..120 {
        let a: [f64; 3] = std::array::from_fn(|_| random.unit());
        for _ in 0..3 {
            soup.vertices.push(std::array::from_fn(|i| a[i] + 0.3 * (random.unit() - 0.5)));
        }
        soup.triangles.push([3 * n, 3 * n + 1, 3 * n + 2]);
    }
    soup.part = vec![0; 120];
    let (l, h) = (0.25, 0.75);
    let corner = vec![[l, l, l], [h, l, l], [l, h, l], [l, l, h]];
    vec![
        vec![cuboid([0.25; 3], [0.75; 3])],
        vec![cuboid([0.1875, 0.3, 0.25], [0.75, 0.6, 0.3125])],
        // Two that share a face, and a third that overlaps.
        vec![
            cuboid([0.25, 0.25, 0.25], [0.5, 0.75, 0.75]),
            cuboid([0.5, 0.25, 0.25], [0.75, 0.75, 0.75]),
            cuboid([0.375; 3], [0.625, 0.625, 0.9375]),
        ],
        vec![icosphere([0.5, 0.47, 0.53], 0.3, 2)],
        vec![mesh(corner, vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], true)],
        vec![plate([0.25, 0.5, 0.25], [0.25, 0.0, 0.0], [0.0, 0.0, 0.5])],
        vec![
            plate([0.125, 0.5, -0.25], [1.0, 0.0, 0.0], [0.0, 0.0, 1.5]),
            plate([0.3; 3], [0.4, 0.1, 0.0], [0.1, 0.0, 0.4]),
        ],
        vec![soup],
        vec![],
    ]
}

/// Lattice points of all kinds: anywhere, at multiples of 1/16 and 1/4, near vertices and on faces.
fn point(random: &mut Random, meshes: &[TriangleMesh]) -> [i64; 3] {
    let near = |scale: i64, random: &mut Random| -> [i64; 3] {
        std::array::from_fn(|_| random.below((UNIT / scale + 1) as u64) as i64 * scale)
    };
    let kind = random.below(8);
    if kind < 3 || meshes.is_empty() {
        return near(1, random);
    }
    if kind < 5 {
        return near(if kind == 3 { UNIT / 16 } else { UNIT / 4 }, random);
    }
    let body = &meshes[random.below(meshes.len() as u64) as usize];
    let triangle = body.triangles[random.below(body.triangles.len() as u64) as usize];
    let mut weights: [f64; 3] = std::array::from_fn(|_| (1 + random.below(16)) as f64);
    for _ in 0..random.below(3) {
        weights[random.below(3) as usize] = 0.0;
    }
    let sum: f64 = weights.iter().sum();
    std::array::from_fn(|a| {
        let corner = |m: usize| body.vertices[triangle[m] as usize][a];
        let x = (0..3).map(|m| weights[m] * corner(m)).sum::<f64>() / sum;
        let off = if kind == 5 { random.below(7) as i64 - 3 } else { 0 };
        ((x * UNIT as f64).round() as i64 + off).clamp(0, UNIT)
    })
}

#[test]
fn hits_are_those_of_the_cpu_and_landings_are_free() {
    let grid = unit_grid();
    for (case, meshes) in bodies().iter().enumerate() {
        let walls = Walls::build(&grid, meshes).unwrap();
        let mut random = Random::new(100 + case as u64);
        let mut paths: Vec<[[i64; 3]; 2]> =
            (0..60_000).map(|_| [point(&mut random, meshes), point(&mut random, meshes)]).collect();
        // Short ones, along axes too.
        for n in 0..20_000 {
            let from = point(&mut random, meshes);
            let reach = 1 << random.below(20);
            let moved = |a: usize, random: &mut Random| {
                let off = random.below(2 * reach + 1) as i64 - reach as i64;
                (from[a] + if n % 4 == a { 0 } else { off }).clamp(0, UNIT)
            };
            paths.push([from, std::array::from_fn(|a| moved(a, &mut random))]);
        }
        let mut input = packed(&HostWalls::new(&walls));
        put(&mut input, &paths);
        let found: Vec<Met> = run("meet", input);
        assert_eq!(found.len(), paths.len());
        let (mut hits, mut put_back, mut far) = (0, 0, 0);
        for (&[from, to], met) in paths.iter().zip(&found) {
            let expected = walls.first_hit(single(from), single(to));
            assert_eq!(met.found == 1, expected.is_some(), "body {case}: {from:?} {to:?}");
            let Some(hit) = expected else { continue };
            let answer = (met.triangle, met.front == 1, met.t, met.position, met.normal);
            assert_eq!(answer, (hit.triangle, hit.front, hit.t, hit.position, hit.normal), "{from:?} {to:?}");
            if hit.t == 0.0 {
                // On a wall at first, which no particle is: no way out is free.
                if walls.first_hit(single(from), single(from)).is_some() {
                    assert!(met.put_back == 1 && met.landing == from);
                    continue;
                }
            }
            hits += 1;
            put_back += usize::from(met.put_back == 1);
            if met.put_back == 1 {
                assert_eq!(met.landing, from);
                continue;
            }
            assert!(met.landing.iter().all(|&x| (0..UNIT).contains(&x)), "{:?}", met.landing);
            assert_eq!(walls.first_hit(single(from), single(met.landing)), None, "{from:?} {to:?}");
            let off = (0..3).map(|a| (met.landing[a] as f64 / UNIT as f64 - hit.position[a]).abs());
            far += usize::from(off.fold(0.0, f64::max) > 4.0 / UNIT as f64);
        }
        if meshes.is_empty() {
            assert_eq!(hits, 0);
        } else {
            assert!(hits > 5_000, "body {case}: {hits}");
        }
        println!("body {case}: {hits} hits, {put_back} put back, {far} far off");
        assert!((put_back + far) * 50 <= hits, "body {case}: {put_back} put back, {far} far off, of {hits}");
    }
}

#[test]
fn the_inside_test_is_that_of_the_cpu() {
    let grid = unit_grid();
    for (case, meshes) in bodies().iter().enumerate() {
        let walls = Walls::build(&grid, meshes).unwrap();
        let mut random = Random::new(200 + case as u64);
        let points: Vec<[i64; 3]> = (0..60_000).map(|_| point(&mut random, meshes)).collect();
        let mut input = packed(&HostWalls::new(&walls));
        put(&mut input, &points);
        let found: Vec<Inside> = run("in_gas", input);
        assert_eq!(found.len(), points.len());
        let mut counts = [0; 2];
        for (&point, inside) in points.iter().zip(&found) {
            let expected = walls.in_gas(single(point));
            assert_eq!(inside.in_gas == 1, expected, "body {case}: {point:?}");
            let cell = grid.index(grid.indices(single(point)));
            assert_eq!(inside.cell as usize, cell);
            assert_eq!(inside.clearance, u32::from(walls.clearance(cell)));
            assert_eq!(inside.gas_fraction, walls.gas_fraction(cell));
            counts[usize::from(expected)] += 1;
        }
        assert!(
            counts[1] > 10_000 && (counts[0] > 1_000 || !meshes.iter().any(|mesh| mesh.closed)),
            "body {case}: {counts:?}"
        );
    }
}

#[test]
fn outside_of_the_domain_is_no_gas() {
    let walls = Walls::build(&unit_grid(), &[]).unwrap();
    let mut input = packed(&HostWalls::new(&walls));
    put(&mut input, &[[0, 0, UNIT], [UNIT, UNIT, UNIT], [-1, 5, 5], [5, UNIT + 1, 5]]);
    let found: Vec<Inside> = run("in_gas", input);
    assert_eq!(found.iter().map(|inside| inside.in_gas).collect::<Vec<_>>(), [1, 1, 0, 0]);
}

/// Walks of 100 segments a start, and what came of them.
struct Walk {
    segments: Vec<Segment>,
    /// As positions, m.
    ends: Vec<[f64; 3]>,
}

/// Segments walked at each call.
const SEGMENTS: usize = 200_000;

/// Walks from starts, m, in turn. Every landing must be free, and hardly any particle put back.
fn walk(walls: &Walls, starts: &[[f64; 3]], length: f64, seed: u64) -> Walk {
    let host = HostWalls::new(walls);
    let step = host.step();
    let points: Vec<[i64; 3]> = (0..SEGMENTS / 100)
        .map(|n| std::array::from_fn(|a| (starts[n % starts.len()][a] / step[a]).round() as i64))
        .collect();
    let mut input = packed(&host);
    input.extend_from_slice(&length.to_le_bytes());
    input.extend_from_slice(&seed.to_le_bytes());
    input.extend_from_slice(&100_u64.to_le_bytes());
    put(&mut input, &points);
    let segments: Vec<Segment> = run("walk", input);
    assert_eq!(segments.len(), SEGMENTS);
    let count = |flag: u32| segments.iter().filter(|segment| segment.flags & flag != 0).count();
    assert_eq!((count(4), count(8)), (0, 0), "ways to landings that are not free, clearances that are wrong");
    assert!(count(1) > 100, "{} hits", count(1));
    let ends =
        segments.iter().map(|segment| std::array::from_fn(|a| segment.end[a] as f64 * step[a])).collect();
    Walk { segments, ends }
}

impl Walk {
    fn put_back(&self) -> usize {
        self.segments.iter().filter(|segment| segment.flags & 2 != 0).count()
    }

    fn all_in_gas(&self, gas: bool) {
        let wrong = self.segments.iter().position(|segment| (segment.in_gas == 1) != gas);
        assert_eq!(wrong.map(|n| self.ends[n]), None, "inside and outside changed");
    }
}

#[test]
fn nothing_leaves_a_closed_box() {
    for (size, cells) in [([1.0; 3], [10, 11, 12]), ([0.3, 1.7, 0.9], [7, 13, 9])] {
        let grid = grid(size, cells);
        for (n, (low, high)) in
            [([0.25; 3], [0.75; 3]), ([0.2, 0.3, 0.4], [0.9, 0.6, 0.7])].into_iter().enumerate()
        {
            let scaled = |p: [f64; 3]| std::array::from_fn(|a| p[a] * grid.size[a]);
            let (low, high): ([f64; 3], [f64; 3]) = (scaled(low), scaled(high));
            let walls = Walls::build(&grid, &[cuboid(low, high)]).unwrap();
            let near = |n: usize| {
                std::array::from_fn(|a| {
                    if a < n { low[a] + 2e-7 * grid.size[a] } else { 0.5 * (low[a] + high[a]) }
                })
            };
            for (m, length) in [1e-7, 0.02, 0.5].into_iter().enumerate() {
                let done = walk(&walls, &[near(1), near(2), near(3), near(0)], length, (3 * n + m) as u64);
                done.all_in_gas(false);
                for end in &done.ends {
                    assert!((0..3).all(|a| end[a] > low[a] && end[a] < high[a]), "{end:?}");
                }
                assert!(done.put_back() < SEGMENTS / 1000, "{}", done.put_back());
            }
        }
    }
}

#[test]
fn nothing_enters_a_sphere_and_nothing_leaves_it() {
    for cells in [[10; 3], [3, 17, 40]] {
        let grid = grid([1.0; 3], cells);
        let sphere = icosphere([0.5, 0.47, 0.53], 0.3, 2);
        let walls = Walls::build(&grid, std::slice::from_ref(&sphere)).unwrap();
        for (start, inside) in [([0.05, 0.5, 0.5], 0.0), ([0.5, 0.5, 0.5], 1.0)] {
            for length in [0.02, 0.8] {
                let done = walk(&walls, &[start], length, 11);
                done.all_in_gas(inside == 0.0);
                for end in done.ends.iter().step_by(97) {
                    assert!((winding(&sphere, *end) - inside).abs() < 1e-6, "{end:?}");
                }
                assert!(done.put_back() < SEGMENTS / 1000, "{}", done.put_back());
            }
        }
    }
}

#[test]
fn nothing_passes_a_thin_plate_or_leaves_a_narrow_gap() {
    let grid = unit_grid();
    let across = |y: f64| plate([-0.1, y, -0.1], [1.2, 0.0, 0.0], [0.0, 0.0, 1.2]);
    let step = 1.0 / UNIT as f64;
    for y in [0.5, 0.3, 1.0 / 3.0] {
        let walls = Walls::build(&grid, &[across(y)]).unwrap();
        for side in [1.0, -1.0] {
            for length in [1e-6, 0.03, 2.0] {
                let done = walk(&walls, &[[0.5, y + 1.2 * side * step, 0.5]], length, 31);
                for end in &done.ends {
                    assert!((end[1] - y) * side > 0.0, "{end:?}");
                }
            }
        }
    }
    // A gap of five points of the lattice, and one of a single point.
    for (low, high) in [(0.5, 0.5 + 5.5 * step), (0.5, 0.5 + 1.25 * step)] {
        let walls = Walls::build(&grid, &[across(low), across(high)]).unwrap();
        for length in [1e-6, 0.03, 2.0] {
            let done = walk(&walls, &[[0.5, 0.5 + step, 0.5]], length, 32);
            for end in &done.ends {
                assert!(end[1] > low && end[1] < high, "{end:?}");
            }
        }
    }
}

#[test]
fn nothing_leaves_a_sharp_wedge() {
    // Two plates that meet at x = 0.125, an angle of 1/1024, open to x = 1.
    let ramp = 1.0 / 1024.0;
    let plates = [
        plate([0.125, 0.5, -0.25], [1.0, 0.0, 0.0], [0.0, 0.0, 1.5]),
        plate([0.125, 0.5, -0.25], [1.0, ramp, 0.0], [0.0, 0.0, 1.5]),
    ];
    let walls = Walls::build(&unit_grid(), &plates).unwrap();
    for (length, seed) in [(1e-5, 41), (1e-2, 42), (1.0, 43)] {
        let mut deepest = f64::MAX;
        for end in &walk(&walls, &[[0.13, 0.5 + 2e-6, 0.5]], length, seed).ends {
            let height = end[1] - 0.5;
            // Exact: differences and the power of two do not round here.
            assert!(height > 0.0 && height < (end[0] - 0.125) * ramp, "{end:?}");
            deepest = deepest.min(end[0]);
        }
        assert!(deepest < 0.1301, "{deepest}");
    }
}

#[test]
fn many_bodies_that_touch_and_overlap_keep_the_gas_out() {
    let grid = grid([1.0, 0.7, 1.3], [9, 6, 11]);
    let mut random = Random::new(5);
    let meshes: Vec<TriangleMesh> = (0..12)
        .map(|n| {
            let centre = std::array::from_fn(|a| (0.15 + 0.7 * random.unit()) * grid.size[a]);
            if n % 2 == 0 {
                return icosphere(centre, 0.05 + 0.1 * random.unit(), 1);
            }
            cuboid(centre, std::array::from_fn(|a| centre[a] + 0.02 + 0.2 * random.unit()))
        })
        .collect();
    let walls = Walls::build(&grid, &meshes).unwrap();
    let starts: Vec<[f64; 3]> = std::iter::repeat_with(|| random.position(&grid))
        .filter(|&position| walls.in_gas(position))
        .map(|position| position.map(f64::from))
        .filter(|p| (0..3).all(|a| p[a] < grid.size[a] * 0.9999))
        .take(500)
        .collect();
    for length in [0.01, 0.05, 0.6] {
        let done = walk(&walls, &starts, length, 51);
        done.all_in_gas(true);
        for end in done.ends.iter().step_by(211) {
            let deepest = meshes.iter().map(|body| winding(body, *end)).fold(0.0, f64::max);
            assert!(deepest < 1e-6, "{end:?}: {deepest}");
        }
        assert!(done.put_back() < SEGMENTS / 1000, "{}", done.put_back());
    }
}
