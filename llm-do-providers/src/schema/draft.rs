//! The drafts of JSON Schema.

use serde_json::{Map, Value};

/// A draft of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Draft {
    /// Draft 4.
    Four,
    /// Draft 6.
    Six,
    /// Draft 7.
    Seven,
    /// Draft 2019-09.
    Draft201909,
    /// Draft 2020-12, which a schema without `$schema` has.
    Draft202012,
}

impl Draft {
    /// Returns the draft that `$schema` names; an unknown one is read as draft 2020-12.
    #[must_use]
    pub fn of(schema: &Value) -> Self {
        schema.as_object().map_or(Self::Draft202012, |keywords| Self::Draft202012.within(keywords))
    }

    /// Returns the draft of a subschema: the one that it declares, or else that of the whole schema.
    pub(super) fn within(self, keywords: &Map<String, Value>) -> Self {
        let Some(name) = keywords.get("$schema").and_then(Value::as_str) else { return self };
        let names = [
            ("draft-04", Self::Four),
            ("draft-06", Self::Six),
            ("draft-07", Self::Seven),
            ("draft/2019-09", Self::Draft201909),
        ];
        let found = names.into_iter().find(|(part, _)| name.contains(part));
        found.map_or(Self::Draft202012, |(_, draft)| draft)
    }

    /// Whether a schema is a reference whose sibling keywords are ignored in this draft.
    pub(super) fn is_only_reference(self, keywords: &Map<String, Value>) -> bool {
        self <= Self::Seven && keywords.get("$ref").is_some_and(Value::is_string)
    }

    /// Whether a keyword is known in this draft, or in none: unknown keywords are annotations, which stay.
    pub(super) fn knows(self, keyword: &str) -> bool {
        let since = match keyword {
            "const" | "contains" | "propertyNames" => Self::Six,
            "if" | "then" | "else" => Self::Seven,
            "dependentRequired"
            | "dependentSchemas"
            | "maxContains"
            | "minContains"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Self::Draft201909,
            "$recursiveRef" => return self == Self::Draft201909,
            "$dynamicRef" | "prefixItems" => Self::Draft202012,
            _ => Self::Four,
        };
        self >= since
    }
}
