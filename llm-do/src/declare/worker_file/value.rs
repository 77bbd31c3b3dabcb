//! Values of the kinds that keys take; a value of another kind is noted and left out.

use serde_json::{Map, Value};

use super::Fault;

/// The key whose value is being read.
#[derive(Debug)]
pub(super) struct Key<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    pub(super) faults: &'a mut Vec<Fault>,
}

impl Key<'_> {
    /// Returns a key inside this one's value.
    pub(super) fn inner<'a>(&'a mut self, name: &'a str) -> Key<'a> {
        Key { name, line: self.line, faults: self.faults }
    }

    /// Notes a fault.
    pub(super) fn fault<T>(&mut self, message: impl Into<String>) -> Option<T> {
        self.faults.push(Fault::new(self.line, message));
        None
    }

    fn wrong<T>(&mut self, expected: &str, found: &Value) -> Option<T> {
        self.fault(format!("`{}` takes {expected}, not {}", self.name, kind(found)))
    }

    /// Reads a text that says something.
    pub(super) fn text(&mut self, value: Value) -> Option<String> {
        match value {
            Value::String(text) if text.trim().is_empty() => self.fault(format!("`{}` is blank", self.name)),
            Value::String(text) => Some(text),
            other => self.wrong("a text", &other),
        }
    }

    /// Reads a list of texts, none of which comes twice; nothing stands for none.
    pub(super) fn texts(&mut self, value: Value) -> Option<Vec<String>> {
        let items = match value {
            Value::Array(items) => items,
            Value::Null => return Some(Vec::new()),
            other => return self.wrong("a list of texts", &other),
        };
        let mut texts: Vec<String> = Vec::new();
        for item in items {
            match item {
                Value::String(text) if text.trim().is_empty() => {
                    self.fault::<()>(format!("`{}` lists a blank text", self.name));
                }
                Value::String(text) if texts.contains(&text) => {
                    self.fault::<()>(format!("`{}` lists `{text}` twice", self.name));
                }
                Value::String(text) => texts.push(text),
                other => drop(self.fault::<()>(format!("`{}` lists texts, not {}", self.name, kind(&other)))),
            }
        }
        Some(texts)
    }

    /// Reads a list of one text or more.
    pub(super) fn some_texts(&mut self, value: Value) -> Option<Vec<String>> {
        match value {
            Value::Array(items) if items.is_empty() => {
                self.fault(format!("`{}` is an empty list; leave it out", self.name))
            }
            Value::Null => self.wrong("a list of texts", &Value::Null),
            value => self.texts(value),
        }
    }

    /// Reads a number of something.
    pub(super) fn count<T: TryFrom<u64>>(&mut self, value: &Value) -> Option<T> {
        let count = value.as_u64().and_then(|whole| T::try_from(whole).ok());
        match value {
            _ if count.is_some() => count,
            Value::Number(number) => {
                let name = self.name;
                self.fault(format!("`{name}` takes a whole number from 0, not a number such as {number}"))
            }
            other => self.wrong("a whole number from 0", other),
        }
    }

    /// Reads a number, with or without a fraction.
    pub(super) fn number(&mut self, value: &Value) -> Option<f64> {
        value.as_f64().or_else(|| self.wrong("a number", value))
    }

    /// Reads a map.
    pub(super) fn map(&mut self, value: Value) -> Option<Map<String, Value>> {
        match value {
            Value::Object(map) => Some(map),
            other => self.wrong("a map", &other),
        }
    }

    /// Reads a schema, which is a map.
    pub(super) fn schema(&mut self, value: Value) -> Option<Value> {
        if value.is_object() { Some(value) } else { self.wrong("a JSON schema, a map", &value) }
    }

    /// Notes a key that has no meaning here.
    pub(super) fn unknown(&mut self, of: &str, known: &[&str]) {
        let near = known.iter().map(|known| (strsim::jaro_winkler(self.name, known), known));
        let near = near.filter(|(likeness, _)| *likeness > 0.8).max_by(|one, other| one.0.total_cmp(&other.0));
        let hint = match near {
            Some((_, near)) => format!("did you mean `{near}`?"),
            None => format!("the keys are {}", known.join(", ")),
        };
        self.fault::<()>(format!("unknown key `{}`{of}; {hint}", self.name));
    }
}

/// Returns what a value is, for a fault.
pub(super) fn kind(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(flag) => format!("`{flag}`"),
        Value::Number(_) => "a number".to_owned(),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map".to_owned(),
    }
}
