//! What is wrong with a value, in two texts: the one for operators quotes nothing of it.

use std::error::Error;
use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// What is wrong with a value, and where.
///
/// Shown to operators, it quotes nothing of the value, which may be a secret; [`told`](Self::told) may, for the model
/// that gave it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    text: String,
    /// What whoever gave the value is told, if that is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told: Option<String>,
    /// Whether the value is nested too deep: then it cannot be dropped by recursion either.
    #[serde(skip)]
    is_of_depth: bool,
}

impl Fault {
    /// Returns a fault with one text for everybody: it must quote nothing of the value.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), told: None, is_of_depth: false }
    }

    /// Adds a text for whoever gave the value, which may quote it. Default: the text for everybody.
    #[must_use]
    pub fn telling(mut self, told: impl Into<String>) -> Self {
        self.told = Some(told.into());
        self
    }

    /// Returns the text for whoever gave the value, such as a model.
    #[must_use]
    pub fn told(&self) -> &str {
        self.told.as_deref().unwrap_or(&self.text)
    }

    /// Returns the fault of a value that is nested too deep.
    pub(crate) fn of_depth(text: impl Into<String>) -> Self {
        Self { is_of_depth: true, ..Self::new(text) }
    }

    /// Returns whether the value is nested too deep.
    pub(crate) fn is_of_depth(&self) -> bool {
        self.is_of_depth
    }

    /// Returns what serde has against a value that it reads: its text may quote it.
    pub(crate) fn reading(error: &impl Display) -> Self {
        let told = error.to_string();
        Self { told: Some(told.clone()), ..Self::new(masked(&told)) }
    }

    /// Returns what serde has against a value that it writes: its text may quote it.
    pub(crate) fn writing(error: &impl Display) -> Self {
        Self::new("cannot be written as JSON").telling(error.to_string())
    }

    /// Says before both texts where it is, or what it keeps from being done.
    pub(crate) fn within(self, place: &str) -> Self {
        let Self { text, told, is_of_depth } = self;
        Self { text: format!("{place}: {text}"), told: told.map(|told| format!("{place}: {told}")), is_of_depth }
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

/// The kinds of values that serde names, as it words them before it quotes one.
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

/// Returns what serde says of a value without the value: of its own texts, all but what they quote, of others nothing.
fn masked(told: &str) -> String {
    let names = ["missing field `", "duplicate field `", "unknown field `", "invalid length "];
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "`_-., ".contains(c);
    if names.iter().any(|known| told.starts_with(known)) && told.chars().all(is_plain) {
        return told.to_owned();
    }
    // What is expected comes last, and a value that is quoted before it may say the same.
    let expected = told.rsplit_once(", expected ").map(|(_, expected)| format!(", expected {expected}"));
    let expected = expected.unwrap_or_default();
    if told.starts_with("unknown variant `") {
        return format!("unknown variant{expected}");
    }
    ["invalid type", "invalid value"]
        .into_iter()
        .find_map(|what| {
            let value = told.strip_prefix(what)?.strip_prefix(": ")?;
            let kind = KINDS.into_iter().find(|kind| value.starts_with(kind))?;
            Some(format!("{what}: {kind}{expected}"))
        })
        .unwrap_or_else(|| "its type refuses it".to_owned())
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
    #[expect(dead_code, reason = "it is read, and never looked at")]
    struct Point {
        x: u8,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "it is read, and never looked at")]
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
    fn a_value_is_named_by_its_kind_and_never_quoted() {
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
            (shown::<IpAddr>(json!("4711")), "its type refuses it"),
            (shown::<BTreeMap<u8, u8>>(json!({ "4711": 1 })), "invalid value: integer, expected u8 at line 1 column 4"),
        ] {
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn whoever_gave_the_value_is_told_all_of_it() {
        let fault = Fault::reading(&serde_json::from_value::<u8>(json!("4711")).unwrap_err()).within("`age`");
        assert_eq!(fault.told(), "`age`: invalid type: string \"4711\", expected u8");
        assert_eq!(fault.to_string(), "`age`: invalid type: string, expected u8");
        assert_eq!(Fault::new("blank").told(), "blank");
        let written = serde_json::to_string(&fault).unwrap();
        assert_eq!(serde_json::from_str::<Fault>(&written).unwrap(), fault);
    }
}
