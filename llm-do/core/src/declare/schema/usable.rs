//! The usable parts of a schema from a server, which the user cannot correct.

use llm_do_providers::modern_schema;
use serde_json::{Map, Value, json};

use super::NAMED;
use super::excess::{excess_of_references, excess_of_size};
use super::foreign::{Rejection, rejection, untrusted_schema_fault};
use super::graph::target;

/// The maximum number of parts that are removed one by one, since each requires a build of the validator.
const MOST_PARTS: usize = 32;

/// A schema whose parts are all usable.
#[derive(Debug)]
pub struct UsableSchema {
    /// The schema in draft 2020-12, without invalid parts.
    pub schema: Value,
    /// The schema for checks, if it is a different one, without parts that cannot be checked here.
    pub checked: Option<Value>,
    /// The removed parts, each described by a phrase.
    pub notes: Vec<String>,
}

impl UsableSchema {
    /// Returns the usable parts of a schema.
    ///
    /// # Errors
    ///
    /// Returns an error if no part is usable: the schema is too large, nested too deeply, or multiplies by its
    /// references.
    pub fn of(schema: &Value) -> Result<Self, String> {
        if let Some(excess) = excess_of_size(schema) {
            return Err(excess);
        }
        let schema = modern_schema(schema);
        if untrusted_schema_fault(&schema).is_none() {
            return Ok(Self { schema, checked: None, notes: Vec::new() });
        }
        let mut usable = Self { checked: Some(schema.clone()), schema, notes: Vec::new() };
        usable.remove_references();
        if let Some(excess) = usable.checked.as_ref().and_then(excess_of_references) {
            return Err(excess);
        }
        usable.remove_rejected();
        usable.finish();
        Ok(usable)
    }

    fn remove_references(&mut self) {
        let Some(checked) = &mut self.checked else { return };
        let root = checked.clone();
        remove_references(checked, &root, "#", &mut self.notes);
    }

    /// Removes the parts that the validator rejects, one at a time.
    fn remove_rejected(&mut self) {
        for _ in 0..MOST_PARTS {
            let Some(checked) = &mut self.checked else { return };
            let Some(Rejection { place, is_pattern }) = rejection(checked) else { return };
            let Some(removed) = remove(checked, &place) else { return };
            if is_pattern {
                self.notes.push(format!("`#{removed}` is not checked here, since it cannot be matched in linear time"));
            } else {
                remove(&mut self.schema, &place);
                self.notes.push(format!("`#{removed}` is left out, since it is not a part of a JSON Schema"));
            }
        }
    }

    /// Drops the check if its validator still cannot be built.
    fn finish(&mut self) {
        let Some(checked) = &mut self.checked else { return };
        if let Some(fault) = untrusted_schema_fault(checked) {
            self.notes.push(format!("arguments are not checked here, since the schema {fault}"));
            *checked = json!({ "type": "object" });
        }
    }
}

/// Removes references that lead outside of the schema `root`.
fn remove_references(schema: &mut Value, root: &Value, place: &str, notes: &mut Vec<String>) {
    match schema {
        Value::Object(keywords) => {
            for key in ["$ref", "$dynamicRef", "$recursiveRef"] {
                let is_lost = |to: &Value| to.is_string() && (key != "$ref" || target(root, to).is_err());
                if keywords.get(key).is_some_and(is_lost) {
                    keywords.remove(key);
                    notes.push(format!("`{place}/{key}` is not checked here, since its target is not in the schema"));
                }
            }
            for (key, value) in keywords.iter_mut() {
                match (key.as_str(), value) {
                    ("const" | "default" | "enum" | "examples", _) => {}
                    (key, Value::Object(named)) if NAMED.contains(&key) => {
                        for (name, part) in named {
                            remove_references(part, root, &format!("{place}/{key}/{name}"), notes);
                        }
                    }
                    (key, value) => remove_references(value, root, &format!("{place}/{key}"), notes),
                }
            }
        }
        Value::Array(parts) => {
            for (index, part) in parts.iter_mut().enumerate() {
                remove_references(part, root, &format!("{place}/{index}"), notes);
            }
        }
        _ => {}
    }
}

