//! Tests of the bindings: no two on one key, and what is pressed is what is meant.
//! Must not need a window: keys are messages.

use super::*;
use crate::view::camera::testing::{app, typing};
use bevy::prelude::KeyCode::*;
use std::collections::HashSet;

fn input(key_code: KeyCode, logical_key: Key, state: ButtonState, repeat: bool) -> KeyboardInput {
    KeyboardInput { key_code, logical_key, state, text: None, repeat, window: Entity::PLACEHOLDER }
}

fn letter(text: &str) -> Key {
    Key::Character(text.into())
}

/// What comes of pressing and releasing keys, one after the other, with those of `held` held.
fn pressed(app: &mut App, held: &[KeyCode], key: KeyCode, logical: Key) -> Vec<Action> {
    for &key in held {
        app.world_mut().write_message(input(key, Key::Control, ButtonState::Pressed, false));
    }
    app.update();
    app.world_mut().resource_mut::<Messages<Action>>().clear();
    app.world_mut().write_message(input(key, logical.clone(), ButtonState::Pressed, false));
    app.update();
    // Held keys come again and again.
    app.world_mut().write_message(input(key, logical.clone(), ButtonState::Pressed, true));
    app.update();
    for &key in held.iter().chain([&key]) {
        app.world_mut().write_message(input(key, logical.clone(), ButtonState::Released, false));
    }
    app.world_mut().resource_mut::<Messages<Action>>().drain().collect()
}

#[test]
fn no_two_actions_are_on_one_key_and_flying_has_its_own() {
    let mut taken = HashSet::new();
    for binding in &BINDINGS {
        assert!(taken.insert((binding.key, binding.modifiers)), "{} is taken twice", binding.name());
        let flies = [KeyW, KeyA, KeyS, KeyD, KeyQ, KeyE].contains(&binding.key);
        assert!(!flies || binding.modifiers.ctrl, "{} flies", binding.name());
        assert!(!binding.help.is_empty());
        assert!(
            BINDINGS.iter().all(|other| other.action != binding.action || other.help == binding.help),
            "{:?} is described in two ways",
            binding.action
        );
    }
}

#[test]
fn the_table_names_every_binding_once() {
    let table = table();
    assert!(table.contains(&("Ctrl+Shift+Z or Ctrl+Y".into(), "redo")));
    assert!(table.contains(&("Shift+F".into(), "bring the whole domain into view")));
    assert!(table.contains(&(".".into(), "one time step")));
    let names: Vec<&str> = table.iter().flat_map(|(keys, _)| keys.split(" or ")).collect();
    assert_eq!(names.len(), BINDINGS.len());
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), BINDINGS.len());
    assert_eq!(keys_of(Action::Quit), "Ctrl+Q");
    let actions: HashSet<Action> = BINDINGS.iter().map(|binding| binding.action).collect();
    assert_eq!(table.len(), actions.len());
    for preset in Preset::ALL {
        assert!(actions.contains(&Action::Look(preset)));
    }
    let readme = format!("# knudsen\n<!-- keys -->\n{}<!-- end of keys -->\nmore", to_markdown());
    assert_eq!(part_of_readme(&readme), Some(to_markdown().as_str()));
    assert!(to_markdown().contains("\n| Space | run or pause the simulation |\n"));
    assert_eq!(part_of_readme("# knudsen"), None);
}

#[test]
fn the_readme_has_these_tables() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    assert_eq!(part_of_readme(&readme), Some(to_markdown().as_str()), "put this in:\n{}", to_markdown());
}

#[test]
fn a_press_is_one_action_and_a_step_repeats() {
    let mut app = app();
    assert_eq!(pressed(&mut app, &[], Space, Key::Space), [Action::PlayPause]);
    assert_eq!(pressed(&mut app, &[], Period, letter(".")), [Action::Step, Action::Step]);
    assert_eq!(pressed(&mut app, &[ShiftLeft], KeyF, letter("F")), [Action::FrameAll]);
    assert_eq!(pressed(&mut app, &[ControlLeft], KeyZ, letter("z")), [Action::Undo]);
    assert_eq!(pressed(&mut app, &[ControlRight, ShiftRight], KeyZ, letter("Z")), [Action::Redo]);
    // Not with other modifiers than its own.
    assert_eq!(pressed(&mut app, &[AltLeft], KeyF, letter("f")), []);
    assert_eq!(pressed(&mut app, &[ControlLeft], Space, Key::Space), []);
    assert_eq!(pressed(&mut app, &[], KeyW, letter("w")), []);
}

#[test]
fn what_is_printed_on_a_key_counts() {
    let mut app = app();
    // German: Z and Y have changed places.
    assert_eq!(pressed(&mut app, &[ControlLeft], KeyY, letter("z")), [Action::Undo]);
    // French: M is beside L, a comma in its place; digits need Shift and count by their place.
    assert_eq!(pressed(&mut app, &[], Semicolon, letter("m")), [Action::AddBookmark]);
    assert_eq!(pressed(&mut app, &[], KeyM, letter(",")), []);
    assert_eq!(pressed(&mut app, &[], Digit6, letter("-")), [Action::Look(Preset::MinusZ)]);
    // Russian: no Latin letters, so places count.
    assert_eq!(pressed(&mut app, &[ControlLeft], KeyZ, letter("я")), [Action::Undo]);
    // A plus is Shift+= in one place and a key of its own in another.
    assert_eq!(pressed(&mut app, &[ControlLeft, ShiftLeft], Equal, letter("+")), [Action::UiLarger]);
    assert_eq!(pressed(&mut app, &[ControlLeft], BracketRight, letter("+")), [Action::UiLarger]);
    assert_eq!(pressed(&mut app, &[ControlLeft], Slash, letter("-")), [Action::UiSmaller]);
}

#[test]
fn keys_typed_into_a_panel_do_nothing() {
    let mut app = app();
    typing(&mut app, true);
    assert_eq!(pressed(&mut app, &[], Space, Key::Space), []);
    assert_eq!(pressed(&mut app, &[ControlLeft], KeyZ, letter("z")), []);
    typing(&mut app, false);
    assert_eq!(pressed(&mut app, &[], Space, Key::Space), [Action::PlayPause]);
}

#[test]
fn a_slow_frame_does_not_lose_what_was_held() {
    let mut app = app();
    let mut send = |key, logical: Key, state| {
        app.world_mut().write_message(input(key, logical, state, false));
    };
    send(ControlLeft, Key::Control, ButtonState::Pressed);
    send(KeyS, letter("s"), ButtonState::Pressed);
    send(KeyS, letter("s"), ButtonState::Released);
    send(ControlLeft, Key::Control, ButtonState::Released);
    send(KeyF, letter("f"), ButtonState::Pressed);
    app.update();
    let actions: Vec<Action> = app.world_mut().resource_mut::<Messages<Action>>().drain().collect();
    assert_eq!(actions, [Action::Save, Action::FrameSelection]);
}
