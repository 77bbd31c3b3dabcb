//! The arguments of a call, before they are checked.

use serde_json::{Map, Value};

use crate::declare::argument::Given;
use crate::declare::nesting::shallow;

/// The arguments of a call as the caller gives them.
#[derive(Debug)]
pub(crate) enum GivenArguments<'a> {
    Value(Value),
    /// Arguments from a Rust type.
    Typed(Value),
    /// JSON text, parsed only if a value is required; an empty text means no arguments.
    Text(&'a str),
    /// The reason why they are invalid.
    Invalid(String),
}

impl<'a> GivenArguments<'a> {
    /// Returns the JSON text, if the arguments were given as text.
    pub(crate) fn text(&self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Value(_) | Self::Typed(_) | Self::Invalid(_) => None,
        }
    }

    /// Returns the arguments as a value, or the reason why they are invalid.
    pub(crate) fn into_value(self) -> Result<Given, String> {
        let is_typed = matches!(self, Self::Typed(_));
        let value = match self {
            Self::Value(value) | Self::Typed(value) => value,
            Self::Text(text) if text.trim().is_empty() => Value::Null,
            Self::Text(text) => serde_json::from_str(text).map_err(|error| format!("invalid JSON: {error}"))?,
            Self::Invalid(reason) => return Err(reason),
        };
        let value = shallow(value).map_err(|fault| fault.to_string())?;
        Ok(Given { value, is_typed })
    }

    /// Returns arguments that were refused: the text, or the value if present.
    pub(crate) fn refused(text: Option<&'a str>, value: Option<Value>) -> Self {
        let value = || value.map_or_else(|| Self::Invalid(String::new()), Self::Value);
        text.map_or_else(value, Self::Text)
    }

    /// Returns the arguments for the event about a refused call; text that is not JSON stays text.
    pub(crate) fn into_shown(self) -> Option<Value> {
        let value = match self {
            Self::Value(value) | Self::Typed(value) => value,
            Self::Text(text) if text.trim().is_empty() => Value::Object(Map::new()),
            Self::Text(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
            Self::Invalid(_) => return None,
        };
        shallow(value).ok()
    }
}

impl From<Result<Value, String>> for GivenArguments<'_> {
    fn from(arguments: Result<Value, String>) -> Self {
        arguments.map_or_else(Self::Invalid, Self::Value)
    }
}

impl From<Given> for GivenArguments<'_> {
    fn from(Given { value, is_typed }: Given) -> Self {
        if is_typed { Self::Typed(value) } else { Self::Value(value) }
    }
}
