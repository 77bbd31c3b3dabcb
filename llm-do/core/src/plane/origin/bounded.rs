//! Which values carry no text: those of a fixed set, no matter what chose them.

use std::cell::Cell;

use serde_json::Value;

/// How many parts of a schema are looked at for one value, and how many inside each other: parts may refer to each other.
const MAX_PARTS: u32 = 10_000;
const MAX_DEPTH: u32 = 32;

/// The parts of a schema that may still be looked at.
pub(super) struct Budget(Cell<u32>);

impl Budget {
    pub(super) fn new() -> Self {
        Self(Cell::new(MAX_PARTS))
    }
}

/// A part of a schema, with the schema that its references are about.
#[derive(Clone, Copy)]
pub(super) struct SchemaPart<'a> {
    root: &'a Value,
    part: &'a Value,
    depth: u32,
    budget: &'a Budget,
}

impl<'a> SchemaPart<'a> {
    pub(super) fn of(root: &'a Value, budget: &'a Budget) -> Self {
        Self { root, part: root, depth: 0, budget }
    }

    /// Returns another part; `None` if it is too deep, or too many were looked at.
    fn with(self, part: &'a Value) -> Option<Self> {
        let left = self.budget.0.get().checked_sub(1).filter(|_| self.depth < MAX_DEPTH)?;
        self.budget.0.set(left);
        Some(Self { part, depth: self.depth + 1, ..self })
    }

    /// Returns the part that this one refers to, if it refers to one.
    fn referred(self) -> Option<Self> {
        let pointer = self.part.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.with(self.root.pointer(pointer)?)
    }

    /// Lists the parts of which a value must be one, or all.
    fn alternatives(self) -> impl Iterator<Item = Self> {
        let listed = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(move |key| self.part.get(key)?.as_array());
        listed.flatten().filter_map(move |part| self.with(part)).chain(self.referred())
    }

    /// Returns what is found first in this part, and in those that it refers to.
    fn finds<T>(self, find: &dyn Fn(Self) -> Option<T>) -> Option<T> {
        find(self).or_else(|| self.alternatives().find_map(|part| part.finds(find)))
    }

    /// Returns the part for the items of a list.
    pub(super) fn items(self) -> Option<Self> {
        self.finds(&|part: Self| part.with(part.part.get("items")?).filter(|items| items.part.is_object()))
    }

    /// Returns the part for a field that the schema names.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        self.finds(&|part: Self| part.with(part.part.get("properties")?.get(name)?))
    }

    /// Returns whether the schema allows only some texts, and this is one.
    fn has_choice(self, text: &str) -> bool {
        let is_chosen = |part: Self| {
            let listed = part.part.get("enum").and_then(Value::as_array);
            let is_listed = listed.is_some_and(|choices| choices.iter().any(|choice| choice == text));
            (is_listed || part.part.get("const").is_some_and(|only| only == text)).then_some(())
        };
        self.finds(&is_chosen).is_some()
    }

    /// Returns whether the schema allows no text that it does not name.
    fn is_closed(self) -> bool {
        if self.part.get("enum").or_else(|| self.part.get("const")).is_some() {
            return true;
        }
        if let Some(referred) = self.referred() {
            return referred.is_closed();
        }
        let listed = ["anyOf", "oneOf"].into_iter().find_map(|key| self.part.get(key)?.as_array());
        if let Some(parts) = listed {
            return parts.iter().all(|part| self.with(part).is_some_and(Self::is_closed));
        }
        match self.part.get("type") {
            Some(Value::String(name)) => self.is_closed_type(name),
            Some(Value::Array(names)) => {
                names.iter().all(|name| name.as_str().is_some_and(|name| self.is_closed_type(name)))
            }
            _ => false,
        }
    }

    /// Returns whether the values of one type carry no text that the schema does not name.
    fn is_closed_type(self, name: &str) -> bool {
        match name {
            "boolean" | "integer" | "null" | "number" => true,
            "array" => self.items().is_some_and(Self::is_closed),
            "object" => {
                let fields = self.part.get("properties").and_then(Value::as_object);
                let others = self.part.get("additionalProperties").is_some_and(|others| *others != false);
                !others
                    && fields
                        .is_some_and(|fields| fields.values().all(|part| self.with(part).is_some_and(Self::is_closed)))
            }
            _ => false,
        }
    }

    /// Returns the part at a place, such as `lines/0/text`, with names as in a JSON pointer.
    pub(super) fn at(self, place: &str) -> Option<Self> {
        let step = |part: Self, name: &str| {
            let item = || part.items().filter(|_| name.bytes().all(|byte| byte.is_ascii_digit()));
            part.field(name).or_else(item)
        };
        place.split('/').try_fold(self, |part, name| step(part, &name.replace("~1", "/").replace("~0", "~")))
    }
}

/// Returns whether a value carries no text: numbers, dates, choices of the schema, and lists and objects of these whose fields the
/// schema names.
pub(crate) fn is_bounded(value: &Value, schema: Option<&Value>) -> bool {
    let budget = Budget::new();
    is_bounded_by(value, schema.map(|schema| SchemaPart::of(schema, &budget)))
}

/// Returns whether values of a schema carry no text, as far as the schema names their fields.
pub(crate) fn is_bounded_schema(schema: &Value) -> bool {
    SchemaPart::of(schema, &Budget::new()).is_closed()
}

