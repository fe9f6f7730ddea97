//! The settings of the drawn things, in the world: each is shown as a copy, and written back where it was changed.
//! Must not know how anything is drawn, nor what the controls look like.

use super::drawn::{self, About};
use super::state::Answer;
use super::style;
use crate::scene::Model;
use crate::view::document::collect;
use crate::view::draw::domain::DomainFrame;
use crate::view::draw::glyph::Glyphs;
use crate::view::draw::isosurface::Isosurface;
use crate::view::draw::particles::{ParticleCloud, ParticleCount};
use crate::view::draw::slice::FieldSlice;
use crate::view::draw::streamline::Streamlines;
use crate::view::draw::surface::BodySurfaces;
use crate::view::draw::{ColorBar, Colors};
use crate::view::look::Drawn;
use bevy::ecs::component::Mutable;
use bevy::prelude::*;
use bevy_egui::egui::Ui;

/// One block a drawn thing; there can be several slices, and one of each other thing.
pub fn display(ui: &mut Ui, world: &mut World, answer: &mut Answer) {
    let Some(about) = about(world) else {
        style::paragraph(ui, style::faint("There is no scene yet."));
        return;
    };
    particles(ui, world, &about, answer);
    slices(ui, world, &about, answer);
    one::<BodySurfaces>(
        ui,
        world,
        &about,
        answer,
        "Body colours",
        |thing| &mut thing.visible,
        drawn::surfaces,
    );
    one::<Glyphs>(ui, world, &about, answer, "Velocity arrows", |thing| &mut thing.visible, drawn::glyphs);
    one::<Streamlines>(
        ui,
        world,
        &about,
        answer,
        "Streamlines",
        |thing| &mut thing.visible,
        drawn::streamlines,
    );
    one::<Isosurface>(ui, world, &about, answer, "Isosurface", |thing| &mut thing.visible, drawn::isosurface);
    one::<DomainFrame>(
        ui,
        world,
        &about,
        answer,
        "Box, axes, scale",
        |thing| &mut thing.visible,
        drawn::frame,
    );
}

/// What the controls need to know of the flow.
fn about(world: &mut World) -> Option<About> {
    let Model::Gas(gas) = collect(world)?.model;
    let (fields, tallies) = world
        .get_resource::<super::Shown>()
        .and_then(|shown| shown.state.flow.as_ref())
        .map(|flow| (flow.fields.clone(), flow.tallies.clone()))
        .unwrap_or_default();
    Some(About { domain: gas.domain, fields, tallies })
}

type Controls<C> = fn(&mut Ui, &mut C, &About, Option<&Colors>, &mut Answer);

/// A thing of which there is one: its tick shows it, and makes it when it is ticked for the first time.
fn one<C: Component<Mutability = Mutable> + Clone + PartialEq + Default>(
    ui: &mut Ui,
    world: &mut World,
    about: &About,
    answer: &mut Answer,
    title: &str,
    visible: fn(&mut C) -> &mut bool,
    controls: Controls<C>,
) {
    let mut things = world.query::<(Entity, &C, Option<&ColorBar>)>();
    let found = things.iter(world).next();
    let found = found.map(|(entity, thing, bar)| (entity, thing.clone(), bar.map(|bar| bar.colors)));
    let Some((entity, old, colors)) = found else {
        let mut shown = false;
        if ui.checkbox(&mut shown, title).changed() {
            world.spawn((Drawn, drawn::placed(C::default(), about)));
        }
        return;
    };
    let mut thing = old.clone();
    if ui.checkbox(visible(&mut thing), title).changed() {
        thing = drawn::placed(thing, about);
    }
    if *visible(&mut thing) {
        ui.indent(title, |ui| controls(ui, &mut thing, about, colors.as_ref(), answer));
    }
    write_back(world, entity, &old, thing);
}

/// The particles, with how many of them are drawn.
fn particles(ui: &mut Ui, world: &mut World, about: &About, answer: &mut Answer) {
    one::<ParticleCloud>(ui, world, about, answer, "Particles", |thing| &mut thing.visible, drawn::particles);
    let mut counts = world.query::<(&ParticleCloud, &ParticleCount)>();
    if let Some((_, count)) = counts.iter(world).find(|(cloud, _)| cloud.visible) {
        ui.label(style::faint(count.to_string()));
    }
}

fn slices(ui: &mut Ui, world: &mut World, about: &About, answer: &mut Answer) {
    let mut things = world.query::<(Entity, &FieldSlice, Option<&ColorBar>)>();
    let mut found: Vec<(Entity, FieldSlice, Option<Colors>)> = things
        .iter(world)
        .map(|(entity, slice, bar)| (entity, slice.clone(), bar.map(|bar| bar.colors)))
        .collect();
    found.sort_by_key(|(entity, ..)| *entity);
    let count = found.len();
    for (i, (entity, old, colors)) in found.into_iter().enumerate() {
        let mut slice = old.clone();
        let title = if count > 1 { format!("Slice {}", i + 1) } else { "Slice".into() };
        let mut removed = false;
        ui.horizontal(|ui| {
            ui.checkbox(&mut slice.visible, &title);
            removed = ui.small_button("remove").clicked();
        });
        if removed {
            world.despawn(entity);
            continue;
        }
        if slice.visible {
            let id = ("slice", entity.to_bits());
            ui.indent(id, |ui| {
                ui.push_id(id, |ui| drawn::slice(ui, &mut slice, about, colors.as_ref(), answer));
            });
        }
        write_back(world, entity, &old, slice);
    }
    if ui.button("Add a slice").clicked() {
        let mut slice = FieldSlice::default();
        // Across another axis than the last one, so that it is seen.
        drawn::across(&mut slice.plane, (2 + count) % 3, about);
        world.spawn((Drawn, slice));
    }
}

/// Nothing is touched where nothing was changed: what is touched is drawn anew.
fn write_back<C: Component<Mutability = Mutable> + PartialEq>(
    world: &mut World,
    entity: Entity,
    old: &C,
    new: C,
) {
    if *old != new
        && let Some(mut thing) = world.get_mut::<C>(entity)
    {
        *thing = new;
    }
}
