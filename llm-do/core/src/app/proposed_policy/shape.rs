//! What the approved values of one argument have in common.
//!
//! A shape holds for no value that differs in kind from the approved ones. A text is a path or an address only if it is written plainly:
//! letters and digits of ASCII and a few signs, without `.` and `..` as parts, percent-encoding, control characters or a user name. So
//! no other way to write a path or a host matches.

mod number;
mod path;
mod plain;
mod url;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use self::number::Range;
use self::path::PathShape;
pub(super) use self::path::PlainPath;
pub(super) use self::url::PlainUrl;
use self::url::UrlShape;
use crate::observe::journal::digest;

/// The maximum number of values that a rule lists.
const MAX_VALUES: usize = 8;
/// The maximum length of a listed value, as JSON, in bytes.
const MAX_LISTED: usize = 512;

/// What the approved values of one argument have in common.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// One of these values.
    Values(Vec<Value>),
    /// A number in a range.
    Number(Range),
    /// A path below a folder.
    Path(PathShape),
    /// An address below an address.
    Url(UrlShape),
    /// A text of at most this number of characters, which only carries data.
    Data { max_length: usize },
}

impl Shape {
    /// Returns the narrowest shape of the values; `None` if they have none.
    pub(super) fn of(values: &[&Value], is_data: bool) -> Option<Self> {
        let distinct = distinct(values);
        let is_listed = distinct.len() == 1 || (distinct.len() <= MAX_VALUES && distinct.values().all(|(n, _)| *n > 1));
        let texts: Option<Vec<&str>> = values.iter().map(|value| value.as_str()).collect();
        if is_data
            && distinct.len() > 1
            && let Some(texts) = &texts
        {
            let max_length = texts.iter().map(|text| text.chars().count()).max().unwrap_or_default();
            return Some(Self::Data { max_length });
        }
        if is_listed {
            let is_short = distinct.values().all(|(_, value)| value.to_string().len() <= MAX_LISTED);
            let listed = || Self::Values(distinct.values().map(|(_, value)| (*value).clone()).collect());
            return is_short.then(listed);
        }
        let Some(texts) = texts else { return Range::of(values).map(Self::Number) };
        UrlShape::of(&texts).map(Self::Url).or_else(|| PathShape::of(&texts).map(Self::Path))
    }

    /// Returns the only value, if there is one.
    pub(super) fn only(&self) -> Option<&Value> {
        match self {
            Self::Values(values) => values.first().filter(|_| values.len() == 1),
            _ => None,
        }
    }

    /// Returns whether a value has the shape.
    pub(super) fn holds(&self, value: &Value) -> bool {
        match self {
            Self::Values(values) => values.contains(value),
            Self::Number(range) => range.holds(value),
            Self::Path(path) => value.as_str().is_some_and(|text| path.holds(text)),
            Self::Url(url) => value.as_str().is_some_and(|text| url.holds(text)),
            Self::Data { max_length } => value.as_str().is_some_and(|text| text.chars().count() <= *max_length),
        }
    }

    /// Returns the shape as a JSON Schema.
    pub(super) fn schema(&self) -> Value {
        match self {
            Self::Values(values) => match self.only() {
                Some(only) => json!({ "const": only }),
                None => json!({ "enum": values }),
            },
            Self::Number(range) => range.schema(),
            Self::Path(path) => path.schema(),
            Self::Url(url) => url.schema(),
            Self::Data { max_length } => json!({ "type": "string", "maxLength": max_length }),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Values(values) => {
                let texts: Vec<_> = values.iter().map(Value::to_string).collect();
                f.write_str(&texts.join(" or "))
            }
            Self::Number(range) => range.fmt(f),
            Self::Path(path) => path.fmt(f),
            Self::Url(url) => url.fmt(f),
            Self::Data { max_length } => write!(f, "any text of at most {max_length} characters"),
        }
    }
}

/// Returns the distinct values with their numbers, by their digests.
pub(super) fn distinct<'v>(values: &[&'v Value]) -> BTreeMap<String, (usize, &'v Value)> {
    let mut distinct = BTreeMap::new();
    for value in values {
        distinct.entry(digest(value)).or_insert((0, *value)).0 += 1;
    }
    distinct
}

#[cfg(test)]
mod tests;
