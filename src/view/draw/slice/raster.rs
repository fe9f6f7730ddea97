//! A field on a plane as an image: values on a raster, and their texels.
//! Must not know Bevy.

use super::plane::{Frame, Plane};
use crate::sim::Fields;
use crate::view::draw::Colors;
use crate::view::draw::sample::{Sampler, find};

/// Most values of a raster that is finer than the cells.
const MOST: f64 = 131_072.0;
/// Values a cell, along each direction, where the raster is finer than the cells.
const FINE: f64 = 4.0;

/// Values of a field on a plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Raster {
    /// What is left of the plane in the domain: its corners, m, in order.
    pub polygon: Vec<[f64; 3]>,
    /// The same corners in the image, from 0 to 1 along its rows and its columns.
    pub places: Vec<[f64; 2]>,
    /// Values along the rows and the columns.
    pub size: [usize; 2],
    /// Values, `size[0]` a row; NaN for none.
    pub values: Vec<f32>,
}

impl Raster {
    /// Reads a field on a plane; with `smooth` interpolated between the middles of cells, else that of the cell.
    /// A plane across an axis that is not smooth has one value a cell. `None` if there is no such field, or nothing of
    /// the plane is in the domain.
    pub fn new(fields: &Fields, key: &str, plane: &Plane, smooth: bool) -> Option<Self> {
        let sampler = Sampler::new(fields, find(fields, key)?.1)?;
        let frame = plane.frame()?;
        let (corner, extent) = (fields.corner_m, fields.size_m);
        let polygon = frame.cut(corner, extent);
        let [low, high] = bounds(&frame, &polygon)?;
        let size = count(fields, plane, &frame, [high[0] - low[0], high[1] - low[1]], smooth);
        let step = [0, 1].map(|k| (high[k] - low[k]) / size[k] as f64);
        let reach = step[0].hypot(step[1]);
        let mut values = Vec::with_capacity(size[0] * size[1]);
        for row in 0..size[1] {
            for place in 0..size[0] {
                let at = [low[0] + (place as f64 + 0.5) * step[0], low[1] + (row as f64 + 0.5) * step[1]];
                let point = frame.point(at);
                // Values just outside are those at the border, so that the image can be read up to its very edge.
                let inside: [f64; 3] =
                    std::array::from_fn(|a| point[a].clamp(corner[a], corner[a] + extent[a]));
                let far = (0..3).any(|a| (inside[a] - point[a]).abs() > reach);
                let value = if far { None } else { sampler.at(inside, smooth) };
                values.push(value.unwrap_or(f32::NAN));
            }
        }
        let image = |corner: &[f64; 3]| {
            let flat = frame.flat(*corner);
            [0, 1].map(|k| (flat[k] - low[k]) / (high[k] - low[k]))
        };
        let places = polygon.iter().map(image).collect();
        Some(Self { polygon, places, size, values })
    }

    /// Red, green, blue, alpha, sRGB; the first row first. What has no value is clear, with the colour of a neighbour,
    /// so that a graphics card that reads between texels does not darken the border.
    pub fn texels(&self, colors: &Colors) -> Vec<u8> {
        let [width, height] = self.size;
        let mut texels = Vec::with_capacity(4 * self.values.len());
        for row in 0..height {
            for place in 0..width {
                let own = self.values[row * width + place];
                let (value, alpha) = if own.is_finite() { (own, 255) } else { (self.beside(place, row), 0) };
                let [r, g, b] = if value.is_finite() { colors.of(value) } else { [0; 3] };
                texels.extend([r, g, b, alpha]);
            }
        }
        texels
    }

    /// A value next to this one; NaN if none has one.
    fn beside(&self, place: usize, row: usize) -> f32 {
        let [width, height] = self.size;
        let near = [(1, 0), (0, 1), (2, 1), (1, 2), (0, 0), (2, 0), (0, 2), (2, 2)].into_iter();
        near.map(|(right, up)| (place + right, row + up))
            .filter(|&(x, y)| (1..=width).contains(&x) && (1..=height).contains(&y))
            .map(|(x, y)| self.values[(y - 1) * width + x - 1])
            .find(|value| value.is_finite())
            .unwrap_or(f32::NAN)
    }
}

/// Lower and upper corner of a polygon in the directions of its plane, m; `None` if it has no area.
pub fn bounds(frame: &Frame, polygon: &[[f64; 3]]) -> Option<[[f64; 2]; 2]> {
    let flat: Vec<[f64; 2]> = polygon.iter().map(|corner| frame.flat(*corner)).collect();
    let first = *flat.first()?;
    let bounds = flat.iter().fold([first, first], |[low, high], p| {
        [[0, 1].map(|k| low[k].min(p[k])), [0, 1].map(|k| high[k].max(p[k]))]
    });
    (0..2).all(|k| bounds[1][k] > bounds[0][k]).then_some(bounds)
}

