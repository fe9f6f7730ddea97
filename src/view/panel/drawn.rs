//! The controls of each drawn thing: where, which quantity, colours, opacity.
//! Must not know Bevy's world, or how a thing is drawn.

use super::edit;
use super::state::Answer;
use super::style::faint;
use crate::output::color::Map;
use crate::output::slice::Slice;
use crate::scene::Domain;
use crate::sim::Paint;
use crate::units::Quantity;
use crate::view::draw::domain::{DomainFrame, GridFaces};
use crate::view::draw::glyph::{GlyphPlace, Glyphs};
use crate::view::draw::isosurface::{Isosurface, Level, Tint};
use crate::view::draw::particles::{ParticleBlend, ParticleCloud, ParticlePaint, ParticleStyle};
use crate::view::draw::slice::{FieldSlice, Plane};
use crate::view::draw::streamline::{SPEED, Seeds, Streamlines};
use crate::view::draw::surface::{BodySurfaces, HalfSection};
use crate::view::draw::{ColorScale, Colors, Range};
use bevy_egui::egui::{ComboBox, DragValue, Slider, Ui};
use std::any::Any;

/// What the controls need to know of the flow.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// The box.
    pub domain: Domain,
    /// Fields there are.
    pub fields: Vec<Quantity>,
    /// Surface tallies there are.
    pub tallies: Vec<Quantity>,
}

const AXES: [&str; 3] = ["x", "y", "z"];

/// A new thing where it is seen: what nobody has placed yet gets a plane through the middle of the domain.
pub fn placed<C: Any>(mut thing: C, about: &About) -> C {
    let any: &mut dyn Any = &mut thing;
    if let Some(glyphs) = any.downcast_mut::<Glyphs>()
        && glyphs.place == Glyphs::default().place
        && let GlyphPlace::Plane(plane) = &mut glyphs.place
    {
        across(plane, 2, about);
    }
    thing
}

/// Puts a plane across an axis, through the middle of the domain.
pub fn across(plane: &mut Plane, axis: usize, about: &About) {
    let Domain { corner_m, size_m, .. } = &about.domain;
    *plane = Plane::Axis(Slice { axis, position_m: corner_m[axis] + 0.5 * size_m[axis] });
}

/// Particles.
pub fn particles(
    ui: &mut Ui,
    cloud: &mut ParticleCloud,
    about: &About,
    colors: Option<&Colors>,
    answer: &mut Answer,
) {
    ui.horizontal(|ui| {
        ui.label("at most");
        edit::whole(ui, answer, &mut cloud.most, 1_000..=10_000_000);
    });
    let name = match &cloud.paint {
        ParticlePaint::Value(paint) => paint.quantity().name.into_owned(),
        ParticlePaint::Field(key) => {
            let known = about.fields.iter().find(|field| field.key == *key);
            format!("{} of the cell", known.map_or(key.as_str(), short))
        }
    };
    ComboBox::from_id_salt("paint").selected_text(name).width(190.0).show_ui(ui, |ui| {
        for paint in Paint::ALL {
            ui.selectable_value(
                &mut cloud.paint,
                ParticlePaint::Value(paint),
                paint.quantity().name.into_owned(),
            );
        }
        for field in &about.fields {
            let by = ParticlePaint::Field(field.key.to_string());
            ui.selectable_value(&mut cloud.paint, by, format!("{} of the cell", short(field)));
        }
    });
    // Codes have colours of their own.
    if !matches!(&cloud.paint, ParticlePaint::Value(paint) if paint.is_code()) {
        scale(ui, "particle scale", &mut cloud.scale, colors, answer);
    }
    ui.horizontal_wrapped(|ui| {
        ui.selectable_value(&mut cloud.style, ParticleStyle::Impostor, "balls");
        ui.selectable_value(&mut cloud.style, ParticleStyle::Points, "points");
        ui.separator();
        ui.selectable_value(&mut cloud.blend, ParticleBlend::Opaque, "opaque");
        ui.selectable_value(&mut cloud.blend, ParticleBlend::Additive, "additive");
    });
    if cloud.style == ParticleStyle::Impostor {
        ui.add(
            Slider::new(&mut cloud.radius, 0.0005..=0.02).logarithmic(true).text("radius").max_decimals(4),
        );
    }
    opacity(ui, &mut cloud.opacity, answer);
}

/// A field slice.
pub fn slice(
    ui: &mut Ui,
    slice: &mut FieldSlice,
    about: &About,
    colors: Option<&Colors>,
    answer: &mut Answer,
) {
    field(ui, "field", &mut slice.field, &about.fields);
    plane(ui, &mut slice.plane, about, answer);
    scale(ui, "scale", &mut slice.scale, colors, answer);
    opacity(ui, &mut slice.opacity, answer);
    ui.checkbox(&mut slice.smooth, "interpolated");
}

