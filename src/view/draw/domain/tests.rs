//! Pictures of the frame.
//! Only for tests.

use super::*;
use crate::output::canvas::Canvas;
use crate::view::camera::Viewpoint;
use crate::view::testing::{self, count, snapshot, stage};

const SIZE: [u32; 2] = [320, 200];
const NONE: DomainFrame =
    DomainFrame { visible: true, edges: false, grid: None, axes: false, scale_bar: false };

fn shoot(frame: DomainFrame, viewpoint: Viewpoint) -> Canvas {
    let mut studio = testing::studio(SIZE, viewpoint, DomainPlugin);
    studio.world().insert_resource(Flow::still(snapshot()));
    studio.world().spawn(frame);
    let first = testing::picture(&mut studio, SIZE);
    assert_eq!(testing::picture(&mut studio, SIZE).pixels(), first.pixels());
    first
}

fn front() -> Viewpoint {
    Viewpoint::default().along(Vec3::NEG_Z, 3.0)
}

/// Where a point of the picture is seen, pixels, from three units before the middle.
fn pixel(point: Vec3) -> [f64; 2] {
    let units = f64::from(SIZE[1]) / (2.0 * f64::from(3.0 - point.z) * 22.5_f64.to_radians().tan());
    let [x, y] = [f64::from(point.x), f64::from(point.y)];
    [0.5 * f64::from(SIZE[0]) + x * units, 0.5 * f64::from(SIZE[1]) - y * units]
}

/// Whether anything is drawn within a pixel of this place.
fn drawn_at(canvas: &Canvas, [x, y]: [f64; 2]) -> bool {
    let background = canvas.pixel(2, 2);
    let near = (0..9).map(|i| (x as usize + i % 3 - 1, y as usize + i / 3 - 1));
    near.into_iter().any(|(x, y)| canvas.pixel(x, y) != background)
}

#[test]
fn scale_bars_have_round_lengths() {
    let bar = |size: f64| scale_bar(&Stage { middle_m: [0.0; 3], size_m: [size, 1.0, 1.0] });
    assert_eq!(bar(2.0), (0.5, "0.5 m".into()));
    for (size, length, text) in [
        (1.0, 0.2, "0.2 m"),
        (0.4, 0.1, "0.1 m"),
        (0.1, 0.02, "20 mm"),
        (1e-5, 2e-6, "2 \u{b5}m"),
        (5e4, 1e4, "10 km"),
    ] {
        let (found, label) = bar(size);
        assert!((found / length - 1.0).abs() < 1e-9 && label == text, "{found} {label}");
    }
}

#[test]
fn edges_are_where_the_corners_of_the_domain_are_seen() {
    let canvas = shoot(DomainFrame { edges: true, ..NONE }, front());
    for z in [-0.5, 0.5] {
        for (x, y) in [(1.0, 0.0), (-1.0, 0.2), (0.0, 0.5), (0.3, -0.5)] {
            assert!(drawn_at(&canvas, pixel(Vec3::new(x, y, z))), "no edge at {x} {y} {z}");
        }
    }
    for (x, y) in [(0.9, 0.0), (0.0, 0.3), (0.0, 0.0), (-0.5, 0.6)] {
        assert!(!drawn_at(&canvas, pixel(Vec3::new(x, y, 0.5))), "something at {x} {y}");
    }
}

#[test]
fn the_grid_lies_on_the_faces_behind_the_flow() {
    let canvas = shoot(DomainFrame { grid: Some(GridFaces::Back), ..NONE }, front());
    for cell in 1..8 {
        let line = Vec3::new(-1.0 + 0.25 * cell as f32, 0.0625, -0.5);
        let between = line + Vec3::new(0.0625, 0.0, 0.0);
        assert!(drawn_at(&canvas, pixel(line)), "no line at {line}");
        assert!(!drawn_at(&canvas, pixel(between)), "a line at {between}");
    }
    let floor = shoot(DomainFrame { grid: Some(GridFaces::Floor), ..NONE }, front());
    let background = floor.pixel(2, 2).unwrap();
    let upper = floor.pixels().len() / 2;
    assert!(floor.pixels()[..upper].chunks_exact(3).all(|pixel| pixel == background));
    assert!(count(&floor, |pixel| pixel != background) > 500);
}

#[test]
fn axes_have_their_colours_and_letters_and_the_bar_its_length() {
    let canvas = shoot(DomainFrame { axes: true, ..NONE }, Viewpoint::default());
    let red = |[r, _, b]: [u8; 3]| r > 120 && b < 60;
    let green = |[r, g, _]: [u8; 3]| g > 100 && r < 60;
    let blue = |[r, _, b]: [u8; 3]| b > 140 && r < 140;
    for (found, name) in
        [(count(&canvas, red), "x"), (count(&canvas, green), "y"), (count(&canvas, blue), "z")]
    {
        assert!(found > 30, "{found} pixels of {name}");
    }
    let canvas = shoot(DomainFrame { scale_bar: true, ..NONE }, front());
    let background = canvas.pixel(2, 2).unwrap();
    let columns: Vec<usize> = (0..canvas.width())
        .filter(|&x| (0..canvas.height()).any(|y| canvas.pixel(x, y) != Some(background)))
        .collect();
    let place = |x_m: f64| pixel(stage().place([x_m, 0.0, 1.0]) + Vec3::Z * 0.02)[0];
    assert!((columns[0] as f64 - place(0.0)).abs() < 3.0);
    assert!((columns[columns.len() - 1] as f64 - place(0.5)).abs() < 3.0);
    let hidden = shoot(DomainFrame { visible: false, ..DomainFrame::default() }, front());
    assert_eq!(count(&hidden, |pixel| pixel != background), 0);
}