/// How many cells a plane of this extent, m, is wide and high: those of the grid across an axis, else as many as their
/// shortest edge goes into it.
pub fn cells_across(fields: &Fields, plane: &Plane, frame: &Frame, extent_m: [f64; 2]) -> [usize; 2] {
    let steps: [f64; 3] = std::array::from_fn(|a| fields.size_m[a] / f64::from(fields.cells[a]));
    let shortest = steps.into_iter().fold(f64::INFINITY, f64::min);
    let across = |axis: &[f64; 3]| (0..3).find(|&a| axis[a] == 1.0);
    [0, 1].map(|k| {
        let step = match plane {
            Plane::Axis(_) => across(&frame.axes[k]).map_or(shortest, |a| steps[a]),
            Plane::Free { .. } => shortest,
        };
        ((extent_m[k] / step).round() as usize).max(1)
    })
}

fn count(fields: &Fields, plane: &Plane, frame: &Frame, extent_m: [f64; 2], smooth: bool) -> [usize; 2] {
    let cells = cells_across(fields, plane, frame, extent_m);
    if !smooth && matches!(plane, Plane::Axis(_)) {
        return cells;
    }
    let fine = FINE.min((MOST / (cells[0] * cells[1]) as f64).sqrt());
    cells.map(|n| ((n as f64 * fine).round() as usize).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::color::Map;
    use crate::output::slice::{Layer, Slice};
    use crate::view::testing::snapshot;

    const MIDDLE: Slice = Slice { axis: 2, position_m: 0.55 };

    #[test]
    fn a_plane_across_an_axis_has_the_values_of_its_cells() {
        let fields = snapshot().fields.unwrap();
        for slice in [MIDDLE, Slice { axis: 0, position_m: 0.3 }, Slice { axis: 1, position_m: 1.0 }] {
            let raster = Raster::new(&fields, "temperature", &Plane::Axis(slice), false).unwrap();
            let layer = Layer::new(&fields, "temperature", slice).unwrap();
            assert_eq!((raster.size, raster.values), (layer.cells, layer.values));
        }
        let outside = Plane::Axis(Slice { axis: 2, position_m: 1.5 });
        assert_eq!(Raster::new(&fields, "temperature", &outside, false), None);
        assert_eq!(Raster::new(&fields, "mass", &Plane::Axis(MIDDLE), false), None);
    }

    #[test]
    fn an_oblique_plane_reads_a_linear_field() {
        let fields = snapshot().fields.unwrap();
        let plane = Plane::Free { point_m: [1.0, 0.5, 0.5], normal: [1.0, 0.4, 0.7] };
        let raster = Raster::new(&fields, "temperature", &plane, true).unwrap();
        let frame = plane.frame().unwrap();
        let [low, high] = bounds(&frame, &raster.polygon).unwrap();
        let mut inside = 0;
        for (i, &value) in raster.values.iter().enumerate() {
            let at = [i % raster.size[0], i / raster.size[0]];
            let share = [0, 1].map(|k| (at[k] as f64 + 0.5) / raster.size[k] as f64);
            let point = frame.point([0, 1].map(|k| low[k] + share[k] * (high[k] - low[k])));
            let within = (0..3).all(|a| (0.0..=fields.size_m[a]).contains(&point[a]));
            let linear = 100.0 + 200.0 * (point[0] - 0.0625) / 1.875;
            if within {
                inside += 1;
                assert!((f64::from(value) - linear).abs() < 1e-3, "{value} at {point:?}");
            }
        }
        assert!(inside > raster.values.len() / 2);
        assert!(
            raster.polygon.iter().all(|p| (0..3).all(|a| p[a] > -1e-6 && p[a] < fields.size_m[a] + 1e-6))
        );
    }

    #[test]
    fn a_free_plane_at_the_same_place_has_the_same_values() {
        let fields = snapshot().fields.unwrap();
        let free = Plane::Free { point_m: [0.3, 0.2, 0.55], normal: [0.0, 0.0, 2.0] };
        let [free, axis] = [free, Plane::Axis(MIDDLE)]
            .map(|plane| Raster::new(&fields, "temperature", &plane, true).unwrap());
        assert_eq!(free.size, axis.size);
        let apart = free.values.iter().zip(&axis.values).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f32::max) < 1e-3);
    }

    #[test]
    fn cells_without_gas_are_clear_and_large_grids_have_a_bound() {
        let mut fields = snapshot().fields.unwrap();
        fields.columns[1].values[4 * 128] = f32::NAN;
        let raster = Raster::new(&fields, "temperature", &Plane::Axis(MIDDLE), false).unwrap();
        let colors = Colors { map: Map::Viridis, low: 100.0, high: 300.0, log: false };
        let texels = raster.texels(&colors);
        assert_eq!((texels[3], texels[7]), (0, 255));
        assert_eq!(texels[..3], texels[4..7]);
        fields.cells = [400, 400, 1];
        fields.columns[1].values = vec![1.0; 160_000];
        let raster = Raster::new(&fields, "temperature", &Plane::Axis(MIDDLE), true).unwrap();
        assert!((100_000..200_000).contains(&raster.values.len()));
    }
}
