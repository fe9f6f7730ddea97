//! Tests: no path passes a wall. Walks from wall to wall, and shots at edges, corners and from right at the wall.
//! Knows nothing of volumes.

use super::test_meshes::{Random, cuboid, grid, icosphere, mesh, plate, winding};
use super::{Hit, Walls};
use crate::physics::grid::Grid;
use crate::scene::TriangleMesh;

/// Segments walked in each test: together well over a million.
const SEGMENTS: usize = 400_000;

struct Walk {
    segments: usize,
    hits: usize,
    /// Landings where the path began, or more than 4e-6 from the wall.
    put_back: usize,
}

/// Walks particles about: straight on by `step`, put down in front of the walls they meet, off again on their side; the
/// next one from the next start every 100 segments.
/// After each segment `check(from, to, hit)` sees it.
fn walk(
    walls: &Walls,
    grid: &Grid,
    starts: &[[f32; 3]],
    step: f64,
    seed: u64,
    mut check: impl FnMut([f32; 3], [f32; 3], Option<&Hit>),
) -> Walk {
    let mut random = Random::new(seed);
    let mut done = Walk { segments: 0, hits: 0, put_back: 0 };
    let mut from = starts[0];
    let mut direction = random.direction();
    while done.segments < SEGMENTS {
        if done.segments.is_multiple_of(100) {
            from = starts[done.segments / 100 % starts.len()];
        }
        done.segments += 1;
        let length = step * 2.0 * random.unit();
        let to: [f32; 3] = std::array::from_fn(|a| {
            ((f64::from(from[a]) + direction[a] * length) as f32).clamp(0.0, grid.extent[a])
        });
        let cells = [grid.indices(from), grid.indices(to)];
        let moved = (0..3).map(|a| cells[0][a].abs_diff(cells[1][a])).max().unwrap();
        let hit = walls.first_hit(from, to);
        if moved < u32::from(walls.clearance(grid.index(cells[0]))) {
            assert!(hit.is_none(), "clearance is wrong: {from:?} {to:?}");
        }
        let end = match &hit {
            None => to,
            Some(hit) => {
                done.hits += 1;
                let landing = walls.landing(from, to, hit);
                let off = (0..3)
                    .map(|a| (f64::from(landing.position[a]) - hit.position[a]).abs())
                    .fold(0.0, f64::max);
                done.put_back += usize::from(landing.put_back || off > 4e-6);
                assert!(walls.first_hit(from, landing.position).is_none());
                direction = random.direction_off(hit.normal);
                landing.position
            }
        };
        check(from, end, hit.as_ref());
        if hit.is_none() && random.below(3) == 0 {
            direction = random.direction();
        }
        from = end;
    }
    done
}

#[test]
fn nothing_leaves_a_closed_box() {
    let grid = grid([1.0; 3], [10, 11, 12]);
    // Faces on f32 values, on cell planes, and at neither.
    for (n, (low, high)) in
        [([0.25; 3], [0.75; 3]), ([0.2, 0.3, 0.4], [0.9, 0.6, 0.7])].into_iter().enumerate()
    {
        let walls = Walls::build(&grid, &[cuboid(low, high)]).unwrap();
        // In the middle, and within 1e-6 of a face, an edge and a corner.
        let near = |n: usize| std::array::from_fn(|a| if a < n { low[a] as f32 + 1e-6 } else { 0.5 });
        let starts = [near(0), near(1), near(2), near(3)];
        for (m, step) in [1e-4, 0.02, 0.5].into_iter().enumerate() {
            let done = walk(&walls, &grid, &starts, step, (3 * n + m) as u64, |_, end, hit| {
                for a in 0..3 {
                    assert!(f64::from(end[a]) > low[a] && f64::from(end[a]) < high[a], "{end:?}");
                }
                assert!(hit.is_none_or(|hit| !hit.front), "the fronts are outside");
            });
            assert!(done.hits > SEGMENTS / 400 && done.put_back * 1000 <= done.hits, "{}", done.hits);
        }
    }
}

