//! Checks the form of a JSON schema, on which generated types depend.

use serde_json::{Map, Value};

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
/// Keywords whose value is a schema.
const SCHEMAS: [&str; 9] = [
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedProperties",
];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is a map of schemas.
const MAPS: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
/// The maximum nesting of schemas, which bounds recursive functions.
const MAX_DEPTH: usize = 64;

/// Returns the part of the schema `root` that a reference such as `#/$defs/Label` names.
#[must_use]
pub fn definition<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// Returns the faults of a schema, each with its place below `at`.
pub(super) fn faults(at: &str, schema: &Value) -> Vec<String> {
    let mut check = Check { root: schema, faults: Vec::new() };
    check.schema(at, schema, 0);
    check.faults
}

struct Check<'a> {
    root: &'a Value,
    faults: Vec<String>,
}

impl Check<'_> {
    fn push(&mut self, at: &str, fault: &str) {
        self.faults.push(format!("`{at}`: {fault}"));
    }

    fn schema(&mut self, at: &str, schema: &Value, depth: usize) {
        match schema {
            Value::Bool(_) => {}
            Value::Object(_) if depth > MAX_DEPTH => {
                self.push(at, &format!("schemas are nested deeper than {MAX_DEPTH} levels"));
            }
            Value::Object(keywords) => self.keywords(at, keywords, depth),
            _ => self.push(at, "expected a JSON schema: an object or a boolean"),
        }
    }

    fn keywords(&mut self, at: &str, keywords: &Map<String, Value>, depth: usize) {
        for (keyword, value) in keywords {
            let at = format!("{at}/{keyword}");
            match keyword.as_str() {
                "type" => self.types(&at, value),
                "enum" if !value.is_array() => self.push(&at, "expected a list of values"),
                "required" if !is_list_of_strings(value) => self.push(&at, "expected a list of names"),
                "$ref" => self.reference(&at, value),
                // Before 2020, the schemas of a tuple's items.
                "items" if value.is_array() => self.list(&at, value, depth),
                keyword if SCHEMAS.contains(&keyword) => self.schema(&at, value, depth + 1),
                keyword if LISTS.contains(&keyword) => self.list(&at, value, depth),
                keyword if MAPS.contains(&keyword) => self.map(&at, value, depth),
                _ => {}
            }
        }
    }

    fn types(&mut self, at: &str, value: &Value) {
        let types = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
        if types.is_empty() || !types.iter().all(is_type) {
            self.push(at, &format!("expected one of `{}`, or a list of them, found {value}", TYPES.join("`, `")));
        }
    }

    fn reference(&mut self, at: &str, value: &Value) {
        match value.as_str() {
            // A definition in another document has no generated type.
            Some(reference) if !reference.starts_with('#') => {}
            Some(reference) if definition(self.root, reference).is_some() => {}
            Some(reference) => self.push(at, &format!("unknown definition `{reference}`")),
            None => self.push(at, "expected a reference as a string, such as `#/$defs/Label`"),
        }
    }

    fn list(&mut self, at: &str, value: &Value, depth: usize) {
        let Some(schemas) = value.as_array() else {
            return self.push(at, "expected a list of schemas");
        };
        for (place, schema) in schemas.iter().enumerate() {
            self.schema(&format!("{at}/{place}"), schema, depth + 1);
        }
    }

    fn map(&mut self, at: &str, value: &Value, depth: usize) {
        let Some(schemas) = value.as_object() else {
            return self.push(at, "expected a map from names to schemas");
        };
        for (name, schema) in schemas {
            self.schema(&format!("{at}/{name}"), schema, depth + 1);
        }
    }
}

fn is_list_of_strings(value: &Value) -> bool {
    value.as_array().is_some_and(|names| names.iter().all(Value::is_string))
}
