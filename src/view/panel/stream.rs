//! The stream, the box and the run of the scene as controls, each with what it costs.
//! Must not know Bevy or what the simulation does with them.

use super::edit::{self, ANY, POSITIVE};
use super::state::{Answer, DocumentFacts};
use crate::scene::{
    Density, Face, Faces, GasScene, Reference, Sampling, Scene, Scheme, Start, TimeStep, Velocity,
};
use bevy_egui::egui::Ui;

/// The undisturbed gas. The flow goes on while it changes.
pub fn stream(ui: &mut Ui, document: &DocumentFacts, gas: &mut GasScene, answer: &mut Answer) {
    let cost = document.cost(|gas| gas.stream.incidence_deg += 1.0);
    let stream = &mut gas.stream;
    edit::grid(ui, "stream", |ui| {
        let speed = match stream.velocity {
            Velocity::Mach(_) => "Mach number",
            Velocity::MetersPerSecond(_) => "speed",
        };
        edit::row(ui, speed, "Speed of the undisturbed gas", cost, |ui| match &mut stream.velocity {
            Velocity::Mach(mach) => edit::number(ui, answer, mach, "", 0.0..=1e3),
            Velocity::MetersPerSecond(speed) => edit::number(ui, answer, speed, "m/s", 0.0..=1e6),
        });
        edit::row(ui, "incidence", "Turns the stream downwards (-y)", cost, |ui| {
            edit::angle(ui, answer, &mut stream.incidence_deg, 90.0);
        });
        edit::row(ui, "side-slip", "Turns the stream sideways (+z)", cost, |ui| {
            edit::angle(ui, answer, &mut stream.sideslip_deg, 90.0);
        });
        edit::row(ui, "temperature", "Of the undisturbed gas", cost, |ui| {
            edit::number(ui, answer, &mut stream.temperature_k, "K", 0.1..=1e6);
        });
        let density = match stream.density {
            Density::PressurePa(_) => "pressure",
            Density::PerCubicMeter(_) => "number density",
        };
        let about = "The weight of a particle stays: more gas is more particles";
        edit::row(ui, density, about, cost, |ui| match &mut stream.density {
            Density::PressurePa(pressure) => edit::number(ui, answer, pressure, "Pa", POSITIVE),
            Density::PerCubicMeter(density) => edit::number(ui, answer, density, "1/m³", POSITIVE),
        });
    });
}

/// The box, its cells and its faces.
pub fn domain(ui: &mut Ui, document: &DocumentFacts, gas: &mut GasScene, answer: &mut Answer) {
    let cost = document.cost(|gas| gas.domain.cells[0] += 1);
    let domain = &mut gas.domain;
    let scale = domain.size_m.iter().copied().fold(0.0, f64::max);
    edit::grid(ui, "domain", |ui| {
        edit::row(ui, "corner, m", "Lower corner of the box", cost, |ui| {
            edit::vector(ui, answer, &mut domain.corner_m, ANY, scale);
        });
        edit::row(ui, "size, m", "Edges of the box", cost, |ui| {
            edit::vector(ui, answer, &mut domain.size_m, POSITIVE, scale);
        });
        let about = "A cell should be smaller than the mean free path: see the resolution lights";
        edit::row(ui, "cells", about, cost, |ui| {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 3.0;
                for cells in &mut domain.cells {
                    edit::whole(ui, answer, cells, 1..=4096);
                }
            });
        });
        for (i, name) in Faces::NAMES.into_iter().enumerate() {
            face(ui, document, &mut gas.faces, i, name, answer);
        }
    });
}

const FACES: [(usize, &str); 5] =
    [(0, "stream"), (1, "vacuum"), (2, "mirror"), (3, "periodic"), (4, "diffuse wall")];

fn face(
    ui: &mut Ui,
    document: &DocumentFacts,
    faces: &mut Faces,
    index: usize,
    name: &str,
    answer: &mut Answer,
) {
    let Some(face) = face_of(faces, index) else { return };
    let wall = matches!(face, Face::Diffuse { .. });
    let cost = document.cost(|gas| {
        if let Some(face) = face_of(&mut gas.faces, index) {
            *face = match *face {
                Face::Diffuse { temperature_k } => Face::Diffuse { temperature_k: temperature_k + 1.0 },
                Face::Vacuum => Face::Stream,
                _ => Face::Vacuum,
            };
        }
    });
    let about =
        if wall { "The temperature; another kind restarts" } else { "What the face does with molecules" };
    edit::row(ui, name, about, cost, |ui| {
        ui.vertical(|ui| {
            let before = kind_of(face);
            let mut kind = before;
            edit::choice(ui, name, &mut kind, &FACES);
            if kind != before {
                *face = match kind {
                    0 => Face::Stream,
                    1 => Face::Vacuum,
                    2 => Face::Specular,
                    3 => Face::Periodic,
                    _ => Face::Diffuse { temperature_k: 300.0 },
                };
            }
            if let Face::Diffuse { temperature_k } = face {
                edit::number(ui, answer, temperature_k, "K", 0.1..=1e6);
            }
        });
    });
}

fn kind_of(face: &Face) -> usize {
    match face {
        Face::Stream => 0,
        Face::Vacuum => 1,
        Face::Specular => 2,
        Face::Periodic => 3,
        Face::Diffuse { .. } => 4,
    }
}

