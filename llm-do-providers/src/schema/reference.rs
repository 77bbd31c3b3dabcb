//! Marks on references, which record where they were inlined.
//!
//! Once a reference is inlined and merged with other schemas, the origin of each part is lost. So the
//! references in an inlined schema are marked with the reference that leads there.

use serde_json::{Map, Value, json};

/// A reference that is being inlined.
pub(super) struct Opened {
    pub(super) to: String,
    /// The number of the inlined reference that contains it, if any.
    pub(super) within: Option<usize>,
}

/// Returns the target of a marked reference; empty for any other value.
pub(crate) fn target(marked: &Value) -> &str {
    marked.get(0).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the inlined reference that contains a marked one, if any.
pub(super) fn within(marked: &Value) -> Option<usize> {
    marked.get(1)?.as_u64()?.try_into().ok()
}

/// Marks all references of a schema as contained in the reference `within`, or in none.
pub(super) fn mark(schema: &mut Map<String, Value>, number: Option<usize>) {
    each(schema, &mut |reference| *reference = json!([reference.as_str().unwrap_or_default(), number]));
}

/// Returns a schema without the marks of its references.
pub(crate) fn unmarked(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(keywords) = &mut schema {
        each(keywords, &mut |reference| *reference = json!(target(reference)));
    }
    schema
}

/// Whether two schemas are equal, ignoring the marks of their references.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    left == right || unmarked(left) == unmarked(right)
}

/// Runs `work` on each reference of a schema, except in listed values.
fn each(schema: &mut Map<String, Value>, work: &mut impl FnMut(&mut Value)) {
    for (key, value) in schema {
        match (key.as_str(), value) {
            ("$ref", reference) => work(reference),
            ("properties" | "patternProperties", Value::Object(named)) => {
                named.values_mut().filter_map(Value::as_object_mut).for_each(|schema| each(schema, work));
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(listed)) => {
                listed.iter_mut().filter_map(Value::as_object_mut).for_each(|schema| each(schema, work));
            }
            ("additionalProperties" | "items" | "propertyNames", Value::Object(schema)) => each(schema, work),
            _ => {}
        }
    }
}
