//! The drafts of JSON Schema.

use serde_json::Value;

/// A draft of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        let name = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let names = [
            ("draft-04", Self::Four),
            ("draft-06", Self::Six),
            ("draft-07", Self::Seven),
            ("draft/2019-09", Self::Draft201909),
        ];
        let found = names.into_iter().find(|(part, _)| name.contains(part));
        found.map_or(Self::Draft202012, |(_, draft)| draft)
    }

    /// Whether keywords beside `$ref` have no meaning.
    pub(super) fn ignores_beside_references(self) -> bool {
        matches!(self, Self::Four | Self::Six | Self::Seven)
    }

    /// Whether `items` may be a list, with `additionalItems` for the rest.
    pub(super) fn has_tuples_in_items(self) -> bool {
        self != Self::Draft202012
    }
}
