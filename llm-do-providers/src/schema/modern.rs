//! Schemas of any draft in the words of draft 2020-12, with an object in place of each schema that is `true` or `false`.

use serde_json::{Map, Value, json};

use super::draft::Draft;

/// Keywords whose value is a schema.
const SCHEMA: [&str; 8] = ["contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then"];
/// Keywords whose value is a schema, and where `false` and `true` are common words.
const BOOLEAN: [&str; 3] = ["additionalProperties", "unevaluatedItems", "unevaluatedProperties"];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value has a schema for each name.
const NAMED: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// Returns a schema in the words of draft 2020-12 as providers, clients and other programs read it.
///
/// A schema of an earlier draft, which `$schema` or its form shows, is converted; `true` becomes `{}`, and `false`
/// `{"not": {}}`, which many programs refuse at the place of a schema. `$schema` is left out.
#[must_use]
pub fn modern_schema(schema: &Value) -> Value {
    let draft = Draft::of(schema);
    let mut modern = Modern { draft }.schema(schema, schema);
    if let Value::Object(keywords) = &mut modern {
        keywords.shift_remove("$schema");
    }
    modern
}

struct Modern {
    draft: Draft,
}

impl Modern {
    fn schema(&self, schema: &Value, root: &Value) -> Value {
        match schema {
            Value::Bool(true) => json!({}),
            Value::Bool(false) => json!({ "not": {} }),
            Value::Object(keywords) => Value::Object(self.keywords(keywords, root)),
            other => other.clone(),
        }
    }

    fn keywords(&self, keywords: &Map<String, Value>, root: &Value) -> Map<String, Value> {
        let mut modern = Map::with_capacity(keywords.len());
        for (key, value) in keywords {
            if self.draft.ignores_beside_references() && keywords.contains_key("$ref") && !stands_beside(key) {
                continue;
            }
            self.keyword(keywords, key, value, root, &mut modern);
        }
        if keywords.get("nullable") == Some(&Value::Bool(true)) {
            return with_null(modern);
        }
        modern
    }

    fn keyword(
        &self,
        keywords: &Map<String, Value>,
        key: &str,
        value: &Value,
        root: &Value,
        modern: &mut Map<String, Value>,
    ) {
        let converted = match (key, value) {
            ("items", Value::Array(schemas)) => {
                modern.insert("prefixItems".to_owned(), self.all(schemas, root));
                if let Some(rest) = keywords.get("additionalItems").filter(|rest| **rest != Value::Bool(true)) {
                    modern.insert("items".to_owned(), self.rest(rest, root));
                }
                return;
            }
            ("items", Value::Bool(false)) if keywords.contains_key("prefixItems") => value.clone(),
            // Without a tuple it has no meaning.
            ("additionalItems", _) if self.draft.has_tuples_in_items() || keywords["items"].is_array() => return,
            ("additionalItems", _) if !keywords.contains_key("items") => return,
            ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(_)) => return,
            ("minimum" | "maximum", bound) if keywords.get(exclusive(key)) == Some(&Value::Bool(true)) => {
                modern.insert(exclusive(key).to_owned(), bound.clone());
                return;
            }
            ("dependencies", Value::Object(named)) => return self.dependencies(named, root, modern),
            ("nullable", Value::Bool(_)) | ("$recursiveAnchor", Value::Bool(_)) => return,
            ("$recursiveRef", Value::String(_)) => {
                modern.insert("$ref".to_owned(), value.clone());
                return;
            }
            ("id", Value::String(_)) if self.draft == Draft::Four => return,
            (key, schema) if SCHEMA.contains(&key) => self.schema(schema, root),
            (key, schema) if BOOLEAN.contains(&key) => self.rest(schema, root),
            (key, Value::Array(schemas)) if LISTS.contains(&key) => self.all(schemas, root),
            (key, Value::Object(named)) if NAMED.contains(&key) => {
                named.iter().map(|(name, schema)| (name.clone(), self.schema(schema, root))).collect()
            }
            (_, other) => other.clone(),
        };
        modern.insert(key.to_owned(), converted);
    }

    fn all(&self, schemas: &[Value], root: &Value) -> Value {
        schemas.iter().map(|schema| self.schema(schema, root)).collect()
    }

    /// Returns the schema of further parts, where `true` and `false` stay.
    fn rest(&self, schema: &Value, root: &Value) -> Value {
        if schema.is_boolean() { schema.clone() } else { self.schema(schema, root) }
    }

    fn dependencies(&self, named: &Map<String, Value>, root: &Value, modern: &mut Map<String, Value>) {
        for (name, needed) in named {
            let (key, needed) = match needed {
                Value::Array(_) => ("dependentRequired", needed.clone()),
                Value::String(other) => ("dependentRequired", json!([other])),
                schema => ("dependentSchemas", self.schema(schema, root)),
            };
            if let Value::Object(all) = modern.entry(key).or_insert_with(|| json!({})) {
                all.insert(name.clone(), needed);
            }
        }
    }
}

