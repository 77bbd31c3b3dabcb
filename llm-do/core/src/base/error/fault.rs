//! Faults of a value, with one text for operators and one for models.

use std::error::Error;
use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// What is wrong with a value, and where.
///
/// `Display` is for operators and never quotes the value, which may be a secret.
/// [`model_message`](Self::model_message) is for the model that gave the value, and may quote it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    text: String,
    /// The text for the model that gave the value, if it differs. The key is part of the journal's format.
    #[serde(default, rename = "told", skip_serializing_if = "Option::is_none")]
    model_message: Option<String>,
    /// Whether the value is nested too deeply; such a value must not be dropped recursively.
    #[serde(skip)]
    is_too_deep: bool,
}

impl Fault {
    /// Returns a fault with one text for operators and models, which must not quote the value.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), model_message: None, is_too_deep: false }
    }

    /// Sets the text for the model that gave the value, which may quote the value. Default: the text for operators.
    #[must_use]
    pub fn with_model_message(mut self, message: impl Into<String>) -> Self {
        self.model_message = Some(message.into());
        self
    }

    /// Returns the text for the model that gave the value.
    #[must_use]
    pub fn model_message(&self) -> &str {
        self.model_message.as_deref().unwrap_or(&self.text)
    }

    /// Returns the fault of a value that is nested too deeply.
    pub(crate) fn too_deep(text: impl Into<String>) -> Self {
        Self { is_too_deep: true, ..Self::new(text) }
    }

    /// Returns whether the value is nested too deeply.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.is_too_deep
    }

    /// Returns the fault of a value that serde cannot deserialize. Only the text for models may quote the value.
    pub(crate) fn reading(error: &impl Display) -> Self {
        let text = error.to_string();
        Self::new(without_value(&text)).with_model_message(text)
    }

    /// Returns the fault of a value that serde cannot serialize. Only the text for models may quote the value.
    pub(crate) fn writing(error: &impl Display) -> Self {
        Self::new("cannot be written as JSON").with_model_message(error.to_string())
    }

    /// Prefixes both texts with the location of the fault, or with the failed operation.
    pub(crate) fn within(self, place: &str) -> Self {
        let prefixed = |text: String| format!("{place}: {text}");
        Self { text: prefixed(self.text), model_message: self.model_message.map(prefixed), ..self }
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Fault").field(&self.text).finish()
    }
}

impl Error for Fault {}

impl From<String> for Fault {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Fault {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

/// The value kinds that serde's messages name before the quoted value.
const KINDS: [&str; 18] = [
    "boolean",
    "integer",
    "floating point",
    "character",
    "string",
    "byte array",
    "unit value",
    "unit variant",
    "unit",
    "Option value",
    "newtype struct",
    "newtype variant",
    "sequence",
    "map",
    "enum",
    "tuple variant",
    "struct variant",
    "null",
];

/// Removes the quoted value from a serde message; replaces a custom message, since any part of it may be the value.
fn without_value(message: &str) -> String {
    let names = ["missing field `", "duplicate field `", "unknown field `", "invalid length "];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "`_-., ".contains(c);
    if names.iter().any(|known| message.starts_with(known)) && message.chars().all(is_plain) {
        return message.to_owned();
    }
    // The expectation is last, since the quoted value before it may contain `, expected ` too.
    let expected = message.rsplit_once(", expected ").map(|(_, expected)| format!(", expected {expected}"));
    let expected = expected.unwrap_or_default();
    if message.starts_with("unknown variant `") {
        return format!("unknown variant{expected}");
    }
    ["invalid type", "invalid value"]
        .into_iter()
        .find_map(|what| {
            let value = message.strip_prefix(what)?.strip_prefix(": ")?;
            let kind = KINDS.into_iter().find(|kind| value.starts_with(kind))?;
            Some(format!("{what}: {kind}{expected}"))
        })
        .unwrap_or_else(|| "rejected by its type".to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::IpAddr;

    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only deserialized, never read")]
    struct Point {
        x: u8,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only deserialized, never read")]
    enum Choice {
        One,
        Two(u8),
    }

    fn shown<T: DeserializeOwned + fmt::Debug>(value: Value) -> String {
        let fault = Fault::reading(&serde_json::from_value::<T>(value).unwrap_err());
        let (text, debug) = (fault.to_string(), format!("{fault:?}"));
        assert!(!text.contains("4711") && !debug.contains("4711"), "{text} {debug}");
        text
    }

    #[test]
    fn the_operator_text_names_the_kind_of_a_value_and_never_quotes_it() {
        for (text, expected) in [
            (shown::<u8>(json!("4711")), "invalid type: string, expected u8"),
            (shown::<u8>(json!("4711, expected 4711")), "invalid type: string, expected u8"),
            (shown::<u8>(json!(4711)), "invalid value: integer, expected u8"),
            (shown::<u8>(json!(4711.5)), "invalid type: floating point, expected u8"),
            (shown::<String>(json!(4711)), "invalid type: integer, expected a string"),
            (shown::<String>(json!(null)), "invalid type: null, expected a string"),
            (shown::<char>(json!("4711")), "invalid value: string, expected a character"),
            (shown::<[u8; 2]>(json!([1])), "invalid length 1, expected an array of length 2"),
            (shown::<Point>(json!({ "y": 1 })), "unknown field `y`, expected `x`"),
            (shown::<Point>(json!({})), "missing field `x`"),
            (shown::<Point>(json!({ "x": "4711" })), "invalid type: string, expected u8"),
            (shown::<Choice>(json!("4711")), "unknown variant, expected `One` or `Two`"),
            (shown::<IpAddr>(json!("4711")), "rejected by its type"),
            (shown::<BTreeMap<u8, u8>>(json!({ "4711": 1 })), "invalid value: integer, expected u8 at line 1 column 4"),
        ] {
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn the_model_message_quotes_the_value() {
        let fault = Fault::reading(&serde_json::from_value::<u8>(json!("4711")).unwrap_err()).within("`age`");
        assert_eq!(fault.model_message(), "`age`: invalid type: string \"4711\", expected u8");
        assert_eq!(fault.to_string(), "`age`: invalid type: string, expected u8");
        assert_eq!(Fault::new("blank").model_message(), "blank");
        let written = serde_json::to_string(&fault).unwrap();
        assert_eq!(serde_json::from_str::<Fault>(&written).unwrap(), fault);
    }
}
