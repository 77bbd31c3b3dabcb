//! Ids that a result has, by the places that a policy declares.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The place of ids in a result, such as `/*/id_`: names of fields, and `*` for each item or field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct IdPlace(Arc<[String]>);

impl TryFrom<String> for IdPlace {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self(Arc::default()));
        }
        let Some(names) = text.strip_prefix('/') else {
            return Err(format!(
                "invalid place of ids `{text}`: expected names after `/`, such as `/*/id`, or an empty text"
            ));
        };
        Ok(Self(names.split('/').map(|name| name.replace("~1", "/").replace("~0", "~")).collect()))
    }
}

impl From<IdPlace> for String {
    fn from(place: IdPlace) -> Self {
        place.to_string()
    }
}

impl fmt::Display for IdPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|name| write!(f, "/{}", name.replace('~', "~0").replace('/', "~1")))
    }
}

impl IdPlace {
    /// Returns whether a text is at this place of a value.
    fn has(&self, value: &Value, text: &str) -> bool {
        has(value, &self.0, text)
    }
}

fn has(value: &Value, names: &[String], text: &str) -> bool {
    let Some((name, names)) = names.split_first() else { return value == text };
    match value {
        Value::Array(items) if name == "*" => items.iter().any(|item| has(item, names, text)),
        Value::Array(items) => {
            let item = name.parse().ok().and_then(|index: usize| items.get(index));
            item.is_some_and(|item| has(item, names, text))
        }
        Value::Object(fields) if name == "*" => fields.values().any(|field| has(field, names, text)),
        Value::Object(fields) => fields.get(name).is_some_and(|field| has(field, names, text)),
        _ => false,
    }
}

/// The places of the ids in a result, and for which tools they are ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownIds {
    pub(crate) places: Vec<IdPlace>,
    /// The toolsets of the tool that returned the result, or its own name if it is in none.
    pub(crate) toolsets: Vec<Arc<str>>,
}

impl KnownIds {
    /// Returns whether a text is one of the ids in a result, for a tool of these toolsets.
    pub(super) fn know(&self, result: &Value, text: &str, toolsets: &[Arc<str>]) -> bool {
        toolsets.iter().any(|toolset| self.toolsets.contains(toolset))
            && self.places.iter().any(|place| place.has(result, text))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{IdPlace, KnownIds};

    fn place(text: &str) -> IdPlace {
        text.to_owned().try_into().unwrap()
    }

    #[test]
    fn an_id_is_at_its_place_only() {
        let result = json!([{ "id_": "7", "text": "8" }, { "id_": "9", "a/b": "10" }]);
        for (at, text, is_known) in
            [("/*/id_", "9", true), ("/*/id_", "8", false), ("/0/id_", "9", false), ("/*/a~1b", "10", true)]
        {
            assert_eq!(place(at).has(&result, text), is_known, "{at} {text}");
        }
        assert!(place("").has(&json!("7"), "7"));
        assert_eq!(String::from(place("/*/a~1b~0")), "/*/a~1b~0");
        assert!(IdPlace::try_from("id".to_owned()).unwrap_err().contains("`id`"));
    }

    #[test]
    fn a_field_whose_name_looks_like_a_path_is_not_an_id() {
        assert!(!place("/*/id_").has(&json!({ "x/id_": "7" }), "7"));
    }

    #[test]
    fn an_id_is_known_to_its_toolset_only() {
        let ids = KnownIds { places: vec![place("/id")], toolsets: vec!["drive".into()] };
        let result = json!({ "id": "7" });
        assert!(ids.know(&result, "7", &["mail".into(), "drive".into()]));
        assert!(!ids.know(&result, "7", &["mail".into()]));
    }
}
