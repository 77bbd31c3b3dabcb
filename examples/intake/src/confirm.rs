//! Confirms what a model read from a note, by what the note itself states.
//!
//! The rules know a few hundred words, no names and no cities. A value is confirmed if the note states it in a usual
//! form, about the person and not about another one. What is less clear, such as "from Bath" beside another place, also
//! needs the model to read the same. All other values are doubtful, even if they may be right. A field is empty if
//! nothing in the note can be its value.

/// A pattern that is compiled when it is first used.
macro_rules! pattern {
    ($pattern:expr) => {
        std::sync::LazyLock::new(|| regex::Regex::new($pattern).expect("the pattern is valid"))
    };
}

mod age;
mod name;
mod note;
mod people;
mod place;

use std::fmt::Display;
use std::sync::LazyLock;

use regex::Regex;

use self::people::People;

/// What a note states about a field: a value, or `None` if it states none; the error is the reason for a doubt.
pub(crate) type Stated<T> = Result<Option<T>, String>;

/// A note with its number words as digits.
pub(crate) struct Note(String);

impl Note {
    pub(crate) fn new(text: &str) -> Self {
        Self(note::with_digits(text.trim()))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Returns a doubt about all fields if the note corrects itself, such as "53, no, sorry, 54".
    pub(crate) fn correction(&self) -> Option<String> {
        static CORRECTION: LazyLock<Regex> = pattern!(
            r"(?xi)\bno,?\ (?:sorry|wait)|,\ sorry|\bI\ mean\b|\b(?:or|no),?\ rather\b|correction|(?:make|scratch)\ that
            |crossed\ out|hang\ on|misread|\btypo"
        );
        CORRECTION.is_match(&self.0).then(|| "the note corrects itself".to_owned())
    }

    /// Returns a doubt if other people are in the note and the model read neither the stated age nor the stated city.
    pub(crate) fn misreading(
        &self,
        name: Option<&str>,
        age: (Option<u8>, u8),
        city: (Option<&str>, &str),
    ) -> Option<String> {
        let is_misread =
            age.0.is_some_and(|stated| stated != age.1) && city.0.is_some_and(|stated| !agrees(stated, city.1));
        let are_several = || People::new(&self.0, &note::runs(&self.0), name).are_several();
        (is_misread && are_several()).then(|| "the model read another age and another city".to_owned())
    }

    /// Returns the name of the person that the note is about.
    pub(crate) fn name(&self, proposed: &str) -> Stated<&str> {
        name::name(&self.0, &note::runs(&self.0), proposed)
    }

    /// Returns the age of the person with this name.
    pub(crate) fn age(&self, name: Option<&str>, proposed: u8) -> Stated<u8> {
        age::age(&self.0, &People::new(&self.0, &note::runs(&self.0), name), proposed)
    }

    /// Returns the city where the person with this name lives.
    pub(crate) fn city(&self, name: Option<&str>, proposed: &str) -> Stated<&str> {
        let runs = note::runs(&self.0);
        place::city(&self.0, &runs, &People::new(&self.0, &runs, name), proposed)
    }
}

/// Whether one of two values contains the words of the other.
fn agrees(one: &str, other: &str) -> bool {
    contains(one, other) || contains(other, one)
}

/// Whether `whole` contains the words of `part`, ignoring case and punctuation.
fn contains(whole: &str, part: &str) -> bool {
    let words = |text: &str| format!(" {} ", text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " ").trim());
    words(whole).contains(&words(part)) && part.contains(char::is_alphanumeric)
}

/// Whether a sentence of the note denies that it states what `field` matches.
fn is_withheld(note: &str, field: &str) -> bool {
    let denial =
        r"\b(?:not?|never|neither|nor|without|forgot|too shy|unknown|empty|blank|declin\w+|refus\w+)\b|n['’]t\b";
    let pattern = format!(r"(?i)(?:{denial})[^.!?;]*\b(?:{field})\b|\b(?:{field})\b[^.!?;]*(?:{denial})");
    regex::Regex::new(&pattern).is_ok_and(|pattern| pattern.is_match(note))
}

/// Returns the doubt about a field that may have several values.
fn doubt<T, V: Display>(field: &str, values: impl Iterator<Item = V>) -> Stated<T> {
    let mut possible: Vec<String> = Vec::new();
    for value in values.map(|value| value.to_string()) {
        if !possible.contains(&value) {
            possible.push(value);
        }
    }
    Err(match possible.as_slice() {
        [] => format!("the note is not clear about the {field}"),
        [only] => format!("the {field} may be {only}, but the note is not clear"),
        _ => format!("the {field} may be {}", possible.join(" or ")),
    })
}
