//! The words of RON: punctuation, identifiers, numbers and strings, each with its place.
//! Must not know scenes, or how words make values.

/// A place in a text, both from 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

/// What is wrong with the text as RON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxProblem {
    /// Where.
    pub at: Place,
    /// What, and what would be right.
    pub message: String,
}

/// A word of RON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// One character that is not part of any other word: brackets, comma, colon, or one that RON has no use for.
    Punct(char),
    /// A name.
    Ident(String),
    /// A number as written; whether it is one is found out where it is used.
    Number(String),
    /// A string, escapes resolved.
    Text(String),
    /// A character in single quotes.
    Char(char),
    /// The end of the text.
    End,
}

impl Word {
    /// For "found ...".
    pub fn describe(&self) -> String {
        match self {
            Word::Punct(c) => format!("`{}`", c.escape_debug()),
            Word::Ident(s) | Word::Number(s) => format!("`{s}`"),
            Word::Text(_) => "a string".into(),
            Word::Char(_) => "a character".into(),
            Word::End => "the end of the file".into(),
        }
    }
}

/// The words of a text, the last of them [`Word::End`]. Comments (`//`, and `/* */` nested) are left out.
pub fn words(text: &str) -> Result<Vec<(Word, Place)>, SyntaxProblem> {
    // Editors on Windows put a byte order mark before the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lexer = Lexer { chars: text.chars().collect(), next: 0, at: Place { line: 1, column: 1 } };
    let mut words = Vec::new();
    loop {
        lexer.skip_blank()?;
        let at = lexer.at;
        let word = lexer.word()?;
        let end = word == Word::End;
        words.push((word, at));
        if end {
            return Ok(words);
        }
    }
}

