//! Where arrows stand: every n-th cell of the domain or of a plane.
//! Must not know what arrows stand for, nor Bevy.

use super::GlyphPlace;
use crate::sim::Fields;
use crate::view::draw::slice::{Plane, bounds, cells_across};

/// Most arrows of one set.
pub const MOST_ARROWS: usize = 4096;

/// Middles of every `stride`-th cell along each direction, m; of fewer where these were more than [`MOST_ARROWS`].
/// A free plane has cells as wide as the shortest edge of those of the grid.
pub fn places(fields: &Fields, place: &GlyphPlace, stride: u32) -> Vec<[f64; 3]> {
    let stride = stride.max(1) as usize;
    if fields.cells.contains(&0) {
        return Vec::new();
    }
    match place {
        GlyphPlace::Volume => volume(fields, stride),
        GlyphPlace::Plane(plane) => on_plane(fields, plane, stride).unwrap_or_default(),
    }
}

fn volume(fields: &Fields, stride: usize) -> Vec<[f64; 3]> {
    let cells = fields.cells.map(|n| n as usize);
    let [x, y, z] = thinned(cells, stride);
    let middle =
        |a: usize, i: usize| fields.corner_m[a] + fields.size_m[a] * (i as f64 + 0.5) / cells[a] as f64;
    let mut points = Vec::with_capacity(x.len() * y.len() * z.len());
    for &k in &z {
        for &j in &y {
            points.extend(x.iter().map(|&i| [middle(0, i), middle(1, j), middle(2, k)]));
        }
    }
    points
}

fn on_plane(fields: &Fields, plane: &Plane, stride: usize) -> Option<Vec<[f64; 3]>> {
    let frame = plane.frame()?;
    let [low, high] = bounds(&frame, &frame.cut(fields.corner_m, fields.size_m))?;
    let extent = [high[0] - low[0], high[1] - low[1]];
    let cells = cells_across(fields, plane, &frame, extent);
    let [along, up] = thinned(cells, stride);
    let middle = |k: usize, i: usize| low[k] + extent[k] * (i as f64 + 0.5) / cells[k] as f64;
    let at = |i: usize, j: usize| frame.point([middle(0, i), middle(1, j)]);
    Some(up.iter().flat_map(|&j| along.iter().map(move |&i| at(i, j))).collect())
}

/// Indices of every `stride`-th cell in each direction, with as much before the first as after the last; the stride
/// grows until there are few enough of them.
fn thinned<const N: usize>(cells: [usize; N], stride: usize) -> [Vec<usize>; N] {
    let pick = |n: usize, stride: usize| {
        let count = n.div_ceil(stride);
        let first = (n - 1 - (count - 1) * stride) / 2;
        (first..n).step_by(stride).take(count)
    };
    let number = |stride: usize| cells.iter().map(|n| n.div_ceil(stride)).product::<usize>();
    let mut stride = stride;
    while number(stride) > MOST_ARROWS {
        stride += 1;
    }
    cells.map(|n| pick(n, stride).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::slice::Slice;
    use crate::view::testing::snapshot;

    #[test]
    fn every_nth_cell_has_an_arrow_in_its_middle() {
        let fields = snapshot().fields.unwrap();
        let volume = places(&fields, &GlyphPlace::Volume, 4);
        assert_eq!(volume.len(), 4 * 2 * 2);
        // Cells 1, 5, 9, 13 of 16.
        assert_eq!(volume[1], [5.5 / 8.0, 1.5 / 8.0, 1.5 / 8.0]);
        let plane = GlyphPlace::Plane(Plane::Axis(Slice { axis: 2, position_m: 0.3 }));
        let plane = places(&fields, &plane, 1);
        assert_eq!(plane.len(), 16 * 8);
        assert_eq!(plane[17], [1.5 / 8.0, 1.5 / 8.0, 0.3]);
        assert_eq!(places(&fields, &GlyphPlace::Volume, 100).len(), 1);
    }

    #[test]
    fn arrows_on_an_oblique_plane_lie_in_it_and_no_grid_gives_too_many() {
        let mut fields = snapshot().fields.unwrap();
        let plane = Plane::Free { point_m: [1.0, 0.5, 0.5], normal: [1.0, 1.0, 0.0] };
        let oblique = places(&fields, &GlyphPlace::Plane(plane), 2);
        assert!(oblique.len() > 10);
        assert!(oblique.iter().all(|p| (p[0] + p[1] - 1.5).abs() < 1e-9));
        fields.cells = [100, 100, 100];
        let many = places(&fields, &GlyphPlace::Volume, 1).len();
        assert!((MOST_ARROWS / 2..=MOST_ARROWS).contains(&many), "{many}");
    }
}
