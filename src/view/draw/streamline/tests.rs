//! Pictures of streamlines of flows known in closed form.
//! Only for tests.

use super::*;
use crate::output::canvas::Canvas;
use crate::output::color::Map;
use crate::sim::Snapshot;
use crate::view::draw::Range;
use crate::view::testing::{count, shoot, snapshot};

const SIZE: [u32; 2] = [480, 320];

/// One thick line through the middle of the domain.
fn one() -> Streamlines {
    let point = [1.0, 0.5, 0.5];
    Streamlines { seeds: Seeds::Line { from_m: point, to_m: point, count: 1 }, radius: 0.012, ..default() }
}

fn picture(snapshot: Snapshot, settings: Streamlines) -> Canvas {
    shoot(SIZE, snapshot, StreamlinePlugin, move |world| {
        world.spawn(settings);
    })
}

fn lit([r, g, b]: [u8; 3]) -> bool {
    u32::from(r) + u32::from(g) + u32::from(b) > 120
}

#[test]
fn a_uniform_flow_has_straight_lines_of_its_slope() {
    let canvas = picture(snapshot(), one());
    keep(&canvas, "one");
    // Least squares through the lit pixels: y of x, upwards.
    let mut points = Vec::new();
    for (i, pixel) in canvas.pixels().chunks_exact(3).enumerate() {
        if lit([pixel[0], pixel[1], pixel[2]]) {
            let [width, height] = SIZE.map(|size| size as usize);
            points.push(((i % width) as f64, (height - i / width) as f64));
        }
    }
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let xx: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    let xy: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let slope = xy / xx;
    assert!((slope - 0.25).abs() < 0.01, "slope {slope}");
    let away = points.iter().map(|p| (p.1 - y - slope * (p.0 - x)).abs()).fold(0.0, f64::max);
    assert!(away < 6.0, "a pixel {away} away");
    // 2 units of 2.485 in height are 320 pixels: the line goes through the whole domain.
    let ends = points.iter().fold((f64::MAX, 0.0_f64), |(a, b), p| (a.min(p.0), b.max(p.0)));
    let width = 2.0 * 320.0 / (2.0 * 3.0 * (22.5_f64).to_radians().tan());
    assert!((ends.1 - ends.0 - width).abs() < 4.0, "{ends:?} {width}");
    assert_eq!(canvas.pixels(), picture(snapshot(), one()).pixels());
}

#[test]
fn colours_are_those_of_the_field() {
    let colors = ColorScale { map: Map::Viridis, range: Range::Locked(100.0, 300.0), log: false };
    let canvas = picture(snapshot(), Streamlines { color_by: "temperature".into(), colors, ..one() });
    // Viridis: blue is more than green and red at the cold end, least at the hot end.
    let part = |left: bool, is: &dyn Fn([u8; 3]) -> bool| {
        let half = SIZE[0] as usize / 3;
        let pixels = canvas.pixels().chunks_exact(3).enumerate();
        let inside = |i: usize| if left { i % 480 < half } else { i % 480 > 480 - half };
        pixels.filter(|(i, p)| inside(*i) && lit([p[0], p[1], p[2]]) && is([p[0], p[1], p[2]])).count()
    };
    let (blue, yellow) =
        (|[r, g, b]: [u8; 3]| b > r && b > g / 2 + r / 2, |[r, g, b]: [u8; 3]| g > b && r > b);
    assert!(part(true, &blue) > 50 && part(true, &yellow) == 0);
    assert!(part(false, &yellow) > 50 && part(false, &blue) == 0);
}

#[test]
fn lines_end_where_there_is_no_gas_and_hide_when_told() {
    let mut holed = snapshot();
    // No gas at x > 1 m.
    for column in &mut holed.fields.as_mut().unwrap().columns {
        for (cell, value) in column.values.iter_mut().enumerate() {
            if cell % 16 >= 8 {
                *value = f32::NAN;
            }
        }
    }
    let canvas = picture(holed, Streamlines { seeds: Seeds::Upstream([3, 3]), ..one() });
    let right = |canvas: &Canvas| {
        let pixels = canvas.pixels().chunks_exact(3).enumerate();
        pixels.filter(|(i, p)| i % 480 > 245 && lit([p[0], p[1], p[2]])).count()
    };
    assert!(count(&canvas, lit) > 500);
    assert_eq!(right(&canvas), 0);
    assert!(right(&picture(snapshot(), one())) > 500);
    assert_eq!(count(&picture(snapshot(), Streamlines { visible: false, ..one() }), lit), 0);
}

/// Leaves the picture where a person who asks for it can look at it.
fn keep(canvas: &Canvas, name: &str) {
    let Ok(folder) = std::env::var("KNUDSEN_PICTURES") else { return };
    let mut file = std::fs::File::create(format!("{folder}/streamline_{name}.png")).unwrap();
    canvas.write_png(&mut file).unwrap();
}
