//! Converts schemas of any draft to draft 2020-12, with objects in place of the schemas `true` and `false`.

mod addresses;
mod nullable;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use self::addresses::{Addresses, base};
use self::nullable::with_null;
use super::draft::Draft;

/// Keywords whose value is a schema.
const SCHEMA: [&str; 8] = ["contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then"];
/// Keywords whose value is a schema, and commonly `false` or `true`.
const BOOLEAN: [&str; 3] = ["additionalProperties", "unevaluatedItems", "unevaluatedProperties"];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value maps names to schemas.
pub(super) const NAMED: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
/// Keywords that declare the URI, the anchor or the draft of a schema; references to it become paths.
const NAMES: [&str; 5] = ["$schema", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"];

/// Returns a schema in draft 2020-12, in a form that providers, clients and other programs read.
///
/// Schemas of earlier drafts, detected by `$schema` or by their keywords, are converted; keywords that their draft does
/// not know are removed. `true` becomes `{}` and `false` becomes `{"not": {}}`, since many programs accept only objects
/// as schemas. References become paths from the root, so `$schema`, `$id` and anchors are removed.
#[must_use]
pub fn modern_schema(schema: &Value) -> Value {
    let draft = Draft::of(schema);
    let addresses = Addresses::from_schema(schema, draft);
    Modern { draft, addresses: &addresses, base: String::new() }.schema(schema)
}

struct Modern<'a> {
    draft: Draft,
    addresses: &'a Addresses<'a>,
    /// The base URI of references.
    base: String,
}

impl Modern<'_> {
    fn schema(&self, schema: &Value) -> Value {
        match schema {
            Value::Bool(true) => json!({}),
            Value::Bool(false) => json!({ "not": {} }),
            Value::Object(keywords) => {
                let draft = self.draft.within(keywords);
                let base = base(keywords, draft, &self.base);
                let own = Modern { draft, addresses: self.addresses, base };
                Value::Object(own.keywords(keywords))
            }
            other => other.clone(),
        }
    }

    fn keywords(&self, keywords: &Map<String, Value>) -> Map<String, Value> {
        let mut modern = Map::with_capacity(keywords.len());
        let is_reference = self.draft.is_only_reference(keywords);
        for (key, value) in keywords {
            let is_ignored = NAMES.contains(&key.as_str()) || is_reference && !stands_beside(key);
            if !is_ignored && self.draft.knows(key) {
                self.keyword(keywords, key, value, &mut modern);
            }
        }
        if keywords.get("nullable") == Some(&Value::Bool(true)) && !is_reference {
            return with_null(modern);
        }
        modern
    }

    fn keyword(&self, keywords: &Map<String, Value>, key: &str, value: &Value, modern: &mut Map<String, Value>) {
        let has_tuple = keywords.get("items").is_some_and(Value::is_array);
        let converted = match (key, value) {
            ("items", Value::Array(schemas)) => {
                modern.insert("prefixItems".to_owned(), self.all(schemas));
                if let Some(rest) = keywords.get("additionalItems") {
                    let rest = if *rest == Value::Bool(false) { rest.clone() } else { self.schema(rest) };
                    modern.insert("items".to_owned(), rest);
                }
                return;
            }
            ("items", Value::Bool(false)) if keywords.contains_key("prefixItems") => value.clone(),
            ("prefixItems", _) if has_tuple => return,
            // These are converted with the keyword that they modify: `items` if it is a list, a bound, or a type.
            ("additionalItems", _) | ("exclusiveMinimum" | "exclusiveMaximum" | "nullable", Value::Bool(_)) => return,
            ("minimum" | "maximum", bound) if keywords.get(exclusive(key)) == Some(&Value::Bool(true)) => {
                modern.insert(exclusive(key).to_owned(), bound.clone());
                return;
            }
            ("dependencies", Value::Object(named)) => return self.dependencies(named, modern),
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                let (key, reference) = self.addresses.reference(key, reference, &self.base);
                modern.insert(key.to_owned(), reference.into());
                return;
            }
            ("id", Value::String(_)) if self.draft == Draft::Four => return,
            (key, schema) if SCHEMA.contains(&key) => self.schema(schema),
            (key, schema) if BOOLEAN.contains(&key) => self.rest(schema),
            (key, Value::Array(schemas)) if LISTS.contains(&key) => self.all(schemas),
            (key, Value::Object(named)) if NAMED.contains(&key) => {
                named.iter().map(|(name, schema)| (name.clone(), self.schema(schema))).collect()
            }
            (_, other) => other.clone(),
        };
        modern.insert(key.to_owned(), converted);
    }

    fn all(&self, schemas: &[Value]) -> Value {
        schemas.iter().map(|schema| self.schema(schema)).collect()
    }

    /// Returns the schema of further items or properties, where `true` and `false` stay.
    fn rest(&self, schema: &Value) -> Value {
        if schema.is_boolean() { schema.clone() } else { self.schema(schema) }
    }

    fn dependencies(&self, named: &Map<String, Value>, modern: &mut Map<String, Value>) {
        for (name, needed) in named {
            let (key, needed) = match needed {
                Value::Array(_) => ("dependentRequired", needed.clone()),
                Value::String(other) => ("dependentRequired", json!([other])),
                schema => ("dependentSchemas", self.schema(schema)),
            };
            if let Value::Object(all) = modern.entry(key).or_insert_with(|| json!({})) {
                all.insert(name.clone(), needed);
            }
        }
    }
}

/// Whether a keyword applies next to `$ref` in drafts that ignore siblings: annotations and definitions.
fn stands_beside(key: &str) -> bool {
    matches!(key, "$ref" | "description" | "title" | "default" | "examples" | "deprecated" | "definitions" | "$defs")
}

fn exclusive(key: &str) -> &'static str {
    if key == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" }
}
