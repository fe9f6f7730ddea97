//! Holds the picture in `src/lib.rs` against the sources: who imports whom, sizes, first lines, `unsafe`, foreign crates.
//! Must not know what the modules do.

// Helpers of tests may fall over as tests do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A module and what it may import. `app`, `cli` and `main` wire things together; the rest follows the picture.
const ALLOWED: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("scene", &["units"]),
    ("physics", &["scene", "units"]),
    ("sim", &["scene", "units"]),
    ("device", &["physics", "sim", "scene", "units"]),
    ("runner", &["sim", "scene", "units"]),
    ("output", &["sim", "scene", "units"]),
    ("verify", &["device", "runner", "output", "sim", "physics", "scene", "units"]),
    ("view", &["runner", "output", "sim", "scene", "units"]),
    ("app", &["view", "runner", "output", "sim", "scene", "units"]),
    ("cli", &["app", "verify", "device", "runner", "output", "sim", "physics", "scene", "units"]),
    ("main", &["cli"]),
    ("lib", &[]),
];

/// Crates, by the beginning of their names, that may be named in these places only.
const FOREIGN: &[(&str, &[&str])] = &[
    ("bevy", &["src/view/", "src/app.rs", "src/app/"]),
    ("egui", &["src/view/", "src/app.rs", "src/app/"]),
    ("cudarc", &["src/device/cuda/", "src/device/cuda.rs"]),
];

const UNSAFE_ALLOWED: &[&str] = &["src/device/cuda/", "src/device/cuda.rs"];
const LONGEST_FILE: usize = 500;

/// A source file, its path relative to the package with `/` in between.
struct Source {
    path: String,
    text: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files below `folder` with one of the endings; none if there is no such folder.
fn sources(folder: &str, endings: &[&str]) -> Vec<Source> {
    fn walk(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                walk(&path, endings, found);
            } else if path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)) {
                found.push(path);
            }
        }
    }
    let mut found = vec![];
    walk(&root().join(folder), endings, &mut found);
    found.sort();
    let relative = |path: &Path| {
        let parts = path.strip_prefix(root()).unwrap().components();
        parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
    };
    found
        .iter()
        .map(|path| Source { path: relative(path), text: fs::read_to_string(path).unwrap() })
        .collect()
}

/// Words and signs of Rust code without comments, literals and lifetimes, each with its line.
fn tokens(text: &str) -> Vec<(usize, String)> {
    let chars: Vec<char> = text.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or('\0');
    let starts = |index: usize, pattern: &str| {
        pattern.chars().enumerate().all(|(offset, sign)| at(index + offset) == sign)
    };
    let word = |sign: char| sign.is_alphanumeric() || sign == '_';
    let (mut found, mut line, mut i) = (vec![], 1, 0);
    while i < chars.len() {
        let begin = i;
        if starts(i, "//") {
            while i < chars.len() && at(i) != '\n' {
                i += 1;
            }
        } else if starts(i, "/*") {
            let mut depth = 0;
            while i < chars.len() {
                if starts(i, "/*") {
                    (depth, i) = (depth + 1, i + 2);
                } else if starts(i, "*/") {
                    (depth, i) = (depth - 1, i + 2);
                    if depth == 0 {
                        break;
                    }
                } else {
                    i += 1;
                }
            }
        } else if let Some(hashes) = raw_string(&chars[i..]) {
            let end = format!("\"{}", "#".repeat(hashes));
            i += 1 + chars[i..].iter().position(|sign| *sign == '"').unwrap_or(0);
            while i < chars.len() && !starts(i, &end) {
                i += 1;
            }
            i += end.len();
        } else if at(i) == '"' {
            i += 1;
            while i < chars.len() && at(i) != '"' {
                i += if at(i) == '\\' { 2 } else { 1 };
            }
            i += 1;
        } else if at(i) == '\'' {
            // A character, or else a lifetime.
            if at(i + 1) == '\\' {
                i += 3;
                while i < chars.len() && at(i) != '\'' {
                    i += 1;
                }
                i += 1;
            } else if at(i + 2) == '\'' {
                i += 3;
            } else {
                i += 1;
                while word(at(i)) {
                    i += 1;
                }
            }
        } else if word(at(i)) {
            while word(at(i)) {
                i += 1;
            }
            found.push((line, chars[begin..i].iter().collect()));
        } else if starts(i, "::") {
            i += 2;
            found.push((line, "::".into()));
        } else {
            if !at(i).is_whitespace() {
                found.push((line, at(i).into()));
            }
            i += 1;
        }
        let end = i.min(chars.len());
        line += chars[begin..end].iter().filter(|sign| **sign == '\n').count();
    }
    found
}

