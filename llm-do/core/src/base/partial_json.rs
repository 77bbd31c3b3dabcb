//! JSON that is still arriving: the values so far.
//!
//! Each character is read once, however the text is split. A string grows; a number, a literal and a key count once they are
//! complete. What is not JSON ends the reading: the values so far stay.

mod start;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

use serde_json::{Map, Value};

use self::start::Start;
use self::text::{Escape, Escaped};

/// How deeply values may be nested, as in JSON that is read.
const MAX_DEPTH: usize = 128;

/// A step from a value to one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the value of a key.
    Key(Arc<str>),
    /// To the item with this index.
    Item(usize),
}

/// A reader of JSON that arrives in pieces. The JSON is an object; words and thoughts before it are passed over.
#[derive(Debug, Default)]
pub struct PartialJson {
    root: Option<Arc<Value>>,
    open: Vec<Open>,
    state: State,
    start: Start,
    /// A key, number or literal that is not complete, or the part of a string that is not in its value yet.
    token: String,
    escape: Escape,
}

/// An open list or object.
#[derive(Debug)]
enum Open {
    List,
    /// With the key of its last value.
    Object(Option<Arc<str>>),
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    /// The object has not begun.
    #[default]
    Start,
    /// An item or a key is next, or the end.
    First,
    /// An item or a key is next.
    Item,
    Key,
    Colon,
    Value,
    String,
    /// A number or a literal.
    Word,
    /// A comma is next, or the end.
    Comma,
    /// Nothing more is read.
    End,
}

impl PartialJson {
    /// Reads the next piece.
    pub fn push(&mut self, piece: &str) {
        for letter in piece.chars() {
            if self.read(letter).is_none() {
                self.finish();
            }
        }
        if self.state == State::String {
            self.grow();
        }
    }

    /// Ends the reading at what is not JSON.
    fn finish(&mut self) {
        if self.state == State::String {
            self.grow();
        }
        self.state = State::End;
    }

    /// Returns the object so far, if it has begun.
    #[must_use]
    pub fn value(&self) -> Option<&Arc<Value>> {
        self.root.as_ref()
    }

    /// Returns the steps to the innermost value that is not complete; `None` if the object is complete.
    #[must_use]
    pub fn open_path(&self) -> Option<Vec<Step>> {
        if self.open.is_empty() {
            return None;
        }
        let mut path = Vec::new();
        let mut value = self.root.as_deref();
        let inner = self.open.len() - usize::from(self.state != State::String);
        for open in &self.open[..inner] {
            let step = match open {
                Open::List => Step::Item(value?.as_array()?.len().checked_sub(1)?),
                Open::Object(key) => Step::Key(key.clone()?),
            };
            value = inside(value?, &step);
            path.push(step);
        }
        Some(path)
    }

    /// Reads a character; `None` if it is not JSON.
    fn read(&mut self, letter: char) -> Option<()> {
        match self.state {
            State::Start => {
                if self.start.begins(letter) {
                    self.begin(Value::Object(Map::new()), Open::Object(None))?;
                }
            }
            State::Key | State::String => self.read_text(letter)?,
            State::Word if is_of_word(letter) => self.token.push(letter),
            State::Word => {
                self.end_word()?;
                self.read_mark(letter)?;
            }
            State::End => {}
            _ => self.read_mark(letter)?,
        }
        Some(())
    }

    fn read_mark(&mut self, letter: char) -> Option<()> {
        match (self.state, letter) {
            (_, ' ' | '\n' | '\r' | '\t') => {}
            (State::First | State::Comma, '}' | ']') => self.close(letter)?,
            (State::Comma, ',') => self.state = State::Item,
            (State::Colon, ':') => self.state = State::Value,
            (State::First | State::Item, _) => match self.open.last()? {
                Open::Object(_) => self.state = (letter == '"').then_some(State::Key)?,
                Open::List => self.begin_value(letter)?,
            },
            (State::Value, _) => self.begin_value(letter)?,
            _ => return None,
        }
        Some(())
    }

    fn begin_value(&mut self, letter: char) -> Option<()> {
        match letter {
            '{' => self.begin(Value::Object(Map::new()), Open::Object(None)),
            '[' => self.begin(Value::Array(Vec::new()), Open::List),
            '"' => {
                self.insert(Value::String(String::new()))?;
                self.state = State::String;
                Some(())
            }
            _ if is_of_word(letter) => {
                self.token.push(letter);
                self.state = State::Word;
                Some(())
            }
            _ => None,
        }
    }

    fn begin(&mut self, value: Value, open: Open) -> Option<()> {
        self.insert(value)?;
        self.open.push(open);
        self.state = State::First;
        (self.open.len() <= MAX_DEPTH).then_some(())
    }

    fn close(&mut self, letter: char) -> Option<()> {
        let end = match self.open.last()? {
            Open::List => ']',
            Open::Object(_) => '}',
        };
        if letter != end {
            return None;
        }
        self.open.pop();
        self.state = if self.open.is_empty() { State::End } else { State::Comma };
        Some(())
    }

    fn end_word(&mut self) -> Option<()> {
        let value = serde_json::from_str(&self.token).ok()?;
        self.token.clear();
        self.insert(value)?;
        self.state = State::Comma;
        Some(())
    }

    /// Reads a character of a key or a string.
    fn read_text(&mut self, letter: char) -> Option<()> {
        match self.escape.read(letter)? {
            Escaped::Nothing => {}
            Escaped::Letter(letter) => self.token.push(letter),
            Escaped::End if self.state == State::Key => {
                let Open::Object(key) = self.open.last_mut()? else { return None };
                *key = Some(std::mem::take(&mut self.token).into());
                self.state = State::Colon;
            }
            Escaped::End => {
                self.grow();
                self.state = State::Comma;
            }
        }
        Some(())
    }

    /// Adds what was read of a string to its value.
    fn grow(&mut self) {
        let token = std::mem::take(&mut self.token);
        if !token.is_empty()
            && let Some(Value::String(text)) = self.place(self.open.len())
        {
            text.push_str(&token);
        }
    }

    /// Adds a value to the innermost list or object; the first is the root.
    fn insert(&mut self, value: Value) -> Option<()> {
        let Some(outer) = self.open.len().checked_sub(1) else {
            self.root = Some(Arc::new(value));
            return Some(());
        };
        let key = match self.open.last()? {
            Open::Object(key) => key.clone(),
            Open::List => None,
        };
        match (self.place(outer)?, key) {
            (Value::Array(items), _) => items.push(value),
            (Value::Object(fields), Some(key)) => drop(fields.insert(String::from(&*key), value)),
            _ => return None,
        }
        Some(())
    }

    /// Returns the last value at a level below the root.
    fn place(&mut self, level: usize) -> Option<&mut Value> {
        // A copy is made only if the last value is still in use.
        let mut value = Arc::make_mut(self.root.as_mut()?);
        for open in &self.open[..level] {
            value = match (value, open) {
                (Value::Array(items), Open::List) => items.last_mut()?,
                (Value::Object(fields), Open::Object(Some(key))) => fields.get_mut(&**key)?,
                _ => return None,
            };
        }
        Some(value)
    }
}

/// Returns the value that a step leads to.
#[must_use]
pub fn inside<'v>(value: &'v Value, step: &Step) -> Option<&'v Value> {
    match step {
        Step::Key(key) => value.as_object()?.get(&**key),
        Step::Item(index) => value.as_array()?.get(*index),
    }
}

/// Whether a character may be in a number or a literal.
fn is_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '+' | '.')
}
