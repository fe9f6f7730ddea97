//! A plane of cells through a field, and the cut of a surface by that plane.
//! Must not know colours or pixels.

use super::error::OutputError;
use super::scale::{length_unit, short};
use crate::scene::TriangleMesh;
use crate::sim::Fields;
use crate::units::Quantity;

/// Names of the axes.
pub const AXES: [&str; 3] = ["x", "y", "z"];

/// A plane across an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slice {
    /// 0, 1 or 2: the axis that it is perpendicular to.
    pub axis: usize,
    /// Where on that axis, m.
    pub position_m: f64,
}

impl std::str::FromStr for Slice {
    type Err = OutputError;

    /// Reads "z=0.55".
    fn from_str(text: &str) -> Result<Self, OutputError> {
        let wrong = || {
            OutputError::Request(format!(
                "slice \"{text}\" is not understood; write it as z=0.55 (x, y or z, metres)"
            ))
        };
        let (axis, position) = text.split_once('=').ok_or_else(wrong)?;
        let axis = AXES.iter().position(|name| *name == axis.trim()).ok_or_else(wrong)?;
        let position_m = position.trim().trim_end_matches('m').trim_end().parse().map_err(|_| wrong())?;
        Ok(Self { axis, position_m })
    }
}

/// A layer of cells as an image: row 0 is the lowest.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// What its values are.
    pub quantity: Quantity,
    /// The axis across it.
    pub axis: usize,
    /// Its middle on that axis, m.
    pub position_m: f64,
    /// The axes along its rows and its columns.
    pub axes: [usize; 2],
    /// Cells along those axes.
    pub cells: [usize; 2],
    /// Lower corner along those axes, m.
    pub corner_m: [f64; 2],
    /// Edge lengths along those axes, m.
    pub size_m: [f64; 2],
    /// Values, `cells[0]` a row; NaN for none.
    pub values: Vec<f32>,
}

impl Layer {
    /// The layer of cells in which a plane lies.
    ///
    /// Errors: [`OutputError::Request`] for an unknown field (lists those there are) and for a plane outside.
    pub fn new(fields: &Fields, key: &str, slice: Slice) -> Result<Self, OutputError> {
        let (quantity, source) = match fields.column(key) {
            Some(column) => (column.quantity.clone(), &column.values),
            None => {
                let of_error = key.strip_suffix("_error").and_then(|key| fields.column(key));
                let Some(column) = of_error.filter(|column| !column.errors.is_empty()) else {
                    let known: Vec<&str> = fields.columns.iter().map(|c| c.quantity.key.as_ref()).collect();
                    let known = known.join(", ");
                    return Err(OutputError::Request(format!(
                        "there is no field \"{key}\"; there are: {known}, and of averages their errors, such as \
                         temperature_error"
                    )));
                };
                (column.quantity.error(), &column.errors)
            }
        };
        let a = slice.axis.min(2);
        let (corner, size, count) = (fields.corner_m[a], fields.size_m[a], fields.cells[a]);
        if !(slice.position_m >= corner && slice.position_m <= corner + size) {
            let (name, from, to) = (AXES[a], short(corner), short(corner + size));
            let position = short(slice.position_m);
            return Err(OutputError::Request(format!(
                "the slice {name} = {position} m is outside the domain; {name} runs from {from} to {to} m"
            )));
        }
        let step = size / f64::from(count);
        let layer = (((slice.position_m - corner) / step) as u32).min(count.saturating_sub(1));
        let axes = match a {
            0 => [1, 2],
            1 => [0, 2],
            _ => [0, 1],
        };
        let cells = axes.map(|axis| fields.cells[axis] as usize);
        let stride = [1, fields.cells[0] as usize, fields.cells[0] as usize * fields.cells[1] as usize];
        let mut values = Vec::with_capacity(cells[0] * cells[1]);
        for row in 0..cells[1] {
            for place in 0..cells[0] {
                let cell = layer as usize * stride[a] + row * stride[axes[1]] + place * stride[axes[0]];
                values.push(source.get(cell).copied().unwrap_or(f32::NAN));
            }
        }
        Ok(Self {
            quantity,
            axis: a,
            position_m: corner + (f64::from(layer) + 0.5) * step,
            axes,
            cells,
            corner_m: axes.map(|axis| fields.corner_m[axis]),
            size_m: axes.map(|axis| fields.size_m[axis]),
            values,
        })
    }

    /// Where it is: "z = 0.55 m".
    pub fn place(&self) -> String {
        let (unit, symbol) = length_unit(self.position_m.abs().max(self.size_m[0].max(self.size_m[1])));
        format!("{} = {} {symbol}", AXES[self.axis], short(self.position_m / unit))
    }

