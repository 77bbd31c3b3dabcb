//! JSON that a model almost wrote.
//!
//! The only place where text of models is mended, and only where it can mean one thing. Values are copied as they were written:
//! what is mended is around and between them. The schema decides after it.

mod find;
mod kind;
mod scan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use serde::de::IgnoredAny;
use serde_json::Value;

pub(crate) use self::find::THOUGHTS;
use self::find::{Found, find};
pub use self::kind::{Mend, Mends, words_of};

/// JSON in the text of a model.
#[derive(Debug)]
pub struct Mended<'t> {
    /// The JSON: a part of the text if nothing inside it was mended.
    pub json: Cow<'t, str>,
    /// The same, parsed.
    pub value: Value,
    /// What was mended; empty if the whole text is JSON.
    pub mends: Mends,
}

/// Why no JSON value was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmended {
    /// The text is not JSON, or could mean two things.
    Invalid(String),
    /// It has so many objects that are not equal.
    Several(usize),
}

impl fmt::Display for Unmended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(reason) => write!(f, "the result is invalid JSON: {reason}"),
            Self::Several(count) => {
                write!(f, "the answer contains {count} JSON objects; return one, without any other text")
            }
        }
    }
}

/// Returns the JSON value in a text: the whole text, or else the only object in it, or the last one, if it `fits` and any other
/// that `fits` is equal.
///
/// # Errors
///
/// Returns why there is no such value.
pub fn mend(text: &str, fits: impl Fn(&Value) -> bool) -> Result<Mended<'_>, Unmended> {
    let whole = text.trim();
    let error = match serde_json::from_str(whole) {
        Ok(value) => return Ok(Mended { json: whole.into(), value, mends: Mends::default() }),
        Err(error) => error,
    };
    let Found { mut objects, error: invalid, mut mends } = find(text);
    if let Some(reason) = invalid {
        return Err(Unmended::Invalid(reason));
    }
    let all = objects.len();
    if all > 1 {
        mends.add(Mend::Words);
    }
    // What follows the last draft is the answer, even if only the draft fits.
    let last = objects.pop().filter(|last| all == 1 || fits(&last.value));
    objects.retain(|object| fits(&object.value));
    match last {
        Some(last) if objects.iter().all(|other| other.value == last.value) => {
            Ok(Mended { json: last.json, value: last.value, mends })
        }
        None if all == 0 => Err(Unmended::Invalid(error.to_string())),
        _ => Err(Unmended::Several(all)),
    }
}

/// Returns the JSON values in a text: the whole text, or else the objects in it.
#[must_use]
pub fn values(text: &str) -> Vec<Value> {
    let objects = |_| find(text).objects.into_iter().map(|object| object.value).collect();
    serde_json::from_str(text.trim()).map_or_else(objects, |value| vec![value])
}

/// Returns the mended arguments of a call; `None` if the text is JSON, or cannot be mended.
///
/// For a call that is not read-only, nothing may be missing and nothing left out: an argument may have followed where a bracket
/// is missing, and words may take back what they surround.
#[must_use]
pub fn arguments(text: &str, is_read_only: bool) -> Option<Mended<'_>> {
    if text.trim().is_empty() || serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return None;
    }
    let mended = mend(text, Value::is_object).ok().filter(|mended| mended.value.is_object())?;
    let is_whole = !mended.mends.has(Mend::Words) && !mended.mends.has(Mend::MissingBracket);
    (is_read_only || is_whole).then_some(mended)
}
