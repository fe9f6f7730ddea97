//! The bodies: which there are, the selected one as controls, and new ones.
//! Must not know Bevy or how a body is tessellated.

use super::edit::{self, ANY, POSITIVE};
use super::state::{Answer, DocumentFacts, Order};
use super::stream::text_line;
use super::style;
use crate::scene::{Domain, GasScene, Obstacle, Shape, Wall};
use bevy_egui::egui::{self, Ui};
use std::path::Path;

/// List of the bodies, and the controls of the selected one.
pub fn bodies(
    ui: &mut Ui,
    document: &DocumentFacts,
    gas: &mut GasScene,
    file: &mut String,
    answer: &mut Answer,
) {
    let scale = gas.domain.size_m.iter().copied().fold(0.0, f64::max);
    if gas.obstacles.is_empty() {
        style::paragraph(
            ui,
            style::faint("No body in the flow. Add one below, or drop an STL file on the window."),
        );
    }
    for (i, body) in gas.obstacles.iter().enumerate() {
        let chosen = document.selected == Some(i);
        let line = format!("{}   {}", body.name, shape_name(&body.shape));
        if ui.selectable_label(chosen, line).clicked() {
            answer.order(Order::Select((!chosen).then_some(i)));
        }
    }
    if let Some(index) = document.selected
        && let Some(body) = gas.obstacles.get_mut(index)
    {
        ui.separator();
        controls(ui, document, body, index, scale, answer);
        ui.horizontal(|ui| {
            if ui.button("Duplicate").on_hover_text("A second one beside it").clicked() {
                answer.order(Order::Duplicate(index));
            }
            if ui.button("Delete").clicked() {
                answer.order(Order::Delete(index));
            }
            style::cost(ui, document.cost(|gas| gas.obstacles.clear()));
        });
    }
    ui.separator();
    add(ui, document, &gas.domain, file, answer);
}

fn controls(
    ui: &mut Ui,
    document: &DocumentFacts,
    body: &mut Obstacle,
    index: usize,
    scale: f64,
    answer: &mut Answer,
) {
    let cost = |change: fn(&mut Obstacle)| {
        document.cost(|gas| gas.obstacles.get_mut(index).map(change).unwrap_or_default())
    };
    let (named, placed) = (cost(|body| body.name.push('.')), cost(|body| body.position_m[0] += 1.0));
    edit::grid(ui, "body", |ui| {
        edit::row(ui, "name", "Unique in the scene; results are listed under it", named, |ui| {
            text_line(ui, &format!("body {index}"), &mut body.name);
        });
        edit::row(ui, "position, m", "Of its origin", placed, |ui| {
            edit::vector(ui, answer, &mut body.position_m, ANY, scale);
        });
        edit::row(ui, "rotation, °", "About x, then y, then z", placed, |ui| {
            edit::vector(ui, answer, &mut body.rotation_deg, -360.0..=360.0, 100.0);
        });
        for (label, value, unit) in parameters(&mut body.shape) {
            edit::row(ui, label, "", placed, |ui| edit::number(ui, answer, value, unit, POSITIVE));
        }
        if let Shape::Group { parts } = &body.shape {
            edit::row(ui, "parts", "Edit the parts in the file", placed, |ui| {
                ui.label(format!("{}", parts.len()));
            });
        }
        if let Shape::Mesh { file, .. } = &body.shape {
            edit::row(ui, "file", file, placed, |ui| {
                ui.add(egui::Label::new(file.as_str()).truncate());
            });
        }
        wall(ui, document, body, index, answer);
    });
}

fn wall(ui: &mut Ui, document: &DocumentFacts, body: &mut Obstacle, index: usize, answer: &mut Answer) {
    let cost = document.cost(|gas| {
        if let Some(body) = gas.obstacles.get_mut(index) {
            body.wall = match body.wall {
                Wall::Specular => Wall::default(),
                Wall::Diffuse { .. } => Wall::Specular,
            };
        }
    });
    edit::row(ui, "wall", "Mirror: molecules keep their energy", cost, |ui| {
        let mut mirror = body.wall == Wall::Specular;
        if ui.checkbox(&mut mirror, "specular").changed() {
            body.wall = if mirror { Wall::Specular } else { Wall::default() };
        }
    });
    if let Wall::Diffuse { temperature_k, accommodation } = &mut body.wall {
        edit::row(ui, "temperature", "Of the wall", cost, |ui| {
            edit::number(ui, answer, temperature_k, "K", 0.1..=1e6);
        });
        edit::row(
            ui,
            "accommodation",
            "This share leaves at the wall's temperature, the rest is mirrored",
            cost,
            |ui| {
                edit::share(ui, answer, accommodation);
            },
        );
    }
}

