//! Reads one list or object that is almost JSON, and writes it as JSON.
//!
//! Each character is read once. Scalars are copied; only the quotes of a string change, if they are single ones.

use std::collections::HashSet;

use super::kind::{Mend, Mends};

/// How deeply values may be nested, as in JSON that is read.
const MAX_DEPTH: usize = 128;

/// A list or an object as JSON.
pub(super) struct Scanned<'t> {
    pub(super) json: String,
    pub(super) mends: Mends,
    /// The text after it.
    pub(super) rest: &'t str,
}

struct Scanner<'t> {
    rest: &'t str,
    json: String,
    /// What is open, outermost first.
    open: Vec<Open>,
    next: Next,
    mends: Mends,
    /// Whether the text ends in a number, so far: more digits may be missing.
    ends_in_number: bool,
    /// Whether a comment of one line may contain closing brackets.
    has_hidden_brackets: bool,
}

enum Open {
    List,
    /// With its keys so far.
    Object(HashSet<String>),
}

/// What may follow.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    /// The first item, or the end.
    First,
    /// An item after a comma, or the end if the comma is to be removed.
    Item,
    Colon,
    /// The value of a key.
    Value,
    /// A comma, or the end.
    Comma,
}

/// Reads the list or object that `text` begins with; `None` if it has other faults than those that are mended.
pub(super) fn scan(text: &str) -> Option<Scanned<'_>> {
    let mut scanner = Scanner {
        rest: text,
        json: String::with_capacity(text.len()),
        open: Vec::new(),
        next: Next::Value,
        mends: Mends::default(),
        ends_in_number: false,
        has_hidden_brackets: false,
    };
    scanner.read()?;
    Some(Scanned { json: scanner.json, mends: scanner.mends, rest: scanner.rest })
}

/// Whether a character may be in a key without quotes.
fn is_of_key(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$')
}

impl<'t> Scanner<'t> {
    fn read(&mut self) -> Option<()> {
        loop {
            self.skip_blank()?;
            match self.rest.chars().next() {
                None => return self.close(self.ends_in_number),
                // A code block ends.
                Some('`') => return self.close(false),
                Some(letter) => self.step(letter)?,
            }
            if self.open.is_empty() {
                return Some(());
            }
        }
    }

    fn step(&mut self, letter: char) -> Option<()> {
        self.ends_in_number = false;
        match (self.next, letter) {
            (Next::First | Next::Item | Next::Comma, '}' | ']') => self.end(letter)?,
            (Next::Comma, ',') => self.pass(Next::Item),
            (Next::Colon, ':') => {
                self.json.push(':');
                self.pass(Next::Value);
            }
            (Next::First | Next::Item, _) => self.item(letter)?,
            (Next::Value, _) => self.value(letter)?,
            (Next::Comma | Next::Colon, _) => return None,
        }
        Some(())
    }

    /// Passes a character of one byte.
    fn pass(&mut self, next: Next) {
        self.rest = &self.rest[1..];
        self.next = next;
    }

    /// Passes white space and comments.
    fn skip_blank(&mut self) -> Option<()> {
        loop {
            let rest = self.rest.trim_start_matches([' ', '\n', '\r', '\t']);
            self.ends_in_number &= rest.len() == self.rest.len();
            self.rest = rest;
            if let Some(comment) = rest.strip_prefix("//") {
                self.skip_line(comment);
            } else if let Some(comment) = rest.strip_prefix("/*") {
                self.rest = comment.split_once("*/")?.1;
            } else {
                return Some(());
            }
            self.mends.add(Mend::Comment);
            self.ends_in_number = false;
        }
    }

    fn skip_line(&mut self, comment: &'t str) {
        let (line, rest) = comment.split_once('\n').unwrap_or((comment, ""));
        self.has_hidden_brackets |= rest.is_empty() || line.contains(['}', ']']);
        self.rest = rest;
    }

    /// Begins an item of a list, or a key of an object.
    fn item(&mut self, letter: char) -> Option<()> {
        if self.next == Next::Item {
            self.json.push(',');
        }
        match self.open.last()? {
            Open::List => self.value(letter),
            Open::Object(_) => self.key(letter),
        }
    }

