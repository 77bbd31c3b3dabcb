//! Checks whether a condition, which is a JSON Schema about values of another schema, can decide anything.

mod keywords;

use llm_do_providers::modern_schema;
use llm_do_worker_file::did_you_mean;
use serde_json::Value;

use self::keywords::{KEYWORDS, Kinds, kinds_of_keyword};
use super::check::CheckedSchema;
use super::graph::target;
use super::property::Property;

/// The maximum number of references that are followed to find the type of a value.
const MAX_STEPS: usize = 16;

/// The schema of values about which nothing is known.
static ANY: Value = Value::Null;

/// Returns why a condition cannot decide about the values of a schema, each fault with its place in the condition,
/// which is called `when`.
///
/// The faults are unknown keywords, property names, types and constants that occur in no value, and keywords for other
/// types, which hold for every value. A condition without faults may still hold for no value.
pub(crate) fn condition_faults(condition: &Value, schema: &Value) -> Vec<String> {
    let mut finder = Finder { root: schema, faults: Vec::new() };
    finder.schema(&modern_schema(condition), schema, "when");
    finder.faults
}

/// Compares a condition with the schema `root`.
struct Finder<'s> {
    root: &'s Value,
    faults: Vec<String>,
}

impl<'s> Finder<'s> {
    /// Compares a condition on a value with the schema of the value.
    fn schema(&mut self, condition: &Value, schema: &'s Value, place: &str) {
        let Value::Object(keywords) = condition else { return };
        let kinds = self.kinds(schema, MAX_STEPS);
        for (key, value) in keywords {
            let here = format!("{place}.{key}");
            self.check_keyword(key, schema, kinds, &here);
            self.keyword((key, value), schema, kinds, &here);
        }
        self.check_closed(condition, schema, place);
    }

    /// Reports an unknown keyword, and a keyword for other types, which holds for every value.
    fn check_keyword(&mut self, key: &str, schema: &'s Value, kinds: Option<Kinds>, here: &str) {
        if !KEYWORDS.contains(&key) {
            let is_property = matches!(Property::of(self.resolved(schema), key), Property::Declared(_));
            let hint = if is_property {
                "; conditions on properties stand in `properties`".to_owned()
            } else {
                did_you_mean(key, KEYWORDS.iter().copied())
            };
            self.faults.push(format!("`{here}`: unknown keyword{hint}"));
        }
        if let (Some(about), Some(kinds)) = (kinds_of_keyword(key), kinds)
            && !about.overlaps(kinds)
        {
            self.faults.push(format!("`{here}` holds for every value, since the value is {kinds}"));
        }
    }

    fn keyword(&mut self, (key, value): (&str, &Value), schema: &'s Value, kinds: Option<Kinds>, here: &str) {
        match (key, value) {
            ("properties", Value::Object(parts)) => {
                for (name, part) in parts {
                    let property = self.property(schema, name, here);
                    self.schema(part, property, &format!("{here}.{name}"));
                }
            }
            ("required", Value::Array(names)) => {
                for name in names.iter().filter_map(Value::as_str) {
                    self.property(schema, name, here);
                }
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(parts)) => self.all(parts, schema, here),
            ("not" | "if" | "then" | "else", part) => self.schema(part, schema, here),
            ("dependentSchemas", Value::Object(parts)) => {
                parts.iter().for_each(|(name, part)| self.schema(part, schema, &format!("{here}.{name}")));
            }
            ("items" | "contains", part) => {
                let items = self.resolved(schema).get("items").unwrap_or(&ANY);
                self.schema(part, items, here);
            }
            ("prefixItems", Value::Array(parts)) => self.all(parts, &ANY, here),
            ("patternProperties" | "$defs" | "definitions", Value::Object(parts)) => {
                parts.iter().for_each(|(name, part)| self.schema(part, &ANY, &format!("{here}.{name}")));
            }
            (
                "additionalProperties"
                | "unevaluatedProperties"
                | "unevaluatedItems"
                | "propertyNames"
                | "contentSchema",
                part,
            ) => self.schema(part, &ANY, here),
            ("type", names) => {
                if let (Some(own), Some(kinds)) = (Kinds::named(names), kinds)
                    && !own.overlaps(kinds)
                {
                    self.faults.push(format!("`{here}` holds for no value, since the value is {kinds}"));
                }
            }
            ("const", value) => self.check_values(std::slice::from_ref(value), schema, here),
            ("enum", Value::Array(values)) => self.check_values(values, schema, here),
            _ => {}
        }
    }

    fn all(&mut self, parts: &[Value], schema: &'s Value, here: &str) {
        for (index, part) in parts.iter().enumerate() {
            self.schema(part, schema, &format!("{here}[{index}]"));
        }
    }