#[test]
fn nothing_enters_a_sphere_and_nothing_leaves_it() {
    let grid = grid([1.0; 3], [10; 3]);
    let sphere = icosphere([0.5, 0.47, 0.53], 0.3, 2);
    let walls = Walls::build(&grid, std::slice::from_ref(&sphere)).unwrap();
    for (start, inside) in [([0.05, 0.5, 0.5], 0.0), ([0.5, 0.5, 0.5], 1.0)] {
        for step in [0.02, 0.8] {
            let mut turn = 0;
            let done = walk(&walls, &grid, &[start], step, 11, |_, end, hit| {
                assert!(hit.is_none_or(|hit| hit.front == (inside == 0.0)));
                turn += 1;
                if turn % 50 == 0 {
                    assert!((winding(&sphere, end.map(f64::from)) - inside).abs() < 1e-6, "{end:?}");
                    assert_eq!(walls.in_gas(end), inside == 0.0, "{end:?}");
                }
            });
            assert!(done.hits > SEGMENTS / 200 && done.put_back * 1000 <= done.hits, "{}", done.put_back);
        }
    }
}

/// Where a path passes y = 0.5, or nothing.
fn passage(from: [f32; 3], to: [f32; 3]) -> Option<[f64; 2]> {
    let (p, q) = (from.map(f64::from), to.map(f64::from));
    ((p[1] < 0.5 && q[1] > 0.5) || (p[1] > 0.5 && q[1] < 0.5)).then(|| {
        let t = (0.5 - p[1]) / (q[1] - p[1]);
        [p[0] + t * (q[0] - p[0]), p[2] + t * (q[2] - p[2])]
    })
}

#[test]
fn nothing_passes_a_plate_and_its_sides_are_told_apart() {
    let grid = grid([1.0; 3], [10; 3]);
    let walls = Walls::build(&grid, &[plate([0.3, 0.5, 0.3], [0.2, 0.0, 0.0], [0.0, 0.0, 0.4])]).unwrap();
    for step in [1e-3, 0.05, 0.7] {
        let mut sides = [0; 2];
        let starts = [[0.4, 0.5_f32.next_up(), 0.5], [0.4, 0.5_f32.next_down(), 0.5], [0.3, 0.5000001, 0.3]];
        let done = walk(&walls, &grid, &starts, step, 21, |from, end, hit| {
            if let Some([x, z]) = passage(from, end) {
                assert!(!(x > 0.3 + 1e-9 && x < 0.5 - 1e-9 && z > 0.3 + 1e-9 && z < 0.7 - 1e-9));
            }
            // u x v is -y: triangles 0 and 1 look down, 2 and 3 up.
            if let Some(hit) = hit
                && from[1] != 0.5
            {
                let above = from[1] > 0.5;
                assert!(hit.front && (hit.triangle >= 2) == above);
                assert_eq!(hit.normal[1], if above { 1.0 } else { -1.0 });
                assert_eq!(walls.triangles()[hit.triangle as usize].normal, hit.normal);
                sides[usize::from(above)] += 1;
            }
        });
        assert!(sides.iter().sum::<usize>() > 1000 && sides[0] > 100 && sides[1] > 100, "{sides:?}");
        assert!(done.put_back * 1000 <= done.hits);
    }
}

#[test]
fn a_plate_across_the_domain_parts_it() {
    let grid = grid([1.0; 3], [8, 7, 9]);
    // At a value of f32, between values, tilted, and beyond the domain on all sides.
    for (n, y) in [0.5, 0.3, 1.0 / 3.0].into_iter().enumerate() {
        let walls = Walls::build(&grid, &[plate([-0.1, y, -0.1], [1.2, 0.0, 0.0], [0.0, 0.0, 1.2])]).unwrap();
        for (side, start) in [(1.0, (y as f32 + 1e-7)), (-1.0, (y as f32 - 1e-7))] {
            for step in [1e-6, 0.03, 2.0] {
                walk(&walls, &grid, &[[0.5, start, 0.5]], step, n as u64, |_, end, _| {
                    assert!((f64::from(end[1]) - y) * side > 0.0, "{end:?}");
                });
            }
        }
    }
}