/// The numbers of a shape: label, value, unit.
fn parameters(shape: &mut Shape) -> Vec<(&'static str, &mut f64, &'static str)> {
    match shape {
        Shape::Sphere { radius_m } => vec![("radius", radius_m, "m")],
        Shape::Plate { chord_m, span_m } => vec![("chord (x)", chord_m, "m"), ("span (z)", span_m, "m")],
        Shape::Box { size_m: [x, y, z] } => {
            vec![("length (x)", x, "m"), ("height (y)", y, "m"), ("width (z)", z, "m")]
        }
        Shape::Cylinder { radius_m, height_m } => {
            vec![("radius", radius_m, "m"), ("length (z)", height_m, "m")]
        }
        Shape::Capsule { radius_m, length_m } => {
            vec![("radius", radius_m, "m"), ("length (x)", length_m, "m")]
        }
        Shape::Cone { radius_m, height_m } => {
            vec![("radius", radius_m, "m"), ("height (x)", height_m, "m")]
        }
        Shape::Group { .. } => Vec::new(),
        Shape::Mesh { scale, .. } => vec![("metres a unit", scale, "")],
    }
}

/// What a shape is called.
pub fn shape_name(shape: &Shape) -> &'static str {
    match shape {
        Shape::Sphere { .. } => "sphere",
        Shape::Plate { .. } => "plate",
        Shape::Box { .. } => "box",
        Shape::Cylinder { .. } => "cylinder",
        Shape::Capsule { .. } => "capsule",
        Shape::Cone { .. } => "cone",
        Shape::Group { .. } => "group",
        Shape::Mesh { .. } => "triangles",
    }
}

/// The shapes that can be added, of a size that fits the domain.
pub fn new_shapes(domain: &Domain) -> [Shape; 6] {
    let size = domain.size_m.iter().copied().fold(f64::INFINITY, f64::min);
    let (radius_m, length) = (0.1 * size, 0.3 * size);
    [
        Shape::Sphere { radius_m },
        Shape::Plate { chord_m: length, span_m: length },
        Shape::Box { size_m: [0.2 * size; 3] },
        Shape::Cylinder { radius_m, height_m: length },
        Shape::Capsule { radius_m, length_m: 0.2 * size },
        Shape::Cone { radius_m, height_m: length },
    ]
}

fn add(ui: &mut Ui, document: &DocumentFacts, domain: &Domain, file: &mut String, answer: &mut Answer) {
    ui.horizontal(|ui| {
        ui.label("Add");
        style::cost(
            ui,
            document.cost(|gas| {
                let shape = Shape::Sphere { radius_m: 1.0 };
                gas.obstacles.push(Obstacle {
                    name: "new".into(),
                    shape,
                    position_m: [0.0; 3],
                    rotation_deg: [0.0; 3],
                    wall: Wall::default(),
                });
            }),
        );
    });
    ui.horizontal_wrapped(|ui| {
        for shape in new_shapes(domain) {
            if ui.button(shape_name(&shape)).clicked() {
                answer.order(Order::Add(shape));
            }
        }
    });
    ui.horizontal(|ui| {
        ui.add(egui::TextEdit::singleline(file).hint_text("body.stl or .obj").desired_width(160.0));
        let ready = is_triangle_file(Path::new(file.trim()));
        let button = ui.add_enabled(ready, egui::Button::new("Add file"));
        if button
            .on_disabled_hover_text("Give the path of an .stl or .obj file, or drop one on the window")
            .clicked()
        {
            answer.order(Order::Open(file.trim().into()));
        }
    });
}

fn is_triangle_file(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    ["stl", "obj"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_bodies_fit_the_domain_and_have_numbers() {
        let domain = Domain { corner_m: [0.0; 3], size_m: [1e-6, 2e-6, 3e-6], cells: [1; 3] };
        for mut shape in new_shapes(&domain) {
            let name = shape_name(&shape);
            let numbers = parameters(&mut shape);
            assert!(
                !numbers.is_empty() && numbers.iter().all(|(_, v, _)| **v > 0.0 && **v < 0.5e-6),
                "{name}"
            );
        }
        assert!(is_triangle_file(Path::new("a/B.STL")) && !is_triangle_file(Path::new("a.ron")));
    }
}
