//! Truth values in place of which some servers send texts.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A truth value, or its text; false if the value is anything else.
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
