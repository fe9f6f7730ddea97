//! Where a slice lies: a plane across an axis or a free one, and its cut through the domain.
//! Must not know fields or colours.

use crate::output::slice::Slice;
use crate::scene::mesh::vector::{add, cross, dot, norm, scale, sub};
use crate::view::draw::clip::{clip, mix};

/// A plane through the domain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Plane {
    /// Across an axis.
    Axis(Slice),
    /// Any plane.
    Free {
        /// A point in it, m.
        point_m: [f64; 3],
        /// Its normal, of any length but 0.
        normal: [f64; 3],
    },
}

/// A plane with directions in it: unit vectors, `along` x `up` = `normal` but for the sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// A point in the plane, m.
    pub point_m: [f64; 3],
    /// Two directions in the plane.
    pub axes: [[f64; 3]; 2],
    /// The normal.
    pub normal: [f64; 3],
}

impl Plane {
    /// The plane with directions in it: along the axes where it lies across one, else the first direction level.
    /// `None` for a normal that is 0 or not finite.
    pub fn frame(&self) -> Option<Frame> {
        let unit = |axis: usize| std::array::from_fn(|k| f64::from(u8::from(k == axis)));
        match *self {
            Plane::Axis(Slice { axis, position_m }) => {
                let [along, up] = [[1, 2], [0, 2], [0, 1]][axis.min(2)];
                let normal = unit(axis.min(2));
                Some(Frame { point_m: scale(normal, position_m), axes: [unit(along), unit(up)], normal })
            }
            Plane::Free { point_m, normal } => {
                let length = norm(normal);
                if !(length > 0.0 && length.is_finite() && point_m.iter().all(|p| p.is_finite())) {
                    return None;
                }
                let normal = scale(normal, 1.0 / length);
                let level = cross(unit(1), normal);
                let level = if norm(level) > 1e-6 { level } else { unit(0) };
                let along = scale(level, 1.0 / norm(level));
                Some(Frame { point_m, axes: [along, cross(normal, along)], normal })
            }
        }
    }
}

impl Frame {
    /// Coordinates of a point in the plane's directions, m.
    pub fn flat(&self, point_m: [f64; 3]) -> [f64; 2] {
        self.axes.map(|axis| dot(sub(point_m, self.point_m), axis))
    }

    /// The point of the plane at these coordinates, m.
    pub fn point(&self, [along, up]: [f64; 2]) -> [f64; 3] {
        add(self.point_m, add(scale(self.axes[0], along), scale(self.axes[1], up)))
    }

    /// The polygon in which the plane cuts a box, m; empty where it does not. A plane in a face of the box cuts it.
    pub fn cut(&self, corner_m: [f64; 3], size_m: [f64; 3]) -> Vec<[f64; 3]> {
        let reach = norm(size_m);
        let middle = self.flat(add(corner_m, scale(size_m, 0.5)));
        let mut polygon: Vec<[f64; 3]> = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
            .map(|side: [f64; 2]| self.point([0, 1].map(|k| middle[k] + side[k] * reach)))
            .to_vec();
        // A rounding error must not take away a plane that lies in a face.
        let slack = 1e-9 * reach;
        for axis in 0..3 {
            polygon = clip(&polygon, |p| p[axis] - corner_m[axis] + slack, mix);
            polygon = clip(&polygon, |p| corner_m[axis] + size_m[axis] - p[axis] + slack, mix);
        }
        for corner in &mut polygon {
            *corner = std::array::from_fn(|a| corner[a].clamp(corner_m[a], corner_m[a] + size_m[a]));
        }
        polygon
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(frame: &Frame, polygon: &[[f64; 3]]) -> f64 {
        let flat: Vec<[f64; 2]> = polygon.iter().map(|p| frame.flat(*p)).collect();
        let twice: f64 = (0..flat.len())
            .map(|i| (flat[i], flat[(i + 1) % flat.len()]))
            .map(|(p, q)| p[0] * q[1] - p[1] * q[0])
            .sum();
        0.5 * twice.abs()
    }

    #[test]
    fn planes_cut_the_domain_in_the_right_polygons() {
        let cut = |plane: Plane, size| {
            let frame = plane.frame().unwrap();
            let polygon = frame.cut([0.0; 3], size);
            (polygon.len(), area(&frame, &polygon))
        };
        let close = |(count, area): (usize, f64), expected: f64, corners| {
            assert!(count == corners && (area - expected).abs() < 1e-6, "{count} {area}");
        };
        let z = |position_m| Plane::Axis(Slice { axis: 2, position_m });
        close(cut(z(0.5), [2.0, 1.0, 1.0]), 2.0, 4);
        close(cut(z(1.0), [2.0, 1.0, 1.0]), 2.0, 4);
        assert_eq!(cut(z(1.1), [2.0, 1.0, 1.0]).0, 0);
        // Through the middle of a cube along its diagonal: a regular hexagon of edge 1/sqrt 2.
        let diagonal = Plane::Free { point_m: [0.5; 3], normal: [3.0; 3] };
        close(cut(diagonal, [1.0; 3]), 0.75 * 3.0_f64.sqrt(), 6);
        let corner = Plane::Free { point_m: [0.1, 0.0, 0.0], normal: [1.0; 3] };
        close(cut(corner, [1.0; 3]), 0.01 * 3.0_f64.sqrt() / 2.0, 3);
        assert!(Plane::Free { point_m: [0.0; 3], normal: [0.0; 3] }.frame().is_none());
    }

    #[test]
    fn coordinates_in_the_plane_go_there_and_back() {
        for normal in [[0.3, -2.0, 0.4], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]] {
            let frame = Plane::Free { point_m: [0.2, 0.4, 0.6], normal }.frame().unwrap();
            let there = frame.point([0.7, -0.3]);
            assert!(dot(sub(there, frame.point_m), normal).abs() < 1e-12);
            let back = frame.flat(there);
            assert!((back[0] - 0.7).abs() < 1e-12 && (back[1] + 0.3).abs() < 1e-12);
        }
    }
}