/// Body surfaces.
pub fn surfaces(
    ui: &mut Ui,
    bodies: &mut BodySurfaces,
    about: &About,
    colors: Option<&Colors>,
    answer: &mut Answer,
) {
    let mut plain = bodies.tally.is_none();
    ui.checkbox(&mut plain, "plain");
    if plain {
        bodies.tally = None;
    } else {
        let tally = bodies.tally.get_or_insert_with(|| "heat_flux".into());
        field(ui, "tally", tally, &about.tallies);
        scale(ui, "tallies", &mut bodies.scale, colors, answer);
    }
    let mut open = bodies.half.is_some();
    ui.horizontal_wrapped(|ui| {
        if ui.checkbox(&mut open, "cut open across").changed() {
            bodies.half = open.then_some(HalfSection { axis: 2, position_m: None });
        }
        if let Some(half) = &mut bodies.half {
            axis(ui, &mut half.axis);
        }
    });
}

/// Velocity arrows.
pub fn glyphs(ui: &mut Ui, glyphs: &mut Glyphs, about: &About, colors: Option<&Colors>, answer: &mut Answer) {
    let mut volume = glyphs.place == GlyphPlace::Volume;
    if ui.checkbox(&mut volume, "in the whole domain").changed() {
        let mut middle = Plane::Axis(Slice { axis: 2, position_m: 0.0 });
        across(&mut middle, 2, about);
        glyphs.place = if volume { GlyphPlace::Volume } else { GlyphPlace::Plane(middle) };
    }
    if let GlyphPlace::Plane(place) = &mut glyphs.place {
        ui.push_id("arrows", |ui| plane(ui, place, about, answer));
    }
    ui.horizontal(|ui| {
        ui.label("every n-th cell");
        edit::whole(ui, answer, &mut glyphs.stride, 1..=64);
    });
    ui.add(Slider::new(&mut glyphs.length, 0.02..=0.6).text("length").max_decimals(2));
    scale(ui, "speeds", &mut glyphs.scale, colors, answer);
}

/// Streamlines.
pub fn streamlines(
    ui: &mut Ui,
    lines: &mut Streamlines,
    about: &About,
    colors: Option<&Colors>,
    answer: &mut Answer,
) {
    if let Seeds::Upstream(count) = &mut lines.seeds {
        ui.horizontal(|ui| {
            ui.label("from upstream");
            edit::whole(ui, answer, &mut count[0], 1..=100);
            ui.label("by");
            edit::whole(ui, answer, &mut count[1], 1..=100);
        });
    }
    ui.checkbox(&mut lines.both_ways, "both ways");
    ui.add(Slider::new(&mut lines.radius, 0.001..=0.02).text("radius").max_decimals(4));
    let fields: Vec<Quantity> = std::iter::once(SPEED).chain(about.fields.iter().cloned()).collect();
    field(ui, "lines", &mut lines.color_by, &fields);
    scale(ui, "line scale", &mut lines.colors, colors, answer);
}

/// An isosurface.
pub fn isosurface(
    ui: &mut Ui,
    surface: &mut Isosurface,
    about: &About,
    colors: Option<&Colors>,
    answer: &mut Answer,
) {
    field(ui, "iso", &mut surface.field, &about.fields);
    ui.horizontal_wrapped(|ui| {
        let mut share = matches!(surface.level, Level::Fraction(_));
        if ui.checkbox(&mut share, "share of the range").changed() {
            surface.level = if share { Level::Fraction(0.5) } else { Level::Value(1.0) };
        }
        match &mut surface.level {
            Level::Fraction(fraction) => {
                answer.dragging |= ui.add(Slider::new(fraction, 0.0..=1.0).max_decimals(2)).dragged();
            }
            Level::Value(value) => plain_number(ui, value, answer),
        }
    });
    let mut tinted = matches!(surface.tint, Tint::Field(..));
    if ui.checkbox(&mut tinted, "coloured by a field").changed() {
        surface.tint = if tinted {
            Tint::Field("temperature".into(), ColorScale::default())
        } else {
            Isosurface::default().tint
        };
    }
    if let Tint::Field(key, tint) = &mut surface.tint {
        field(ui, "tint", key, &about.fields);
        scale(ui, "tint scale", tint, colors, answer);
    }
    opacity(ui, &mut surface.opacity, answer);
}

