//! The parts of Rust types that may carry untrusted text, which their schemas mark.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The keyword of a part that may be untrusted; only the schemas of this module have it.
pub(crate) const UNTRUSTED: &str = "x-llm-do-untrusted";

/// Returns whether values of `T` have parts that may be untrusted, at any depth.
pub(crate) fn has_untrusted<T: JsonSchema>() -> bool {
    // Most types are these, whose schemas need not be written when a program starts.
    let plain = [
        String::schema_id(),
        <()>::schema_id(),
        bool::schema_id(),
        f64::schema_id(),
        i64::schema_id(),
        u32::schema_id(),
        u64::schema_id(),
        usize::schema_id(),
        Value::schema_id(),
    ];
    !plain.contains(&T::schema_id()) && has_mark(&marked::<T>())
}

/// Lists the properties of `T` that may be untrusted as a whole, or whose items may.
pub(crate) fn untrusted_properties<T: JsonSchema>() -> Vec<String> {
    let schema = marked::<T>();
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.filter(|(_, property)| is_marked(property)).map(|(name, _)| name.clone()).collect()
}

fn marked<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().into()
}

fn has_mark(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => keywords.get(UNTRUSTED) == Some(&true.into()) || keywords.values().any(has_mark),
        Value::Array(items) => items.iter().any(has_mark),
        _ => false,
    }
}

/// Returns whether each value that is not `null` may be untrusted.
fn is_marked(schema: &Value) -> bool {
    let are_all = |choices: &Value| {
        let others = choices.as_array().into_iter().flatten().filter(|choice| choice["type"] != "null");
        let mut others = others.peekable();
        others.peek().is_some() && others.all(is_marked)
    };
    schema[UNTRUSTED] == true || is_marked_in(schema, "items") || are_all(&schema["anyOf"])
}

fn is_marked_in(schema: &Value, keyword: &str) -> bool {
    schema.get(keyword).is_some_and(is_marked)
}
