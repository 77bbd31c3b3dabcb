//! Confirms what a model read from a note, by what the note itself states.
//!
//! The rules know few words and no names or cities. They only decide whether a note is plain enough: a value is
//! confirmed if the note states it in a usual form, about the person and not about another one, and if nothing else in
//! the note can be meant. All other values are doubtful, even if they may be right, and so is a value if the model read
//! another one in the note.

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

use self::people::People;

/// What a note states about a field: a value, or `None` if it states none; the error is the reason for a doubt.
pub(crate) type Stated<T> = Result<Option<T>, String>;

/// The minimum similarity of two spellings of the same name, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.75;

/// A note with its number words as digits.
pub(crate) struct Note(String);

impl Note {
    pub(crate) fn new(text: &str) -> Self {
        Self(note::with_digits(text.trim()))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Returns the name of the person that the note is about, if `proposed` is that name.
    pub(crate) fn name(&self, proposed: &str) -> Stated<&str> {
        name::name(&self.0, &note::runs(&self.0), proposed)
    }

    /// Returns the age of the person with this name; it is doubtful if the model proposed another possible age.
    pub(crate) fn age(&self, name: Option<&str>, proposed: u8) -> Stated<u8> {
        age::age(&self.0, &People::new(&self.0, &note::runs(&self.0), name), proposed)
    }

    /// Returns the city where the person with this name lives; it is doubtful if the model read another one in the note.
    ///
    /// A small model often makes up a city or repeats the name, which is not a sign of another reading.
    pub(crate) fn city(&self, name: Option<&str>, proposed: &str) -> Stated<&str> {
        let runs = note::runs(&self.0);
        let city = place::city(&self.0, &runs, &People::new(&self.0, &runs, name))?;
        let is_read = contains(&self.0, proposed) && !name.is_some_and(|name| agrees(proposed, name));
        if is_read && !city.is_some_and(|city| agrees(proposed, city)) {
            return doubt("city", city.into_iter().chain([proposed]));
        }
        Ok(city)
    }
}

/// Whether two values mean the same: one contains the words of the other, or they differ in a few letters.
fn agrees(proposed: &str, stated: &str) -> bool {
    let similarity = strsim::normalized_levenshtein(&proposed.to_lowercase(), &stated.to_lowercase());
    contains(proposed, stated) || contains(stated, proposed) || similarity >= MIN_SIMILARITY
}

/// Whether `whole` contains the words of `part`, ignoring case and punctuation.
fn contains(whole: &str, part: &str) -> bool {
    let words = |text: &str| format!(" {} ", text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " ").trim());
    words(whole).contains(&words(part)) && part.contains(char::is_alphanumeric)
}

/// Returns the doubt about a field that may have several values.
fn doubt<T, V: Display>(field: &str, values: impl Iterator<Item = V>) -> Stated<T> {
    let mut values: Vec<_> = values.map(|value| value.to_string()).collect();
    values.dedup();
    Err(match values.as_slice() {
        [only] => format!("the {field} may be {only}, but the note is not clear"),
        _ => format!("the {field} may be {}", values.join(" or ")),
    })
}