/// The frame of the domain.
pub fn frame(ui: &mut Ui, frame: &mut DomainFrame, _: &About, _: Option<&Colors>, _: &mut Answer) {
    ui.horizontal_wrapped(|ui| {
        ui.checkbox(&mut frame.edges, "edges");
        ui.checkbox(&mut frame.axes, "axes");
        ui.checkbox(&mut frame.scale_bar, "scale bar");
    });
    ui.horizontal_wrapped(|ui| {
        ui.label("grid");
        ui.selectable_value(&mut frame.grid, None, "none");
        ui.selectable_value(&mut frame.grid, Some(GridFaces::Back), "back");
        ui.selectable_value(&mut frame.grid, Some(GridFaces::Floor), "floor");
    });
}

/// A choice of a quantity by its key. What is not known yet keeps its key.
pub fn field(ui: &mut Ui, id: &str, key: &mut String, fields: &[Quantity]) {
    let name = fields.iter().find(|field| field.key == *key).map_or(key.as_str(), |field| short(field));
    ComboBox::from_id_salt(id).selected_text(name.to_owned()).width(190.0).show_ui(ui, |ui| {
        for field in fields {
            let known: String = field.key.to_string();
            let label = if field.unit.is_empty() {
                short(field).to_owned()
            } else {
                format!("{} [{}]", short(field), field.unit)
            };
            ui.selectable_value(key, known, label);
        }
        if fields.is_empty() {
            ui.label(faint("known with the first snapshot that has fields"));
        }
    });
}

/// A name without its explanation in parentheses.
fn short(quantity: &Quantity) -> &str {
    quantity.name.split(" (").next().unwrap_or_default()
}

/// Where a plane is: across an axis, or any.
pub fn plane(ui: &mut Ui, plane: &mut Plane, about: &About, answer: &mut Answer) {
    let Domain { corner_m, size_m, cells } = &about.domain;
    ui.horizontal_wrapped(|ui| {
        ui.label("across");
        let mut chosen = match plane {
            Plane::Axis(slice) => slice.axis,
            Plane::Free { .. } => 3,
        };
        let before = chosen;
        for (i, name) in AXES.into_iter().chain(["free"]).enumerate() {
            ui.selectable_value(&mut chosen, i, name);
        }
        if chosen == 3 && before != 3 {
            let point_m = std::array::from_fn(|a| corner_m[a] + 0.5 * size_m[a]);
            *plane = Plane::Free { point_m, normal: [0.0, 1.0, 1.0] };
        } else if chosen != before {
            across(plane, chosen, about);
        }
    });
    match plane {
        Plane::Axis(slice) => {
            let a = slice.axis.min(2);
            let range = corner_m[a]..=corner_m[a] + size_m[a];
            let step = size_m[a] / f64::from(cells[a].max(1));
            let slider = Slider::new(&mut slice.position_m, range)
                .suffix(" m")
                .step_by(0.5 * step)
                .custom_formatter(|value, _| edit::digits(value));
            answer.dragging |= ui.add(slider).dragged();
        }
        Plane::Free { point_m, normal } => {
            let scale = size_m.iter().copied().fold(0.0, f64::max);
            ui.horizontal(|ui| {
                ui.label("point");
                edit::vector(ui, answer, point_m, edit::ANY, scale);
            });
            ui.horizontal(|ui| {
                ui.label("normal");
                edit::vector(ui, answer, normal, -1.0..=1.0, 5.0);
            });
        }
    }
}

/// Map, range and kind of a scale. `colors` are those that are shown, which can be locked.
pub fn scale(ui: &mut Ui, id: &str, scale: &mut ColorScale, colors: Option<&Colors>, answer: &mut Answer) {
    ui.horizontal_wrapped(|ui| {
        let name = Map::NAMES.iter().find(|(_, map)| *map == scale.map).map_or("", |(name, _)| name);
        ComboBox::from_id_salt(id).selected_text(name).width(86.0).show_ui(ui, |ui| {
            for (name, map) in Map::NAMES {
                ui.selectable_value(&mut scale.map, map, name);
            }
        });
        ui.checkbox(&mut scale.log, "log");
    });
    ui.horizontal_wrapped(|ui| {
        let locked = matches!(scale.range, Range::Locked(..));
        if ui.selectable_label(scale.range == Range::Auto, "auto").clicked() {
            scale.range = Range::Auto;
        }
        if ui.selectable_label(scale.range == Range::Symmetric, "symmetric").clicked() {
            scale.range = Range::Symmetric;
        }
        if ui
            .selectable_label(locked, "locked")
            .on_hover_text("As it is now; the ends can be changed")
            .clicked()
            && !locked
        {
            scale.range =
                colors.map_or(Range::Locked(0.0, 1.0), |colors| Range::Locked(colors.low, colors.high));
        }
    });
    if let Range::Locked(low, high) = &mut scale.range {
        ui.horizontal_wrapped(|ui| {
            plain_number(ui, low, answer);
            ui.label("to");
            plain_number(ui, high, answer);
        });
    }
}

