//! Key bindings: one table for the app, its help and the README.
//! Must not know what carries an action out.
//!
//! Keys go by what is printed on them: Ctrl+Z is where the keyboard says Z, also on a German or French one. Where a
//! keyboard has no Latin letters, and for all keys that are no letters, the place of the key on a US keyboard counts.
//! Only the flying keys W A S D Q E (see the camera) always go by their place, for the sake of the hand.

use super::camera::Preset;
use bevy::input::ButtonState;
use bevy::input::InputSystems;
use bevy::input::keyboard::{Key, KeyboardInput};
use bevy::prelude::*;
use bevy_egui::input::EguiWantsInput;

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Message)]
#[allow(missing_docs, reason = "each is described once, in the table of bindings")]
pub enum Action {
    PlayPause,
    Step,
    UntilSteady,
    Restart,
    Look(Preset),
    ResetView,
    FrameSelection,
    FrameAll,
    ToggleOrthographic,
    ToggleFly,
    AddBookmark,
    NextBookmark,
    AddKeyFrame,
    TogglePreview,
    Toggle(Layer),
    SliceForward,
    SliceBack,
    NextColorMap,
    GizmoTranslate,
    GizmoRotate,
    Duplicate,
    Delete,
    Undo,
    Redo,
    Open,
    Save,
    SaveAs,
    Record,
    Screenshot,
    UiLarger,
    UiSmaller,
    UiReset,
    Help,
    Cancel,
    Quit,
}

/// What can be shown and hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is described once, in the table of bindings")]
pub enum Layer {
    Particles,
    Slices,
    Surfaces,
    Glyphs,
    Streamlines,
    Isosurface,
    Domain,
    Panels,
}

/// Keys held with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Modifiers {
    /// Ctrl, or Command.
    pub ctrl: bool,
    /// Shift.
    pub shift: bool,
    /// Alt.
    pub alt: bool,
}

/// A key and what it does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Binding {
    /// What it does.
    pub action: Action,
    /// The key.
    pub key: KeyCode,
    /// What is held with it.
    pub modifiers: Modifiers,
    /// Whether it goes on while the key is held.
    pub repeats: bool,
    /// What it does, in words. Bindings of one action have the same.
    pub help: &'static str,
}

const NONE: Modifiers = Modifiers { ctrl: false, shift: false, alt: false };
const SHIFT: Modifiers = Modifiers { shift: true, ..NONE };
const CTRL: Modifiers = Modifiers { ctrl: true, ..NONE };
const CTRL_SHIFT: Modifiers = Modifiers { ctrl: true, shift: true, ..NONE };

const fn bind(key: KeyCode, modifiers: Modifiers, action: Action, help: &'static str) -> Binding {
    Binding { action, key, modifiers, repeats: false, help }
}

const fn held(key: KeyCode, action: Action, help: &'static str) -> Binding {
    Binding { action, key, modifiers: NONE, repeats: true, help }
}

