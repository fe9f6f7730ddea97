//! Exact geometric predicates on points whose coordinates are f64 values: no rounding decides a sign.
//! Knows nothing of grids, obstacles or particles.
//!
//! Signs come from adaptive expansion arithmetic (Shewchuk 1997, "Adaptive precision floating-point
//! arithmetic and fast robust geometric predicates") in the crate `robust`.

use robust::{Coord, Coord3D};

/// A point relative to the domain's lower corner, m.
pub(super) type Point = [f64; 3];

/// A triangle's corners, counter-clockwise seen from its front.
pub(super) type Corners = [Point; 3];

/// What an exact signed crossing test of a segment found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Crossing {
    /// The segment does not meet the triangle.
    None,
    /// It passes through the inside from front to back.
    Inwards,
    /// It passes through the inside from back to front.
    Outwards,
    /// It meets an edge or a corner, or lies in the plane: another segment must be chosen.
    Degenerate,
}

/// Sign of a number, -1, 0 or 1.
#[inline]
pub(super) fn sign(value: f64) -> i32 {
    i32::from(value > 0.0) - i32::from(value < 0.0)
}

/// Position as exact f64 values.
#[inline]
pub(super) fn exact(position: [f32; 3]) -> Point {
    position.map(f64::from)
}

#[inline]
fn coordinates([x, y, z]: Point) -> Coord3D<f64> {
    Coord3D { x, y, z }
}

/// Positive where `d` sees a, b, c counter-clockwise; exactly zero where all four lie in a plane.
#[inline]
fn volume(a: Point, b: Point, c: Point, d: Point) -> f64 {
    -robust::orient3d(coordinates(a), coordinates(b), coordinates(c), coordinates(d))
}

/// The side of a triangle's plane on which a point lies: 1 the front, -1 the back, 0 in the plane.
#[inline]
pub(super) fn side(corners: &Corners, point: Point) -> i32 {
    let [a, b, c] = *corners;
    sign(volume(a, b, c, point))
}

/// Signs with which the line from p to q passes the three edges. None where two are opposite: it misses.
#[inline]
fn edges([a, b, c]: Corners, p: Point, q: Point) -> Option<[i32; 3]> {
    let first = sign(volume(p, q, a, b));
    let second = sign(volume(p, q, b, c));
    if first * second < 0 {
        return None;
    }
    let third = sign(volume(p, q, c, a));
    (first * third >= 0 && second * third >= 0).then_some([first, second, third])
}

/// Whether the line through p and q, which does not lie in the plane, meets the triangle, edges and corners included.
#[inline]
pub(super) fn pierces(corners: &Corners, p: Point, q: Point) -> bool {
    edges(*corners, p, q).is_some()
}

fn flat(point: Point, dropped: usize) -> Coord<f64> {
    Coord { x: point[(dropped + 1) % 3], y: point[(dropped + 2) % 3] }
}

fn turn(a: Point, b: Point, c: Point, dropped: usize) -> f64 {
    robust::orient2d(flat(a, dropped), flat(b, dropped), flat(c, dropped))
}

/// Whether the triangle, seen along an axis, is exactly without area.
pub(super) fn edge_on(corners: &Corners, axis: usize) -> bool {
    turn(corners[0], corners[1], corners[2], axis) == 0.0
}

/// Whether a point known to lie in the plane lies in the triangle, edges included. `dropped`: an axis along which the
/// triangle is not [`edge_on`].
fn holds([a, b, c]: &Corners, dropped: usize, point: Point) -> bool {
    let turns = [(a, b), (b, c), (c, a)].map(|(from, to)| sign(turn(*from, *to, point, dropped)));
    !(turns.contains(&1) && turns.contains(&-1))
}

/// Whether a point lies exactly on the triangle, edges included.
pub(super) fn on_triangle(corners: &Corners, dropped: usize, point: Point) -> bool {
    side(corners, point) == 0 && holds(corners, dropped, point)
}

/// Where, as a fraction of the way from p to q, a segment in the triangle's plane meets the triangle first.
/// Whether it does is exact, where is rounded.
pub(super) fn meets_in_plane(corners: &Corners, dropped: usize, p: Point, q: Point) -> Option<f64> {
    if holds(corners, dropped, p) {
        return Some(0.0);
    }
    let mut first = holds(corners, dropped, q).then_some(1.0);
    for n in 0..3 {
        let (a, b) = (corners[n], corners[(n + 1) % 3]);
        let of_ends = [turn(a, b, p, dropped), turn(a, b, q, dropped)];
        let of_edge = [sign(turn(p, q, a, dropped)), sign(turn(p, q, b, dropped))];
        let signs = of_ends.map(sign);
        if signs == [0, 0] && of_edge == [0, 0] {
            // On one line: the nearer corner of the edge, if the segment reaches it.
            for corner in [a, b] {
                if let Some(t) = along(p, q, corner) {
                    first = Some(first.map_or(t, |other: f64| other.min(t)));
                }
            }
        } else if signs[0] * signs[1] <= 0 && of_edge[0] * of_edge[1] <= 0 {
            let t = of_ends[0] / (of_ends[0] - of_ends[1]);
            first = Some(first.map_or(t, |other: f64| other.min(t)));
        }
    }
    first
}

