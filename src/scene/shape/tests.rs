//! Every shape: closed, fronts outside, areas and volumes, convex, placed as the scene says.
//! Must not know how the shapes are made.

use super::*;
use crate::scene::mesh::report::examine;
use crate::scene::mesh::vector::{dot, norm, sub};
use crate::scene::{Part, Wall};
use std::f64::consts::PI;

fn made(shape: Shape) -> Body {
    body(&shape, Path::new("")).unwrap()
}

fn near(value: f64, expected: f64, relative: f64) {
    assert!((value / expected - 1.0).abs() <= relative, "{value} is not {expected} within {relative}");
}

/// Directions spread evenly over the sphere (a spiral).
fn directions(n: usize) -> impl Iterator<Item = [f64; 3]> {
    (0..n).map(move |i| {
        let z = 1.0 - (2 * i + 1) as f64 / n as f64;
        let (s, c) = (i as f64 * PI * (3.0 - 5f64.sqrt())).sin_cos();
        let r = (1.0 - z * z).sqrt();
        [r * c, r * s, z]
    })
}

/// Closed, sound, convex: all vertices behind the plane of every triangle.
fn convex_body(body: &Body, area: f64, volume: f64, volume_error: f64) {
    let mesh = &body.mesh;
    let found = examine(mesh);
    assert!(mesh.closed && found.watertight() && found.non_manifold_edges == 0, "{found:?}");
    assert_eq!((found.degenerate, found.duplicates, found.shells), (0, 0, 1));
    assert_eq!(mesh.part, vec![0; mesh.triangles.len()]);
    near(mesh.area(), area, 1e-12);
    near(mesh.volume(), volume, volume_error);
    assert!(mesh.volume() > 0.0);
    let size = norm(sub(found.bounds_m[1], found.bounds_m[0]));
    for i in (0..mesh.triangles.len()).step_by(7) {
        let (n, p) = (mesh.normal(i), mesh.corners(i)[0]);
        assert!(mesh.vertices.iter().all(|&q| dot(n, sub(q, p)) < 1e-12 * size));
    }
    // Cauchy: a quarter of the surface is projected on average.
    let mean = directions(200).map(|d| mesh.reference_area(d)).sum::<f64>() / 200.0;
    near(mean, 0.25 * area, 2e-4);
}

#[test]
fn sphere() {
    let body = made(Shape::Sphere { radius_m: 0.15 });
    assert_eq!((body.mesh.triangles.len(), body.length_m), (5120, 0.3));
    convex_body(&body, 4.0 * PI * 0.15f64.powi(2), 4.0 / 3.0 * PI * 0.15f64.powi(3), 4e-4);
    assert!(body.mesh.volume() < 4.0 / 3.0 * PI * 0.15f64.powi(3));
    let disc = PI * 0.15 * 0.15;
    for d in directions(400).chain([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]) {
        near(body.mesh.reference_area(d), disc, 2e-4);
    }
    for p in &body.mesh.vertices {
        near(norm(*p), 0.15, 7e-4);
    }
}

#[test]
fn box_is_exact() {
    let body = made(Shape::Box { size_m: [0.3, 0.2, 0.7] });
    convex_body(&body, 2.0 * (0.3 * 0.2 + 0.2 * 0.7 + 0.7 * 0.3), 0.3 * 0.2 * 0.7, 1e-14);
    assert_eq!(body.mesh.triangles.len(), 768);
    assert_eq!(body.mesh.bounds(), Some([[-0.15, -0.1, -0.35], [0.15, 0.1, 0.35]]));
    assert_eq!(body.length_m, 0.3);
    near(body.mesh.reference_area([2.0, 0.0, 0.0]), 0.14, 1e-14);
    near(body.mesh.reference_area([0.0, 1.0, -1.0]), (0.21 + 0.06) * 0.5f64.sqrt(), 1e-14);
}

#[test]
fn cylinder() {
    for (r, h) in [(0.1, 0.5), (1.0, 0.02), (0.001, 2.0)] {
        let body = made(Shape::Cylinder { radius_m: r, height_m: h });
        convex_body(&body, 2.0 * PI * r * (r + h), PI * r * r * h, 4e-4);
        near(body.mesh.reference_area([0.0, 0.0, 1.0]), PI * r * r, 4e-4);
        near(body.mesh.reference_area([1.0, 0.0, 0.0]), 2.0 * r * h, 6e-4);
        let [lo, hi] = body.mesh.bounds().unwrap();
        assert_eq!((lo[2], hi[2], body.length_m), (-0.5 * h, 0.5 * h, 2.0 * r));
    }
}