/// All bindings, in the order of the help. W A S D Q E are left to flying.
pub const BINDINGS: [Binding; 51] = {
    use KeyCode::*;
    [
        bind(Space, NONE, Action::PlayPause, "run or pause the simulation"),
        held(Period, Action::Step, "one time step"),
        bind(KeyU, NONE, Action::UntilSteady, "run until the flow is steady"),
        bind(KeyR, CTRL, Action::Restart, "restart the simulation"),
        bind(Digit1, NONE, Action::Look(Preset::PlusX), "look from +x"),
        bind(Digit2, NONE, Action::Look(Preset::MinusX), "look from -x"),
        bind(Digit3, NONE, Action::Look(Preset::PlusY), "look from +y, from above"),
        bind(Digit4, NONE, Action::Look(Preset::MinusY), "look from -y, from below"),
        bind(Digit5, NONE, Action::Look(Preset::PlusZ), "look from +z, from the front"),
        bind(Digit6, NONE, Action::Look(Preset::MinusZ), "look from -z"),
        bind(Digit7, NONE, Action::Look(Preset::Isometric), "isometric view"),
        bind(Home, NONE, Action::ResetView, "the first view again"),
        bind(KeyF, NONE, Action::FrameSelection, "bring the selected body into view"),
        bind(KeyF, SHIFT, Action::FrameAll, "bring the whole domain into view"),
        bind(KeyO, NONE, Action::ToggleOrthographic, "parallel projection or perspective"),
        bind(KeyV, NONE, Action::ToggleFly, "fly or orbit"),
        bind(KeyM, NONE, Action::AddBookmark, "bookmark this view"),
        bind(KeyN, NONE, Action::NextBookmark, "go to the next bookmark"),
        bind(KeyK, NONE, Action::AddKeyFrame, "add this view to the camera path"),
        bind(KeyK, SHIFT, Action::TogglePreview, "play or stop the camera path"),
        bind(KeyP, NONE, Action::Toggle(Layer::Particles), "particles on or off"),
        bind(KeyX, NONE, Action::Toggle(Layer::Slices), "field slices on or off"),
        bind(KeyB, NONE, Action::Toggle(Layer::Surfaces), "colours of body surfaces on or off"),
        bind(KeyG, NONE, Action::Toggle(Layer::Glyphs), "velocity arrows on or off"),
        bind(KeyL, NONE, Action::Toggle(Layer::Streamlines), "streamlines on or off"),
        bind(KeyI, NONE, Action::Toggle(Layer::Isosurface), "isosurface on or off"),
        bind(KeyB, SHIFT, Action::Toggle(Layer::Domain), "box of the domain on or off"),
        bind(KeyH, NONE, Action::Toggle(Layer::Panels), "panels on or off"),
        held(PageUp, Action::SliceForward, "move the slice forward by one cell"),
        held(PageDown, Action::SliceBack, "move the slice back by one cell"),
        bind(KeyC, NONE, Action::NextColorMap, "next colour map"),
        bind(KeyT, NONE, Action::GizmoTranslate, "move the selected body"),
        bind(KeyR, NONE, Action::GizmoRotate, "rotate the selected body"),
        bind(KeyD, CTRL, Action::Duplicate, "duplicate the selected body"),
        bind(Delete, NONE, Action::Delete, "delete the selected body"),
        bind(KeyZ, CTRL, Action::Undo, "undo"),
        bind(KeyZ, CTRL_SHIFT, Action::Redo, "redo"),
        bind(KeyY, CTRL, Action::Redo, "redo"),
        bind(KeyO, CTRL, Action::Open, "open a scene"),
        bind(KeyS, CTRL, Action::Save, "save the scene"),
        bind(KeyS, CTRL_SHIFT, Action::SaveAs, "save the scene under another name"),
        bind(F9, NONE, Action::Record, "start or stop a video"),
        bind(F12, NONE, Action::Screenshot, "save a picture"),
        bind(Equal, CTRL, Action::UiLarger, "larger panels"),
        bind(NumpadAdd, CTRL, Action::UiLarger, "larger panels"),
        bind(Minus, CTRL, Action::UiSmaller, "smaller panels"),
        bind(NumpadSubtract, CTRL, Action::UiSmaller, "smaller panels"),
        bind(Digit0, CTRL, Action::UiReset, "panels of normal size"),
        bind(F1, NONE, Action::Help, "this help"),
        bind(Escape, NONE, Action::Cancel, "select nothing; stop the camera path"),
        bind(KeyQ, CTRL, Action::Quit, "quit"),
    ]
};

/// What the mouse and the flying keys do; not in [`BINDINGS`], for no action comes of them.
pub const HAND: [(&str, &str); 8] = [
    ("left click", "select a body; on the handles of a selected one: move or rotate it"),
    ("left drag", "orbit about the target"),
    ("right drag, middle drag", "move the target across the view"),
    ("wheel", "zoom to the cursor"),
    ("flying: W A S D", "forward, left, back, right"),
    ("flying: E, Q", "up, down"),
    ("flying: right drag", "look about"),
    ("flying: wheel, Shift", "set the speed; four times as fast"),
];

/// The table of keys for people: keys and what they do, one row an action.
pub fn table() -> Vec<(String, &'static str)> {
    let mut rows: Vec<(Action, String, &str)> = Vec::new();
    for binding in &BINDINGS {
        match rows.iter_mut().find(|(action, ..)| *action == binding.action) {
            Some((_, keys, _)) => *keys = format!("{keys} or {}", binding.name()),
            None => rows.push((binding.action, binding.name(), binding.help)),
        }
    }
    rows.into_iter().map(|(_, keys, help)| (keys, help)).collect()
}

/// The names of the keys of an action, for a button's hint; empty for one without.
pub fn keys_of(action: Action) -> String {
    let names = BINDINGS.iter().filter(|binding| binding.action == action).map(Binding::name);
    names.collect::<Vec<_>>().join(" or ")
}

/// The tables of keys and mouse as Markdown, for the README.
pub fn to_markdown() -> String {
    let mut text = "| key | does |\n|---|---|\n".to_string();
    for (keys, help) in table() {
        text += &format!("| {keys} | {help} |\n");
    }
    text += "\n| mouse | does |\n|---|---|\n";
    for (hand, help) in HAND {
        text += &format!("| {hand} | {help} |\n");
    }
    text
}