/// Removes the keyword at a place, or the keyword that contains the place if it is an item of a list; returns its
/// place.
fn remove(schema: &mut Value, place: &str) -> Option<String> {
    let (mut parent, mut key) = place.rsplit_once('/')?;
    if schema.pointer(parent).is_some_and(Value::is_array) {
        (parent, key) = parent.rsplit_once('/')?;
    }
    let name = key.replace("~1", "/").replace("~0", "~");
    let keywords = schema.pointer_mut(parent)?.as_object_mut()?;
    keywords.remove(&name)?;
    let removed = format!("{parent}/{key}");
    let (outer, container) = parent.rsplit_once('/').unwrap_or_default();
    if name == "patternProperties" {
        open(keywords);
    } else if container == "patternProperties"
        && let Some(Value::Object(keywords)) = schema.pointer_mut(outer)
    {
        open(keywords);
    }
    Some(removed)
}

/// Allows further properties, since properties of a removed pattern would be refused otherwise.
fn open(keywords: &mut Map<String, Value>) {
    keywords.remove("additionalProperties");
    keywords.remove("unevaluatedProperties");
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::UsableSchema;

    fn of(property: &Value) -> UsableSchema {
        let schema = json!({ "type": "object", "properties": { "p": property, "n": { "type": "integer" } } });
        UsableSchema::of(&schema).unwrap()
    }

    #[test]
    fn a_valid_schema_is_used_and_checked_as_it_is() {
        let usable = of(&json!({ "type": "string", "pattern": "^[a-z]+$" }));
        assert!(usable.checked.is_none() && usable.notes.is_empty(), "{usable:?}");
    }

    #[test]
    fn only_the_part_that_cannot_be_checked_is_not_checked() {
        let look_around = json!({ "type": "string", "pattern": "^(?!x)", "minLength": 2 });
        let by_pattern =
            json!({ "type": "object", "patternProperties": { "(?=a)": {} }, "additionalProperties": false });
        let elsewhere = json!({ "$ref": "https://example.org/a.json", "type": "string" });
        for (property, expected) in [
            (look_around, json!({ "type": "string", "minLength": 2 })),
            (by_pattern, json!({ "type": "object", "patternProperties": {} })),
            (elsewhere, json!({ "type": "string" })),
        ] {
            let usable = of(&property);
            assert_eq!(usable.schema["properties"]["p"], property, "what is sent stays");
            let checked = usable.checked.unwrap();
            assert_eq!(checked["properties"]["p"], expected);
            assert_eq!(checked["properties"]["n"], json!({ "type": "integer" }));
            assert!(usable.notes.len() == 1 && usable.notes[0].starts_with("`#/properties/p/"), "{:?}", usable.notes);
        }
    }

    #[test]
    fn a_keyword_with_an_invalid_value_is_left_out() {
        for property in [json!({ "type": "any" }), json!({ "type": ["string", "String"] }), json!({ "required": true })]
        {
            let usable = of(&property);
            assert_eq!(usable.schema["properties"]["p"], json!({}), "{property}");
            assert_eq!(usable.notes.len(), 1, "{:?}", usable.notes);
            assert_eq!(usable.checked, Some(usable.schema));
        }
    }

    #[test]
    fn a_schema_that_cannot_be_checked_is_used_all_the_same() {
        let cyclic = json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } }, "$defs": { "a": { "$ref": "#/$defs/a" } } });
        let usable = UsableSchema::of(&cyclic).unwrap();
        assert_eq!((&usable.schema, usable.checked), (&cyclic, Some(json!({ "type": "object" }))));
        assert!(usable.notes[0].contains("not checked here"), "{:?}", usable.notes);
        let deep = (0..80).fold(json!({}), |inner: Value, _| json!({ "properties": { "a": inner } }));
        assert!(UsableSchema::of(&deep).unwrap_err().contains("nested deeper"));
    }
}