/// Fraction of the way from p to q of a point on their line; None if it is not between them, which is exact.
fn along(p: Point, q: Point, point: Point) -> Option<f64> {
    let between = (0..3).all(|n| point[n] >= p[n].min(q[n]) && point[n] <= p[n].max(q[n]));
    let axis = (0..3).max_by(|&m, &n| (q[m] - p[m]).abs().total_cmp(&(q[n] - p[n]).abs())).unwrap_or(0);
    let length = q[axis] - p[axis];
    (between && length != 0.0).then(|| (point[axis] - p[axis]) / length)
}

/// Signed crossing of a segment whose ends are known not to lie on the triangle.
pub(super) fn crossing(corners: &Corners, p: Point, q: Point) -> Crossing {
    let (from, to) = (side(corners, p), side(corners, q));
    if from == 0 && to == 0 {
        return Crossing::Degenerate;
    }
    // An end in the plane is the only point of the segment there, and it is not on the triangle.
    if from * to >= 0 {
        return Crossing::None;
    }
    match edges(*corners, p, q) {
        None => Crossing::None,
        Some(signs) if signs.contains(&0) => Crossing::Degenerate,
        Some(_) if from > 0 => Crossing::Inwards,
        Some(_) => Crossing::Outwards,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::geometry::test_meshes::Random;

    /// The same determinant in integers, which do not round.
    fn integer_side(corners: [[i128; 3]; 3], d: [i128; 3]) -> i32 {
        let [a, b, c] = corners.map(|p| [p[0] - d[0], p[1] - d[1], p[2] - d[2]]);
        let det = a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0]);
        det.signum() as i32
    }

    #[test]
    fn side_agrees_with_integers_near_the_plane() {
        let mut random = Random::new(1);
        let unit = 2.0_f64.powi(-40);
        let mut zeros = 0;
        for _ in 0..200_000 {
            let a: [i128; 3] = std::array::from_fn(|_| i128::from(random.below(1 << 40)));
            let u: [i128; 3] = std::array::from_fn(|_| i128::from(random.below(1 << 12)));
            let v: [i128; 3] = std::array::from_fn(|_| i128::from(random.below(1 << 12)));
            let (k, l) = (i128::from(random.below(1 << 20)), i128::from(random.below(1 << 20)));
            let off = i128::from(random.below(3)) - 1;
            let add = |m: i128, n: i128| -> [i128; 3] { std::array::from_fn(|i| a[i] + m * u[i] + n * v[i]) };
            let corners = [a, add(k, 1), add(3, l)];
            let mut d = add(l, k);
            d[random.below(3) as usize] += off;
            let real = |p: [i128; 3]| p.map(|x| x as f64 * unit);
            // Looking from the front, a b c run counter-clockwise: the determinant of a-d, b-d, c-d is negative.
            let expected = -integer_side(corners, d);
            zeros += usize::from(expected == 0);
            assert_eq!(side(&corners.map(real), real(d)), expected);
        }
        assert!(zeros > 50_000, "{zeros}");
    }

    #[test]
    fn front_is_where_corners_run_counter_clockwise() {
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        assert_eq!(side(&corners, [0.2, 0.2, 1.0]), 1);
        assert_eq!(side(&corners, [0.2, 0.2, -1.0]), -1);
        assert_eq!(crossing(&corners, [0.2, 0.2, 1.0], [0.2, 0.2, -1.0]), Crossing::Inwards);
        assert_eq!(crossing(&corners, [0.2, 0.2, -1.0], [0.2, 0.2, 1.0]), Crossing::Outwards);
        assert_eq!(crossing(&corners, [0.5, 0.5, -1.0], [0.5, 0.5, 1.0]), Crossing::Degenerate);
        assert_eq!(crossing(&corners, [0.6, 0.5, -1.0], [0.6, 0.5, 1.0]), Crossing::None);
        assert_eq!(crossing(&corners, [2.0, 0.5, 0.0], [0.2, 0.2, 1.0]), Crossing::None);
    }

    #[test]
    fn segments_in_the_plane() {
        let corners = [[0.0, 0.0, 0.5], [1.0, 0.0, 0.5], [0.0, 1.0, 0.5]];
        let meets =
            |p: [f64; 2], q: [f64; 2]| meets_in_plane(&corners, 2, [p[0], p[1], 0.5], [q[0], q[1], 0.5]);
        assert_eq!(meets([-1.0, 0.25], [1.0, 0.25]), Some(0.5));
        assert_eq!(meets([-1.0, 0.25], [0.0, 0.25]), Some(1.0));
        assert_eq!(meets([-1.0, 0.25], [-0.1, 0.25]), None);
        assert_eq!(meets([-1.0, 0.0], [3.0, 0.0]), Some(0.25));
        assert_eq!(meets([-1.0, 2.0], [1.0, 0.0]), None.or(Some(0.5)));
        assert_eq!(meets([1.0, 1.0], [2.0, 2.0]), None);
        assert_eq!(meets([2.0, 2.0], [0.0, 0.0]).map(|t| (t * 100.0).round()), Some(75.0));
        assert_eq!(meets([1.5, 0.0], [1.5, 0.0]), None);
        assert!(on_triangle(&corners, 2, [0.5, 0.5, 0.5]));
        assert!(!on_triangle(&corners, 2, [0.5, 0.5000001, 0.5]));
    }
}
