//! Reads the values of keys, for all formats; a value of the wrong type is reported and omitted.

use std::collections::HashSet;
use std::fmt::Display;
use std::time::Duration;

use crate::duration::parse_duration;
use crate::yaml::{Content, Key, Node};
use crate::{Fault, Located, Place, did_you_mean};

/// The reference to the documentation of the keys.
pub(crate) const DOCUMENTATION: &str = "see \"Keys of a worker file\" in the documentation of `llm_do::worker`";

/// Reads the value of one key.
#[derive(Debug)]
pub struct Reader<'a> {
    /// The key, for faults.
    pub key: &'a str,
    /// The faults so far.
    pub faults: &'a mut Vec<Fault>,
}

impl Reader<'_> {
    /// Reports a fault and returns `None`.
    pub fn fault<T>(&mut self, place: Place, message: impl Into<String>) -> Option<T> {
        self.faults.push(Fault::new(place, message));
        None
    }

    /// Reports a fault in the value of the key.
    pub fn invalid<T>(&mut self, place: Place, message: impl Display) -> Option<T> {
        self.fault(place, format!("`{}`: {message}", self.key))
    }

    /// Reports a value of the wrong type; `expected` describes the right type.
    pub fn wrong<T>(&mut self, expected: impl Display, node: &Node) -> Option<T> {
        if node.content == Content::Invalid {
            return None;
        }
        self.invalid(node.place, format!("expected {expected}, found {}", node.content.kind()))
    }

    /// Reads a string that is not blank.
    pub fn string(&mut self, node: Node) -> Option<Located<String>> {
        let place = node.place;
        match node.content {
            Content::String(text) if text.trim().is_empty() => {
                self.fault(place, format!("`{}` is blank: write a value, or remove the key", self.key))
            }
            Content::String(value) => Some(Located { place, value }),
            _ => self.wrong("a string", &node),
        }
    }

    /// Reads a list of distinct strings that are not blank.
    pub fn strings(&mut self, node: Node) -> Option<Located<Vec<Located<String>>>> {
        self.distinct(node, |text| text.trim().is_empty())
    }

    /// Reads a list of at least one string.
    pub fn nonempty_strings(&mut self, node: Node) -> Option<Located<Vec<Located<String>>>> {
        self.not_empty(&node)?;
        self.strings(node)
    }

    /// Reads a list of at least one string, which may be white space.
    pub fn nonempty_strings_or_spaces(&mut self, node: Node) -> Option<Located<Vec<Located<String>>>> {
        self.not_empty(&node)?;
        self.distinct(node, str::is_empty)
    }

    fn not_empty(&mut self, node: &Node) -> Option<()> {
        if matches!(&node.content, Content::List(items) if items.is_empty()) {
            return self.fault(node.place, format!("`{}` is an empty list: add an item, or remove the key", self.key));
        }
        Some(())
    }

    fn distinct(&mut self, node: Node, is_blank: fn(&str) -> bool) -> Option<Located<Vec<Located<String>>>> {
        let place = node.place;
        let Content::List(items) = node.content else { return self.wrong("a list of strings", &node) };
        let (mut value, mut seen): (Vec<Located<String>>, _) = (Vec::new(), HashSet::new());
        for item in items {
            let Some(text) = self.item(item, is_blank) else { continue };
            if seen.insert(text.value.clone()) {
                value.push(text);
            } else {
                self.fault::<()>(text.place, format!("`{}` lists `{}` twice", self.key, text.value));
            }
        }
        Some(Located { place, value })
    }

    fn item(&mut self, node: Node, is_blank: fn(&str) -> bool) -> Option<Located<String>> {
        let place = node.place;
        match node.content {
            Content::String(text) if is_blank(&text) => self.invalid(place, "an item is blank"),
            Content::String(value) => Some(Located { place, value }),
            Content::Invalid => None,
            other => self.invalid(place, format!("expected strings as items, found {}", other.kind())),
        }
    }

    /// Reads a whole number from 0 to `max`.
    pub fn count<T: TryFrom<i128>>(&mut self, node: &Node, max: impl Into<u64>) -> Option<T> {
        let expected = match max.into() {
            u64::MAX => "a whole number of at least 0".to_owned(),
            max => format!("a whole number from 0 to {max}"),
        };
        match node.content {
            Content::Whole(whole) => {
                let count = T::try_from(whole).ok();
                count.or_else(|| self.invalid(node.place, format!("expected {expected}, found {whole}")))
            }
            // `Debug` keeps the fraction of `1000.0`.
            Content::Number(number) => self.invalid(node.place, format!("expected {expected}, found {number:?}")),
            _ => self.wrong(expected, node),
        }
    }

    /// Reads a number, with or without a fraction.
    pub fn number(&mut self, node: &Node) -> Option<f64> {
        match node.content {
            #[expect(clippy::cast_precision_loss, reason = "settings of models are small")]
            Content::Whole(whole) => Some(whole as f64),
            Content::Number(number) => Some(number),
            _ => self.wrong("a number", node),
        }
    }

    /// Reads `true` or `false`.
    pub fn flag(&mut self, node: &Node) -> Option<bool> {
        match node.content {
            Content::Flag(flag) => Some(flag),
            _ => self.wrong("`true` or `false`", node),
        }
    }

    /// Reads a duration: a number of seconds, or a string.
    pub fn duration(&mut self, node: &Node) -> Option<Duration> {
        match &node.content {
            Content::Whole(seconds) => match u64::try_from(*seconds) {
                Ok(seconds) => Some(Duration::from_secs(seconds)),
                Err(_) => self.negative(node.place, seconds),
            },
            Content::Number(seconds) if *seconds < 0.0 => self.negative(node.place, seconds),
            Content::Number(seconds) => Duration::try_from_secs_f64(*seconds)
                .map_or_else(|_| self.invalid(node.place, format!("{seconds} seconds are too long")), Some),
            Content::String(text) => parse_duration(text).map_or_else(|error| self.invalid(node.place, error), Some),
            _ => self.wrong("a duration such as `90s`, or a number of seconds", node),
        }
    }

    fn negative(&mut self, place: Place, seconds: impl Display) -> Option<Duration> {
        self.invalid(place, format!("a duration cannot be negative, found {seconds}"))
    }

    /// Reads a map.
    pub fn map(&mut self, node: Node) -> Option<Vec<(Key, Node)>> {
        match node.content {
            Content::Map(entries) => Some(entries),
            _ => self.wrong("a map", &node),
        }
    }
}

/// Returns the fault of an unknown key; `of` names the map, such as `` in `settings` ``, and may be empty.
#[must_use]
pub fn unknown_key(key: &Key, of: &str, known: &[&str], documentation: &str) -> Fault {
    let hint = did_you_mean(&key.name, known.iter().copied());
    let known: Vec<_> = known.iter().map(|key| format!("`{key}`")).collect();
    let message = format!("unknown key `{}`{of}{hint}\nkeys: {}\n{documentation}", key.name, known.join(", "));
    Fault::new(key.place, message)
}
