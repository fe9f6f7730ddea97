//! RON text as a tree of values, each with its place, as it is written: before anyone asks what it should be.
//! Must not know scenes.

use super::lexer::{Place, SyntaxProblem, Word, words};

/// Brackets nested at most: far more than any scene needs, far less than a stack holds.
const MAX_DEPTH: usize = 64;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it begins.
    pub at: Place,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A number, as written.
    Number(String),
    /// A string.
    Text(String),
    /// A character.
    Char(char),
    /// `true` or `false`.
    Bool(bool),
    /// `[a, b]`.
    List(Vec<Node>),
    /// `{k: v}`; scenes have none, so only its being one is kept.
    Map,
    /// `Name`, `Name(...)` or `(...)`.
    Named(Option<String>, Body),
}

/// What follows a name.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Nothing.
    Unit,
    /// `(a, b)`.
    Tuple(Vec<Node>),
    /// `(x: a, y: b)`.
    Fields(Vec<Field>),
}

/// `name: value`.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Name.
    pub name: String,
    /// Where the name begins.
    pub at: Place,
    /// Value.
    pub value: Node,
}

impl Node {
    /// For "found ...".
    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Number(text) => format!("the number {text}"),
            Kind::Text(text) if text.chars().count() <= 30 => format!("the string {text:?}"),
            Kind::Text(_) => "a string".into(),
            Kind::Char(c) => format!("the character {c:?}"),
            Kind::Bool(b) => format!("`{b}`"),
            Kind::List(_) => "a list `[...]`".into(),
            Kind::Map => "a map `{...}`".into(),
            Kind::Named(Some(name), Body::Unit) => format!("`{name}`"),
            Kind::Named(Some(name), _) => format!("`{name}(...)`"),
            Kind::Named(None, Body::Fields(_)) => "fields `(...: ...)`".into(),
            Kind::Named(None, _) => "values `(...)`".into(),
        }
    }
}

/// The value that a text holds, if enough of it can be understood, and what is wrong with the text.
pub fn read(text: &str) -> (Option<Node>, Vec<SyntaxProblem>) {
    let words = match words(text) {
        Ok(words) => words,
        Err(problem) => return (None, vec![problem]),
    };
    let mut parser = Parser { words, next: 0, depth: 0, problems: Vec::new() };
    match parser.file() {
        Ok(node) => (Some(node), parser.problems),
        Err(problem) => {
            parser.problems.push(problem);
            (None, parser.problems)
        }
    }
}

struct Parser {
    words: Vec<(Word, Place)>,
    next: usize,
    depth: usize,
    /// What was wrong but could be passed over.
    problems: Vec<SyntaxProblem>,
}

/// What stands between two commas in parentheses.
enum Item {
    Value(Node),
    Field(Field),
}

impl Parser {
    fn peek(&self, ahead: usize) -> &Word {
        self.words.get(self.next + ahead).map_or(&Word::End, |(word, _)| word)
    }

    fn at(&self) -> Place {
        // The last word is the end of the text, and is never passed.
        self.words.get(self.next).or(self.words.last()).map_or(Place { line: 1, column: 1 }, |(_, at)| *at)
    }

    fn take(&mut self) -> Word {
        let word = self.peek(0).clone();
        self.next = (self.next + 1).min(self.words.len().saturating_sub(1));
        word
    }

    fn accept(&mut self, c: char) -> bool {
        let found = *self.peek(0) == Word::Punct(c);
        if found {
            self.take();
        }
        found
    }

    fn unexpected<T>(&self, expected: &str) -> Result<T, SyntaxProblem> {
        let message = format!("expected {expected}, found {}", self.peek(0).describe());
        Err(SyntaxProblem { at: self.at(), message })
    }

    fn file(&mut self) -> Result<Node, SyntaxProblem> {
        while *self.peek(0) == Word::Punct('#') {
            self.attribute()?;
        }
        if *self.peek(0) == Word::End {
            let message = "there is no scene in this file: write `(name: \"...\", model: Gas(...))`".into();
            return Err(SyntaxProblem { at: self.at(), message });
        }
        let node = self.value()?;
        if *self.peek(0) != Word::End {
            let message = format!("expected the end of the file, found {}", self.peek(0).describe());
            self.problems.push(SyntaxProblem { at: self.at(), message });
        }
        Ok(node)
    }

