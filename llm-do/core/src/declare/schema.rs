//! JSON schemas of Rust types, in the form that is sent to models.

mod blocking;
mod canonical;
mod check;
mod compare;
mod condition;
#[cfg(any(feature = "json-schema", test))]
mod excess;
mod fault;
#[cfg(any(feature = "json-schema", test))]
mod foreign;
#[cfg(not(any(feature = "json-schema", test)))]
#[path = "schema/without_foreign.rs"]
mod foreign;
mod format;
mod graph;
mod limits;
mod property;
mod rules;
mod subschemas;
#[cfg(feature = "mcp")]
mod usable;

use llm_do_providers::modern_schema;
use llm_do_worker_file::without_item_links;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

pub(crate) use self::blocking::run_blocking;
pub(crate) use self::canonical::follow;
pub(crate) use self::check::{CheckedSchema, has_whole, make_whole};
pub(crate) use self::compare::differences;
pub(crate) use self::condition::condition_faults;
pub(crate) use self::foreign::{schema_fault, untrusted_schema_fault};
pub(crate) use self::limits::{MAX_VALUE_DEPTH, depth_fault, dismantle, is_shallow};
pub(crate) use self::property::Property;
#[cfg(feature = "mcp")]
pub(crate) use self::usable::UsableSchema;

/// Returns the narrowest word of `type` for a value.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the settings of all schemas of Rust types: draft 2020-12, without `$schema`, and without links to items in the descriptions.
pub(crate) fn settings() -> SchemaSettings {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    settings.with_transform(RecursiveTransform(drop_item_links))
}

/// Descriptions are doc comments, whose links only rustdoc can resolve.
fn drop_item_links(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        let plain = without_item_links(description).into_owned();
        *description = plain;
    }
}

/// Returns the schema of `T`: draft 2020-12, without titles and `$schema`.
///
/// Titles only repeat names.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let mut schema = settings().into_generator().into_root_schema_for::<T>();
    RecursiveTransform(|schema: &mut Schema| drop(schema.remove("title"))).transform(&mut schema);
    schema.into()
}