#[test]
fn nothing_leaves_a_gap_of_a_few_f32_steps() {
    let grid = grid([1.0; 3], [8, 8, 8]);
    let across = |y: f64| plate([-0.1, y, -0.1], [1.2, 0.0, 0.0], [0.0, 0.0, 1.2]);
    let (low, high) = (0.5, 0.5 + 3e-7);
    let walls = Walls::build(&grid, &[across(low), across(high)]).unwrap();
    for step in [1e-6, 0.03, 2.0] {
        walk(&walls, &grid, &[[0.5, 0.5_f32.next_up().next_up(), 0.5]], step, 31, |_, end, _| {
            assert!(f64::from(end[1]) > low && f64::from(end[1]) < high, "{end:?}");
        });
    }
    // A gap with one f32 value in it.
    let walls = Walls::build(&grid, &[across(0.5), across(0.5 + 7e-8)]).unwrap();
    walk(&walls, &grid, &[[0.5, 0.5_f32.next_up(), 0.5]], 0.1, 32, |_, end, _| {
        assert_eq!(end[1], 0.5_f32.next_up());
    });
}

#[test]
fn nothing_leaves_a_sharp_wedge() {
    let grid = grid([1.0; 3], [8, 8, 8]);
    // Two plates that meet at x = 0.125, an angle of 1/1024, open to x = 1.
    let ramp = 1.0 / 1024.0;
    let plates = [
        plate([0.125, 0.5, -0.25], [1.0, 0.0, 0.0], [0.0, 0.0, 1.5]),
        plate([0.125, 0.5, -0.25], [1.0, ramp, 0.0], [0.0, 0.0, 1.5]),
    ];
    let walls = Walls::build(&grid, &plates).unwrap();
    for (step, seed) in [(1e-5, 41), (1e-2, 42), (1.0, 43)] {
        let mut deepest = f32::MAX;
        walk(&walls, &grid, &[[0.13, 0.5 + 2e-6, 0.5]], step, seed, |_, end, _| {
            let height = f64::from(end[1]) - 0.5;
            // Exact: differences and the power of two do not round here.
            assert!(height > 0.0 && height < (f64::from(end[0]) - 0.125) * ramp, "{end:?}");
            deepest = deepest.min(end[0]);
        });
        assert!(deepest < 0.1301, "{deepest}");
    }
}

#[test]
fn shots_at_edges_and_corners_hit() {
    let grid = grid([1.0; 3], [8, 5, 7]);
    let walls = Walls::build(&grid, &[cuboid([0.25; 3], [0.75; 3])]).unwrap();
    let mut random = Random::new(51);
    let mut tried = 0;
    while tried < 200_000 {
        // All on multiples of 1/512, so that shots are exact: at corners, edges, diagonals of faces and plain faces.
        let dyadic = |random: &mut Random| random.below(257) as f32 / 512.0;
        let from: [f32; 3] = match random.below(2) {
            0 => std::array::from_fn(|_| (0.25 + dyadic(&mut random)).clamp(0.251_953_125, 0.748_046_875)),
            _ => std::array::from_fn(|_| 2.0 * dyadic(&mut random)),
        };
        let inside = from.iter().all(|&x| x > 0.25 && x < 0.75);
        if !inside && from.iter().all(|&x| (0.25..=0.75).contains(&x)) {
            continue;
        }
        let mut target: [f32; 3] = std::array::from_fn(|_| 0.25 + dyadic(&mut random));
        for _ in 0..1 + random.below(4) {
            target[random.below(3) as usize] = [0.25, 0.75][random.below(2) as usize];
        }
        if random.below(3) == 0 {
            (target[0], target[1]) = (target[1], target[1]);
        }
        if !target.iter().any(|&x| x == 0.25 || x == 0.75) {
            continue;
        }
        // To the point itself, and through it as far as the domain and the grid of numbers allow.
        let beyond: [f32; 3] = std::array::from_fn(|a| 1.5 * target[a] - 0.5 * from[a]);
        for to in [target, if grid.contains(beyond) { beyond } else { target }] {
            let hit = walls.first_hit(from, to).unwrap_or_else(|| panic!("{from:?} {to:?}"));
            let landing = walls.landing(from, to, &hit).position;
            assert_eq!(landing.iter().all(|&x| x > 0.25 && x < 0.75), inside, "{from:?} {to:?} {landing:?}");
            assert_eq!(walls.in_gas(landing), !inside, "{from:?} {to:?} {landing:?}");
            tried += 1;
        }
    }
}

