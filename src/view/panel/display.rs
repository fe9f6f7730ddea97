//! The settings of everything that is drawn.
//! Must not know how it is drawn.

use super::state::Answer;
use bevy::prelude::World;
use bevy_egui::egui::Ui;

/// One block a drawn thing.
pub fn display(ui: &mut Ui, world: &mut World, answer: &mut Answer) {
    let _ = (ui, world, answer);
}