    /// The lines in which the layer's middle plane cuts the triangles, as pairs of points in the layer's axes, m.
    pub fn cut(&self, mesh: &TriangleMesh) -> Vec<[[f64; 2]; 2]> {
        let mut lines = Vec::new();
        for triangle in &mesh.triangles {
            let corners = triangle.map(|corner| mesh.vertices.get(corner as usize));
            let [Some(a), Some(b), Some(c)] = corners else { continue };
            let mut points = Vec::new();
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let heights = [from[self.axis] - self.position_m, to[self.axis] - self.position_m];
                // A corner in the plane counts to its upper side, so that each triangle is cut twice or not at all.
                if (heights[0] < 0.0) != (heights[1] < 0.0) {
                    let t = heights[0] / (heights[0] - heights[1]);
                    points.push(self.axes.map(|axis| from[axis] + t * (to[axis] - from[axis])));
                }
            }
            if let [from, to] = points[..] {
                lines.push([from, to]);
            }
        }
        lines
    }

    /// The range that holds the values without the `tail` smallest and largest part of them; `None` without values.
    pub fn range(&self, tail: f64, positive: bool) -> Option<(f64, f64)> {
        let keep = |v: &f32| v.is_finite() && (!positive || *v > 0.0);
        let mut values: Vec<f32> = self.values.iter().copied().filter(keep).collect();
        values.sort_unstable_by(f32::total_cmp);
        let last = values.len().checked_sub(1)?;
        let skip = (tail * last as f64).floor() as usize;
        Some((f64::from(*values.get(skip)?), f64::from(*values.get(last - skip)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::Column;
    use crate::units::Quantity;

    fn fields() -> Fields {
        let column = Column {
            quantity: Quantity::new("a", "a", "a", ""),
            values: (0..24).map(|n| n as f32).collect(),
            errors: Vec::new(),
        };
        Fields {
            cells: [2, 3, 4],
            corner_m: [0.0, -1.0, 0.0],
            size_m: [2.0, 3.0, 4.0],
            columns: vec![column],
            ..Fields::default()
        }
    }

    #[test]
    fn slices_are_read() {
        let slice: Slice = "z=0.55".parse().unwrap();
        assert_eq!(slice, Slice { axis: 2, position_m: 0.55 });
        assert_eq!("y = -1e-3 m".parse::<Slice>().unwrap(), Slice { axis: 1, position_m: -1e-3 });
        for wrong in ["z", "w=1", "z=", "z=high", ""] {
            let text = wrong.parse::<Slice>().unwrap_err().to_string();
            assert!(text.contains("write it as z=0.55"), "{text}");
        }
    }

    #[test]
    fn layers_hold_the_right_cells() {
        let fields = fields();
        let layer = |axis, position_m| Layer::new(&fields, "a", Slice { axis, position_m }).unwrap();
        let z = layer(2, 1.2);
        assert_eq!((z.position_m, z.cells), (1.5, [2, 3]));
        assert_eq!(z.values, [6., 7., 8., 9., 10., 11.]);
        let y = layer(1, -1.0);
        assert_eq!((y.position_m, y.axes), (-0.5, [0, 2]));
        assert_eq!(y.values, [0., 1., 6., 7., 12., 13., 18., 19.]);
        let x = layer(0, 2.0); // the upper face belongs to the last layer
        assert_eq!(x.values, [1., 3., 5., 7., 9., 11., 13., 15., 17., 19., 21., 23.]);
    }

    #[test]
    fn wrong_requests_say_what_there_is() {
        let fields = fields();
        let error = |key, axis, position_m| {
            Layer::new(&fields, key, Slice { axis, position_m }).unwrap_err().to_string()
        };
        assert!(error("b", 2, 1.0).contains("there are: a"));
        assert!(error("a", 1, 2.5).contains("y runs from \u{2212}1 to 2 m"));
        assert!(error("a", 1, f64::NAN).contains("outside"));
    }

    #[test]
    fn the_range_leaves_out_the_tails() {
        let mut layer = Layer::new(&fields(), "a", Slice { axis: 2, position_m: 0.5 }).unwrap();
        layer.values = (0..=1000).map(|n| n as f32).collect();
        layer.values.push(f32::NAN);
        assert_eq!(layer.range(0.005, false), Some((5.0, 995.0)));
        assert_eq!(layer.range(0.0, true), Some((1.0, 1000.0)));
        layer.values = vec![f32::NAN];
        assert_eq!(layer.range(0.0, false), None);
    }

    #[test]
    fn a_plane_cuts_a_tetrahedron_in_a_triangle() {
        let mesh = TriangleMesh {
            vertices: vec![[0., 0., 0.], [2., 0., 0.], [0., 2., 0.], [0., 0., 2.]],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
            part: vec![0; 4],
            closed: true,
        };
        let layer = Layer::new(&fields(), "a", Slice { axis: 2, position_m: 0.5 }).unwrap();
        let lines = layer.cut(&mesh);
        assert_eq!(lines.len(), 3);
        let length: f64 = lines.iter().map(|[p, q]| (p[0] - q[0]).hypot(p[1] - q[1])).sum();
        assert!((length - 1.5 * (2.0 + 2.0_f64.sqrt())).abs() < 1e-12);
    }
}