#[test]
fn shots_from_right_at_the_wall() {
    let grid = grid([1.0; 3], [9, 9, 9]);
    let sphere = icosphere([0.5; 3], 0.25, 1);
    let bodies: [TriangleMesh; 2] = [cuboid([0.25; 3], [0.75; 3]), sphere];
    let mut random = Random::new(61);
    for body in &bodies {
        let walls = Walls::build(&grid, std::slice::from_ref(body)).unwrap();
        for n in 0..200_000 {
            // A point of the surface, often on an edge or at a corner, moved by up to 1e-6 and rounded.
            let triangle = body.triangles[random.below(body.triangles.len() as u64) as usize];
            let mut weights = [random.unit(), random.unit(), random.unit()];
            for _ in 0..random.below(3) {
                weights[random.below(3) as usize] = 0.0;
            }
            let sum: f64 = weights.iter().sum();
            let corner = |m: usize, a: usize| body.vertices[triangle[m] as usize][a];
            let surface: [f64; 3] =
                std::array::from_fn(|a| (0..3).map(|m| weights[m] * corner(m, a)).sum::<f64>() / sum);
            let off = random.direction();
            let from: [f32; 3] = std::array::from_fn(|a| (surface[a] + 1e-6 * random.unit() * off[a]) as f32);
            let number = winding(body, from.map(f64::from));
            if !walls.in_gas(from) && number < 0.5 {
                continue;
            }
            let inside = number > 0.5;
            // Straight at another corner, or anywhere.
            let aim = body.vertices[random.below(body.vertices.len() as u64) as usize];
            let far = random.position(&grid);
            let to = if n % 2 == 0 { aim.map(|x| x as f32) } else { far };
            match walls.first_hit(from, to) {
                None => assert_eq!(winding(body, to.map(f64::from)) > 0.5, inside, "{from:?} {to:?}"),
                Some(hit) => {
                    let landing = walls.landing(from, to, &hit).position;
                    assert_eq!(winding(body, landing.map(f64::from)) > 0.5, inside, "{from:?} {to:?}");
                    assert!(hit.t >= 0.0 && hit.t <= 1.0);
                }
            }
        }
    }
}

#[test]
fn a_path_that_ends_on_the_plate_is_a_hit() {
    let grid = grid([1.0; 3], [10; 3]);
    let walls = Walls::build(&grid, &[plate([0.25, 0.5, 0.25], [0.25, 0.0, 0.0], [0.0, 0.0, 0.5])]).unwrap();
    let hit = walls.first_hit([0.3, 0.75, 0.375], [0.375, 0.5, 0.375]).unwrap();
    assert!(hit.front && hit.triangle >= 2 && hit.t == 1.0);
    let landing = walls.landing([0.3, 0.75, 0.375], [0.375, 0.5, 0.375], &hit);
    assert!(landing.position[1] > 0.5 && landing.position[1] < 0.5 + 1e-6 && !landing.put_back);
    // Edge-on, in its plane: stopped at the edge, and a path in the plane that passes beside it is free.
    let hit = walls.first_hit([0.125, 0.5, 0.5], [0.75, 0.5, 0.5]).unwrap();
    assert_eq!(hit.t, 0.2);
    assert!(walls.first_hit([0.125, 0.5, 0.125], [0.75, 0.5, 0.125]).is_none());
    assert!(walls.first_hit([0.125, 0.5, 0.5], [0.125, 0.5, 0.5]).is_none());
    assert!(walls.first_hit([f32::NAN, 0.5, 0.5], [0.125, 0.5, 0.5]).is_none());
    assert!(walls.first_hit([0.9, 0.9, 0.5], [0.125, f32::NAN, 0.5]).is_none());
    assert!(!walls.in_gas([0.3, 0.5, 0.5]) && walls.in_gas([0.3, 0.5_f32.next_up(), 0.5]));
}

