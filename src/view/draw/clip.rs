//! Convex polygons cut at a plane: what is left of a triangle, or of a slice at the faces of the domain.
//! Must not know what is drawn.

/// The part of a convex polygon whose heights are at least 0 (Sutherland and Hodgman, 1974). `height` is linear along
/// the edges; `mix` gives the corner at a share of the way from one to the other. Empty if nothing is left.
pub fn clip<T: Copy>(corners: &[T], height: impl Fn(&T) -> f64, mix: impl Fn(&T, &T, f64) -> T) -> Vec<T> {
    let mut kept = Vec::with_capacity(corners.len() + 1);
    for (i, from) in corners.iter().enumerate() {
        let to = &corners[(i + 1) % corners.len()];
        let (start, end) = (height(from), height(to));
        if start >= 0.0 {
            kept.push(*from);
        }
        if (start < 0.0 && end > 0.0) || (start > 0.0 && end < 0.0) {
            kept.push(mix(from, to, start / (start - end)));
        }
    }
    if kept.len() < 3 { Vec::new() } else { kept }
}

/// A point at a share of the way from one to the other.
pub fn mix<const N: usize>(from: &[f64; N], to: &[f64; N], share: f64) -> [f64; N] {
    std::array::from_fn(|k| from[k] + share * (to[k] - from[k]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::mesh::vector::{cross, norm, sub};
    use crate::view::testing::snapshot;

    fn area(polygon: &[[f64; 3]]) -> f64 {
        let fan = polygon.windows(2).skip(1);
        fan.map(|edge| 0.5 * norm(cross(sub(edge[0], polygon[0]), sub(edge[1], polygon[0])))).sum()
    }

    #[test]
    fn a_triangle_keeps_the_part_above_the_plane() {
        let triangle = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
        let above = |limit: f64| clip(&triangle, |p| p[0] - limit, mix);
        assert_eq!(above(1.0).len(), 3);
        assert!((area(&above(1.0)) - 4.5).abs() < 1e-12);
        assert_eq!(clip(&triangle, |p| 1.0 - p[0], mix).len(), 4);
        assert_eq!(above(0.0), triangle);
        assert!(above(4.0).is_empty() && above(5.0).is_empty());
    }

    #[test]
    fn half_a_sphere_has_half_its_area() {
        let sphere = snapshot().surfaces[0].mesh.clone();
        // Oblique through the middle (1, 0.5, 0.5) m, so that triangles are truly cut.
        let height = |p: &[f64; 3]| 0.6 * (p[0] - 1.0) + 0.64 * (p[1] - 0.5) + 0.48 * (p[2] - 0.5);
        let halves = [1.0, -1.0].map(|side| {
            let triangles = 0..sphere.triangles.len();
            let left = triangles.map(|t| area(&clip(&sphere.corners(t), |p| side * height(p), mix)));
            left.sum::<f64>()
        });
        let whole = sphere.area();
        assert!((halves[0] + halves[1] - whole).abs() < 1e-9 * whole, "{halves:?} of {whole}");
        assert!((halves[0] - 0.5 * whole).abs() < 0.01 * whole, "{halves:?} of {whole}");
    }
}
