//! Typed values from a tree, by serde: every mismatch is noted with its place, and a stand-in is read instead.
//! Must not know scenes: what is expected comes from the type that is read.
//!
//! A derived `Deserialize` stops at the first error, so none is given to it. Where a value does not fit, the
//! problem goes into a [`Notes`], the path is marked bad, and the type gets the simplest value that it takes. Only a
//! missing field has to come back as an error, because serde alone knows which fields have a default; what was
//! missing is remembered and reading starts again.

use super::access::{Elements, Fields, Variant};
use super::lexer::Place;
use super::tree::{Body, Field, Kind, Node};
use serde::de::{self, DeserializeOwned, Visitor};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// A problem of a field, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where.
    pub at: Place,
    /// Path of the field, empty for the whole.
    pub field: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// What reading found besides the value.
#[derive(Debug, Default)]
pub struct Notes {
    /// Problems, in the order in which they were met.
    pub problems: Vec<Note>,
    /// Where each field is.
    pub places: HashMap<String, Place>,
    /// Paths whose value is a stand-in.
    pub bad: HashSet<String>,
    /// Fields found to have no default, by type.
    required: HashSet<(String, &'static str)>,
}

/// Reads a value of type `T`. It exists even where there are problems, unless serde itself refuses it.
pub fn read<T: DeserializeOwned>(tree: &Node) -> (Option<T>, Notes) {
    let notes = RefCell::new(Notes::default());
    // Each turn but the last learns of a required field, and a type has finitely many.
    loop {
        {
            let mut notes = notes.borrow_mut();
            let required = std::mem::take(&mut notes.required);
            *notes = Notes { required, ..Notes::default() };
        }
        let known = notes.borrow().required.len();
        match T::deserialize(Value::new(Some(tree), String::new(), &notes)) {
            Ok(value) => return (Some(value), notes.into_inner()),
            Err(Refusal::Again) if notes.borrow().required.len() > known => {}
            Err(refusal) => {
                let mut notes = notes.into_inner();
                notes.problems.push(Note { at: tree.at, field: String::new(), message: refusal.to_string() });
                return (None, notes);
            }
        }
    }
}

/// Why serde stops.
#[derive(Debug, PartialEq)]
pub(super) enum Refusal {
    /// A field without a default is missing, and nobody has noted it yet.
    Missing(&'static str),
    /// A missing field has been noted: read again.
    Again,
    /// A type asked for something that is not foreseen here.
    Other(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Missing(name) => write!(f, "the field `{name}` is missing"),
            Refusal::Again => write!(f, "a field is missing"),
            Refusal::Other(message) => write!(f, "{message}"),
        }
    }
}

impl std::error::Error for Refusal {}

impl de::Error for Refusal {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Refusal::Other(message.to_string())
    }

    fn missing_field(field: &'static str) -> Self {
        Refusal::Missing(field)
    }
}

/// A value to be read: a node of the tree, or a stand-in where there is none.
#[derive(Clone)]
pub(super) struct Value<'t> {
    pub node: Option<&'t Node>,
    pub path: String,
    pub notes: &'t RefCell<Notes>,
    /// The name of the node was a variant's and has been read: what counts is its inside.
    pub inside: bool,
}

impl<'t> Value<'t> {
    pub fn new(node: Option<&'t Node>, path: String, notes: &'t RefCell<Notes>) -> Self {
        if let Some(node) = node {
            // A newtype variant and its content share a path; the content comes later and is the better place.
            notes.borrow_mut().places.insert(path.clone(), node.at);
        }
        Self { node, path, notes, inside: false }
    }