/// The number of hashes if a raw string begins here.
fn raw_string(chars: &[char]) -> Option<usize> {
    let prefix = chars.iter().take_while(|sign| matches!(sign, 'b' | 'c' | 'r')).count();
    let raw = (1..=2).contains(&prefix) && chars[prefix - 1] == 'r';
    let hashes = chars[prefix..].iter().take_while(|sign| **sign == '#').count();
    (raw && chars.get(prefix + hashes) == Some(&'"')).then_some(hashes)
}

/// Modules from the crate root to the file: `src/sim/checkpoint/codec.rs` is sim, checkpoint, codec.
fn module_of(path: &str) -> Vec<String> {
    let inner = path.strip_prefix("src/").unwrap_or(path);
    let inner = inner.strip_suffix(".rs").unwrap_or(inner);
    let inner = inner.strip_suffix("/mod").unwrap_or(inner);
    inner.split('/').map(str::to_owned).collect()
}

/// The top-level modules that a file names by `crate::`, `knudsen::` or chains of `super::`, with lines.
fn imports(path: &str, text: &str) -> Vec<(usize, String)> {
    let tokens = tokens(text);
    let token = |index: usize| tokens.get(index).map_or("", |(_, token)| token.as_str());
    let own = module_of(path);
    // Inline modules around the place: the depth of braces outside of each.
    let (mut inline, mut depth) = (Vec::<usize>::new(), 0usize);
    let mut found = vec![];
    let mut i = 0;
    while i < tokens.len() {
        match token(i) {
            "mod" if token(i + 2) == "{" => {
                inline.push(depth);
                depth += 1;
                i += 2;
            }
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if inline.last() == Some(&depth) {
                    inline.pop();
                }
            }
            "crate" | "knudsen" if token(i + 1) == "::" && token(i.wrapping_sub(1)) != "::" => {
                found.extend(first_names(&tokens, i + 2));
            }
            "super" if token(i + 1) == "::" && token(i.wrapping_sub(1)) != "::" => {
                let mut level = own.len() + inline.len();
                while token(i) == "super" && token(i + 1) == "::" {
                    level = level.saturating_sub(1);
                    i += 2;
                }
                if level == 0 {
                    found.extend(first_names(&tokens, i));
                }
                i -= 1;
            }
            _ => {}
        }
        i += 1;
    }
    found
}

/// The name at `at`, or the first name of each member of the group there.
fn first_names(tokens: &[(usize, String)], at: usize) -> Vec<(usize, String)> {
    let Some((line, token)) = tokens.get(at) else { return vec![] };
    if token != "{" {
        return vec![(*line, token.clone())];
    }
    let (mut names, mut depth, mut expected) = (vec![], 0, true);
    for (line, token) in &tokens[at..] {
        match token.as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => break,
            "}" => depth -= 1,
            "," if depth == 1 => expected = true,
            name if depth == 1 && expected => {
                names.push((*line, name.to_owned()));
                expected = false;
            }
            _ => {}
        }
    }
    names
}

/// Arrows of a file that the table does not have. Names that are no module (types of the crate root) are none.
fn wrong_arrows(path: &str, text: &str) -> Vec<String> {
    let own = &module_of(path)[0];
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| name == own) else {
        return vec![format!(
            "{path}: module {own} is not in the table of tests/layers.rs: add it with its arrows"
        )];
    };
    let is_module = |name: &str| ALLOWED.iter().any(|(known, _)| *known == name) || name == "*";
    imports(path, text)
        .into_iter()
        .filter(|(_, name)| is_module(name) && name != own && !allowed.contains(&name.as_str()))
        .map(|(line, name)| format!("{path}:{line}: {own} must not import {name}"))
        .collect()
}