    /// Returns the schema of a property; reports a property that no value has.
    fn property(&mut self, schema: &'s Value, name: &str, here: &str) -> &'s Value {
        let schema = self.resolved(schema);
        match Property::of(schema, name) {
            Property::Declared(property) => property,
            Property::Allowed | Property::Unmentioned => &ANY,
            Property::Refused => {
                let known = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
                let hint = did_you_mean(name, known);
                self.faults.push(format!("`{here}`: unknown property `{name}`{hint}"));
                &ANY
            }
        }
    }

    /// Reports constants if the schema accepts none of them.
    fn check_values(&mut self, values: &[Value], schema: &Value, here: &str) {
        let Value::Object(keywords) = schema else { return };
        let mut alone = keywords.clone();
        for key in super::DEFINITIONS {
            if let Some(definitions) = self.root.get(key) {
                alone.entry(key).or_insert_with(|| definitions.clone());
            }
        }
        let schema = CheckedSchema::new(&Value::Object(alone)).untrusted();
        if values.iter().all(|value| schema.holds(value) == Some(false)) {
            self.faults.push(format!("`{here}` holds for no value: the schema of the tool does not allow it"));
        }
    }

    /// Reports a condition that refuses a property that every value has.
    fn check_closed(&mut self, condition: &Value, schema: &'s Value, place: &str) {
        let is_closed = ["additionalProperties", "unevaluatedProperties"].iter().any(|key| condition[*key] == false);
        let is_simple = condition.as_object().is_some_and(|keywords| {
            keywords.keys().all(|key| !key.contains("Of") && !key.starts_with('$') && key != "patternProperties")
        });
        if !(is_closed && is_simple) {
            return;
        }
        let required = self.resolved(schema)["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for name in required.filter(|name| condition["properties"].get(*name).is_none()) {
            self.faults.push(format!("`{place}` holds for no value: it allows no `{name}`, which is required"));
        }
    }

    /// Follows references, and removes `null` from the schema of an optional value.
    fn resolved(&self, mut schema: &'s Value) -> &'s Value {
        let is_null = |schema: &Value| schema["type"] == "null";
        for _ in 0..MAX_STEPS {
            if schema.get("properties").is_some() {
                break;
            }
            let referred = schema.get("$ref").and_then(|reference| target(self.root, reference).ok());
            let optional = || match schema.get("anyOf")?.as_array()?.as_slice() {
                [one, null] if is_null(null) => Some(one),
                [null, one] if is_null(null) => Some(one),
                _ => None,
            };
            let Some(next) = referred.or_else(optional) else { break };
            schema = next;
        }
        schema
    }

    /// Returns the types of the values of a schema, if they are known.
    fn kinds(&self, schema: &Value, steps: usize) -> Option<Kinds> {
        let steps = steps.checked_sub(1)?;
        if let Some(names) = schema.get("type") {
            return Kinds::named(names);
        }
        if let Some(reference) = schema.get("$ref") {
            return self.kinds(target(self.root, reference).ok()?, steps);
        }
        if let Some(value) = schema.get("const") {
            return Some(Kinds::of([value]));
        }
        if let Some(values) = schema.get("enum") {
            return Some(Kinds::of(values.as_array()?));
        }
        let parts = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
        parts.iter().try_fold(Kinds::NONE, |kinds, part| Some(kinds.or(self.kinds(part, steps)?)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::condition_faults;

    fn faults(condition: &Value) -> Vec<String> {
        let schema = json!({
            "type": "object",
            "properties": {
                "cents": { "type": "integer" },
                "note": { "type": ["string", "null"] },
                "kind": { "enum": ["cash", "card"] },
                "to": { "anyOf": [{ "$ref": "#/$defs/Person" }, { "type": "null" }] },
            },
            "required": ["cents"],
            "additionalProperties": false,
            "$defs": {
                "Person": {
                    "type": "object", "properties": { "name": { "type": "string" } }, "additionalProperties": false,
                },
            },
        });
        condition_faults(condition, &schema)
    }

    #[test]
    fn a_condition_that_can_hold_has_no_faults() {
        for condition in [
            json!({ "properties": { "cents": { "exclusiveMinimum": 10_000 } }, "required": ["note"] }),
            json!({ "properties": { "note": { "type": "string", "pattern": "^a" }, "kind": { "const": "cash" } } }),
            json!({ "properties": { "note": { "const": null }, "cents": { "type": "number" } } }),
            json!({ "properties": { "to": { "type": "object", "properties": { "name": { "minLength": 2 } } } } }),
            json!({ "anyOf": [{ "required": ["note"] }, { "not": { "required": ["to"] } }] }),
            json!({ "properties": { "cents": {}, "kind": { "enum": ["cheque", "card"] } }, "additionalProperties": false }),
        ] {
            assert_eq!(faults(&condition), Vec::<String>::new(), "{condition}");
        }
    }

    #[test]
    fn a_condition_that_can_decide_nothing_has_a_fault_with_its_place() {
        for (condition, expected) in [
            (
                json!({ "properties": { "cent": { "minimum": 1 } } }),
                "`when.properties`: unknown property `cent`; did you mean `cents`?",
            ),
            (json!({ "required": ["sum"] }), "`when.required`: unknown property `sum`"),
            (
                json!({ "anyOf": [{ "required": ["notes"] }] }),
                "`when.anyOf[0].required`: unknown property `notes`; did you mean `note`?",
            ),
            (
                json!({ "properties": { "to": { "properties": { "nam": {} } } } }),
                "`when.properties.to.properties`: unknown property `nam`; did you mean `name`?",
            ),
            (
                json!({ "cents": { "minimum": 1 } }),
                "`when.cents`: unknown keyword; conditions on properties stand in `properties`",
            ),
            (
                json!({ "properties": { "cents": { "exclusiveMinimun": 1 } } }),
                "`when.properties.cents.exclusiveMinimun`: unknown keyword; did you mean `exclusiveMinimum`?",
            ),
            (
                json!({ "properties": { "cents": { "type": "string" } } }),
                "`when.properties.cents.type` holds for no value, since the value is of type `integer`",
            ),
            (
                json!({ "properties": { "cents": { "maxLength": 1 } } }),
                "`when.properties.cents.maxLength` holds for every value, since the value is of type `integer`",
            ),
            (json!({ "minimum": 1 }), "`when.minimum` holds for every value, since the value is of type `object`"),
            (
                json!({ "properties": { "kind": { "const": "cheque" } } }),
                "`when.properties.kind.const` holds for no value: the schema of the tool does not allow it",
            ),
            (
                json!({ "properties": { "note": {} }, "additionalProperties": false }),
                "`when` holds for no value: it allows no `cents`, which is required",
            ),
        ] {
            assert_eq!(faults(&condition), [expected], "{condition}");
        }
    }
}
