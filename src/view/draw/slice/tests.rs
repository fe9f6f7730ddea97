//! Pictures of slices.
//! Only for tests.

use super::*;
use crate::output::canvas::Canvas;
use crate::output::color::Map;
use crate::view::draw::{Colors, Range};
use crate::view::testing::{self, count, shoot, snapshot};

const SIZE: [u32; 2] = [320, 200];
const MIDDLE: Plane = Plane::Axis(Slice { axis: 2, position_m: 0.5 });

fn temperature() -> FieldSlice {
    let scale = ColorScale { map: Map::Viridis, range: Range::Locked(100.0, 300.0), log: false };
    FieldSlice { field: "temperature".into(), plane: MIDDLE, scale, opacity: 1.0, ..default() }
}

fn picture(slice: FieldSlice) -> Canvas {
    shoot(SIZE, snapshot(), SlicePlugin, |world| {
        world.spawn(slice);
    })
}

/// Where a point of the plane z = 0.5 m is in the picture: the eye is 3 units before it.
fn pixel(x_m: f64, y_m: f64) -> (usize, usize) {
    let units = f64::from(SIZE[1]) / (2.0 * 3.0 * 22.5_f64.to_radians().tan());
    let x = 0.5 * f64::from(SIZE[0]) + (x_m - 1.0) * units;
    let y = 0.5 * f64::from(SIZE[1]) - (y_m - 0.5) * units;
    (x as usize, y as usize)
}

fn mean(canvas: &Canvas, (x, y): (usize, usize)) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for (dx, dy) in (0..9).map(|i| (i % 3, i / 3)) {
        let pixel = canvas.pixel(x + dx - 1, y + dy - 1).unwrap();
        (0..3).for_each(|k| sum[k] += f64::from(pixel[k]) / 9.0);
    }
    sum
}

fn kelvin(x_m: f64) -> f32 {
    (100.0 + 200.0 * (x_m - 0.0625) / 1.875) as f32
}

#[test]
fn colours_are_those_of_the_values() {
    let canvas = picture(temperature());
    let colors = Colors { map: Map::Viridis, low: 100.0, high: 300.0, log: false };
    for x in [0.2, 0.6, 1.0, 1.4, 1.8] {
        for y in [0.1, 0.5, 0.9] {
            let (drawn, expected) = (mean(&canvas, pixel(x, y)), colors.of(kelvin(x)));
            let apart = (0..3).map(|k| (drawn[k] - f64::from(expected[k])).abs()).fold(0.0, f64::max);
            assert!(apart < 4.0, "{drawn:?} instead of {expected:?} at {x}, {y}");
        }
    }
    // Its edges are those of the domain.
    let background = canvas.pixel(2, 2).unwrap();
    let ((left, _), (right, middle)) = (pixel(0.0, 0.5), pixel(2.0, 0.5));
    for (inside, outside) in [(left + 2, left - 2), (right - 2, right + 2)] {
        assert_ne!(canvas.pixel(inside, middle), Some(background));
        assert_eq!(canvas.pixel(outside, middle), Some(background));
    }
}

/// The colours along the middle of the domain: how many times they change.
fn changes(canvas: &Canvas) -> usize {
    let ((left, y), (right, _)) = (pixel(0.1, 0.5), pixel(1.9, 0.5));
    let colors: Vec<_> = (left..right).filter_map(|x| canvas.pixel(x, y)).collect();
    // More than what the screen's dithering does.
    colors.windows(2).filter(|pair| (0..3).any(|k| pair[0][k].abs_diff(pair[1][k]) > 1)).count()
}

#[test]
fn cells_have_steps_and_interpolation_has_none() {
    let gray = ColorScale { map: Map::Cividis, ..temperature().scale };
    let smooth = picture(FieldSlice { scale: gray, ..temperature() });
    let cells = picture(FieldSlice { scale: gray, smooth: false, ..temperature() });
    let steps = changes(&cells);
    assert!((14..=30).contains(&steps), "{steps} steps between 16 cells");
    assert!(changes(&smooth) > 2 * steps, "{} changes of colour", changes(&smooth));
    // Cividis grows lighter all the way; the green is its lightness, nearly.
    let ((left, y), (right, _)) = (pixel(0.1, 0.5), pixel(1.9, 0.5));
    let green: Vec<u8> = (left..right).map(|x| smooth.pixel(x, y).unwrap()[1]).collect();
    assert!(green.windows(2).all(|pair| pair[1] + 1 >= pair[0]), "{green:?}");
    assert!(green[green.len() - 1] > green[0] + 100);
}

