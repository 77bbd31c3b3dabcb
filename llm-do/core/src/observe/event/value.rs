//! A JSON value in an event.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::base::json::Json;

/// A JSON value in an event: the arguments or the result of a call.
///
/// Most calls have it as text, and their events share that text. [`value`](Self::value) parses it when it is first called;
/// [`text`](Self::text) and the JSON of an event do not parse it.
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
#[derive(Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct EventValue(Json);

impl EventValue {
    /// Returns JSON that a call has too.
    pub(crate) fn from_json(json: Json) -> Self {
        Self(json)
    }

    /// Returns the value; parses it if the call had it as text.
    #[must_use]
    pub fn value(&self) -> Cow<'_, Value> {
        Cow::Borrowed(self.0.value())
    }

    /// Returns the value as JSON text, without white space between tokens.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.text())
    }
}

impl From<Value> for EventValue {
    fn from(value: Value) -> Self {
        Self(value.into())
    }
}

impl PartialEq<Value> for EventValue {
    fn eq(&self, other: &Value) -> bool {
        self.0.value() == other
    }
}

/// Writes the JSON text.
impl fmt::Display for EventValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for EventValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
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

    use super::{EventValue, Json};

    const JSON: &str = r#"{"a":[1.5,null,"ä\n"],"b":{}}"#;

    #[test]
    fn a_text_is_the_value_that_it_describes() {
        let text = EventValue::from_json(Json::from_text(JSON.to_owned()));
        let value = EventValue::from(json!({ "b": {}, "a": [1.5, null, "ä\n"] }));
        assert_eq!((&text, &*text.value()), (&value, &*value.value()));
        assert_eq!((&*text.text(), text.to_string(), format!("{text:?}")), (JSON, JSON.to_owned(), JSON.to_owned()));
        assert_ne!(text, EventValue::from(json!(1)));
    }

    #[test]
    fn a_value_is_written_as_its_json_and_read_back() {
        let text = EventValue::from_json(Json::from_text(JSON.to_owned()));
        assert_eq!(serde_json::to_string(&text).unwrap(), JSON);
        assert_eq!(serde_json::to_value(&text).unwrap(), *text.value());
        assert_eq!(serde_json::from_str::<EventValue>(JSON).unwrap(), text);
        assert_eq!(EventValue::default(), Value::Null);
    }
}