    /// `#![enable(...)]`: RON's header. What it can enable is either always on here, or makes no difference.
    fn attribute(&mut self) -> Result<(), SyntaxProblem> {
        for c in ['#', '!', '['] {
            if !self.accept(c) {
                return self.unexpected("`#![enable(...)]`");
            }
        }
        if self.take() != Word::Ident("enable".into()) || !self.accept('(') {
            return self.unexpected("`#![enable(...)]`");
        }
        while let Word::Ident(_) = self.peek(0) {
            self.take();
            self.accept(',');
        }
        if self.accept(')') && self.accept(']') { Ok(()) } else { self.unexpected("`)]`") }
    }

    fn value(&mut self) -> Result<Node, SyntaxProblem> {
        let at = self.at();
        let kind = match self.peek(0).clone() {
            Word::Number(text) => {
                self.take();
                Kind::Number(text)
            }
            Word::Text(text) => {
                self.take();
                Kind::Text(text)
            }
            Word::Char(c) => {
                self.take();
                Kind::Char(c)
            }
            Word::Ident(name) => {
                self.take();
                match name.as_str() {
                    "true" => Kind::Bool(true),
                    "false" => Kind::Bool(false),
                    _ if *self.peek(0) == Word::Punct('(') => Kind::Named(Some(name), self.parentheses()?),
                    _ => Kind::Named(Some(name), Body::Unit),
                }
            }
            Word::Punct('(') => Kind::Named(None, self.parentheses()?),
            Word::Punct('[') => {
                let mut list = Vec::new();
                for item in self.items('[', ']')? {
                    match item {
                        Item::Value(node) => list.push(node),
                        Item::Field(field) => {
                            let message = format!(
                                "`{}: ...` in a list: put the fields of an entry in parentheses",
                                field.name
                            );
                            return Err(SyntaxProblem { at: field.at, message });
                        }
                    }
                }
                Kind::List(list)
            }
            Word::Punct('{') => self.map()?,
            _ => return self.unexpected("a value"),
        };
        Ok(Node { at, kind })
    }

    /// The inside of parentheses: values, or fields.
    fn parentheses(&mut self) -> Result<Body, SyntaxProblem> {
        let (mut values, mut fields) = (Vec::new(), Vec::new());
        for item in self.items('(', ')')? {
            match item {
                Item::Value(node) => values.push(node),
                Item::Field(field) => fields.push(field),
            }
        }
        if fields.is_empty() {
            return Ok(Body::Tuple(values));
        }
        for stray in values {
            let message = format!("{} has no field name: write `name: value`", stray.describe());
            self.problems.push(SyntaxProblem { at: stray.at, message });
        }
        Ok(Body::Fields(fields))
    }