/// The part of a README between the lines `<!-- keys -->` and `<!-- end of keys -->`, which [`to_markdown`] fills.
pub fn part_of_readme(readme: &str) -> Option<&str> {
    let (_, from) = readme.split_once("<!-- keys -->\n")?;
    Some(from.split_once("<!-- end of keys -->")?.0)
}

impl Binding {
    /// How it is called on a keyboard.
    pub fn name(&self) -> String {
        let Modifiers { ctrl, shift, alt } = self.modifiers;
        let held = [(ctrl, "Ctrl+"), (alt, "Alt+"), (shift, "Shift+")];
        let held: String = held.into_iter().filter(|(held, _)| *held).map(|(_, name)| name).collect();
        let code = format!("{:?}", self.key);
        let key = match self.key {
            KeyCode::Period => ".",
            KeyCode::Equal => "+",
            KeyCode::Minus => "-",
            KeyCode::NumpadAdd => "keypad +",
            KeyCode::NumpadSubtract => "keypad -",
            KeyCode::PageUp => "Page Up",
            KeyCode::PageDown => "Page Down",
            _ => code.trim_start_matches("Key").trim_start_matches("Digit"),
        };
        held + key
    }
}

/// Turns keys into [`Action`] messages.
pub struct KeysPlugin;

impl Plugin for KeysPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<Action>().add_systems(PreUpdate, press.after(InputSystems));
    }
}

/// The key that is meant: by the letter or sign that is printed on it, else by its place.
fn meant(input: &KeyboardInput) -> Option<KeyCode> {
    use KeyCode::*;
    const LETTERS: [KeyCode; 26] = [
        KeyA, KeyB, KeyC, KeyD, KeyE, KeyF, KeyG, KeyH, KeyI, KeyJ, KeyK, KeyL, KeyM, KeyN, KeyO, KeyP, KeyQ,
        KeyR, KeyS, KeyT, KeyU, KeyV, KeyW, KeyX, KeyY, KeyZ,
    ];
    let place = input.key_code;
    let sign_has_own_place = format!("{place:?}").starts_with("Digit")
        || matches!(place, NumpadAdd | NumpadSubtract | NumpadDecimal);
    let Key::Character(text) = &input.logical_key else { return Some(place) };
    let mut signs = text.chars();
    match (signs.next(), signs.next()) {
        (Some(letter), None) if letter.is_ascii_alphabetic() => {
            LETTERS.get(usize::from(letter.to_ascii_lowercase() as u8 - b'a')).copied()
        }
        _ if sign_has_own_place => Some(place),
        (Some('+' | '='), None) => Some(Equal),
        (Some('-'), None) => Some(Minus),
        (Some('.'), None) => Some(Period),
        // On a French keyboard the place of the US M has a comma, and M is elsewhere.
        (Some(_), None) if LETTERS.contains(&place) && text.is_ascii() => None,
        _ => Some(place),
    }
}

fn press(
    mut keyboard: MessageReader<KeyboardInput>,
    keys: Res<ButtonInput<KeyCode>>,
    panels: Option<Res<EguiWantsInput>>,
    mut actions: MessageWriter<Action>,
) {
    use KeyCode::*;
    if panels.is_some_and(|panels| panels.wants_any_keyboard_input()) {
        keyboard.clear();
        return;
    }
    let inputs: Vec<&KeyboardInput> = keyboard.read().collect();
    // In a slow frame Ctrl may come and go together with its letter: what counts is what was held when the letter came.
    let mut held: Vec<KeyCode> =
        [ControlLeft, ControlRight, SuperLeft, SuperRight, ShiftLeft, ShiftRight, AltLeft, AltRight]
            .into_iter()
            .filter(|key| match inputs.iter().find(|input| input.key_code == *key) {
                Some(first) => first.state == ButtonState::Released || first.repeat,
                None => keys.pressed(*key),
            })
            .collect();
    for input in inputs {
        held.retain(|key| *key != input.key_code);
        if input.state == ButtonState::Released {
            continue;
        }
        held.push(input.key_code);
        let any = |keys: &[KeyCode]| held.iter().any(|key| keys.contains(key));
        let modifiers = Modifiers {
            ctrl: any(&[ControlLeft, ControlRight, SuperLeft, SuperRight]),
            shift: any(&[ShiftLeft, ShiftRight]),
            alt: any(&[AltLeft, AltRight]),
        };
        let Some(key) = meant(input) else { continue };
        // Where a sign is a shifted key, Shift belongs to the sign.
        let shift = modifiers.shift && !matches!(key, Equal | Minus | Period);
        let modifiers = Modifiers { shift, ..modifiers };
        let binding = BINDINGS.iter().find(|binding| binding.key == key && binding.modifiers == modifiers);
        if let Some(binding) = binding.filter(|binding| binding.repeats || !input.repeat) {
            actions.write(binding.action);
        }
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