#[test]
fn a_free_plane_at_the_same_place_looks_the_same() {
    let axis = picture(temperature());
    let free = Plane::Free { point_m: [0.2, 0.7, 0.5], normal: [0.0, 0.0, -3.0] };
    let free = picture(FieldSlice { plane: free, ..temperature() });
    let apart = axis.pixels().iter().zip(free.pixels()).map(|(a, b)| f64::from(a.abs_diff(*b)));
    let mean = apart.sum::<f64>() / axis.pixels().len() as f64;
    assert!(mean < 0.1, "{mean}");
    let tilted = Plane::Free { point_m: [1.0, 0.5, 0.5], normal: [1.0, 0.0, 1.0] };
    let tilted = picture(FieldSlice { plane: tilted, ..temperature() });
    let background = axis.pixel(2, 2).unwrap();
    let [axis, tilted] = [axis, tilted].map(|canvas| count(&canvas, |pixel| pixel != background));
    // It runs from one z face to the other within half of the domain's length.
    assert!(tilted * 3 > axis && tilted * 3 < axis * 2, "{tilted} of {axis}");
}

#[test]
fn an_unknown_field_or_a_hidden_slice_shows_nothing_and_explains_nothing() {
    for (slice, explained) in [
        (FieldSlice { field: "entropy".into(), ..temperature() }, 0),
        (FieldSlice { visible: false, ..temperature() }, 0),
        (temperature(), 1),
    ] {
        let visible = slice.visible;
        let mut studio = testing::studio(SIZE, Default::default(), SlicePlugin);
        studio.world().insert_resource(Flow::still(snapshot()));
        studio.world().spawn(slice);
        let canvas = testing::picture(&mut studio, SIZE);
        let background = canvas.pixel(2, 2).unwrap();
        assert_eq!(count(&canvas, |pixel| pixel != background) > 0, explained == 1);
        let world = studio.world();
        assert_eq!(world.query::<&ColorBar>().iter(world).count(), explained);
        assert_eq!(world.resource::<Wanted>().0.fields, visible);
    }
}

#[test]
fn a_new_snapshot_changes_the_picture_in_place_and_the_same_frame_is_the_same_picture() {
    let mut studio = testing::studio(SIZE, Default::default(), SlicePlugin);
    studio.world().insert_resource(Flow::still(snapshot()));
    let slice = studio.world().spawn(FieldSlice { opacity: 0.8, ..temperature() }).id();
    let first = testing::picture(&mut studio, SIZE);
    assert_eq!(testing::picture(&mut studio, SIZE).pixels(), first.pixels());
    let kept = |world: &mut World| {
        let material = world.get::<MeshMaterial3d<StandardMaterial>>(slice).unwrap().0.clone();
        (world.get::<Mesh3d>(slice).unwrap().0.id(), material.id(), world.resource::<Assets<Image>>().len())
    };
    let before = kept(studio.world());
    let mut hot = snapshot();
    for value in &mut hot.fields.as_mut().unwrap().columns[1].values {
        *value += 100.0;
    }
    studio.world().insert_resource(Flow::still(hot));
    let second = testing::picture(&mut studio, SIZE);
    assert_eq!(kept(studio.world()), before);
    // All of the slice is of another colour now, but what was at the upper end already.
    let background = first.pixel(2, 2).unwrap();
    let whole = count(&first, |pixel| pixel != background);
    let pairs = first.pixels().chunks(3).zip(second.pixels().chunks(3));
    let changed = pairs.filter(|(before, after)| before != after).count();
    assert!(whole > 2000 && changed * 10 > whole * 9, "{changed} of {whole}");
    studio.world().entity_mut(slice).get_mut::<FieldSlice>().unwrap().opacity = 0.2;
    assert_ne!(testing::picture(&mut studio, SIZE).pixels(), second.pixels());
}