fn face_of(faces: &mut Faces, index: usize) -> Option<&mut Face> {
    let Faces { x_min, x_max, y_min, y_max, z_min, z_max } = faces;
    [x_min, x_max, y_min, y_max, z_min, z_max].into_iter().nth(index)
}

/// Name, seed, particles, time step, sampling, collisions, start, reference.
pub fn settings(ui: &mut Ui, document: &DocumentFacts, scene: &mut Scene, answer: &mut Answer) {
    let restart = document.cost(|gas| gas.particles_per_cell += 1.0);
    edit::grid(ui, "settings", |ui| {
        edit::row(ui, "name", "Results go to a folder of this name", crate::scene::Impact::Nothing, |ui| {
            text_line(ui, "scene name", &mut scene.name);
        });
        edit::row(ui, "seed", "Same scene and seed: same result, bit for bit", restart, |ui| {
            edit::whole(ui, answer, &mut scene.seed, 0..=u64::MAX);
        });
        let crate::scene::Model::Gas(gas) = &mut scene.model;
        edit::row(ui, "particles a cell", "In undisturbed gas", restart, |ui| {
            edit::number(ui, answer, &mut gas.particles_per_cell, "", 0.01..=1e6);
        });
        let cost = document.cost(|gas| gas.time_step = TimeStep::Seconds(f64::MAX));
        edit::row(ui, "time step", "Automatic: small against collision and crossing times", cost, |ui| {
            ui.horizontal(|ui| {
                let mut auto = gas.time_step == TimeStep::Auto;
                if ui.checkbox(&mut auto, "auto").changed() {
                    gas.time_step = if auto { TimeStep::Auto } else { TimeStep::Seconds(1e-5) };
                }
                if let TimeStep::Seconds(seconds) = &mut gas.time_step {
                    edit::number(ui, answer, seconds, "s", 1e-15..=1e3);
                }
            });
        });
        edit::row(ui, "steps", "Length of a run", document.cost(|gas| gas.steps += 1), |ui| {
            edit::whole(ui, answer, &mut gas.steps, 1..=u64::MAX);
        });
        let cost = document.cost(|gas| gas.sampling = Sampling::From { from: u64::MAX, every: 3 });
        edit::row(ui, "averages", "Automatic: from the step at which the flow is steady", cost, |ui| {
            sampling(ui, &mut gas.sampling, answer);
        });
        let cost = document.cost(|gas| gas.collisions.heavy_cell_threshold += 1);
        edit::row(ui, "collisions", "How molecules collide with each other", cost, |ui| {
            edit::choice(ui, "scheme", &mut gas.collisions.scheme, &SCHEMES);
        });
        edit::row(ui, "start", "How the domain starts", restart, |ui| {
            edit::choice(ui, "start", &mut gas.start, &[(Start::Filled, "filled"), (Start::Empty, "empty")]);
        });
        let cost = document.cost(|gas| {
            gas.reference = Reference::Given { area_m2: f64::MAX, length_m: 1.0 };
        });
        edit::row(ui, "reference", "Area and length of the coefficients", cost, |ui| {
            reference(ui, &mut gas.reference, answer);
        });
    });
}

const SCHEMES: [(Scheme, &str); 4] = [
    (Scheme::Mixed, "mixed"),
    (Scheme::Ntc, "NTC"),
    (Scheme::HalfSplitShuffle, "half-split"),
    (Scheme::Off, "off"),
];

fn sampling(ui: &mut Ui, sampling: &mut Sampling, answer: &mut Answer) {
    ui.horizontal(|ui| {
        let mut auto = *sampling == Sampling::Auto;
        if ui.checkbox(&mut auto, "auto").changed() {
            *sampling = if auto { Sampling::Auto } else { Sampling::From { from: 1000, every: 10 } };
        }
        if let Sampling::From { from, every } = sampling {
            edit::whole(ui, answer, from, 0..=u64::MAX);
            ui.label("every");
            edit::whole(ui, answer, every, 1..=u64::MAX);
        }
    });
}

fn reference(ui: &mut Ui, reference: &mut Reference, answer: &mut Answer) {
    ui.vertical(|ui| {
        let mut auto = *reference == Reference::Auto;
        if ui.checkbox(&mut auto, "auto").changed() {
            *reference =
                if auto { Reference::Auto } else { Reference::Given { area_m2: 1.0, length_m: 1.0 } };
        }
        if let Reference::Given { area_m2, length_m } = reference {
            edit::number(ui, answer, area_m2, "m²", POSITIVE);
            edit::number(ui, answer, length_m, "m", POSITIVE);
        }
    });
}

/// A line of text that counts when it is finished. What is typed meanwhile is kept by egui.
pub fn text_line(ui: &mut Ui, id: &str, text: &mut String) {
    let id = ui.id().with(id);
    let draft: Option<String> = ui.data(|data| data.get_temp(id));
    let mut shown = draft.unwrap_or_else(|| text.clone());
    let response = ui.add(bevy_egui::egui::TextEdit::singleline(&mut shown).desired_width(110.0));
    if response.lost_focus() {
        *text = shown;
        ui.data_mut(|data| data.remove::<String>(id));
    } else if response.has_focus() {
        ui.data_mut(|data| data.insert_temp(id, shown));
    }
}