/// Crates named where they must not be, and `unsafe` where it must not be or without a reason.
fn wrong_words(path: &str, text: &str) -> Vec<String> {
    let inside = |places: &[&str]| places.iter().any(|place| path.starts_with(place));
    let lines: Vec<&str> = text.lines().collect();
    let mut wrong = vec![];
    for (line, word) in tokens(text) {
        for (name, places) in FOREIGN {
            let named = word == *name || word.starts_with(&format!("{name}_"));
            if named && !inside(places) {
                wrong.push(format!("{path}:{line}: {word} may be named in {places:?} only"));
            }
        }
        // The type of a function that is unsafe to call calls none.
        let is_type =
            lines.get(line.saturating_sub(1)).is_some_and(|text| text.contains("unsafe extern \"C\" fn("));
        if word == "unsafe" && !(is_type && inside(UNSAFE_ALLOWED)) {
            let reason =
                lines[line.saturating_sub(5)..line].iter().any(|comment| comment.contains("// SAFETY:"));
            if !inside(UNSAFE_ALLOWED) {
                wrong.push(format!("{path}:{line}: unsafe is allowed in {UNSAFE_ALLOWED:?} only"));
            } else if !reason {
                wrong.push(format!("{path}:{line}: unsafe without // SAFETY: just above"));
            }
        }
    }
    wrong
}

fn wrong_form(path: &str, text: &str) -> Vec<String> {
    let mut wrong = vec![];
    let count = text.lines().count();
    if count > LONGEST_FILE {
        wrong.push(format!("{path}: {count} lines, at most {LONGEST_FILE}: split it by what it does"));
    }
    if !text.starts_with("//! ") {
        wrong.push(format!("{path}:1: must open with //! and what the file is for"));
    }
    wrong
}

#[track_caller]
fn assert_none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{} found:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_arrow_is_in_the_picture() {
    let sources = sources("src", &["rs"]);
    assert!(sources.len() > 10, "the sources were not found");
    assert_none(sources.iter().flat_map(|source| wrong_arrows(&source.path, &source.text)).collect());
}

#[test]
fn foreign_crates_and_unsafe_stay_in_their_places() {
    assert_none(
        sources("src", &["rs"]).iter().flat_map(|source| wrong_words(&source.path, &source.text)).collect(),
    );
}

#[test]
fn files_are_short_and_say_what_they_are_for() {
    let endings = ["rs", "cu", "cuh"];
    let all = ["src", "kernels", "tests"].into_iter().flat_map(|folder| sources(folder, &endings));
    assert_none(all.flat_map(|source| wrong_form(&source.path, &source.text)).collect());
}

/// The compiler proves that the core compiles without them; this shows that nothing drags them in by another crate.
#[test]
fn the_core_has_neither_bevy_nor_cudarc_in_its_tree() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments =
        ["tree", "--offline", "--locked", "--no-default-features", "-e", "normal", "--prefix", "none"];
    let output = match Command::new(&cargo).args(arguments).current_dir(root()).output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!(
                "SKIPPED: the dependency tree was not looked at, since {cargo:?} does not run: {error}"
            );
            return;
        }
    };
    let tree = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "cargo tree failed:\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(tree.lines().any(|line| line.starts_with("serde ")), "no dependency tree:\n{tree}");
    let foreign = |line: &&str| ["bevy", "cudarc", "wgpu", "winit"].iter().any(|name| line.starts_with(name));
    assert_none(tree.lines().filter(foreign).map(str::to_owned).collect());
}

#[test]
fn the_table_has_no_circle() {
    // Whatever a module imports stands before it, `main` and `lib` last.
    for (index, (module, allowed)) in ALLOWED.iter().enumerate() {
        for name in *allowed {
            let place =
                ALLOWED.iter().position(|(known, _)| known == name).expect("only modules of the table");
            assert!(place < index, "{module} may import {name}, which stands above it");
        }
    }
}

