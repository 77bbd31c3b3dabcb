//! JSON schemas of Rust types, in the one shape that models are shown.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

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
