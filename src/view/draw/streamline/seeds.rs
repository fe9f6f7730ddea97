//! Where streamlines begin.
//! Must not know how they are traced or drawn.

use crate::sim::Fields;

/// Points through which streamlines are drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Seeds {
    /// So many by so many points over the whole side of the domain on which the gas flows in.
    Upstream([u32; 2]),
    /// So many by so many points over the domain's cross-section.
    Plane {
        /// The axis across it: 0, 1 or 2.
        axis: usize,
        /// Where on that axis, m.
        position_m: f64,
        /// Points along the two other axes, in their order.
        count: [u32; 2],
    },
    /// Points along a line, its ends among them.
    Line {
        /// One end, m.
        from_m: [f64; 3],
        /// The other end, m.
        to_m: [f64; 3],
        /// Points.
        count: u32,
    },
    /// Points all over a sphere around a body.
    Around {
        /// Middle of the body, m.
        middle_m: [f64; 3],
        /// Radius, m: somewhat larger than the body.
        radius_m: f64,
        /// Points.
        count: u32,
    },
}

/// Points at most, of all kinds: more could not be told apart.
pub const MOST: u32 = 10_000;

impl Seeds {
    /// The points, m. Of the fields only the grid and the mean velocity are looked at.
    pub fn points(&self, fields: &Fields) -> Vec<[f64; 3]> {
        match self {
            Self::Upstream(count) => {
                let (axis, forward) = stream(fields);
                // The middles of the first cells: on the face itself rounding would put some outside.
                let (edge, size) = (fields.corner_m[axis], fields.size_m[axis]);
                let half = 0.5 * size / f64::from(fields.cells[axis].max(1));
                let position_m = if forward { edge + half } else { edge + size - half };
                plane(fields, axis, position_m, *count)
            }
            Self::Plane { axis, position_m, count } => plane(fields, (*axis).min(2), *position_m, *count),
            Self::Line { from_m, to_m, count } => {
                let count = (*count).min(MOST);
                let part = |i: u32| if count > 1 { f64::from(i) / f64::from(count - 1) } else { 0.5 };
                let point = |i| std::array::from_fn(|a| from_m[a] + part(i) * (to_m[a] - from_m[a]));
                (0..count).map(point).collect()
            }
            Self::Around { middle_m, radius_m, count } => {
                let count = (*count).min(MOST);
                (0..count)
                    .map(|i| on_sphere(i, count))
                    .map(|n| std::array::from_fn(|a| middle_m[a] + radius_m * n[a]))
                    .collect()
            }
        }
    }
}

/// Points in the middles of equal rectangles over the cross-section.
fn plane(fields: &Fields, axis: usize, position_m: f64, count: [u32; 2]) -> Vec<[f64; 3]> {
    let [along, up] = [[1, 2], [0, 2], [0, 1]][axis];
    let most = f64::from(MOST).sqrt() as u32;
    let count = count.map(|count| count.min(most));
    let part = |i: u32, of: u32, a: usize| {
        fields.corner_m[a] + fields.size_m[a] * (f64::from(i) + 0.5) / f64::from(of)
    };
    let mut points = Vec::new();
    for j in 0..count[1] {
        for i in 0..count[0] {
            let mut point = [position_m; 3];
            point[along] = part(i, count[0], along);
            point[up] = part(j, count[1], up);
            points.push(point);
        }
    }
    points
}

/// Spread evenly over the unit sphere: equal steps of height, the golden angle from one to the next.
fn on_sphere(i: u32, count: u32) -> [f64; 3] {
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let height = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(count);
    let (radius, angle) = ((1.0 - height * height).sqrt(), golden * f64::from(i));
    [radius * angle.cos(), radius * angle.sin(), height]
}

/// The axis nearest to the mean velocity, and whether that points to its upper end.
fn stream(fields: &Fields) -> (usize, bool) {
    let mean = super::VELOCITY.map(|key| {
        let values = fields.column(key).map(|column| column.values.as_slice()).unwrap_or_default();
        values.iter().filter(|u| u.is_finite()).map(|&u| f64::from(u)).sum::<f64>()
    });
    let axis = (0..3).fold(0, |best, a| if mean[a].abs() > mean[best].abs() { a } else { best });
    (axis, mean[axis] >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::testing;

    #[test]
    fn a_rake_upstream_covers_the_inflow_side() {
        let mut fields = testing::snapshot().fields.unwrap();
        let points = Seeds::Upstream([2, 4]).points(&fields);
        assert_eq!(points.len(), 8);
        assert_eq!((points[0], points[7]), ([0.0625, 0.25, 0.125], [0.0625, 0.75, 0.875]));
        // The other way round.
        for value in &mut fields.columns[2].values {
            *value = -*value;
        }
        assert_eq!(Seeds::Upstream([1, 1]).points(&fields), [[2.0 - 0.0625, 0.5, 0.5]]);
    }

    #[test]
    fn lines_planes_and_spheres() {
        let fields = testing::snapshot().fields.unwrap();
        let line = Seeds::Line { from_m: [0.0; 3], to_m: [1.0, 2.0, 0.0], count: 3 };
        assert_eq!(line.points(&fields), [[0.0; 3], [0.5, 1.0, 0.0], [1.0, 2.0, 0.0]]);
        let plane = Seeds::Plane { axis: 1, position_m: 0.3, count: [2, 1] };
        assert_eq!(plane.points(&fields), [[0.5, 0.3, 0.5], [1.5, 0.3, 0.5]]);
        let around = Seeds::Around { middle_m: [1.0, 0.5, 0.5], radius_m: 0.2, count: 100 };
        let points = around.points(&fields);
        for p in &points {
            let r2 = (p[0] - 1.0).powi(2) + (p[1] - 0.5).powi(2) + (p[2] - 0.5).powi(2);
            assert!((r2.sqrt() - 0.2).abs() < 1e-12);
        }
        // Evenly: the mean of all is the middle, to a small part of the radius.
        let mean: f64 = points.iter().map(|p| p[0]).sum::<f64>() / 100.0;
        assert!((mean - 1.0).abs() < 0.02 * 0.2, "{mean}");
        // As many as a settings file may say, and not more memory than that.
        assert_eq!(Seeds::Upstream([u32::MAX; 2]).points(&fields).len(), MOST as usize);
    }
}