#[test]
fn wrong_arrows_are_found() {
    let wrong = |path: &str, text: &str| wrong_arrows(path, text).join("; ");
    let device = "src/physics/x.rs:1: physics must not import device";
    assert_eq!(wrong("src/physics/x.rs", "use crate::device::Device;"), device);
    assert_eq!(wrong("src/physics/x.rs", "use crate::{scene::Scene, device::{a, b}, units};"), device);
    assert_eq!(wrong("src/physics/x.rs", "fn f() { crate::device::probe() }"), device);
    assert_eq!(wrong("src/physics/x.rs", "use super::super::device;"), device);
    assert_eq!(wrong("src/physics/mod.rs", "use super::{device, scene};"), device.replace("x.rs", "mod.rs"));
    assert_eq!(
        wrong("src/physics/x/y.rs", "mod tests { use super::super::super::super::device::D; }"),
        device.replace("x.rs", "x/y.rs")
    );
    assert!(wrong("src/physics/x.rs", "use crate::*;").contains("must not import *"));
    assert!(
        wrong("src/main.rs", "fn main() { knudsen::device::probe() }")
            .contains("main must not import device")
    );
    assert!(wrong("src/gravity/mod.rs", "").contains("not in the table"));
    assert!(
        wrong("src/cli/run.rs", "\n\nuse crate::view::Window;")
            .contains("run.rs:3: cli must not import view")
    );
}

#[test]
fn right_arrows_are_not() {
    for (path, text) in [
        ("src/physics/x.rs", "use crate::scene::Scene; use crate::physics::grid; use super::device;"),
        ("src/physics/x.rs", "// crate::device\n/* crate::device /* crate::view */ crate::view */"),
        ("src/physics/x.rs", r###"const A: &str = "crate::device"; const B: &str = r#"crate::"device"#;"###),
        ("src/physics/x.rs", "fn f<'a>(a: &'a str) -> char { '\"' } // \" crate::device"),
        ("src/physics/x.rs", "mod tests { use super::super::device; } // physics::device: its own"),
        ("src/physics/x.rs", "fn f() { mod a { } } use other::crate_::device;"),
        ("src/physics/x/y.rs", "use super::super::sim_like; use super::device;"),
        ("src/main.rs", "fn main() { knudsen::cli::run() }"),
    ] {
        assert_eq!(wrong_arrows(path, text), Vec::<String>::new(), "{path}: {text}");
    }
}

#[test]
fn wrong_words_and_forms_are_found() {
    assert_eq!(
        wrong_words("src/output/x.rs", "use bevy::prelude::*; use bevy_egui::E; fn bevyish() {}").len(),
        2
    );
    assert_eq!(wrong_words("src/device/cpu.rs", "use cudarc::driver;").len(), 1);
    assert_eq!(wrong_words("src/device/cuda/x.rs", "use cudarc::driver;").len(), 0);
    assert_eq!(wrong_words("src/view/x.rs", "use bevy::app::App; // unsafe").len(), 0);
    assert_eq!(wrong_words("src/sim/x.rs", "// SAFETY: none\nunsafe { f() }").len(), 1);
    assert_eq!(wrong_words("src/device/cuda/x.rs", "unsafe { f() }").len(), 1);
    assert_eq!(wrong_words("src/device/cuda/x.rs", "f: unsafe extern \"C\" fn(u8),").len(), 0);
    assert_eq!(wrong_words("src/sim/x.rs", "f: unsafe extern \"C\" fn(u8),").len(), 1);
    assert_eq!(wrong_words("src/device/cuda/x.rs", "// SAFETY: f is total.\nunsafe { f() }").len(), 0);
    assert_eq!(wrong_form("src/x.rs", "//! Does x.\n").len(), 0);
    assert_eq!(wrong_form("src/x.rs", "// Does x.\n").len(), 1);
    assert_eq!(wrong_form("src/x.rs", &"//! x\n".repeat(LONGEST_FILE + 1)).len(), 1);
}