    pub fn stand_in(&self) -> Value<'t> {
        Value { node: None, ..self.clone() }
    }

    pub fn child(&self, node: Option<&'t Node>, step: &str) -> Value<'t> {
        Value::new(node, join(&self.path, step), self.notes)
    }

    pub fn element(&self, node: Option<&'t Node>, index: usize) -> Value<'t> {
        Value::new(node, format!("{}[{index}]", self.path), self.notes)
    }

    /// Notes that the value itself is not what it should be.
    pub fn complain(&self, message: impl Into<String>) {
        if let Some(node) = self.node {
            self.note(node.at, self.path.clone(), message.into());
            self.notes.borrow_mut().bad.insert(self.path.clone());
        }
    }

    pub fn note(&self, at: Place, field: String, message: String) {
        self.notes.borrow_mut().problems.push(Note { at, field, message });
    }

    fn found(&self) -> String {
        match self.node.map(|node| &node.kind) {
            Some(Kind::Named(Some(_), Body::Fields(_))) if self.inside => "fields `(...: ...)`".into(),
            Some(Kind::Named(Some(_), _)) if self.inside => "values `(...)`".into(),
            _ => self.node.map_or_else(|| "nothing".into(), Node::describe),
        }
    }

    fn number_text(&self) -> Option<&'t str> {
        match self.node.map(|node| &node.kind) {
            Some(Kind::Number(text)) => Some(text),
            _ => None,
        }
    }

    /// A whole number, or 1 as a stand-in.
    fn whole(&self, min: i128, max: i128) -> i128 {
        if self.node.is_none() {
            return 1;
        }
        let range = match (min, max) {
            (0, max) if max > i128::from(u32::MAX) => "0 or more".to_string(),
            _ => format!("from {min} to {max}"),
        };
        let text = self.number_text().map(|text| text.replace('_', "")).unwrap_or_default();
        let value = parse_whole(&text);
        if let Some(value) = value.filter(|value| (min..=max).contains(value)) {
            return value;
        }
        // "1e6" and "50.0" are whole numbers to people.
        let meant = text.parse::<f64>().ok().filter(|v| v.fract() == 0.0 && v.abs() < 1e15);
        let hint = match (value, meant) {
            (None, Some(v)) if (min..=max).contains(&(v as i128)) => format!("; write {v:.0}"),
            _ => String::new(),
        };
        self.complain(format!("expected a whole number, {range}, found {}{hint}", self.found()));
        1
    }

    /// A number, or 1 as a stand-in.
    fn real(&self) -> f64 {
        if self.node.is_none() {
            return 1.0;
        }
        let text = self.number_text().map(|text| text.replace('_', "")).unwrap_or_default();
        match text.parse::<f64>().ok().or_else(|| parse_whole(&text).map(|v| v as f64)) {
            Some(value) => value,
            None => {
                match self.number_text() {
                    Some(text) => {
                        self.complain(format!("`{text}` is not a number: write 4.0 or 1e-5, for example"))
                    }
                    None => self.complain(format!("expected a number, found {}", self.found())),
                }
                1.0
            }
        }
    }

    fn text(&self) -> &'t str {
        match self.node.map(|node| &node.kind) {
            None => "",
            Some(Kind::Text(text)) => text,
            Some(_) => {
                self.complain(format!("expected text in double quotes, found {}", self.found()));
                ""
            }
        }
    }

    /// The fields of a struct: those given and known, and stand-ins for those that are missing.
    pub fn fields(
        &self,
        type_name: &str,
        known: &'static [&'static str],
        given: &'t [Field],
    ) -> Vec<(&'static str, Value<'t>)> {
        let mut entries: Vec<(&'static str, Value<'t>)> = Vec::new();
        let mut lines: HashMap<&'static str, usize> = HashMap::new();
        let names: HashSet<&str> = given.iter().map(|field| field.name.as_str()).collect();
        for field in given {
            let path = join(&self.path, &field.name);
            let name = match known.iter().find(|name| **name == field.name) {
                Some(name) => *name,
                None => {
                    let meant = suggest(&field.name, known);
                    let question = question(meant);
                    let fields = quoted(known);
                    self.note(field.at, path, format!("unknown field{question} Known here: {fields}"));
                    // The value is read as what was probably meant, so that nothing is reported as missing.
                    match meant.filter(|name| !names.contains(name)) {
                        Some(name) => name,
                        None => continue,
                    }
                }
            };
            if let Some(line) = lines.get(name) {
                let path = join(&self.path, name);
                self.note(field.at, path, format!("given twice, first in line {line}: keep one of them"));
                continue;
            }
            lines.insert(name, field.at.line);
            entries.push((name, self.child(Some(&field.value), name)));
        }
        for name in known {
            let required = self.notes.borrow().required.contains(&(type_name.to_string(), *name));
            if !required || lines.contains_key(name) {
                continue;
            }
            if let Some(node) = self.node {
                let path = join(&self.path, name);
                self.note(node.at, path.clone(), format!("missing: add `{name}: ...`"));
                self.notes.borrow_mut().bad.insert(path);
            }
            entries.push((name, self.child(None, name)));
        }
        entries
    }

    /// Reads a struct, or the fields of a variant.
    pub fn read_fields<'de, V: Visitor<'de>>(
        self,
        type_name: &str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        let given: Option<&'t [Field]> = match self.node.map(|node| &node.kind) {
            Some(Kind::Named(_, Body::Fields(fields))) => Some(fields),
            Some(Kind::Named(_, Body::Tuple(values))) if values.is_empty() => Some(&[]),
            Some(Kind::Named(_, Body::Unit)) if self.inside => Some(&[]),
            None => None,
            Some(_) => {
                let fields = known.iter().map(|name| format!("{name}: ...")).collect::<Vec<_>>().join(", ");
                self.complain(format!("expected fields `({fields})`, found {}", self.found()));
                None
            }
        };
        let entries = match given {
            Some(given) => self.fields(type_name, known, given),
            None => known.iter().map(|name| (*name, self.stand_in().child(None, name))).collect(),
        };
        match visitor.visit_map(Fields { entries: entries.into_iter(), value: None }) {
            Err(Refusal::Missing(name)) => {
                self.notes.borrow_mut().required.insert((type_name.to_string(), name));
                Err(Refusal::Again)
            }
            other => other,
        }
    }

    /// The values of a tuple of `length`, or of a list if no length is given.
    fn elements(&self, length: Option<usize>) -> Vec<Value<'t>> {
        let nodes: Option<&'t [Node]> = match (self.node.map(|node| &node.kind), length) {
            (Some(Kind::List(list)), None) => Some(list),
            (Some(Kind::List(list) | Kind::Named(_, Body::Tuple(list))), Some(n)) if list.len() == n => {
                Some(list)
            }
            (Some(Kind::List(list) | Kind::Named(_, Body::Tuple(list))), Some(n)) => {
                let count = list.len();
                self.complain(format!(
                    "expected {n} values `({})`, found {count}",
                    vec!["..."; n].join(", ")
                ));
                None
            }
            (None, _) => None,
            (Some(_), Some(n)) => {
                let dots = vec!["..."; n].join(", ");
                self.complain(format!("expected {n} values `({dots})`, found {}", self.found()));
                None
            }
            (Some(_), None) => {
                self.complain(format!("expected a list `[...]`, found {}", self.found()));
                None
            }
        };
        match nodes {
            Some(nodes) => nodes.iter().enumerate().map(|(i, node)| self.element(Some(node), i)).collect(),
            None => (0..length.unwrap_or(0)).map(|i| self.stand_in().element(None, i)).collect(),
        }
    }

    /// Which variant of an enum this is, and whether its content counts.
    fn variant(&self, variants: &'static [&'static str]) -> Option<(&'static str, bool)> {
        let first = *variants.first()?;
        let written = match self.node.map(|node| &node.kind) {
            None => return Some((first, false)),
            Some(Kind::Named(Some(name), _)) if !self.inside => name,
            Some(Kind::Text(text)) if variants.contains(&text.as_str()) => {
                self.complain(format!("write `{text}` without quotes"));
                return Some((first, false));
            }
            Some(_) => {
                // `time_step: 1e-5` is the natural mistake.
                let hint = self.number_text().map(|n| format!("; a number goes in parentheses: `Name({n})`"));
                let (names, hint) = (quoted(variants), hint.unwrap_or_default());
                self.complain(format!("expected one of {names}, found {}{hint}", self.found()));
                return Some((first, false));
            }
        };
        if let Some(name) = variants.iter().find(|name| **name == written) {
            return Some((name, true));
        }
        let meant = suggest(written, variants);
        let question = question(meant);
        let message = format!("unknown choice `{written}`{question} Known here: {}", quoted(variants));
        self.complain(message);
        Some(meant.map_or((first, false), |name| (name, true)))
    }
}

