//! `input_schema` and `output_schema`.

use crate::values::Reader;
use crate::yaml::{Content, Node};

/// The fault of an `input_schema` of another type.
pub const NOT_AN_OBJECT: &str = "`input_schema` must have `type: object`: arguments have names";

/// Reads a schema, which is a map. Whether the schema is valid is checked at run time.
pub(crate) fn output(node: Node, reader: &mut Reader<'_>) -> Option<Node> {
    match node.content {
        Content::Map(_) => Some(node),
        _ => reader.wrong("a JSON schema, which is a map", &node),
    }
}

/// Reads the schema of arguments: an object, whose `properties` and `required` the macro compares with a signature.
pub(crate) fn input(node: Node, reader: &mut Reader<'_>) -> Option<Node> {
    let schema = output(node, reader)?;
    let has_type = matches!(schema.get("type"), Some(Node { content: Content::String(name), .. }) if name == "object");
    if !has_type {
        let place = schema.get("type").map_or(schema.place, |node| node.place);
        return reader.fault(place, NOT_AN_OBJECT);
    }
    let properties = schema.get("properties").is_none_or(|node| {
        let is_map = matches!(node.content, Content::Map(_));
        is_map || wrong("properties", "a map", node, reader)
    });
    let required = schema
        .get("required")
        .is_none_or(|node| node.strings().is_some() || wrong("required", "a list of strings", node, reader));
    (properties && required).then_some(schema)
}

fn wrong(key: &str, expected: &str, node: &Node, reader: &mut Reader<'_>) -> bool {
    let key = format!("{key}` of `{}", reader.key);
    Reader { key: &key, faults: reader.faults }.wrong::<()>(expected, node).is_some()
}
