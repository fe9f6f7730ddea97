//! Reading a scene from RON, with every problem located.
//! Must not know devices or running state.

mod access;
mod lexer;
mod tree;
mod values;

use super::{Problem, Scene, SceneError, validate};
use lexer::Place;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use values::Note;

/// Bytes of a scene file at most; whoever names an STL or a checkpoint as a scene is told so at once.
const MAX_BYTES: u64 = 1 << 20;
/// Problems kept at most, and the characters of the source line kept with each: a damaged file must not fill memory.
const MAX_PROBLEMS: usize = 1000;
const MAX_LINE: usize = 10_000;

/// Reads and validates a scene file.
///
/// # Errors
/// Every problem of the file at once, each with file, line, column, field and what would be right.
pub fn load(path: &Path) -> Result<Scene, SceneError> {
    let name = path.display().to_string();
    let text = text_of(path).map_err(|message| Problem::unplaced(&name, "file", message))?;
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    parse(&text, &name, folder)
}

/// The text of a file, or what to do instead.
fn text_of(path: &Path) -> Result<String, String> {
    if path.is_dir() {
        return Err("this is a folder: name a scene file, such as scenes/sphere.ron".into());
    }
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => {
            "there is no such file: check the path, or start from scenes/sphere.ron".to_string()
        }
        ErrorKind::PermissionDenied => "not allowed to read this file: change its permissions".into(),
        _ => format!("cannot be read ({error}): check the disk and the path"),
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        let limit = MAX_BYTES >> 20;
        return Err(format!("more than {limit} MiB, which no scene is: name a scene file (.ron)"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count();
        format!("not UTF-8 text (byte {at}, line {line}): name a scene file (.ron), or save it as UTF-8")
    })
}

/// Reads and validates a scene from text; `file` is its name in messages, `folder` where triangle files are looked for.
///
/// The text is RON with `implicit_some` and `unwrap_variant_newtypes`; three numbers may also stand in square brackets.
///
/// # Errors
/// Every problem of the text at once, in the order of the text.
pub fn parse(text: &str, file: &str, folder: &Path) -> Result<Scene, SceneError> {
    let (tree, syntax) = tree::read(text);
    let syntax = syntax.into_iter().map(|p| Note { at: p.at, field: "syntax".into(), message: p.message });
    let mut notes: Vec<Note> = syntax.collect();
    let mut scene = None;
    if let Some(tree) = tree {
        let (read, found) = values::read::<Scene>(&tree);
        notes.extend(found.problems);
        scene = read.map(|scene| Scene { folder: folder.to_path_buf(), ..scene });
        if let Some(scene) = &scene {
            let place = |field: &str| nearest(&found.places, field).unwrap_or(tree.at);
            notes.extend(validate::findings(scene, found.bad).into_iter().map(|finding| Note {
                at: place(&finding.field),
                field: finding.field,
                message: finding.message,
            }));
        }
    }
    match scene {
        Some(scene) if notes.is_empty() => Ok(scene),
        _ => Err(located(notes, text, file)),
    }
}

/// The place of a field, or of what it would be in: fields that have a default need not be written.
fn nearest(places: &std::collections::HashMap<String, Place>, field: &str) -> Option<Place> {
    let mut path = field;
    loop {
        if let Some(place) = places.get(path) {
            return Some(*place);
        }
        path = &path[..path.rfind(['.', '['])?];
    }
}

fn located(mut notes: Vec<Note>, text: &str, file: &str) -> SceneError {
    notes.sort_by_key(|note| note.at);
    notes.truncate(MAX_PROBLEMS);
    let lines: Vec<&str> = text.strip_prefix('\u{feff}').unwrap_or(text).split('\n').collect();
    let problems = notes.into_iter().map(|note| Problem {
        file: file.to_string(),
        line: note.at.line,
        column: note.at.column,
        field: if note.field.is_empty() { "scene".into() } else { note.field },
        message: note.message,
        source_line: lines
            .get(note.at.line - 1)
            .map(|line| line.chars().take(MAX_LINE).collect())
            .unwrap_or_default(),
    });
    SceneError { problems: problems.collect() }
}