/// Returns the schema of a tool's arguments: as [`of`], without a description, since the tool's description is sent
/// beside its schema.
///
/// `properties` is always present.
pub(crate) fn of_arguments<T: JsonSchema>() -> Value {
    let mut schema = of::<T>();
    if let Value::Object(schema) = &mut schema {
        schema.remove("description");
        schema.entry("properties").or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    schema
}

/// Returns the first `writeOnly` property of a schema, at any depth.
pub(crate) fn unwritten(schema: &Value) -> Option<String> {
    match schema {
        Value::Object(fields) => fields.iter().find_map(|(key, value)| match value {
            Value::Object(properties) if key == "properties" => {
                let is_unwritten = |property: &Value| property.get("writeOnly") == Some(&Value::Bool(true));
                let own = properties.iter().find(|(_, property)| is_unwritten(property)).map(|(name, _)| name.clone());
                own.or_else(|| properties.values().find_map(unwritten))
            }
            value => unwritten(value),
        }),
        Value::Array(items) => items.iter().find_map(unwritten),
        _ => None,
    }
}

/// Returns whether the schema allows objects inside the arguments to omit fields when they are encoded.
///
/// The arguments themselves are always encoded, except the fields of flattened ones.
pub(crate) fn may_skip_fields(arguments: &Value, is_flat: bool) -> bool {
    let definitions = arguments["$defs"].as_object().into_iter().flatten();
    let own = arguments["properties"].as_object().into_iter().flatten();
    (is_flat && has_optional(arguments)) || own.chain(definitions).any(|(_, schema)| skips_fields(schema))
}

fn skips_fields(schema: &Value) -> bool {
    const DESCRIBING: [&str; 7] = ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"];
    match schema {
        Value::Object(keywords) => {
            let is_open = schema["type"] == "object"
                && !["properties", "additionalProperties"].iter().any(|key| keywords.contains_key(*key));
            let is_undescribed = !DESCRIBING.iter().any(|key| keywords.contains_key(*key));
            is_open
                || is_undescribed
                || has_optional(schema)
                || keywords.iter().any(|(key, value)| part_skips(key, value))
        }
        _ => false,
    }
}

fn part_skips(key: &str, value: &Value) -> bool {
    match (key, value) {
        ("properties" | "patternProperties", Value::Object(properties)) => properties.values().any(skips_fields),
        ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => schemas.iter().any(skips_fields),
        ("items" | "additionalProperties", schema) => skips_fields(schema),
        _ => false,
    }
}

/// Returns whether a schema has an optional property.
fn has_optional(schema: &Value) -> bool {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_required = |name: &String| required.iter().any(|required| required == name);
    schema["properties"].as_object().into_iter().flat_map(|properties| properties.keys()).any(|name| !is_required(name))
}

/// The property with an output whose schema is not an object, since providers accept only objects.
pub(crate) const WRAPPER: &str = "result";

/// The schema of a worker's output, as it is sent to a model.
#[derive(Debug)]
pub(crate) struct OutputShape {
    pub(crate) schema: CheckedSchema,
    /// Whether the output is plain text.
    pub(crate) is_text: bool,
    /// Whether the output is wrapped in the property [`WRAPPER`] of an object.
    pub(crate) is_wrapped: bool,
}

impl OutputShape {
    pub(crate) fn new(schema: &Value) -> Self {
        let schema = modern_schema(schema);
        let is_text = schema["type"] == "string" && is_plain(&schema);
        Self::of(schema, is_text)
    }

    /// Creates the shape of an output that is requested as data even if it is plain text.
    pub(crate) fn structured(schema: &Value) -> Self {
        Self::of(modern_schema(schema), false)
    }

    /// Marks the schema as untrusted: it does not come from a Rust type.
    pub(crate) fn untrusted(self) -> Self {
        Self { schema: self.schema.untrusted(), ..self }
    }

    fn of(schema: Value, is_text: bool) -> Self {
        let is_wrapped = schema["type"] != "object" && !is_text;
        let schema = if is_wrapped { wrap(schema) } else { schema };
        Self { schema: CheckedSchema::new(&schema), is_text, is_wrapped }
    }
}

/// Returns whether a schema only has a type and a description.
fn is_plain(schema: &Value) -> bool {
    schema.as_object().is_some_and(|schema| schema.keys().all(|key| key == "type" || key == "description"))
}

/// Redirects references to the root, or to a part of it other than its definitions, to their place after wrapping.
fn lower_references(schema: &mut Value) {
    match schema {
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| match (key.as_str(), value) {
            ("$ref", Value::String(target)) if is_lowered(target) => {
                *target = format!("#/properties/{WRAPPER}{}", &target[1..]);
            }
            ("const" | "default" | "enum" | "examples", _) => {}
            (key, Value::Object(named)) if NAMED.contains(&key) => named.values_mut().for_each(lower_references),
            (_, value) => lower_references(value),
        }),
        Value::Array(items) => items.iter_mut().for_each(lower_references),
        _ => {}
    }
}

/// The keywords whose value has a schema for each name.
const NAMED: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// The keywords with definitions; `definitions` is from earlier drafts.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

fn is_lowered(reference: &str) -> bool {
    let step = reference.strip_prefix("#/").map(|steps| steps.split('/').next().unwrap_or_default());
    reference == "#" || step.is_some_and(|step| !DEFINITIONS.contains(&step))
}

/// Wraps a schema in an object; its definitions stay at the root, where references point.
fn wrap(mut schema: Value) -> Value {
    lower_references(&mut schema);
    let mut definitions = Vec::new();
    if let Value::Object(keywords) = &mut schema {
        definitions.extend(DEFINITIONS.into_iter().filter_map(|key| Some((key, keywords.remove(key)?))));
    }
    let mut wrapped = json!({
        "type": "object", "properties": { WRAPPER: schema }, "required": [WRAPPER], "additionalProperties": false
    });
    for (key, schemas) in definitions {
        wrapped[key] = schemas;
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::OutputShape;

    #[test]
    fn a_wrapped_schema_finds_its_definitions_and_itself() {
        let tree = json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "$ref": "#" } }] });
        let listed = json!({ "type": "array", "items": { "$ref": "#/definitions/A" }, "definitions": { "A": { "type": "integer" } } });
        let part =
            json!({ "type": "array", "prefixItems": [{ "type": "string" }], "items": { "$ref": "#/prefixItems/0" } });
        for (schema, valid, invalid) in [
            (tree, json!([["a"], "b"]), json!([[1]])),
            (listed, json!([1, 2]), json!(["a"])),
            (part, json!(["a", "b"]), json!(["a", 1])),
        ] {
            let shape = OutputShape::structured(&schema).untrusted();
            assert_eq!(shape.schema.check(&json!({ "result": valid })), Ok(()), "{schema}");
            assert!(shape.schema.check(&json!({ "result": invalid })).is_err(), "{schema}");
        }
    }
}
