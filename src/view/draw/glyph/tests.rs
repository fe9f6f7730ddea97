//! Pictures of arrows.
//! Only for tests.

use super::*;
use crate::output::canvas::Canvas;
use crate::output::color::Map;
use crate::sim::Snapshot;
use crate::view::draw::Range;
use crate::view::testing::{self, shoot, snapshot};

const SIZE: [u32; 2] = [320, 200];

/// One arrow from (0.9375, 0.4375, 0.5) m, where the velocity is `[u, v]`.
fn one(velocity: [f32; 2]) -> (Snapshot, Glyphs) {
    let mut snapshot = snapshot();
    for column in &mut snapshot.fields.as_mut().unwrap().columns {
        match column.quantity.key.as_ref() {
            "velocity_x" => column.values.fill(velocity[0]),
            "velocity_y" => column.values.fill(velocity[1]),
            _ => {}
        }
    }
    let plane = Plane::Axis(Slice { axis: 2, position_m: 0.5 });
    let scale = ColorScale { map: Map::Viridis, range: Range::Locked(0.0, 500.0), log: false };
    (snapshot, Glyphs { place: GlyphPlace::Plane(plane), stride: 16, length: 0.4, scale, ..default() })
}

/// Places of drawn pixels against the tail of the arrow: along and across it, units of the picture.
fn along(canvas: &Canvas, direction: [f64; 2]) -> Vec<[f64; 2]> {
    let units = f64::from(SIZE[1]) / (2.0 * 3.0 * 22.5_f64.to_radians().tan());
    let background = canvas.pixel(2, 2).unwrap();
    let mut places = Vec::new();
    for y in 0..canvas.height() {
        for x in 0..canvas.width() {
            // Half-covered pixels of the border are left out.
            let pixel = canvas.pixel(x, y).unwrap();
            if (0..3).map(|k| i32::from(pixel[k].abs_diff(background[k]))).sum::<i32>() > 60 {
                let right = (x as f64 + 0.5 - 0.5 * f64::from(SIZE[0])) / units + 0.0625;
                let up = (0.5 * f64::from(SIZE[1]) - y as f64 - 0.5) / units + 0.0625;
                let [u, v] = direction;
                places.push([u * right + v * up, u * up - v * right]);
            }
        }
    }
    places
}

#[test]
fn an_arrow_points_the_way_the_gas_goes() {
    for velocity in [[400.0, 0.0], [-400.0, 0.0], [0.0, -300.0], [240.0, 320.0]] {
        let (snapshot, glyphs) = one(velocity);
        let canvas = shoot(SIZE, snapshot, GlyphPlugin, |world| {
            world.spawn(glyphs);
        });
        let speed = velocity[0].hypot(velocity[1]);
        let places = along(&canvas, velocity.map(|v| f64::from(v / speed)));
        assert!(places.len() > 50, "{} pixels", places.len());
        let reach =
            places.iter().fold([f64::MAX, f64::MIN], |[low, high], p| [low.min(p[0]), high.max(p[0])]);
        assert!(reach[0] > -0.03 && reach[0] < 0.03, "the tail is at {}", reach[0]);
        assert!(reach[1] > 0.35 && reach[1] < 0.42, "the tip is at {}", reach[1]);
        let width = |from: f64, to: f64| {
            let part = places.iter().filter(|p| p[0] > from && p[0] < to);
            part.map(|p| p[1].abs()).fold(0.0, f64::max)
        };
        let (tail, head) = (width(0.02, 0.2), width(0.22, 0.3));
        assert!(head > 1.8 * tail && tail > 0.0, "{velocity:?}: head {head}, tail {tail}");
    }
}

#[test]
fn its_head_has_the_colour_of_the_speed_and_all_arrows_share_a_mesh() {
    let (snapshot, glyphs) = one([240.0, 320.0]);
    let mut studio = testing::studio(SIZE, Default::default(), GlyphPlugin);
    studio.world().insert_resource(Flow::still(snapshot));
    let entity = studio.world().spawn(Glyphs { stride: 1, ..glyphs }).id();
    let first = testing::picture(&mut studio, SIZE);
    assert_eq!(testing::picture(&mut studio, SIZE).pixels(), first.pixels());
    // 400 of 500 m/s, to within half a step of colour.
    let expected = Map::Viridis.color(0.8);
    let near = |pixel: [u8; 3]| (0..3).all(|k| pixel[k].abs_diff(expected[k]) < 8);
    assert!(testing::count(&first, near) > 1000);
    let world = studio.world();
    let handles: Vec<_> = world.query::<&Mesh3d>().iter(world).map(|mesh| mesh.0.id()).collect();
    assert_eq!(handles.len(), 128);
    assert!(handles.iter().all(|id| *id == handles[0]));
    assert_eq!(world.get::<ColorBar>(entity).map(|bar| bar.quantity.unit.as_ref()), Some("m/s"));
    world.entity_mut(entity).get_mut::<Glyphs>().unwrap().stride = 4;
    testing::picture(&mut studio, SIZE);
    let world = studio.world();
    assert_eq!(world.query::<&Mesh3d>().iter(world).count(), 8);
    world.entity_mut(entity).get_mut::<Glyphs>().unwrap().visible = false;
    let hidden = testing::picture(&mut studio, SIZE);
    let background = hidden.pixel(2, 2).unwrap();
    assert_eq!(testing::count(&hidden, |pixel| pixel != background), 0);
    assert!(studio.world().get::<ColorBar>(entity).is_none());
}