#[test]
fn ends_exactly_on_a_slanted_face_are_hits() {
    // The face x + y + z = 1.25; its unit normal is no f64, so that rounded distances of points on it are not zero.
    let (l, h) = (0.25, 0.75);
    let vertices = vec![[l, l, l], [h, l, l], [l, h, l], [l, l, h]];
    let body = mesh(vertices, vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], true);
    let walls = Walls::build(&grid([1.0; 3], [9; 3]), &[body]).unwrap();
    let sum = |p: [f32; 3]| p.iter().map(|&x| f64::from(x)).sum::<f64>();
    let mut random = Random::new(81);
    let mut tried = [0; 2];
    for n in 0..200_000 {
        let (x, y) = (random.below(2049) as f32 / 4096.0, random.below(2049) as f32 / 4096.0);
        let on = [0.25 + x, 0.25 + y, 0.75 - x - y];
        if x + y > 0.5 {
            continue;
        }
        assert!(!walls.in_gas(on));
        // From outside, from inside, and from a hair off.
        let from: [f32; 3] = match n % 3 {
            0 => std::array::from_fn(|_| (0.5 + 0.5 * random.unit()) as f32),
            1 => std::array::from_fn(|_| (0.26 + 0.1 * random.unit()) as f32),
            _ => std::array::from_fn(|a| if random.below(2) == 0 { on[a] } else { on[a].next_up() }),
        };
        // Beside an edge the way out may be past another face.
        let outside = |p: [f32; 3]| sum(p) > 1.25 || p.iter().any(|&x| x < 0.25);
        let inside = |p: [f32; 3]| sum(p) < 1.25 && p.iter().all(|&x| x > 0.25);
        if !outside(from) && !inside(from) {
            continue;
        }
        tried[usize::from(inside(from))] += 1;
        let hit = walls.first_hit(from, on).unwrap();
        let landing = walls.landing(from, on, &hit).position;
        let kept = if inside(from) { inside(landing) } else { outside(landing) };
        assert!(kept, "{from:?} {on:?} {landing:?}");
    }
    assert!(tried[0] > 30_000 && tried[1] > 30_000, "{tried:?}");
}

#[test]
fn the_nearest_of_many_walls_is_met() {
    let grid = grid([1.0; 3], [10; 3]);
    let mut random = Random::new(71);
    let mut soup = mesh(Vec::new(), Vec::new(), false);
    for n in 0..200 {
        let a: [f64; 3] = std::array::from_fn(|_| random.unit());
        for _ in 0..3 {
            soup.vertices.push(std::array::from_fn(|i| a[i] + 0.3 * (random.unit() - 0.5)));
        }
        soup.triangles.push([3 * n, 3 * n + 1, 3 * n + 2]);
    }
    let walls = Walls::build(&grid, std::slice::from_ref(&soup)).unwrap();
    let singles: Vec<Walls> = soup
        .triangles
        .iter()
        .map(|&t| Walls::build(&self::grid_of_one(), &[mesh(soup.vertices.clone(), vec![t], false)]).unwrap())
        .collect();
    let mut hits = 0;
    for _ in 0..5_000 {
        let (from, to) = (random.position(&grid), random.position(&grid));
        let all = singles.iter().enumerate().filter_map(|(n, one)| Some((n, one.first_hit(from, to)?)));
        let nearest = all.min_by(|a, b| a.1.t.total_cmp(&b.1.t));
        let found = walls.first_hit(from, to);
        assert_eq!(found.map(|hit| (hit.triangle as usize, hit.t)), nearest.map(|(n, hit)| (n, hit.t)));
        hits += usize::from(found.is_some());
    }
    assert!(hits > 1000);
}

/// One cell: every triangle is tested, so that the walk over cells has nothing to hide behind.
fn grid_of_one() -> Grid {
    grid([1.0; 3], [1; 3])
}
