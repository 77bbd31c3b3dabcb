//! JSON that is a text, a value or both.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::RAW_VALUE;

/// JSON as it is passed on: the arguments or the result of a call. Copies share it.
///
/// It is created from a text or from a value. The other form is made once, when something first asks for it.
#[derive(Clone)]
pub(crate) struct Json(Arc<Forms>);

/// At least one form is set.
#[derive(Default)]
struct Forms {
    /// Valid JSON, without white space between tokens.
    text: OnceLock<String>,
    value: OnceLock<Arc<Value>>,
}

impl Json {
    /// Returns the JSON of a valid text without white space between tokens.
    pub(crate) fn from_text(text: String) -> Self {
        Self(Arc::new(Forms { text: text.into(), ..Forms::default() }))
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> &str {
        self.0.text.get_or_init(|| self.value().to_string())
    }

    /// Returns the value.
    pub(crate) fn value(&self) -> &Value {
        self.shared_value()
    }

    /// Returns the value, to share it.
    pub(crate) fn shared_value(&self) -> &Arc<Value> {
        self.0.value.get_or_init(|| Arc::new(parsed(self.text())))
    }

    /// Returns the value, to change it.
    pub(crate) fn value_mut(&mut self) -> &mut Value {
        *self = std::mem::take(self).into_value().into();
        let value = Arc::get_mut(&mut self.0).and_then(|forms| forms.value.get_mut()).and_then(Arc::get_mut);
        let Some(value) = value else { unreachable!("the new value is not shared") };
        value
    }

    pub(crate) fn into_text(self) -> String {
        match Arc::try_unwrap(self.0) {
            Ok(Forms { text, value }) => {
                text.into_inner().unwrap_or_else(|| value.into_inner().unwrap_or_default().to_string())
            }
            Err(shared) => Self(shared).to_string(),
        }
    }

    pub(crate) fn into_value(self) -> Value {
        match Arc::try_unwrap(self.0) {
            Ok(Forms { text, value }) => match value.into_inner() {
                Some(value) => Arc::unwrap_or_clone(value),
                None => parsed(&text.into_inner().unwrap_or_default()),
            },
            Err(shared) => Self(shared).value().clone(),
        }
    }

    /// Returns the content of a JSON text, or else the JSON.
    pub(crate) fn into_plain(self) -> String {
        let is_text = match self.0.text.get() {
            Some(text) => text.starts_with('"'),
            None => self.value().is_string(),
        };
        if !is_text {
            return self.into_text();
        }
        match self.into_value() {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self(Arc::new(Forms { value: Arc::new(value).into(), ..Forms::default() }))
    }
}

/// `null`.
impl Default for Json {
    fn default() -> Self {
        Value::Null.into()
    }
}

/// Compares the values: the order of fields makes no difference.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        match (self.0.text.get(), other.0.text.get()) {
            (Some(text), Some(other)) if text == other => true,
            _ => self.value() == other.value(),
        }
    }
}

/// The text.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.text.get() {
            Some(text) => f.write_str(text),
            None => self.value().fmt(f),
        }
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.text.get() {
            // As `RawValue` does, which would parse the text once more.
            Some(text) if serializer.is_human_readable() => {
                let mut raw = serializer.serialize_struct(RAW_VALUE, 1)?;
                raw.serialize_field(RAW_VALUE, text.as_str())?;
                raw.end()
            }
            _ => self.value().serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::Json;

    const TEXT: &str = r#"{"a":[1.5,null,"ä\n"],"b":{}}"#;

    fn forms() -> [Json; 2] {
        [Json::from_text(TEXT.to_owned()), json!({ "a": [1.5, null, "ä\n"], "b": {} }).into()]
    }

    #[test]
    fn both_forms_have_the_same_text_and_the_same_value() {
        let [text, value] = forms();
        assert_eq!(text, Json::from(json!({ "b": {}, "a": [1.5, null, "ä\n"] })));
        for json in [text, value] {
            assert_eq!((json.to_string(), format!("{json:?}")), (TEXT.to_owned(), TEXT.to_owned()));
            assert_eq!((json.text(), serde_json::to_string(&json).unwrap()), (TEXT, TEXT.to_owned()));
            assert_eq!(serde_json::to_value(&json).unwrap(), *json.value());
            assert_eq!((json.clone().into_text(), json.clone().into_plain()), (TEXT.to_owned(), TEXT.to_owned()));
            assert_eq!(json.clone().into_value(), *json.value());
        }
    }

    #[test]
    fn a_form_is_made_once_and_shared_by_copies() {
        for json in forms() {
            let copy = json.clone();
            assert!(std::ptr::eq(json.text(), copy.text()) && Arc::ptr_eq(json.shared_value(), copy.shared_value()));
        }
    }

    #[test]
    fn a_change_of_the_value_changes_the_text_but_no_copy() {
        for mut json in forms() {
            let copy = json.clone();
            json.value_mut()["b"] = json!([]);
            assert_eq!((json.text(), copy.text()), (r#"{"a":[1.5,null,"ä\n"],"b":[]}"#, TEXT));
        }
    }

    #[test]
    fn a_text_is_plain_without_quotes_and_escapes() {
        for json in [Json::from_text(r#""a\"b""#.to_owned()), Value::from("a\"b").into()] {
            assert_eq!(json.into_plain(), "a\"b");
        }
        assert_eq!(Json::default().into_plain(), "null");
    }
}
