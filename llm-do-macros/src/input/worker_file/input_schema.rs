//! Whether a file's `input_schema` is that of the signature.

use std::collections::BTreeSet;

use crate::input::{Argument, Callable};
use crate::worker_file::{Content, Fault, Node};

/// Says in which names the schema and the signature differ; its types are those of the signature.
pub(super) fn faults(schema: &Node, callable: &Callable) -> Vec<Fault> {
    let written = match Shape::written(schema) {
        Ok(shape) => shape,
        Err(fault) => return vec![fault],
    };
    let actual = Shape::of(callable);
    let pairs = [
        ("properties", &written.properties, &actual.properties),
        ("required properties", &written.required, &actual.required),
    ];
    // A flattened struct has properties that only the compiler knows.
    let is_open = callable.fields().any(|field| field.is_flat);
    let agree = |written: &BTreeSet<_>, actual| if is_open { written.is_superset(actual) } else { written == actual };
    let differing = pairs.into_iter().filter(|(_, written, actual)| !agree(written, actual));
    let fault = |(what, written, actual)| Fault {
        line: schema.line,
        message: format!(
            "`input_schema` and the parameters of `{}` differ: its {what} are {}, those of the signature {}",
            callable.ident,
            list(written),
            list(actual)
        ),
    };
    differing.map(fault).collect()
}

/// The names that a schema of arguments knows.
struct Shape {
    properties: BTreeSet<String>,
    required: BTreeSet<String>,
}

impl Shape {
    fn of(callable: &Callable) -> Self {
        let named = || callable.fields().filter(|field| !field.is_flat);
        let properties = named().map(Argument::name).collect();
        let required = named().filter(|field| !field.may_be_absent()).map(Argument::name);
        Self { properties, required: required.collect() }
    }

    fn written(schema: &Node) -> Result<Self, Fault> {
        let wrong = |node: &Node, key: &str, expected: &str| Fault {
            line: node.line,
            message: format!("`{key}` of `input_schema` takes {expected}, not {}", node.content.kind()),
        };
        let properties = match get(schema, "properties") {
            None => BTreeSet::new(),
            Some(Node { content: Content::Map(entries), .. }) => {
                entries.iter().map(|(name, _)| name.text.clone()).collect()
            }
            Some(node) => return Err(wrong(node, "properties", "a map")),
        };
        let required = match get(schema, "required") {
            None => BTreeSet::new(),
            Some(node) => texts(node).ok_or_else(|| wrong(node, "required", "a list of texts"))?,
        };
        Ok(Self { properties, required })
    }
}

fn get<'a>(map: &'a Node, key: &str) -> Option<&'a Node> {
    let Content::Map(entries) = &map.content else { return None };
    entries.iter().find(|(name, _)| name.text == key).map(|(_, node)| node)
}

fn texts(node: &Node) -> Option<BTreeSet<String>> {
    let Content::List(items) = &node.content else { return None };
    let text = |item: &Node| if let Content::Text(text) = &item.content { Some(text.clone()) } else { None };
    items.iter().map(text).collect()
}

fn list(names: &BTreeSet<String>) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() { "none".to_owned() } else { quoted.join(", ") }
}