/// `path.step`, or `step` at the root.
pub(super) fn join(path: &str, step: &str) -> String {
    if path.is_empty() { step.to_string() } else { format!("{path}.{step}") }
}

fn question(meant: Option<&str>) -> String {
    meant.map_or_else(|| ".".to_string(), |name| format!(": did you mean `{name}`?"))
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The known name that was probably meant.
fn suggest(written: &str, known: &'static [&'static str]) -> Option<&'static str> {
    let written = written.to_lowercase();
    let likeness = |name: &str| strsim::jaro_winkler(&written, &name.to_lowercase());
    let best = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) >= 0.85).then_some(*best)
}

/// Decimal, or with 0x, 0b, 0o.
fn parse_whole(text: &str) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        _ => (10, digits),
    };
    let digits_only = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    // Numbers beyond i128 are beyond every range that is asked for.
    digits_only.then(|| sign * i128::from_str_radix(digits, radix).unwrap_or(i128::MAX))
}

macro_rules! whole_numbers {
    ($($method:ident $visit:ident $type:ty),*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
            visitor.$visit(self.whole(<$type>::MIN as i128, <$type>::MAX as i128) as $type)
        }
    )*};
}

impl<'de> de::Deserializer<'de> for Value<'_> {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Refusal> {
        Err(Refusal::Other("scenes have no values of this type: this is a fault of the program".into()))
    }

    whole_numbers!(deserialize_u8 visit_u8 u8, deserialize_u16 visit_u16 u16, deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64, deserialize_i32 visit_i32 i32, deserialize_i64 visit_i64 i64);

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_f64(self.real())
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        let value = match self.node.map(|node| &node.kind) {
            Some(Kind::Bool(value)) => *value,
            Some(_) => {
                self.complain(format!("expected `true` or `false`, found {}", self.found()));
                false
            }
            None => false,
        };
        visitor.visit_bool(value)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_str(self.text())
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_str(self.text())
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.node.map(|node| &node.kind) {
            None => visitor.visit_none(),
            Some(Kind::Named(Some(name), Body::Unit)) if name == "None" => visitor.visit_none(),
            Some(Kind::Named(Some(name), Body::Tuple(values))) if name == "Some" && values.len() == 1 => {
                visitor.visit_some(Value::new(values.first(), self.path, self.notes))
            }
            Some(_) => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_seq(Elements(self.elements(None).into_iter()))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_seq(Elements(self.elements(Some(length)).into_iter()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        if let Some(Kind::Named(Some(written), _)) = self.node.map(|node| &node.kind)
            && written != name
            && !self.inside
        {
            self.complain(format!("expected fields in parentheses `(...: ...)`, found `{written}`"));
            return self.stand_in().read_fields(name, known, visitor);
        }
        self.read_fields(name, known, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        let Some((variant, counts)) = self.variant(variants) else {
            return Err(Refusal::Other(format!("{name} has no variants: this is a fault of the program")));
        };
        let content = if counts { Value { inside: true, ..self } } else { self.stand_in() };
        visitor.visit_enum(Variant { name: variant, type_name: format!("{name}::{variant}"), content })
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i128 u128 f32 char bytes byte_buf unit unit_struct tuple_struct map identifier ignored_any
    }
}
