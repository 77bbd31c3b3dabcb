//! JSON schemas of Rust types, in the one shape that models are shown.

mod canonical;
mod check;
mod compare;
mod graph;
mod limits;
mod simple;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

pub(crate) use self::check::{CheckedSchema, fault_of_foreign, has_whole, make_whole};
pub(crate) use self::compare::differences;
pub(crate) use self::limits::{MAX_VALUE_DEPTH, dismantle, is_shallow};

/// Returns the schema of `T`: draft 2020-12, no titles, no `$schema`, no description of the whole.
///
/// A tool's description stands beside its schema, and titles only repeat names.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(|schema: &mut Schema| drop(schema.remove("title"))).transform(&mut schema);
    schema.into()
}

/// Returns the schema of a tool's arguments: as [`of`], an object that always says its properties.
pub(crate) fn of_arguments<T: JsonSchema>() -> Value {
    let mut schema = of::<T>();
    if let Value::Object(schema) = &mut schema {
        schema.remove("description");
        schema.entry("properties").or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    schema
}

/// Returns the first property that a schema says is read and never written, at any depth.
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

/// The property that holds an output whose schema is no object: providers only take objects.
pub(crate) const WRAPPER: &str = "result";

/// The schema of a worker's output, as a model is asked for it.
#[derive(Debug)]
pub(crate) struct OutputShape {
    pub(crate) schema: CheckedSchema,
    /// Whether it is plain text.
    pub(crate) is_text: bool,
    /// Whether it stands in the property [`WRAPPER`] of an object.
    pub(crate) is_wrapped: bool,
}

impl OutputShape {
    pub(crate) fn new(schema: Value) -> Self {
        let is_text = schema["type"] == "string" && is_plain(&schema);
        Self::of(schema, is_text)
    }

    /// The shape of an output that is given as data even if it is plain text.
    pub(crate) fn structured(schema: Value) -> Self {
        Self::of(schema, false)
    }

    /// The same, of a schema that is not made of a Rust type.
    pub(crate) fn foreign(self) -> Self {
        Self { schema: self.schema.foreign(), ..self }
    }

    fn of(schema: Value, is_text: bool) -> Self {
        let is_wrapped = schema["type"] != "object" && !is_text;
        Self { schema: CheckedSchema::new(if is_wrapped { wrap(schema) } else { schema }), is_text, is_wrapped }
    }
}

/// Whether a schema says nothing of its values but their type.
fn is_plain(schema: &Value) -> bool {
    schema.as_object().is_some_and(|schema| schema.keys().all(|key| key == "type" || key == "description"))
}

/// Lets references to the whole point to where the whole is once it is wrapped.
fn lower_references(schema: &mut Value) {
    match schema {
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| match value {
            Value::String(target) if key == "$ref" && target == "#" => *target = format!("#/properties/{WRAPPER}"),
            value => lower_references(value),
        }),
        Value::Array(items) => items.iter_mut().for_each(lower_references),
        _ => {}
    }
}

/// Puts a schema that is no object into one; its definitions stay at the root, where references look for them.
fn wrap(mut schema: Value) -> Value {
    lower_references(&mut schema);
    let definitions = schema.as_object_mut().and_then(|schema| schema.remove("$defs"));
    let mut wrapped = json!({
        "type": "object", "properties": { WRAPPER: schema }, "required": [WRAPPER], "additionalProperties": false
    });
    if let Some(definitions) = definitions {
        wrapped["$defs"] = definitions;
    }
    wrapped
}
