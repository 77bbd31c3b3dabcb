//! The comparison of a file's `input_schema` with the signature.

use std::collections::BTreeSet;

use llm_do_worker_file::{Content, Fault, Node};

use crate::input::{Argument, Callable};

/// Reports the names in which the schema and the signature differ. The types are those of the signature.
pub(super) fn faults(schema: &Node, callable: &Callable) -> Vec<Fault> {
    let written = Shape::written(schema);
    let actual = Shape::from_callable(callable);
    let pairs = [
        (["properties", "parameters"], &written.properties, &actual.properties),
        (["required properties", "required parameters"], &written.required, &actual.required),
    ];
    // A flattened struct has properties that only the compiler knows.
    let is_open = callable.fields().any(|field| field.is_flat);
    let agree = |written: &BTreeSet<_>, actual| if is_open { written.is_superset(actual) } else { written == actual };
    let differing = pairs.into_iter().filter(|(_, written, actual)| !agree(written, actual));
    let fault = |([properties, parameters], written, actual): ([&str; 2], _, _)| {
        let (name, written, actual) = (&callable.ident, list(written), list(actual));
        let message = format!(
            "`input_schema` does not match `{name}`: {properties} of the schema: {written}; {parameters} of the function: {actual}"
        );
        Fault::new(schema.place, message)
    };
    differing.map(fault).collect()
}

/// The names in a schema of arguments.
struct Shape {
    properties: BTreeSet<String>,
    required: BTreeSet<String>,
}

impl Shape {
    fn from_callable(callable: &Callable) -> Self {
        let named = || callable.fields().filter(|field| !field.is_flat);
        let properties = named().map(Argument::name).collect();
        let required = named().filter(|field| !field.may_be_absent()).map(Argument::name);
        Self { properties, required: required.collect() }
    }

    /// The reader of the file has checked that the schema has this form.
    fn written(schema: &Node) -> Self {
        let properties = match schema.get("properties").map(|node| &node.content) {
            Some(Content::Map(entries)) => entries.iter().map(|(key, _)| key.name.clone()).collect(),
            _ => BTreeSet::new(),
        };
        let required = schema.get("required").and_then(Node::strings).unwrap_or_default();
        Self { properties, required: required.into_iter().map(str::to_owned).collect() }
    }
}

fn list(names: &BTreeSet<String>) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() { "none".to_owned() } else { quoted.join(", ") }
}