pub(super) fn is_bounded_by(value: &Value, schema: Option<SchemaPart<'_>>) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(text) => is_time(text) || schema.is_some_and(|schema| schema.has_choice(text)),
        Value::Array(items) => {
            let schema = schema.and_then(SchemaPart::items);
            items.iter().all(|item| is_bounded_by(item, schema))
        }
        Value::Object(fields) => fields.iter().all(|(name, field)| {
            let schema = schema.and_then(|schema| schema.field(name));
            schema.is_some() && is_bounded_by(field, schema)
        }),
    }
}

/// Adds the texts in a value that are choices of its schema.
pub(super) fn add_choices(value: &Value, schema: SchemaPart<'_>, choices: &mut Vec<String>) {
    match value {
        Value::String(text) if schema.has_choice(text) => choices.push(text.clone()),
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            items.iter().for_each(|item| add_choices(item, schema, choices));
        }
        Value::Object(fields) => {
            let known = fields.iter().filter_map(|(name, field)| Some((field, schema.field(name)?)));
            known.for_each(|(field, schema)| add_choices(field, schema, choices));
        }
        _ => {}
    }
}

/// Returns whether a text is a date, a time, or both.
pub(super) fn is_time(text: &str) -> bool {
    let shape: String =
        text.chars().map(|character| if character.is_ascii_digit() { '0' } else { character }).collect();
    match shape.strip_prefix("0000-00-00") {
        Some("") => true,
        Some(rest) => rest.strip_prefix(['T', ' ']).is_some_and(is_time_of_day),
        None => is_time_of_day(&shape),
    }
}

/// Returns whether a text whose digits are all 0 is a time of the day.
fn is_time_of_day(shape: &str) -> bool {
    let Some(rest) = shape.strip_prefix("00:00") else { return false };
    let rest = rest.strip_prefix(":00").unwrap_or(rest);
    let rest = match rest.strip_prefix('.') {
        Some(fraction) if fraction.starts_with('0') => {
            let rest = fraction.trim_start_matches('0');
            if fraction.len() - rest.len() > 9 {
                return false;
            }
            rest
        }
        _ => rest,
    };
    matches!(rest, "" | "Z" | "+00:00" | "-00:00")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Budget, SchemaPart, add_choices, is_bounded, is_bounded_schema, is_time};

    #[test]
    fn dates_and_times_are_bounded_and_texts_with_them_are_not() {
        for text in ["2024-05-01", "2024-05-01 10:30", "2024-05-01T10:30:00Z", "10:30", "2024-05-01T10:30:00.123+02:00"]
        {
            assert!(is_time(text), "{text}");
        }
        for text in
            ["2024", "", "2024-05-01 pay", "2024-05-01T10:30:00 DE66", "10:30 to 11:30", "10:30.", "2024-5-1", "0.12"]
        {
            assert!(!is_time(text), "{text}");
        }
    }

    #[test]
    fn a_value_is_bounded_by_its_schema_only_in_what_the_schema_names() {
        let schema = json!({
            "type": "object",
            "properties": {
                "kind": { "$ref": "#/$defs/Kind" }, "cents": { "type": "integer" }, "note": { "type": "string" },
                "kinds": { "type": "array", "items": { "$ref": "#/$defs/Kind" } },
            },
            "$defs": { "Kind": { "oneOf": [{ "const": "mail" }, { "const": "bill" }] } },
        });
        let bounded = |value| is_bounded(&value, Some(&schema));
        assert!(bounded(json!({ "kind": "mail", "cents": 12, "kinds": ["bill"] })));
        assert!(!bounded(json!({ "kind": "pay DE66" })));
        assert!(!bounded(json!({ "note": "mail" })));
        assert!(!bounded(json!({ "pay DE66": 1 })), "the name of a field is text");
        assert!(is_bounded(&json!([1, null, [true]]), None));
        assert!(!is_bounded(&json!({ "cents": 1 }), None));
    }

    #[test]
    fn a_schema_is_bounded_if_all_its_parts_are() {
        for schema in [
            json!({ "type": "integer" }),
            json!({ "type": ["number", "null"] }),
            json!({ "type": "array", "items": { "enum": ["a", "b"] } }),
            json!({ "type": "object", "properties": { "kind": { "$ref": "#/$defs/Kind" } }, "$defs": { "Kind": { "const": "a" } } }),
            json!({ "anyOf": [{ "type": "boolean" }, { "type": "null" }] }),
        ] {
            assert!(is_bounded_schema(&schema), "{schema}");
        }
        for schema in [
            json!({ "type": "string" }),
            json!({ "type": "array" }),
            json!({ "type": "object", "properties": {}, "additionalProperties": { "type": "integer" } }),
            json!({ "anyOf": [{ "type": "boolean" }, { "type": "string" }] }),
            json!({ "$ref": "#" }),
            json!({}),
        ] {
            assert!(!is_bounded_schema(&schema), "{schema}");
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_bounds_nothing() {
        let schema = json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }] });
        assert!(!is_bounded(&json!("pay"), Some(&schema)));
    }

    #[test]
    fn the_choices_in_a_result_are_those_of_its_schema() {
        let schema = json!({ "type": "array", "items": { "properties": { "state": { "enum": ["open", "done"] }, "title": {} } } });
        let mut choices = Vec::new();
        let result = json!([{ "state": "open", "title": "done" }, { "state": "pay" }]);
        add_choices(&result, SchemaPart::of(&schema, &Budget::new()), &mut choices);
        assert_eq!(choices, ["open"]);
    }
}