    fn key(&mut self, letter: char) -> Option<()> {
        let start = self.json.len();
        match letter {
            '"' => self.string()?,
            '\'' => self.single_quoted()?,
            _ => self.bare_key()?,
        }
        let key = serde_json::from_str(&self.json[start..]).ok()?;
        let Open::Object(keys) = self.open.last_mut()? else { return None };
        self.next = Next::Colon;
        // Of two values of one key, either may be meant.
        keys.insert(key).then_some(())
    }

    fn bare_key(&mut self) -> Option<()> {
        let end = self.rest.find(|letter| !is_of_key(letter)).unwrap_or(self.rest.len());
        let key = &self.rest[..end];
        let is_name = !key.is_empty() && !key.starts_with(|letter: char| letter.is_numeric());
        if !is_name || matches!(key, "true" | "false" | "null") {
            return None;
        }
        self.mends.add(Mend::UnquotedKey);
        self.json.extend(["\"", key, "\""]);
        self.rest = &self.rest[end..];
        Some(())
    }

    fn value(&mut self, letter: char) -> Option<()> {
        self.next = Next::Comma;
        match letter {
            '{' => self.begin(Open::Object(HashSet::new()), letter)?,
            '[' => self.begin(Open::List, letter)?,
            '"' => self.string()?,
            '\'' => self.single_quoted()?,
            '-' | '0'..='9' => self.number(),
            _ => self.literal()?,
        }
        Some(())
    }

    fn begin(&mut self, open: Open, letter: char) -> Option<()> {
        self.json.push(letter);
        self.open.push(open);
        self.pass(Next::First);
        (self.open.len() <= MAX_DEPTH).then_some(())
    }

    fn end(&mut self, letter: char) -> Option<()> {
        let open = self.open.pop()?;
        if closing(&open) != letter {
            return None;
        }
        if self.next == Next::Item {
            self.mends.add(Mend::TrailingComma);
        }
        self.json.push(letter);
        self.pass(Next::Comma);
        Some(())
    }

    /// Adds the brackets that are missing where the text ends; `None` if anything else may be missing too.
    fn close(&mut self, is_cut_off: bool) -> Option<()> {
        if self.next != Next::Comma || is_cut_off || self.has_hidden_brackets {
            return None;
        }
        self.mends.add(Mend::MissingBracket);
        self.json.extend(self.open.drain(..).rev().map(|open| closing(&open)));
        Some(())
    }

    /// Copies the first `length` bytes.
    fn copy(&mut self, length: usize) {
        let (copied, rest) = self.rest.split_at(length);
        self.json.push_str(copied);
        self.rest = rest;
    }

    fn string(&mut self) -> Option<()> {
        let mut is_escaped = true;
        let end = self.rest.bytes().position(|byte| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end
        })?;
        self.copy(end + 1);
        Some(())
    }

    fn single_quoted(&mut self) -> Option<()> {
        self.mends.add(Mend::SingleQuotes);
        self.json.push('"');
        let text = self.rest;
        let mut letters = text.char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\'' => {
                    self.json.push('"');
                    self.rest = &text[at + 1..];
                    return Some(());
                }
                '"' => self.json.push_str("\\\""),
                '\\' => self.escape(letters.next()?.1)?,
                _ => self.json.push(letter),
            }
        }
        None
    }

    /// Copies an escape inside single quotes.
    fn escape(&mut self, letter: char) -> Option<()> {
        match letter {
            '\'' => self.json.push('\''),
            '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u' => self.json.extend(['\\', letter]),
            _ => return None,
        }
        Some(())
    }

    fn number(&mut self) {
        let is_of_number = |letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '+' | '.' | 'e' | 'E');
        let end = self.rest.find(|letter| !is_of_number(letter)).unwrap_or(self.rest.len());
        self.copy(end);
        self.ends_in_number = true;
    }

    fn literal(&mut self) -> Option<()> {
        let word = ["true", "false", "null"].into_iter().find(|word| self.rest.starts_with(word))?;
        self.copy(word.len());
        Some(())
    }
}

fn closing(open: &Open) -> char {
    match open {
        Open::List => ']',
        Open::Object(_) => '}',
    }
}