    /// What stands between two brackets, separated by commas. A missing comma is noted and passed over.
    fn items(&mut self, open: char, close: char) -> Result<Vec<Item>, SyntaxProblem> {
        let opened = self.at();
        self.take();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("brackets are nested more than {MAX_DEPTH} deep");
            return Err(SyntaxProblem { at: opened, message });
        }
        let mut items = Vec::new();
        while !self.accept(close) {
            if matches!(self.peek(0), Word::Punct(')' | ']' | '}') | Word::End) {
                return self.unexpected(&format!("another value, {}", closing(open, close, opened)));
            }
            items.push(self.item()?);
            if self.accept(',') || *self.peek(0) == Word::Punct(close) {
                continue;
            }
            match self.peek(0) {
                Word::Ident(_) | Word::Number(_) | Word::Text(_) | Word::Punct('(' | '[' | '{') => {
                    let message = format!("a comma is missing before {}", self.peek(0).describe());
                    self.problems.push(SyntaxProblem { at: self.at(), message });
                }
                _ => return self.unexpected(&format!("`,` {}", closing(open, close, opened))),
            }
        }
        self.depth -= 1;
        Ok(items)
    }

    fn item(&mut self) -> Result<Item, SyntaxProblem> {
        let at = self.at();
        if let Word::Ident(name) = self.peek(0).clone() {
            match self.peek(1) {
                Word::Punct(':') => {
                    self.take();
                    self.take();
                    return Ok(Item::Field(Field { name, at, value: self.value()? }));
                }
                after @ (Word::Text(_) | Word::Number(_) | Word::Punct('=' | '[')) => {
                    let message = match after {
                        Word::Punct('=') => format!("a field is written `{name}: value`, with a colon"),
                        _ => format!("a colon is missing: write `{name}: value`"),
                    };
                    self.take();
                    self.problems.push(SyntaxProblem { at: self.at(), message });
                    self.accept('=');
                    return Ok(Item::Field(Field { name, at, value: self.value()? }));
                }
                _ => {}
            }
        }
        if *self.peek(0) == Word::Punct(',') {
            return self.unexpected("a value or a field");
        }
        Ok(Item::Value(self.value()?))
    }

    fn map(&mut self) -> Result<Kind, SyntaxProblem> {
        let opened = self.at();
        self.take();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("brackets are nested more than {MAX_DEPTH} deep");
            return Err(SyntaxProblem { at: opened, message });
        }
        while !self.accept('}') {
            self.value()?;
            if !self.accept(':') {
                return self.unexpected("`:` between the key and the value of a map");
            }
            self.value()?;
            if !self.accept(',') && *self.peek(0) != Word::Punct('}') {
                return self.unexpected(&format!("`,` {}", closing('{', '}', opened)));
            }
        }
        self.depth -= 1;
        Ok(Kind::Map)
    }
}

fn closing(open: char, close: char, opened: Place) -> String {
    format!("or the `{close}` for the `{open}` of line {}, column {}", opened.line, opened.column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<(usize, usize, String)> {
        let (_, problems) = read(text);
        problems.into_iter().map(|p| (p.at.line, p.at.column, p.message)).collect()
    }

    #[test]
    fn a_tree_with_places() {
        let (node, problems) = read("#![enable(implicit_some)]\n(a: [1, (2, 3)],\n b: Mach(4.0), c: Auto)");
        assert!(problems.is_empty(), "{problems:?}");
        let Kind::Named(None, Body::Fields(fields)) = node.unwrap().kind else { panic!("no fields") };
        assert_eq!(fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(fields[1].value.at, Place { line: 3, column: 5 });
        assert_eq!(fields[2].value.kind, Kind::Named(Some("Auto".into()), Body::Unit));
        assert!(matches!(&fields[0].value.kind, Kind::List(list) if list.len() == 2));
    }

    #[test]
    fn what_can_be_passed_over_is_noted() {
        let found = problems("(a: 1\n b = 2, c 3, 4)");
        let places: Vec<_> = found.iter().map(|(l, c, _)| (*l, *c)).collect();
        assert_eq!(places, [(2, 2), (2, 4), (2, 11), (2, 14)]);
        assert!(found[0].2.contains("comma is missing before `b`"));
        assert!(found[1].2.contains("with a colon"));
        assert!(found[2].2.contains("colon is missing"));
        assert!(found[3].2.contains("has no field name"));
    }

    #[test]
    fn what_cannot_says_where() {
        assert!(problems("(a: [1, 2)")[0].2.contains("`]` for the `[` of line 1, column 5, found `)`"));
        assert!(problems("(a: ")[0].2.contains("expected a value, found the end of the file"));
        assert!(problems("(a: 1")[0].2.contains("`)` for the `(` of line 1, column 1"));
        assert!(problems("()\n)")[0].2.contains("expected the end"));
        assert!(problems("")[0].2.contains("no scene"));
        assert!(problems(&"[".repeat(100_000))[0].2.contains("nested more than"));
        assert!(problems(&"{(".repeat(100_000))[0].2.contains("nested more than"));
        assert!(problems("(,)")[0].2.contains("expected a value or a field"));
    }
}
