//! Tests of the turntable: what stays under the cursor, what fits the picture.
//! Must not need a window.

use super::*;
use crate::view::camera::{Preset, on_screen};

const ASPECT: f32 = 16.0 / 9.0;

/// Numbers from 0 to 1 that look like chance: a fixed sequence, so that a failure comes again.
fn chance(n: u32) -> impl FnMut() -> f32 {
    let mut state = 0.5 + f64::from(n) * 0.754_877_666;
    move || {
        state = (state + 0.618_033_988_749) * 1.3247 % 1.0;
        state as f32
    }
}

fn any(n: u32) -> Orbit {
    let mut next = chance(n);
    Orbit {
        target: Vec3::new(next() - 0.5, next() - 0.5, next() - 0.5),
        distance: 0.05 + 8.0 * next(),
        yaw: 7.0 * next() - 3.5,
        elevation: 3.0 * next() - 1.5,
        roll: if n.is_multiple_of(3) { 2.0 * next() - 1.0 } else { 0.0 },
        field_of_view_deg: 20.0 + 60.0 * next(),
        orthographic: n.is_multiple_of(2),
    }
}

fn near(a: Vec2, b: Vec2, what: &str) {
    assert!(a.distance(b) < 2e-4, "{what}: {a} is not {b}");
}

#[test]
fn what_is_under_the_cursor_stays_there_when_zooming() {
    for n in 0..200 {
        let mut next = chance(n);
        let (before, cursor) = (any(n), Vec2::new(1.8 * next() - 0.9, 1.8 * next() - 0.9));
        let point = before.under(cursor, ASPECT);
        near(on_screen(&before.into(), point, ASPECT), cursor, "before");
        let mut goal = before;
        goal.zoom(0.4 + 2.0 * next(), cursor, ASPECT);
        assert!(goal.distance != before.distance);
        near(on_screen(&goal.into(), point, ASPECT), cursor, "after");
        // Also on the way, as the zoom is smoothed.
        let mut way = before;
        way.approach(&goal, 0.3, false);
        near(on_screen(&way.into(), point, ASPECT), cursor, "on the way");
    }
}

#[test]
fn a_point_follows_the_cursor_that_pans() {
    for n in 0..50 {
        let (before, moved, height) = (any(n), Vec2::new(31.0, -17.0), 720.0);
        let point = before.under(Vec2::new(0.1, 0.2), ASPECT);
        let mut after = before;
        after.pan(moved, height);
        let expected = Vec2::new(0.1 + 2.0 * 31.0 / (height * ASPECT), 0.2 + 2.0 * 17.0 / height);
        near(on_screen(&after.into(), point, ASPECT), expected, "pan");
    }
}

#[test]
fn viewpoints_and_orbits_are_the_same_places() {
    let poles = [FRAC_PI_2, -FRAC_PI_2].map(|elevation| Orbit { elevation, yaw: 0.7, roll: 0.0, ..any(1) });
    for orbit in (0..200).map(any).chain(poles) {
        let view = Viewpoint::from(orbit);
        let again = Viewpoint::from(Orbit::from(view));
        let size = orbit.distance.max(1.0);
        assert!(view.eye.distance(again.eye) < 2e-5 * size, "{view:?} {again:?}");
        assert!(view.up.distance(again.up) < 2e-3, "{view:?} {again:?}");
        let rotation = view.transform().rotation;
        assert!(orbit.rotation().angle_between(rotation) < 2e-3, "{orbit:?}");
    }
    let (view, orbit) = (Viewpoint::default(), Orbit::from(Viewpoint::default()));
    assert!(
        (orbit.yaw.to_degrees() + 25.0).abs() < 1e-3 && (orbit.elevation.to_degrees() - 20.0).abs() < 1e-3
    );
    assert!(orbit.roll.abs() < 1e-5 && Viewpoint::from(orbit).eye.distance(view.eye) < 1e-5);
}