struct Lexer {
    chars: Vec<char>,
    next: usize,
    at: Place,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.next + ahead).copied()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.next += 1;
        if c == '\n' {
            self.at = Place { line: self.at.line + 1, column: 1 };
        } else {
            self.at.column += 1;
        }
        Some(c)
    }

    fn skip_blank(&mut self) -> Result<(), SyntaxProblem> {
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('/')) => while self.take().is_some_and(|c| c != '\n') {},
                (Some('/'), Some('*')) => self.skip_block()?,
                (Some(c), _) if c.is_whitespace() => {
                    self.take();
                }
                _ => return Ok(()),
            }
        }
    }

    fn skip_block(&mut self) -> Result<(), SyntaxProblem> {
        let at = self.at;
        let mut depth = 0_usize;
        loop {
            let step = match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => 1,
                (Some('*'), Some('/')) => -1,
                (Some(_), _) => {
                    self.take();
                    continue;
                }
                (None, _) => {
                    let message = "this comment is not closed: end it with `*/`".into();
                    return Err(SyntaxProblem { at, message });
                }
            };
            self.take();
            self.take();
            depth = depth.saturating_add_signed(step);
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn word(&mut self) -> Result<Word, SyntaxProblem> {
        let Some(c) = self.peek(0) else { return Ok(Word::End) };
        let following = self.peek(1);
        let number_follows = following.is_some_and(|c| c.is_ascii_alphanumeric() || c == '.');
        match c {
            '"' => self.string(),
            '\'' => self.character(),
            'r' if self.raw_hashes().is_some() => self.raw_string(),
            '0'..='9' => Ok(self.number()),
            '+' | '-' | '.' if number_follows => Ok(self.number()),
            c if c.is_alphabetic() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = self.peek(0).filter(|c| c.is_alphanumeric() || *c == '_') {
                    name.push(c);
                    self.take();
                }
                // RON's words for what is not a finite number are numbers wherever they stand.
                Ok(if name == "inf" || name == "NaN" { Word::Number(name) } else { Word::Ident(name) })
            }
            c => {
                self.take();
                Ok(Word::Punct(c))
            }
        }
    }

    fn number(&mut self) -> Word {
        let mut text: String = self.take().into_iter().collect();
        let hexadecimal = text == "0" && self.peek(0) == Some('x');
        while let Some(c) = self.peek(0) {
            let sign = (c == '+' || c == '-') && text.ends_with(['e', 'E']) && !hexadecimal;
            if !(c.is_alphanumeric() || c == '.' || c == '_' || sign) {
                break;
            }
            text.push(c);
            self.take();
        }
        Word::Number(text)
    }

    /// Number of `#` between an `r` and the quote of a raw string, if this is one.
    fn raw_hashes(&self) -> Option<usize> {
        let hashes = self.chars[self.next + 1..].iter().take_while(|c| **c == '#').count();
        (self.peek(1 + hashes) == Some('"')).then_some(hashes)
    }

    fn raw_string(&mut self) -> Result<Word, SyntaxProblem> {
        let at = self.at;
        let hashes = self.raw_hashes().unwrap_or(0);
        for _ in 0..hashes + 2 {
            self.take();
        }
        let mut text = String::new();
        while let Some(c) = self.take() {
            if c == '"' && (0..hashes).all(|i| self.peek(i) == Some('#')) {
                for _ in 0..hashes {
                    self.take();
                }
                return Ok(Word::Text(text));
            }
            text.push(c);
        }
        let message = format!("this string is not closed: end it with `\"{}`", "#".repeat(hashes));
        Err(SyntaxProblem { at, message })
    }

    fn string(&mut self) -> Result<Word, SyntaxProblem> {
        let at = self.at;
        self.take();
        let mut text = String::new();
        loop {
            let escape_at = self.at;
            match self.take() {
                Some('"') => return Ok(Word::Text(text)),
                Some('\\') => text.push(self.escape(escape_at)?),
                Some(c) => text.push(c),
                None => {
                    let message = "this string is not closed: end it with `\"`".into();
                    return Err(SyntaxProblem { at, message });
                }
            }
        }
    }

    /// What an escape stands for; its backslash is already taken.
    fn escape(&mut self, at: Place) -> Result<char, SyntaxProblem> {
        let code = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
        let resolved = match self.take() {
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some('0') => Some('\0'),
            Some(c @ ('\\' | '"' | '\'')) => Some(c),
            Some('x') => code(&self.take().into_iter().chain(self.take()).collect::<String>()),
            Some('u') if self.peek(0) == Some('{') => {
                self.take();
                let mut digits = String::new();
                while let Some(c) = self.take().filter(|c| c.is_ascii_hexdigit() && digits.len() < 7) {
                    digits.push(c);
                }
                code(&digits)
            }
            _ => None,
        };
        match resolved {
            Some(c) => Ok(c),
            None => {
                let message = "unknown escape in a string: write a backslash as `\\\\`; known are \
                               \\n \\t \\r \\0 \\\" \\' \\x41 \\u{1F600}";
                Err(SyntaxProblem { at, message: message.into() })
            }
        }
    }

    fn character(&mut self) -> Result<Word, SyntaxProblem> {
        let at = self.at;
        self.take();
        let inner_at = self.at;
        let c = match self.take() {
            Some('\\') => Some(self.escape(inner_at)?),
            other => other,
        };
        match (c, self.peek(0)) {
            (Some(c), Some('\'')) => {
                self.take();
                Ok(Word::Char(c))
            }
            _ => {
                let message = "a string is written in double quotes: \"...\"".into();
                Err(SyntaxProblem { at, message })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> Vec<Word> {
        words(text).unwrap().into_iter().map(|(word, _)| word).collect()
    }

    #[test]
    fn words_and_places() {
        let found = words("(a: 1.5e-3, // x\n /* b /* c */ */ Auto)").unwrap();
        let kinds: Vec<Word> = found.iter().map(|(w, _)| w.clone()).collect();
        let number = Word::Number("1.5e-3".into());
        let (a, auto) = (Word::Ident("a".into()), Word::Ident("Auto".into()));
        use Word::{End, Punct};
        assert_eq!(kinds, [Punct('('), a, Punct(':'), number, Punct(','), auto, Punct(')'), End]);
        assert_eq!(found[5].1, Place { line: 2, column: 18 });
    }

    #[test]
    fn strings() {
        assert_eq!(only(r#""a\n\x41\u{e9}\"" "#)[0], Word::Text("a\nAé\"".into()));
        assert_eq!(only("r#\"a\"b\\\"#")[0], Word::Text("a\"b\\".into()));
        assert_eq!(only("'x'")[0], Word::Char('x'));
        assert_eq!(words("(\n \"ab").unwrap_err().at, Place { line: 2, column: 2 });
        assert_eq!(words("\"a\\q\"").unwrap_err().at, Place { line: 1, column: 3 });
        assert!(words("\"a\\u{110000}\"").is_err());
        assert!(words("r##\"a\"#").is_err());
        assert!(words("'ab'").is_err());
        assert!(words("/* /* */").is_err());
    }

    #[test]
    fn numbers() {
        for text in ["-inf", "NaN", "+1.", ".5", "0x1F", "1_000", "1E+5", "1.2.3", "-5"] {
            assert_eq!(only(text), [Word::Number(text.into()), Word::End]);
        }
        assert_eq!(only("0xe+1"), [Word::Number("0xe".into()), Word::Number("+1".into()), Word::End]);
    }
}
