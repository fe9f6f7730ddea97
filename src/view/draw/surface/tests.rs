//! Pictures of bodies.
//! Only for tests.

use super::*;
use crate::output::canvas::Canvas;
use crate::scene::Shape;
use crate::view::camera::Viewpoint;
use crate::view::draw::Range;
use crate::view::testing::{self, count, snapshot};

const SIZE: [u32; 2] = [240, 240];

/// Close to the sphere, along -z.
fn close() -> Viewpoint {
    Viewpoint::default().along(Vec3::NEG_Z, 0.4)
}

fn one_two() -> BodySurfaces {
    let scale = ColorScale { map: Map::Diverging, range: Range::Locked(1.0, 2.0), log: false };
    BodySurfaces { scale, ..Default::default() }
}

fn shoot(surfaces: BodySurfaces) -> Canvas {
    let mut studio = testing::studio(SIZE, close(), SurfacePlugin);
    studio.world().insert_resource(Flow::still(snapshot()));
    studio.world().spawn(surfaces);
    testing::picture(&mut studio, SIZE)
}

fn red([r, _, b]: [u8; 3]) -> bool {
    r > b.saturating_add(40)
}

fn blue([r, _, b]: [u8; 3]) -> bool {
    b > r.saturating_add(40)
}

/// Share of the pixels of the left and of the right half of the picture that `is` says yes to.
fn halves(canvas: &Canvas, is: impl Fn([u8; 3]) -> bool) -> [f64; 2] {
    let (width, height) = (canvas.width(), canvas.height());
    [0..width / 2, width / 2..width].map(|columns| {
        let pixels = columns.flat_map(|x| (0..height).map(move |y| (x, y)));
        let found = pixels.filter(|&(x, y)| canvas.pixel(x, y).is_some_and(&is)).count();
        2.0 * found as f64 / (width * height) as f64
    })
}

#[test]
fn the_halves_of_the_sphere_have_the_colours_of_their_heat_flux() {
    let canvas = shoot(one_two());
    let ([blue_left, blue_right], [red_left, red_right]) = (halves(&canvas, blue), halves(&canvas, red));
    // Radius 0.1 seen from 0.4: a disc of tan(asin(1/4)) in a picture of tan(22.5 degrees), 31 % of the pixels.
    assert!(
        (0.26..0.36).contains(&blue_left) && (0.26..0.36).contains(&red_right),
        "{blue_left} {red_right}"
    );
    assert!(blue_right < 0.01 && red_left < 0.01, "{blue_right} {red_left}");
    let plain = shoot(BodySurfaces { tally: None, ..one_two() });
    let background = plain.pixel(2, 2).unwrap();
    let gray = |pixel: [u8; 3]| pixel != background && !red(pixel) && !blue(pixel);
    assert!(halves(&plain, gray).iter().all(|share| (0.26..0.36).contains(share)));
}

#[test]
fn a_half_section_shows_the_inside() {
    let half = |axis, position_m| {
        let half = Some(HalfSection { axis, position_m });
        shoot(BodySurfaces { half, ..one_two() })
    };
    let whole = shoot(one_two());
    let background = whole.pixel(2, 2).unwrap();
    let drawn = |canvas: &Canvas| count(canvas, |pixel| pixel != background) as f64;
    // Cut across the line of sight: the rear half is a little further away, so its outline is smaller.
    let open = half(2, None);
    let share = drawn(&open) / drawn(&whole);
    let expected = 0.25_f64.powi(2) / 0.25_f64.asin().tan().powi(2);
    assert!((share - expected).abs() < 0.02, "{share} instead of {expected}");
    let [left, right] = halves(&open, blue);
    assert!(left > 0.25 && right < 0.01, "the inside is not coloured: {left} {right}");
    assert_ne!(open.pixels(), whole.pixels());
    // Cut across x at the middle, from the side of larger x: only the blue half is left.
    let mut studio =
        testing::studio(SIZE, Viewpoint { eye: Vec3::new(0.05, 0.0, 0.4), ..close() }, SurfacePlugin);
    studio.world().insert_resource(Flow::still(snapshot()));
    let half = Some(HalfSection { axis: 0, position_m: None });
    studio.world().spawn(BodySurfaces { half, ..one_two() });
    let right = testing::picture(&mut studio, SIZE);
    // Triangles across the plane belong to the red side: a thin rim of them is left.
    let (kept, rim) = (count(&right, blue), count(&right, red));
    assert!(kept > 3000 && 10 * rim < kept, "{kept} {rim}");
    // The camera goes to the other side, and the other half is cut away.
    let world = studio.world();
    let mut cameras = world.query_filtered::<&mut Transform, With<Camera3d>>();
    cameras.single_mut(world).unwrap().translation.x = -0.05;
    let left = testing::picture(&mut studio, SIZE);
    let (kept, rim) = (count(&left, red), count(&left, blue));
    assert!(kept > 3000 && 10 * rim < kept, "{kept} {rim}");
}

#[test]
fn bodies_of_the_document_are_there_before_any_snapshot_and_stand_where_they_are_moved() {
    let mut studio = testing::studio(SIZE, close(), SurfacePlugin);
    let world = studio.world();
    let settings = world.spawn(one_two()).id();
    let at = |x| Placement { position_m: [x, 0.5, 0.5], rotation_deg: [0.0; 3] };
    let shape = BodyShape(Shape::Sphere { radius_m: 0.1 });
    let body = world.spawn((BodyIndex(0), shape, at(1.0))).id();
    let first = testing::picture(&mut studio, SIZE);
    let background = first.pixel(2, 2).unwrap();
    let gray = |pixel: [u8; 3]| pixel != background && !red(pixel) && !blue(pixel);
    assert!(halves(&first, gray).iter().all(|share| (0.26..0.36).contains(share)));
    let world = studio.world();
    assert_eq!(world.query::<&DrawnBody>().single(world).unwrap().index, 0);
    assert!(world.get::<ColorBar>(settings).is_none());

    // The values come, of the same triangles.
    studio.world().insert_resource(Flow::still(snapshot()));
    let colored = testing::picture(&mut studio, SIZE);
    assert!(halves(&colored, blue)[0] > 0.26 && halves(&colored, red)[1] > 0.26);
    assert!(studio.world().get::<ColorBar>(settings).is_some());
    assert_eq!(testing::picture(&mut studio, SIZE).pixels(), colored.pixels());

    studio.world().entity_mut(body).insert(at(1.15));
    let moved = testing::picture(&mut studio, SIZE);
    let [left, right] = halves(&moved, |pixel| pixel != background);
    // Of its disc, 62 % of a half, 60 % are still in the picture, which ends 0.166 units from the middle.
    assert!(left < 0.02 && (0.32..0.42).contains(&right), "{left} {right}");

    studio.world().entity_mut(body).despawn();
    studio.world().spawn((BodyIndex(1), BodyShape(Shape::Box { size_m: [0.05; 3] }), at(1.0)));
    let replaced = testing::picture(&mut studio, SIZE);
    // Its front face, 0.05 wide at 0.375.
    let face = (0.05 / (2.0 * 0.375 * 22.5_f64.to_radians().tan())).powi(2) * f64::from(SIZE[0] * SIZE[1]);
    let drawn = count(&replaced, |pixel| pixel != background) as f64;
    assert!((drawn / face - 1.0).abs() < 0.1, "{drawn} instead of {face}");
    let world = studio.world();
    assert_eq!(world.query::<&DrawnBody>().single(world).unwrap().index, 1);
}
