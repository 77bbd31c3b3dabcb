//! Booleans that some servers send as strings.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A boolean, or a string with it; `false` for any other value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flag(pub(crate) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Value::deserialize(deserializer)? {
            Value::Bool(flag) => flag,
            Value::String(text) => text.eq_ignore_ascii_case("true"),
            _ => false,
        }))
    }
}