#[test]
fn capsule() {
    for (r, l) in [(0.1, 0.5), (1.0, 0.01), (0.01, 3.0)] {
        let body = made(Shape::Capsule { radius_m: r, length_m: l });
        let volume = 4.0 / 3.0 * PI * r.powi(3) + PI * r * r * l;
        convex_body(&body, 4.0 * PI * r * r + 2.0 * PI * r * l, volume, 1e-3);
        near(body.mesh.reference_area([1.0, 0.0, 0.0]), PI * r * r, 1e-3);
        near(body.mesh.bounds().unwrap()[1][0], 0.5 * l + r, 1e-3);
        near(body.length_m, l + 2.0 * r, 1e-15);
    }
}

#[test]
fn cone() {
    for (r, h) in [(0.2, 0.3), (1.0, 0.05), (0.01, 1.0)] {
        let body = made(Shape::Cone { radius_m: r, height_m: h });
        convex_body(&body, PI * r * (r + r.hypot(h)), PI * r * r * h / 3.0, 4e-4);
        near(body.mesh.reference_area([-1.0, 0.0, 0.0]), PI * r * r, 4e-4);
        // The apex is upstream, at half the height before the origin.
        let tip = body.mesh.vertices.iter().min_by(|a, b| a[0].total_cmp(&b[0])).unwrap();
        assert_eq!(*tip, [-0.5 * h, 0.0, 0.0]);
        assert_eq!(body.length_m, h);
    }
}

#[test]
fn plate_has_two_sides() {
    let body = made(Shape::Plate { chord_m: 0.2, span_m: 0.4 });
    let mesh = &body.mesh;
    assert_eq!((mesh.triangles.len(), mesh.closed, body.length_m), (2048, false, 0.2));
    assert!(mesh.sheets().iter().all(|&s| s));
    let facing = |y: f64| (0..2048).filter(|&i| norm(sub(mesh.normal(i), [0.0, y, 0.0])) < 1e-15).count();
    let (upper, lower) = (facing(1.0), facing(-1.0));
    assert_eq!((upper, lower), (1024, 1024));
    near(mesh.area(), 2.0 * 0.08, 1e-13);
    assert!(mesh.volume().abs() < 1e-18);
    for d in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, -0.4, 0.1]] {
        near(mesh.reference_area(d), 0.08, 1e-13);
    }
    assert_eq!(mesh.bounds(), Some([[-0.1, 0.0, -0.2], [0.1, 0.0, 0.2]]));
}

#[test]
fn group_of_a_plate_and_spheres() {
    // The seed's "combo", with the spheres inside another group that is turned about z.
    let sphere = |x: f64, r: f64| Part {
        shape: Shape::Sphere { radius_m: r },
        position_m: [x, 0.0, 0.0],
        rotation_deg: [0.0; 3],
    };
    let spheres = Part {
        shape: Shape::Group { parts: vec![sphere(-1.0, 0.1), sphere(1.0, 0.2)] },
        position_m: [0.0, 0.0, 0.5],
        rotation_deg: [0.0, 0.0, 90.0],
    };
    let wing = Part {
        shape: Shape::Plate { chord_m: 0.2, span_m: 0.4 },
        position_m: [0.0; 3],
        rotation_deg: [0.0, 0.0, -30.0],
    };
    let body = made(Shape::Group { parts: vec![wing, spheres] });
    let mesh = &body.mesh;
    assert!(mesh.closed);
    let count = |part: u32| mesh.part.iter().filter(|&&p| p == part).count();
    assert_eq!((count(0), count(1), count(2), mesh.part.len()), (2048, 5120, 5120, 12288));
    assert_eq!(mesh.sheets().iter().filter(|&&s| s).count(), 2048);
    near(mesh.volume(), 4.0 / 3.0 * PI * (0.001 + 0.008), 4e-4);
    near(mesh.reference_area([1.0, 0.0, 0.0]), 0.08 + PI * (0.01 + 0.04), 1e-4);
    // The turned group: x = -1 goes to y = -1.
    let small: Vec<[f64; 3]> =
        (0..mesh.triangles.len()).filter(|&i| mesh.part[i] == 1).map(|i| mesh.centroid(i)).collect();
    assert!(small.iter().all(|p| norm(sub(*p, [0.0, -1.0, 0.5])) < 0.1001));
    assert!(body.reports.is_empty());

    let plates = made(Shape::Group {
        parts: vec![Part {
            shape: Shape::Plate { chord_m: 1.0, span_m: 1.0 },
            position_m: [0.0; 3],
            rotation_deg: [0.0, 0.0, 90.0],
        }],
    });
    assert!(!plates.mesh.closed);
    // Nothing along x: the largest extent.
    assert_eq!(plates.length_m, 1.0);
}

