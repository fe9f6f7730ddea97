//! Values of a field at points: of the cell a point lies in, or interpolated between the middles of cells.
//! Must not know what is drawn.

use crate::sim::Fields;
use crate::units::Quantity;

/// A field that is read at many points.
#[derive(Debug, Clone, Copy)]
pub struct Sampler<'a> {
    fields: &'a Fields,
    values: &'a [f32],
}

/// What the values of `key` are, and the values themselves. `temperature_error` is the statistical error of
/// `temperature`. `None` if there is no such field.
pub fn find<'a>(fields: &'a Fields, key: &str) -> Option<(Quantity, &'a [f32])> {
    if let Some(column) = fields.column(key) {
        return Some((column.quantity.clone(), &column.values));
    }
    let column = fields.column(key.strip_suffix("_error")?)?;
    (!column.errors.is_empty()).then(|| (column.quantity.error(), column.errors.as_slice()))
}

/// The value of a field at a point, m: with `smooth` interpolated between the middles of cells, else that of the cell.
/// `None` for an unknown field, outside the domain, and in cells without gas.
pub fn value_at(fields: &Fields, key: &str, point_m: [f64; 3], smooth: bool) -> Option<f32> {
    Sampler::new(fields, find(fields, key)?.1)?.at(point_m, smooth)
}

/// Index of the cell in which a point lies, as in [`Fields`]; the upper faces belong to the last cells. `None` outside.
pub fn cell_at(fields: &Fields, point_m: [f64; 3]) -> Option<usize> {
    let mut index = [0; 3];
    for a in 0..3 {
        let place = (point_m[a] - fields.corner_m[a]) / fields.size_m[a];
        if !(0.0..=1.0).contains(&place) || fields.cells[a] == 0 {
            return None;
        }
        index[a] = ((place * f64::from(fields.cells[a])) as usize).min(fields.cells[a] as usize - 1);
    }
    Some(flat(fields, index))
}

fn flat(fields: &Fields, [i, j, k]: [usize; 3]) -> usize {
    (k * fields.cells[1] as usize + j) * fields.cells[0] as usize + i
}

impl<'a> Sampler<'a> {
    /// Reads `values`, one a cell of `fields`; `None` if there are fewer or more.
    pub fn new(fields: &'a Fields, values: &'a [f32]) -> Option<Self> {
        let cells: usize = fields.cells.iter().map(|&n| n as usize).product();
        (cells > 0 && values.len() == cells).then_some(Self { fields, values })
    }

    /// The value at a point, m; see [`value_at`].
    pub fn at(&self, point_m: [f64; 3], smooth: bool) -> Option<f32> {
        let own = self.values[cell_at(self.fields, point_m)?];
        if !own.is_finite() {
            return None;
        }
        Some(if smooth { self.between(point_m).unwrap_or(own) } else { own })
    }

    /// Trilinear between the eight nearest middles. Those without gas are left out and the others count for more, so
    /// that the gas beside a body keeps its value up to the body. Beyond the outermost middles it is constant.
    fn between(&self, point_m: [f64; 3]) -> Option<f32> {
        let fields = self.fields;
        let (mut low, mut share) = ([0; 3], [0.0; 3]);
        for a in 0..3 {
            let last = fields.cells[a] as usize - 1;
            let step = fields.size_m[a] / f64::from(fields.cells[a]);
            let place = ((point_m[a] - fields.corner_m[a]) / step - 0.5).clamp(0.0, last as f64);
            low[a] = (place as usize).min(last.saturating_sub(1));
            share[a] = place - low[a] as f64;
        }
        let (mut sum, mut weights) = (0.0, 0.0);
        for corner in 0..8_usize {
            let mut weight = 1.0;
            let index = std::array::from_fn(|a| {
                let upper = corner >> a & 1;
                weight *= if upper == 1 { share[a] } else { 1.0 - share[a] };
                (low[a] + upper).min(fields.cells[a] as usize - 1)
            });
            let value = f64::from(self.values[flat(fields, index)]);
            if weight > 0.0 && value.is_finite() {
                sum += weight * value;
                weights += weight;
            }
        }
        (weights > 0.0).then(|| (sum / weights) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::testing::snapshot;

    #[test]
    fn a_linear_field_is_read_exactly() {
        let fields = snapshot().fields.unwrap();
        // By cell middles 100 K at x = 1/16 m and 300 K at 31/16 m.
        for x in [0.0625, 0.1, 0.77, 1.0, 1.9] {
            let linear = (100.0 + 200.0 * (x - 0.0625) / 1.875) as f32;
            let smooth = value_at(&fields, "temperature", [x, 0.3, 0.9], true).unwrap();
            assert!((smooth - linear).abs() < 1e-3, "{smooth} {linear}");
            let cell = ((x / 0.125) as usize).min(15) as f32;
            let nearest = value_at(&fields, "temperature", [x, 0.3, 0.9], false).unwrap();
            assert!((nearest - (100.0 + 200.0 * cell / 15.0)).abs() < 1e-3);
        }
        assert_eq!(value_at(&fields, "temperature", [2.0, 1.0, 1.0], true), Some(300.0));
        assert_eq!(value_at(&fields, "temperature_error", [0.4, 0.1, 0.1], false), Some(0.5));
        assert_eq!(value_at(&fields, "mach", [1.0; 3], false), None);
        assert_eq!(value_at(&fields, "temperature", [2.01, 0.5, 0.5], true), None);
        assert_eq!(value_at(&fields, "temperature", [f64::NAN, 0.5, 0.5], true), None);
    }

    #[test]
    fn a_point_lies_in_its_cell() {
        let fields = snapshot().fields.unwrap();
        assert_eq!(cell_at(&fields, [0.2, 0.3, 0.9]), Some((7 * 8 + 2) * 16 + 1));
        assert_eq!(cell_at(&fields, [2.0, 1.0, 1.0]), Some(16 * 8 * 8 - 1));
        assert_eq!(cell_at(&fields, [-1e-9, 0.5, 0.5]), None);
    }

    #[test]
    fn cells_without_gas_have_no_value_and_do_not_spoil_their_neighbours() {
        let mut fields = snapshot().fields.unwrap();
        let hole = cell_at(&fields, [1.0, 0.5, 0.5]).unwrap();
        fields.columns[1].values[hole] = f32::NAN;
        assert_eq!(value_at(&fields, "temperature", [1.0, 0.5, 0.5], true), None);
        // Just beside the hole, where seven of eight neighbours are left.
        let beside = value_at(&fields, "temperature", [0.999, 0.5, 0.5], true).unwrap();
        let kept = value_at(&fields, "temperature", [0.9375, 0.5, 0.5], true).unwrap();
        assert!(beside.is_finite() && (beside - kept).abs() < 14.0, "{beside} {kept}");
    }
}
