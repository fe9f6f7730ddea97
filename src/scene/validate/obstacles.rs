//! What obstacles are possible: names, shapes, places, walls.
//! Must not know devices or running state; triangle files are only looked for, not read.

use super::checker::Checker;
use super::extent::{Pose, extent};
use crate::scene::{Domain, GasScene, Obstacle, Shape, Wall};
use std::collections::HashMap;
use std::path::Path;

/// Groups in groups at most.
const MAX_GROUP_DEPTH: usize = 8;

/// Checks all obstacles; `folder` is where triangle files are looked for.
pub fn check(check: &mut Checker, gas: &GasScene, folder: &Path) {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for (i, obstacle) in gas.obstacles.iter().enumerate() {
        let path = format!("model.obstacles[{i}]");
        let name = obstacle.name.trim();
        if name.is_empty() || name.chars().any(char::is_control) {
            check.fail(
                format!("{path}.name"),
                "must not be empty, nor hold line breaks: results are listed under it",
            );
        } else if let Some(first) = names.get(name) {
            let message =
                format!("{name:?} is already the name of obstacles[{first}]: results are listed by name");
            check.fail(format!("{path}.name"), message);
        } else {
            names.insert(name, i);
        }
        check_pose(check, &path, obstacle.position_m, obstacle.rotation_deg);
        check_shape(check, &format!("{path}.shape"), &obstacle.shape, folder, 1);
        if let Wall::Diffuse { temperature_k, accommodation } = obstacle.wall {
            check.positive(format!("{path}.wall.temperature_k"), temperature_k, "K");
            let why = "it is the fraction of molecules that take on the wall's temperature";
            check.between(format!("{path}.wall.accommodation"), accommodation, 0.0, 1.0, why);
        }
        check_inside(check, &path, obstacle, &gas.domain);
    }
}

fn check_pose(check: &mut Checker, path: &str, position_m: [f64; 3], rotation_deg: [f64; 3]) {
    for axis in 0..3 {
        check.finite(format!("{path}.position_m[{axis}]"), position_m[axis]);
        check.finite(format!("{path}.rotation_deg[{axis}]"), rotation_deg[axis]);
    }
}

fn check_shape(check: &mut Checker, path: &str, shape: &Shape, folder: &Path, depth: usize) {
    let field = |name: &str| format!("{path}.{name}");
    match shape {
        Shape::Sphere { radius_m } => check.positive(field("radius_m"), *radius_m, "m"),
        Shape::Plate { chord_m, span_m } => {
            check.positive(field("chord_m"), *chord_m, "m");
            check.positive(field("span_m"), *span_m, "m");
        }
        Shape::Box { size_m } => {
            for (axis, size) in size_m.iter().enumerate() {
                check.positive(field(&format!("size_m[{axis}]")), *size, "m");
            }
        }
        Shape::Cylinder { radius_m, height_m } | Shape::Cone { radius_m, height_m } => {
            check.positive(field("radius_m"), *radius_m, "m");
            check.positive(field("height_m"), *height_m, "m");
        }
        Shape::Capsule { radius_m, length_m } => {
            check.positive(field("radius_m"), *radius_m, "m");
            check.positive(field("length_m"), *length_m, "m");
        }
        Shape::Group { parts } if depth > MAX_GROUP_DEPTH => {
            let message = format!(
                "groups are nested more than {MAX_GROUP_DEPTH} deep: join their {} parts",
                parts.len()
            );
            check.fail(path, message);
        }
        Shape::Group { parts } => {
            if parts.is_empty() {
                check.fail(field("parts"), "must not be empty: a group needs at least one part");
            }
            for (i, part) in parts.iter().enumerate() {
                let inner = field(&format!("parts[{i}]"));
                check_pose(check, &inner, part.position_m, part.rotation_deg);
                check_shape(check, &format!("{inner}.shape"), &part.shape, folder, depth + 1);
            }
        }
        Shape::Mesh { file, scale } => {
            check_file(check, field("file"), file, folder);
            check.positive(field("scale"), *scale, "m per unit of the file");
        }
    }
}

fn check_file(check: &mut Checker, field: String, file: &str, folder: &Path) {
    let extension = Path::new(file).extension().map(|e| e.to_string_lossy().to_lowercase());
    if !matches!(extension.as_deref(), Some("stl" | "obj")) {
        check.fail(field, format!("must name an .stl or .obj file, not {file:?}"));
        return;
    }
    let path = folder.join(file);
    if !path.is_file() {
        let message = format!("there is no file {}: the path is relative to the scene file", path.display());
        check.fail(field, message);
    }
}

/// Refuses an obstacle that is wholly outside the domain; one that sticks out of it is a half-model.
fn check_inside(check: &mut Checker, path: &str, obstacle: &Obstacle, domain: &Domain) {
    let fields = ["shape", "position_m", "rotation_deg"].map(|name| format!("{path}.{name}"));
    let [shape, position, rotation] = fields.each_ref().map(String::as_str);
    if !check.clean(&[shape, position, rotation, "model.domain.corner_m", "model.domain.size_m"]) {
        return;
    }
    let pose = Pose::new(obstacle.position_m, obstacle.rotation_deg);
    let Some(extent) = extent(&obstacle.shape, &pose) else { return };
    for (axis, (low, high)) in extent.into_iter().enumerate() {
        let first = domain.corner_m[axis];
        let last = first + domain.size_m[axis];
        if high <= first || low >= last {
            let axis = ["x", "y", "z"][axis];
            let message = format!(
                "the obstacle is outside the domain: it reaches from {axis} = {} to {} m, the domain from {} to {} m",
                short(low),
                short(high),
                short(first),
                short(last)
            );
            check.fail(position, message);
            return;
        }
    }
}

/// Without the last digits, which rotations and sums leave behind.
fn short(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}
