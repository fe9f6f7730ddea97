//! Bodies of revolution about x as triangles, and profiles whose faceted area is exact.
//! Must not know which shapes use it.

use crate::scene::TriangleMesh;
use std::f64::consts::PI;

/// Turns a profile of points `[x, radius]`, m, about the x axis, in `sectors` sectors. The profile begins and ends on
/// the axis, and the body lies between it and the axis when walked with growing x.
pub(super) fn revolve(profile: &[[f64; 2]], sectors: u32) -> TriangleMesh {
    let circle: Vec<(f64, f64)> =
        (0..sectors).map(|k| libm::sincos(2.0 * PI * f64::from(k) / f64::from(sectors))).collect();
    let mut vertices = Vec::new();
    let rings: Vec<(u32, bool)> = profile
        .iter()
        .map(|&[x, r]| {
            let first = vertices.len() as u32;
            if r == 0.0 {
                vertices.push([x, 0.0, 0.0]);
            } else {
                vertices.extend(circle.iter().map(|&(s, c)| [x, r * c, r * s]));
            }
            (first, r == 0.0)
        })
        .collect();
    let mut triangles = Vec::new();
    for pair in rings.windows(2) {
        let at = |ring: usize, k: u32| {
            let (first, pole) = pair[ring];
            if pole { first } else { first + k % sectors }
        };
        for k in 0..sectors {
            let (a, b, c, d) = (at(0, k), at(0, k + 1), at(1, k), at(1, k + 1));
            if !pair[0].1 {
                triangles.push([a, b, c]);
            }
            if !pair[1].1 {
                triangles.push([b, d, c]);
            }
        }
    }
    TriangleMesh::new(vertices, triangles, true)
}

/// Points from `from` to `to` in `steps` equal steps, without the first.
pub(super) fn line(from: [f64; 2], to: [f64; 2], steps: u32) -> impl Iterator<Item = [f64; 2]> {
    (1..=steps).map(move |i| {
        let t = f64::from(i) / f64::from(steps);
        // The end exactly: radius zero marks a pole.
        if i == steps { to } else { [0, 1].map(|k| from[k] + t * (to[k] - from[k])) }
    })
}

/// The profile `build(f)` for that factor f, a little more than 1, for which its faceted surface has the area
/// `exact_m2`. The area must grow with f at least as f^0 and at most as f^2.
pub(super) fn with_area(exact_m2: f64, sectors: u32, build: impl Fn(f64) -> Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let mut factor = 1.0;
    // Where the area goes as f^p, each pass leaves 1 - p/2 of the error.
    for _ in 0..200 {
        let ratio = exact_m2 / area(&build(factor), sectors);
        if (ratio - 1.0).abs() < 1e-15 {
            break;
        }
        factor *= ratio.sqrt();
    }
    build(factor)
}

/// Area of the facets of a turned profile: each band is a row of plane trapezoids.
fn area(profile: &[[f64; 2]], sectors: u32) -> f64 {
    let (s, c) = libm::sincos(PI / f64::from(sectors));
    profile
        .windows(2)
        .map(|p| {
            let [[x0, r0], [x1, r1]] = [p[0], p[1]];
            f64::from(sectors) * (r0 + r1) * s * (x1 - x0).hypot((r1 - r0) * c)
        })
        .sum()
}
