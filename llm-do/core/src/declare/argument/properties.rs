//! Builds the schema of a call's arguments, one argument at a time.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value};

use super::Arguments;

/// The properties of the arguments object of a call.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Properties {
    all: Map<String, Value>,
    required: Vec<Value>,
    pub(super) faults: Vec<String>,
}

impl Properties {
    pub(super) fn new<T: Arguments>(generator: &mut SchemaGenerator) -> Self {
        let mut properties = Self::default();
        for parameter in T::PARAMETERS {
            parameter.describe(generator, &mut properties);
        }
        properties
    }

    pub(super) fn add(&mut self, name: &str, schema: Value, is_required: bool) {
        if self.all.insert(name.to_owned(), schema).is_some() {
            self.faults.push(format!("two arguments are named `{name}`"));
        }
        if is_required {
            self.required.push(name.into());
        }
    }

    /// Adds the properties of a struct.
    pub(super) fn merge(&mut self, argument: &str, schema: &Schema) {
        let Some(Value::Object(properties)) = schema.get("properties").filter(|_| is_plain_struct(schema)) else {
            let fault = "its type must be a struct with named fields that takes no other fields";
            self.faults.push(format!("`{argument}` cannot be flattened: {fault}"));
            return;
        };
        let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (name, property) in properties {
            self.add(name, property.clone(), required.iter().any(|required| required == name));
        }
    }

    pub(super) fn names(self) -> Vec<String> {
        self.all.into_iter().map(|(name, _)| name).collect()
    }

    pub(super) fn into_schema(self) -> Schema {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), Value::Object(self.all));
        schema.insert("additionalProperties".to_owned(), false.into());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), Value::Array(self.required));
        }
        schema.into()
    }
}

/// Returns the names of a struct's fields, including those of structs that it flattens.
pub(super) fn names<T: JsonSchema>() -> Vec<String> {
    let schema = T::json_schema(&mut SchemaGenerator::default());
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(Map::keys).cloned().collect()
}

/// Returns whether the properties of a schema describe its values completely.
fn is_plain_struct(schema: &Schema) -> bool {
    let applicators = ["$ref", "oneOf", "anyOf", "allOf", "not", "if", "patternProperties"];
    let is_closed = schema.get("additionalProperties").is_none_or(|allowed| *allowed == Value::Bool(false));
    is_closed && applicators.iter().all(|keyword| schema.get(*keyword).is_none())
}