fn plain_number(ui: &mut Ui, value: &mut f32, answer: &mut Answer) {
    let step = if value.abs() > 1e-12 { 0.01 * f64::from(value.abs()) } else { 0.01 };
    let control = DragValue::new(value)
        .speed(step)
        .custom_formatter(|value, _| edit::digits(value))
        .update_while_editing(false);
    answer.dragging |= ui.add(control).dragged();
}

fn opacity(ui: &mut Ui, opacity: &mut f32, answer: &mut Answer) {
    let slider = Slider::new(opacity, 0.0..=1.0).text("opacity").max_decimals(2);
    answer.dragging |= ui.add(slider).dragged();
}

fn axis(ui: &mut Ui, axis: &mut usize) {
    for (i, name) in AXES.into_iter().enumerate() {
        ui.selectable_value(axis, i, name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_egui::egui;

    fn about() -> About {
        About {
            domain: Domain { corner_m: [1.0, 0.0, 0.0], size_m: [2.0, 1.0, 4.0], cells: [4, 2, 8] },
            fields: vec![Quantity::new("knudsen", "local Knudsen number (VHS)", "Kn", "")],
            tallies: Vec::new(),
        }
    }

    fn texts(output: &egui::FullOutput) -> String {
        let text = |shape: &egui::epaint::ClippedShape| match &shape.shape {
            egui::Shape::Text(text) => Some(text.galley.text().to_owned()),
            _ => None,
        };
        output.shapes.iter().filter_map(text).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn new_planes_go_through_the_middle() {
        let glyphs = placed(Glyphs::default(), &about());
        assert_eq!(glyphs.place, GlyphPlace::Plane(Plane::Axis(Slice { axis: 2, position_m: 2.0 })));
        let mut plane = Plane::Free { point_m: [0.0; 3], normal: [1.0; 3] };
        across(&mut plane, 0, &about());
        assert_eq!(plane, Plane::Axis(Slice { axis: 0, position_m: 2.0 }));
    }

    #[test]
    fn controls_show_the_settings_and_change_nothing_by_themselves() {
        let (mut slice_, mut bodies) = (FieldSlice::default(), BodySurfaces::default());
        let (mut arrows, mut lines) = (Glyphs::default(), Streamlines::default());
        let mut cloud = ParticleCloud::default();
        let (mut iso, mut box_) = (Isosurface::default(), DomainFrame::default());
        bodies.scale.map = Map::Inferno;
        slice_.field = "knudsen".into();
        slice_.scale.range = Range::Locked(2.5, 7.5);
        let (about, bodies_before) = (about(), bodies.clone());
        let context = egui::Context::default();
        let mut answer = Answer::default();
        let size = egui::vec2(500.0, 1500.0);
        let mut said = String::new();
        for _ in 0..3 {
            let screen_rect = Some(egui::Rect::from_min_size(egui::Pos2::ZERO, size));
            let input = egui::RawInput { screen_rect, ..Default::default() };
            let output = context.run_ui(input, |ui| {
                particles(ui, &mut cloud, &about, None, &mut answer);
                slice(ui, &mut slice_, &about, None, &mut answer);
                surfaces(ui, &mut bodies, &about, None, &mut answer);
                glyphs(ui, &mut arrows, &about, None, &mut answer);
                streamlines(ui, &mut lines, &about, None, &mut answer);
                isosurface(ui, &mut iso, &about, None, &mut answer);
                frame(ui, &mut box_, &about, None, &mut answer);
            });
            said = texts(&output);
            output.drop_without_applying_deltas();
        }
        for text in [
            "local Knudsen number",
            "particle speed",
            "balls",
            "additive",
            "viridis",
            "inferno",
            "2.5",
            "7.5",
            "symmetric",
            "opacity",
            "free",
        ] {
            assert!(said.contains(text), "no \"{text}\" in {said}");
        }
        assert!(!said.contains("VHS") && !said.contains("use of"), "{said}");
        assert_eq!((answer.orders.len(), answer.dragging), (0, false));
        assert_eq!(cloud, ParticleCloud::default());
        assert_eq!((bodies, lines), (bodies_before, Streamlines::default()));
        assert_eq!((arrows, iso, box_), (Glyphs::default(), Isosurface::default(), DomainFrame::default()));
        assert_eq!(slice_.scale.range, Range::Locked(2.5, 7.5));
    }
}