#[test]
fn obstacles_are_turned_then_moved() {
    let shape = Shape::Box { size_m: [0.3, 0.2, 0.7] };
    let own = made(shape.clone()).mesh;
    let (degrees, position) = ([20.0, -40.0, 110.0], [0.5, 0.25, -1.0]);
    let obstacle = Obstacle {
        name: "brick".into(),
        shape,
        position_m: position,
        rotation_deg: degrees,
        wall: Wall::default(),
    };
    let placed = mesh(&obstacle, Path::new("")).unwrap();
    assert_eq!(placed.triangles, own.triangles);
    near(placed.volume(), 0.042, 1e-13);
    // Matrices of the three turns, multiplied out here.
    let [a, b, c] = degrees.map(f64::to_radians);
    let x = [[1.0, 0.0, 0.0], [0.0, a.cos(), -a.sin()], [0.0, a.sin(), a.cos()]];
    let y = [[b.cos(), 0.0, b.sin()], [0.0, 1.0, 0.0], [-b.sin(), 0.0, b.cos()]];
    let z = [[c.cos(), -c.sin(), 0.0], [c.sin(), c.cos(), 0.0], [0.0, 0.0, 1.0]];
    let apply = |m: [[f64; 3]; 3], p: [f64; 3]| m.map(|row| dot(row, p));
    for (p, q) in own.vertices.iter().zip(&placed.vertices) {
        let turned = apply(z, apply(y, apply(x, *p)));
        for k in 0..3 {
            assert!((turned[k] + position[k] - q[k]).abs() < 1e-15);
        }
    }
}

#[test]
fn a_triangle_file_is_a_shape() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/meshes");
    let shape = Shape::Mesh { file: "wedge.stl".into(), scale: 0.5 };
    let body = body(&shape, &folder).unwrap();
    near(body.length_m, 1.0, 1e-9);
    near(body.mesh.volume(), 0.1, 1e-8);
    near(body.mesh.reference_area([1.0, 0.0, 0.0]), 0.25 * 0.8, 1e-8);
    assert_eq!(body.reports.len(), 1);
}

#[test]
fn impossible_shapes_are_refused_by_name() {
    let part = |shape| Part { shape, position_m: [0.0; 3], rotation_deg: [0.0; 3] };
    for (shape, fragments) in [
        (Shape::Sphere { radius_m: -1.0 }, vec!["radius_m is -1"]),
        (Shape::Sphere { radius_m: f64::NAN }, vec!["radius_m is NaN"]),
        (Shape::Plate { chord_m: 1.0, span_m: 0.0 }, vec!["span_m is 0"]),
        (Shape::Box { size_m: [1.0, f64::INFINITY, 1.0] }, vec!["size_m[1] is inf"]),
        (Shape::Cylinder { radius_m: 1.0, height_m: -2.0 }, vec!["height_m is -2"]),
        (Shape::Capsule { radius_m: 1.0, length_m: 0.0 }, vec!["length_m is 0"]),
        (Shape::Cone { radius_m: 0.0, height_m: 1.0 }, vec!["radius_m is 0"]),
        (Shape::Group { parts: vec![] }, vec!["no parts"]),
        (
            Shape::Group {
                parts: vec![part(Shape::Sphere { radius_m: 1.0 }), part(Shape::Sphere { radius_m: 0.0 })],
            },
            vec!["parts[1]", "radius_m is 0"],
        ),
        (Shape::Mesh { file: "nowhere.stl".into(), scale: 1.0 }, vec!["nowhere.stl", "check the path"]),
    ] {
        let obstacle = Obstacle {
            name: "thing".into(),
            shape,
            position_m: [0.0; 3],
            rotation_deg: [0.0; 3],
            wall: Wall::default(),
        };
        let message = mesh(&obstacle, Path::new("")).unwrap_err().to_string();
        for fragment in fragments.into_iter().chain(["thing"]) {
            assert!(message.contains(fragment), "{message}");
        }
    }
}
