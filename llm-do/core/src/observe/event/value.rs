//! A JSON value in an event, which stays text until it is read.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::base::json::RAW_VALUE;
use crate::declare::tool::{Content, ToolReturn};

/// A JSON value in an event: the arguments or the result of a call.
///
/// A call from text to text has only JSON text, and its events share that text. [`value`](Self::value) parses it on
/// each call; [`text`](Self::text) and serialization do not parse it.
///
/// # Examples
///
/// ```
/// use llm_do::event::EventValue;
/// use serde_json::json;
///
/// let arguments = EventValue::from(json!({ "path": "a.txt" }));
/// assert_eq!(arguments, json!({ "path": "a.txt" }));
/// assert_eq!(arguments.value()["path"], "a.txt");
/// assert_eq!(arguments.to_string(), r#"{"path":"a.txt"}"#);
/// ```
#[derive(Clone)]
pub struct EventValue(Form);

#[derive(Clone)]
enum Form {
    /// A value, possibly shared with the call.
    Value(Arc<Value>),
    /// Valid JSON, without white space between tokens.
    Text(String),
}

impl EventValue {
    /// Creates a value from JSON text without white space between tokens.
    pub(crate) fn from_json(text: String) -> Self {
        Self(Form::Text(text))
    }

    /// Creates a value that is shared with a call.
    pub(crate) fn from_shared(value: Arc<Value>) -> Self {
        Self(Form::Value(value))
    }

    /// Creates the value of a call's result, in the form in which the call has it.
    pub(crate) fn of_result(returned: &ToolReturn) -> Self {
        match &returned.content {
            Content::Value(value) => value.clone().into(),
            Content::Json(text) => Self::from_json(text.clone()),
        }
    }

    /// Returns the JSON text, if the call had the value as text.
    pub(super) fn json(&self) -> Option<&str> {
        match &self.0 {
            Form::Value(_) => None,
            Form::Text(text) => Some(text),
        }
    }

    /// Returns the value; parses it if the call had it as text.
    #[must_use]
    pub fn value(&self) -> Cow<'_, Value> {
        match &self.0 {
            Form::Value(value) => Cow::Borrowed(value),
            Form::Text(text) => Cow::Owned(serde_json::from_str(text).unwrap_or_default()),
        }
    }

    /// Returns the value as JSON text, without white space between tokens.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match &self.0 {
            Form::Value(value) => Cow::Owned(value.to_string()),
            Form::Text(text) => Cow::Borrowed(text),
        }
    }
}

impl From<Value> for EventValue {
    fn from(value: Value) -> Self {
        Self(Form::Value(Arc::new(value)))
    }
}

/// Returns `null`.
impl Default for EventValue {
    fn default() -> Self {
        Value::Null.into()
    }
}

/// Compares the values; the order of fields is irrelevant.
impl PartialEq for EventValue {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Form::Text(text), Form::Text(other)) if text == other => true,
            _ => self.value() == other.value(),
        }
    }
}

impl PartialEq<Value> for EventValue {
    fn eq(&self, other: &Value) -> bool {
        *self.value() == *other
    }
}

/// Writes the JSON text.
impl fmt::Display for EventValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Value(value) => value.fmt(f),
            Form::Text(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for EventValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for EventValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Form::Value(value) => value.serialize(serializer),
            // The serialization of `RawValue`, which would parse the text once more.
            Form::Text(text) if serializer.is_human_readable() => {
                let mut raw = serializer.serialize_struct(RAW_VALUE, 1)?;
                raw.serialize_field(RAW_VALUE, text.as_str())?;
                raw.end()
            }
            // The format is not JSON.
            Form::Text(_) => self.value().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for EventValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::EventValue;

    const JSON: &str = r#"{"a":[1.5,null,"ä\n"],"b":{}}"#;

    #[test]
    fn a_text_is_the_value_that_it_describes() {
        let text = EventValue::from_json(JSON.to_owned());
        let value = EventValue::from(json!({ "b": {}, "a": [1.5, null, "ä\n"] }));
        assert_eq!((&text, &*text.value()), (&value, &*value.value()));
        assert_eq!((&*text.text(), text.to_string(), format!("{text:?}")), (JSON, JSON.to_owned(), JSON.to_owned()));
        assert_ne!(text, EventValue::from_json("1".to_owned()));
    }

    #[test]
    fn a_text_is_written_as_it_is_and_as_the_value_where_values_are_asked_for() {
        let text = EventValue::from_json(JSON.to_owned());
        assert_eq!(serde_json::to_string(&text).unwrap(), JSON);
        assert_eq!(serde_json::to_value(&text).unwrap(), *text.value());
        assert_eq!(serde_json::from_str::<EventValue>(JSON).unwrap(), text);
        assert_eq!(EventValue::default(), Value::Null);
    }
}