#[test]
fn orbiting_goes_with_the_cursor_and_stops_above_the_pole() {
    let mut orbit = Orbit::from(Viewpoint::orbit(0.0, 0.0, 3.0));
    orbit.turn(Vec2::new(360.0, 0.0), 720.0);
    // The front was drawn to the right: the eye went to the left.
    assert!(orbit.eye().distance(Vec3::new(-3.0, 0.0, 0.0)) < 1e-5, "{}", orbit.eye());
    orbit.turn(Vec2::new(0.0, 5000.0), 720.0);
    assert!(orbit.eye().distance(Vec3::new(0.0, 3.0, 0.0)) < 1e-5, "{}", orbit.eye());
    assert!(orbit.target == Vec3::ZERO && orbit.distance == 3.0);
}

#[test]
fn looking_about_leaves_the_eye_where_it_is() {
    for n in 0..50 {
        let mut orbit = any(n);
        let before = orbit;
        orbit.look(Vec2::new(40.0, 20.0));
        assert!(orbit.eye().distance(before.eye()) < 1e-5 * before.distance.max(1.0));
        assert!((before.yaw - orbit.yaw - 10.0_f32.to_radians()).abs() < 1e-6);
        let mut way = before;
        way.approach(&orbit, 0.5, true);
        assert!(way.eye().distance(before.eye()) < 1e-5 * before.distance.max(1.0));
    }
}

#[test]
fn smoothing_does_not_depend_on_the_frame_rate() {
    for n in 0..20 {
        let goal = any(n + 100);
        let (mut many, mut one) = (any(n), any(n));
        for _ in 0..10 {
            many.approach(&goal, 1.0 - (-0.01_f32).exp(), false);
        }
        one.approach(&goal, 1.0 - (-0.1_f32).exp(), false);
        assert!(many.eye().distance(one.eye()) < 1e-4, "{many:?} {one:?}");
        assert!(many.yaw - one.yaw < 1e-5 && one.yaw != goal.yaw);
    }
}

#[test]
fn a_framed_box_fits_and_fills_the_picture() {
    for n in 0..200 {
        let mut next = chance(n + 7);
        let low = Vec3::new(next() - 1.0, next() - 1.0, next() - 1.0);
        let box_ = [low, low + Vec3::new(0.01 + next(), 2.0 * next(), 0.3 * next())];
        let aspect = if n % 5 == 0 { 0.6 } else { ASPECT };
        let view = Viewpoint::from(any(n).framed(box_, aspect));
        let most = corners(box_).map(|corner| {
            let depth = view.transform().forward().dot(corner - view.eye);
            assert!(view.orthographic || depth > 0.0, "a corner behind the eye");
            on_screen(&view, corner, aspect).abs().max_element()
        });
        let most = most.into_iter().fold(0.0, f32::max);
        assert!((0.905..=0.913).contains(&most), "{most} of the picture, {view:?}");
    }
}

#[test]
fn the_way_between_two_views_goes_round_the_target() {
    let front = Viewpoint::orbit(0.0, 0.0, 4.0);
    for preset in Preset::ALL {
        let to = Viewpoint { orthographic: true, ..preset.of(&Viewpoint::orbit(0.0, 0.0, 1.0)) };
        for i in 0..=100 {
            let view = between(&front, &to, i as f32 / 100.0);
            let distance = view.eye.length();
            assert!((0.999..=4.001).contains(&distance), "{preset:?}: {distance}");
        }
        assert_eq!(between(&front, &to, 1.0), to);
        assert!(between(&front, &to, 0.0).eye.distance(front.eye) < 1e-5);
    }
    // Half of the way in the logarithm of the distance, half of the angle.
    let half = between(&front, &Viewpoint::orbit(90.0, 0.0, 1.0), 0.5);
    let expected = Viewpoint::orbit(45.0, 0.0, 2.0);
    assert!(half.eye.distance(expected.eye) < 1e-4, "{half:?}");
}
