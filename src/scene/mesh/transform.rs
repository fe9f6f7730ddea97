//! Rotations and translations of meshes.
//! Knows nothing of shapes and scenes.

use super::TriangleMesh;
use super::vector::{add, dot};

/// Matrix of the rotation by `degrees[0]` about x, then `degrees[1]` about y, then `degrees[2]` about z, all about
/// axes that stay fixed: R = Rz Ry Rx, for column vectors. Whole quarter turns are exact.
pub fn rotation(degrees: [f64; 3]) -> [[f64; 3]; 3] {
    let [(sx, cx), (sy, cy), (sz, cz)] = degrees.map(sin_cos_degrees);
    [
        [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
        [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
        [-sy, cy * sx, cy * cx],
    ]
}

/// Rotates about the origin as [`rotation`] does, then moves by `translation_m`.
pub fn place(mesh: &mut TriangleMesh, degrees: [f64; 3], translation_m: [f64; 3]) {
    let matrix = rotation(degrees);
    for p in &mut mesh.vertices {
        *p = add(matrix.map(|row| dot(row, *p)), translation_m);
    }
}

fn sin_cos_degrees(degrees: f64) -> (f64, f64) {
    // A plate at 90 degrees shall lie in its plane to the last bit: reduce to an eighth turn first.
    let quarter = (degrees / 90.0).round();
    let (s, c) = libm::sincos((degrees - 90.0 * quarter).to_radians());
    match quarter.rem_euclid(4.0) as i32 {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One axis after the other, written from the textbook.
    fn turned(mut p: [f64; 3], degrees: [f64; 3]) -> [f64; 3] {
        for (axis, angle) in degrees.into_iter().enumerate() {
            let (s, c) = angle.to_radians().sin_cos();
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            (p[u], p[v]) = (c * p[u] - s * p[v], s * p[u] + c * p[v]);
        }
        p
    }

    #[test]
    fn rotates_about_x_then_y_then_z() {
        for degrees in
            [[10.0, 0.0, 0.0], [0.0, 20.0, 0.0], [0.0, 0.0, 30.0], [12.0, -75.0, 200.0], [-400.0, 91.0, 44.9]]
        {
            let p = [0.3, -0.7, 1.9];
            let mut mesh = TriangleMesh { vertices: vec![p], ..Default::default() };
            place(&mut mesh, degrees, [1.0, 2.0, 3.0]);
            let expected = turned(p, degrees);
            for k in 0..3 {
                assert!((mesh.vertices[0][k] - expected[k] - [1.0, 2.0, 3.0][k]).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn quarter_turns_are_exact() {
        assert_eq!(rotation([0.0, 0.0, 90.0]), [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
        assert_eq!(rotation([180.0, 0.0, 0.0])[1], [0.0, -1.0, 0.0]);
        assert_eq!(rotation([0.0, -90.0, 0.0])[0], [0.0, 0.0, -1.0]);
    }
}
