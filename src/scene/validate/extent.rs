//! How far a shape reaches along the axes of the scene, from its defining numbers alone.
//! Must not read triangle files, nor make triangles.

use crate::scene::Shape;
use crate::scene::mesh::transform::rotation;

/// A rotation, row by row.
type Rotation = [[f64; 3]; 3];
/// Lowest and highest coordinate along each axis, m.
pub type Extent = [(f64, f64); 3];

/// Where a shape stands: its axes and its origin in the axes of the scene.
#[derive(Debug, Clone, Copy)]
pub struct Pose {
    rotation: Rotation,
    origin: [f64; 3],
}

impl Pose {
    /// The pose of an obstacle: rotated about x, then y, then z (fixed axes, degrees), then moved to `position` (m).
    pub fn new(position: [f64; 3], rotation_deg: [f64; 3]) -> Self {
        Self { rotation: rotation(rotation_deg), origin: position }
    }

    /// The pose of what stands at `inner` in the axes of `self`.
    fn then(&self, inner: &Pose) -> Pose {
        let (a, b) = (&self.rotation, &inner.rotation);
        let rotation = a.map(|row| [0, 1, 2].map(|j| (0..3).map(|k| row[k] * b[k][j]).sum()));
        let moved = a.map(|row| (0..3).map(|k| row[k] * inner.origin[k]).sum::<f64>());
        Pose { rotation, origin: [0, 1, 2].map(|i| self.origin[i] + moved[i]) }
    }
}

/// The extent of a shape, m; none where a triangle file is part of it.
pub fn extent(shape: &Shape, pose: &Pose) -> Option<Extent> {
    if let Shape::Group { parts } = shape {
        let extents = parts.iter().map(|part| {
            let inner = Pose::new(part.position_m, part.rotation_deg);
            extent(&part.shape, &pose.then(&inner))
        });
        let extents: Vec<Extent> = extents.collect::<Option<_>>()?;
        let joined = |a: Extent, b: Extent| [0, 1, 2].map(|i| (a[i].0.min(b[i].0), a[i].1.max(b[i].1)));
        return extents.into_iter().reduce(joined);
    }
    let mut extent = [(0.0, 0.0); 3];
    for (axis, range) in extent.iter_mut().enumerate() {
        // The axis of the scene as seen from the shape is a row of the rotation.
        let direction = pose.rotation[axis];
        let low = reach(shape, direction.map(|d| -d))?;
        let high = reach(shape, direction)?;
        *range = (pose.origin[axis] - low, pose.origin[axis] + high);
    }
    Some(extent)
}

/// Support function: how far a convex shape reaches from its origin along a unit vector, m.
fn reach(shape: &Shape, [x, y, z]: [f64; 3]) -> Option<f64> {
    Some(match shape {
        Shape::Sphere { radius_m } => *radius_m,
        Shape::Plate { chord_m, span_m } => (x.abs() * chord_m + z.abs() * span_m) / 2.0,
        Shape::Box { size_m: [a, b, c] } => (x.abs() * a + y.abs() * b + z.abs() * c) / 2.0,
        Shape::Cylinder { radius_m, height_m } => radius_m * x.hypot(y) + z.abs() * height_m / 2.0,
        Shape::Capsule { radius_m, length_m } => radius_m + x.abs() * length_m / 2.0,
        Shape::Cone { radius_m, height_m } => {
            (-x * height_m / 2.0).max(x * height_m / 2.0 + radius_m * y.hypot(z))
        }
        Shape::Group { .. } | Shape::Mesh { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Part;

    fn close(found: Extent, expected: Extent) {
        for (a, b) in found.iter().zip(&expected) {
            assert!((a.0 - b.0).abs() < 1e-12 && (a.1 - b.1).abs() < 1e-12, "{found:?} is not {expected:?}");
        }
    }

    fn of(shape: Shape, position: [f64; 3], rotation: [f64; 3]) -> Extent {
        extent(&shape, &Pose::new(position, rotation)).unwrap()
    }

    #[test]
    fn each_shape_and_its_turns() {
        let (none, turn) = ([0.0; 3], [0.0, 0.0, 90.0]);
        close(
            of(Shape::Sphere { radius_m: 2.0 }, [1.0, 0.0, 0.0], turn),
            [(-1.0, 3.0), (-2.0, 2.0), (-2.0, 2.0)],
        );
        let plate = Shape::Plate { chord_m: 2.0, span_m: 4.0 };
        close(of(plate.clone(), none, none), [(-1.0, 1.0), (0.0, 0.0), (-2.0, 2.0)]);
        close(of(plate, none, turn), [(0.0, 0.0), (-1.0, 1.0), (-2.0, 2.0)]);
        let cuboid = Shape::Box { size_m: [2.0, 4.0, 6.0] };
        close(of(cuboid, none, [90.0, 0.0, 0.0]), [(-1.0, 1.0), (-3.0, 3.0), (-2.0, 2.0)]);
        let cylinder = Shape::Cylinder { radius_m: 1.0, height_m: 6.0 };
        close(of(cylinder, none, [0.0, 90.0, 0.0]), [(-3.0, 3.0), (-1.0, 1.0), (-1.0, 1.0)]);
        let capsule = Shape::Capsule { radius_m: 1.0, length_m: 4.0 };
        close(of(capsule, none, turn), [(-1.0, 1.0), (-3.0, 3.0), (-1.0, 1.0)]);
        // The apex points to -x; turned by 90 degrees about z it points to -y.
        let cone = Shape::Cone { radius_m: 1.0, height_m: 4.0 };
        close(of(cone.clone(), none, none), [(-2.0, 2.0), (-1.0, 1.0), (-1.0, 1.0)]);
        let half = 0.5_f64.sqrt();
        let slanted = of(cone, none, [0.0, 0.0, 45.0]);
        assert!((slanted[0].0 + 2.0 * half).abs() < 1e-12 && (slanted[0].1 - 3.0 * half).abs() < 1e-12);
    }

    #[test]
    fn turns_are_about_x_then_y_then_z() {
        // x-long box: about y it becomes z-long, and then about z nothing more; the other order would leave it y-long.
        let bar = Shape::Box { size_m: [6.0, 2.0, 2.0] };
        close(of(bar, [0.0; 3], [0.0, 90.0, 90.0]), [(-1.0, 1.0), (-1.0, 1.0), (-3.0, 3.0)]);
    }

    #[test]
    fn groups_join_and_turn_as_one() {
        let ball = |x| Part {
            shape: Shape::Sphere { radius_m: 1.0 },
            position_m: [x, 0.0, 0.0],
            rotation_deg: [0.0; 3],
        };
        let group = Shape::Group { parts: vec![ball(-2.0), ball(3.0)] };
        close(of(group.clone(), [0.0; 3], [0.0; 3]), [(-3.0, 4.0), (-1.0, 1.0), (-1.0, 1.0)]);
        close(of(group, [0.0, 10.0, 0.0], [0.0, 0.0, 90.0]), [(-1.0, 1.0), (7.0, 14.0), (-1.0, 1.0)]);
        let with_file = Shape::Group {
            parts: vec![Part {
                shape: Shape::Mesh { file: "a.stl".into(), scale: 1.0 },
                position_m: [0.0; 3],
                rotation_deg: [0.0; 3],
            }],
        };
        assert!(extent(&with_file, &Pose::new([0.0; 3], [0.0; 3])).is_none());
    }
}
