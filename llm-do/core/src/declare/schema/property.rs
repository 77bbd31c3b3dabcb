//! The declaration of one property in the schema of an object.

use serde_json::Value;

/// The keywords that may declare properties in another schema.
const ELSEWHERE: [&str; 6] = ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if"];

/// The declaration of one property in the schema of an object.
#[derive(Clone, Copy, Debug)]
pub enum Property<'s> {
    /// The property has this schema.
    Declared(&'s Value),
    /// The schema allows properties that it does not declare.
    Allowed,
    /// The schema neither declares nor refuses the property. Most servers mean that the property does not exist.
    Unmentioned,
    /// No valid object has the property.
    Refused,
}

impl<'s> Property<'s> {
    /// Returns the declaration of the property `name` in `schema`, which must be in draft 2020-12.
    #[must_use]
    pub fn of(schema: &'s Value, name: &str) -> Self {
        if let Some(declared) = schema["properties"].get(name) {
            return Self::Declared(declared);
        }
        if schema.get("patternProperties").is_some() {
            return Self::Allowed;
        }
        let is_elsewhere = || ELSEWHERE.iter().any(|key| schema.get(*key).is_some());
        match (schema.get("additionalProperties"), schema.get("unevaluatedProperties")) {
            (Some(Value::Bool(false)), _) => Self::Refused,
            (None, Some(Value::Bool(false))) if !is_elsewhere() => Self::Refused,
            (None, None) if !is_elsewhere() && schema.get("properties").is_some() => Self::Unmentioned,
            _ => Self::Allowed,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Property;

    #[test]
    fn a_property_is_refused_only_if_no_object_can_have_it() {
        let found = |more: Value| {
            let mut schema = json!({ "type": "object", "properties": { "a": {} } });
            schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            assert!(matches!(Property::of(&schema, "a"), Property::Declared(_)), "{schema}");
            format!("{:?}", Property::of(&schema, "b"))
        };
        assert_eq!(found(json!({})), "Unmentioned");
        assert_eq!(found(json!({ "additionalProperties": false })), "Refused");
        assert_eq!(found(json!({ "unevaluatedProperties": false })), "Refused");
        for open in [
            json!({ "additionalProperties": true }),
            json!({ "additionalProperties": { "type": "string" } }),
            json!({ "additionalProperties": false, "patternProperties": { "^b": {} } }),
            json!({ "unevaluatedProperties": false, "allOf": [{ "properties": { "b": {} } }] }),
        ] {
            assert_eq!(found(open), "Allowed");
        }
        assert!(matches!(Property::of(&json!({ "type": "object" }), "b"), Property::Allowed));
    }
}
