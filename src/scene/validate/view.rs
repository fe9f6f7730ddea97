//! What cameras are possible: bookmarks and the key frames of a path.
//! Must not know what there is to be seen.

use super::checker::Checker;
use crate::scene::mesh::vector::cross;
use crate::scene::{Camera, View};
use std::collections::HashMap;

/// Cameras work in single precision: what is closer than this part of the coordinates is one point, and the directions
/// that differ by less than this angle are one.
const SINGLE: f64 = 1e-6;

/// Checks bookmarks and path.
pub fn check(check: &mut Checker, view: &View) {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for (i, bookmark) in view.bookmarks.iter().enumerate() {
        let path = format!("view.bookmarks[{i}]");
        let name = bookmark.name.trim();
        if name.is_empty() || name.chars().any(char::is_control) {
            check.fail(
                format!("{path}.name"),
                "must not be empty, nor hold line breaks: it is chosen by its name",
            );
        } else if let Some(first) = names.get(name) {
            let message =
                format!("{name:?} is already the name of bookmarks[{first}]: give each a name of its own");
            check.fail(format!("{path}.name"), message);
        } else {
            names.insert(name, i);
        }
        check_camera(check, &format!("{path}.camera"), &bookmark.camera);
    }
    for (i, key) in view.path.iter().enumerate() {
        let field = format!("view.path[{i}].time_s");
        if !(key.time_s.is_finite() && key.time_s >= 0.0) {
            let message =
                format!("must be finite and not less than 0 s, the start of the video, not {}", key.time_s);
            check.fail(&field, message);
        } else if let Some(before) = i.checked_sub(1).and_then(|before| view.path.get(before))
            && key.time_s <= before.time_s
            && check.clean(&[&format!("view.path[{}].time_s", i - 1)])
        {
            let message = format!(
                "must be later than the key frame before it, at {} s: put them in order",
                before.time_s
            );
            check.fail(&field, message);
        }
        check_camera(check, &format!("view.path[{i}].camera"), &key.camera);
    }
}

fn check_camera(check: &mut Checker, path: &str, camera: &Camera) {
    let Camera { eye_m, target_m, up, field_of_view_deg, orthographic: _ } = camera;
    let [eye_at, target_at, up_at] = ["eye_m", "target_m", "up"].map(|name| format!("{path}.{name}"));
    for (field, values) in [(&eye_at, eye_m), (&target_at, target_m), (&up_at, up)] {
        for (axis, value) in values.iter().enumerate() {
            // Also infinite in single precision.
            if value.abs() > f64::from(f32::MAX) && value.is_finite() {
                check.fail(format!("{field}[{axis}]"), format!("is too large to be drawn: {value:e}"));
            }
            check.finite(format!("{field}[{axis}]"), *value);
        }
    }
    let why = "it is the angle from the lower to the upper edge of the picture, in degrees";
    check.between(format!("{path}.field_of_view_deg"), *field_of_view_deg, 1.0, 120.0, why);
    if !check.clean(&[&eye_at, &target_at]) {
        return;
    }
    let view: [f64; 3] = std::array::from_fn(|a| target_m[a] - eye_m[a]);
    let largest = eye_m.iter().chain(target_m).fold(0.0_f64, |most, x| most.max(x.abs()));
    if length(view) <= SINGLE * largest {
        check.fail(
            target_at,
            "is where the eye is: move one of them, so that there is a direction to look in",
        );
    } else if check.clean(&[&up_at]) {
        if length(*up) == 0.0 {
            check.fail(up_at, "has no length: write (0, 1, 0) for y upwards");
        } else {
            let (view, up) = (view.map(|x| x / length(view)), up.map(|x| x / length(*up)));
            let across = cross(view, up);
            if length(across) <= SINGLE {
                check.fail(
                    up_at,
                    "is the direction of the view: turn it, so that the picture has an upper edge",
                );
            }
        }
    }
}

fn length(v: [f64; 3]) -> f64 {
    v[0].hypot(v[1]).hypot(v[2])
}