/// Whether a keyword has a meaning beside `$ref` in drafts that ignore the others: remarks, and where definitions are.
fn stands_beside(key: &str) -> bool {
    matches!(key, "$ref" | "$schema" | "description" | "title" | "default" | "examples" | "definitions" | "$defs")
}

fn exclusive(key: &str) -> &'static str {
    if key == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" }
}

/// Adds null to the values of a schema, as `nullable` of OpenAPI does.
fn with_null(mut schema: Map<String, Value>) -> Map<String, Value> {
    let none = json!("null");
    let is_plain = !["$ref", "allOf", "anyOf", "oneOf", "const"].iter().any(|key| schema.contains_key(*key));
    match schema.get_mut("type") {
        Some(Value::Array(kinds)) if is_plain => {
            if !kinds.contains(&none) {
                kinds.push(none);
            }
        }
        Some(kind) if is_plain => *kind = json!([kind, none]),
        _ => {
            let description = schema.shift_remove("description");
            let mut either = Map::from_iter([("anyOf".to_owned(), json!([schema, { "type": "null" }]))]);
            either.extend(description.map(|description| ("description".to_owned(), description)));
            return either;
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::modern_schema;

    fn of_property(schema: &Value) -> Value {
        let whole = json!({ "type": "object", "properties": { "p": schema }, "additionalProperties": false });
        let modern = modern_schema(&whole);
        assert_eq!(modern["additionalProperties"], false);
        assert_eq!(modern_schema(&modern), modern, "a second conversion changes nothing");
        modern["properties"]["p"].clone()
    }

    #[test]
    fn a_schema_that_is_true_or_false_is_an_object() {
        for (schema, expected) in [
            (json!(true), json!({})),
            (json!(false), json!({"not": {}})),
            (json!({"type": "array", "items": true}), json!({"type": "array", "items": {}})),
            (json!({"anyOf": [true, {"not": false}]}), json!({"anyOf": [{}, {"not": {"not": {}}}]})),
            (json!({"patternProperties": {"a": true}}), json!({"patternProperties": {"a": {}}})),
            (
                json!({"const": true, "default": false, "enum": [true]}),
                json!({"const": true, "default": false, "enum": [true]}),
            ),
            (json!({"prefixItems": [true], "items": false}), json!({"prefixItems": [{}], "items": false})),
        ] {
            assert_eq!(of_property(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn words_of_earlier_drafts_are_converted_by_their_form() {
        let text = json!({"type": "string"});
        for (schema, expected) in [
            (json!({"items": [text, true]}), json!({"prefixItems": [text, {}]})),
            (json!({"items": [text], "additionalItems": false}), json!({"prefixItems": [text], "items": false})),
            (json!({"minimum": 1, "exclusiveMinimum": true}), json!({"exclusiveMinimum": 1})),
            (json!({"maximum": 1, "exclusiveMaximum": false}), json!({"maximum": 1})),
            (json!({"exclusiveMinimum": 1}), json!({"exclusiveMinimum": 1})),
            (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
            (json!({"$ref": "#", "nullable": true}), json!({"anyOf": [{"$ref": "#"}, {"type": "null"}]})),
            (
                json!({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
                json!({"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}}),
            ),
        ] {
            assert_eq!(of_property(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_property_with_the_name_of_a_keyword_is_a_property() {
        let schema = json!({"type": "object", "properties": {"nullable": true, "id": {"type": "string"}, "$ref": {}}});
        let modern = modern_schema(&schema);
        assert_eq!(modern["properties"], json!({"nullable": {}, "id": {"type": "string"}, "$ref": {}}));
    }

    #[test]
    fn beside_a_reference_earlier_drafts_ignore_keywords() {
        let schema = |draft: &str| {
            json!({
                "$schema": draft, "type": "object", "properties": {"p": {"$ref": "#/definitions/A", "minLength": 3}},
                "definitions": {"A": {"type": "string"}},
            })
        };
        let of = |draft: &str| modern_schema(&schema(draft))["properties"]["p"].clone();
        assert_eq!(of("http://json-schema.org/draft-07/schema#"), json!({"$ref": "#/definitions/A"}));
        let kept = json!({"$ref": "#/definitions/A", "minLength": 3});
        assert_eq!(of("https://json-schema.org/draft/2020-12/schema"), kept);
    }
}
