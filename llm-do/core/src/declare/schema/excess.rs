//! Limits on schemas from files, programs and models.
//!
//! A schema of a few lines can demand exponential work: two references to a schema with two references, and so on. Schemas
//! in practice are far below these limits.

use serde_json::Value;

use super::graph::Graph;
use super::limits::{is_shallow, patterns};

/// The maximum size of a schema, in bytes of compact JSON.
const MAX_SIZE: usize = 256 << 10;
/// The maximum nesting depth of arrays and objects in a schema.
const MAX_DEPTH: usize = 64;
/// The maximum number of schemas after each reference is replaced by its target.
const MAX_EXPANDED: u64 = 100_000;
/// The maximum nesting depth of schemas after references are expanded.
const MAX_HEIGHT: usize = 128;
/// The maximum nesting depth of schemas that apply to the same value.
const MAX_HEIGHT_HERE: usize = 32;
/// The maximum number of patterns in a schema, since each is compiled.
const MAX_PATTERNS: usize = 200;

/// Returns why a schema that does not come from a Rust type exceeds the limits, if it does.
pub(super) fn excess(schema: &Value) -> Option<String> {
    if let Some(excess) = excess_of_size(schema) {
        return Some(excess);
    }
    let patterns = patterns(schema);
    if patterns > MAX_PATTERNS {
        return Some(format!("has {patterns} patterns, more than the limit of {MAX_PATTERNS}; leave some out"));
    }
    match Graph::of(schema) {
        Ok(graph) => excess_of(&graph),
        Err(fault) => Some(format!("has an invalid reference: {fault}")),
    }
}

/// Returns why a schema is too large to be used at all, if it is.
pub(super) fn excess_of_size(schema: &Value) -> Option<String> {
    if !is_shallow(schema, MAX_DEPTH) {
        return Some(format!("is nested deeper than {MAX_DEPTH} levels; put parts of it into `$defs`"));
    }
    let size = schema.to_string().len();
    (size > MAX_SIZE).then(|| format!("has {size} bytes, more than the limit of {MAX_SIZE}; make it smaller"))
}

fn excess_of(graph: &Graph) -> Option<String> {
    let Some(height_here) = graph.height_here() else {
        return Some("has a cycle of references without a property or an item in between, so validation would never end; break the cycle".to_owned());
    };
    expansion(graph, height_here)
}

/// Returns why a schema multiplies by its references, if it does; a few lines may demand exponential work.
pub(super) fn excess_of_references(schema: &Value) -> Option<String> {
    let graph = Graph::of(schema).ok()?;
    expansion(&graph, graph.height_here()?)
}

fn expansion(graph: &Graph, height_here: usize) -> Option<String> {
    let extent = graph.extent();
    if extent.height > MAX_HEIGHT || height_here > MAX_HEIGHT_HERE {
        return Some(format!(
            "is nested deeper than {MAX_HEIGHT} schemas, or than {MAX_HEIGHT_HERE} schemas for one value, after references \
             are expanded; make it flatter"
        ));
    }
    (extent.expanded > MAX_EXPANDED).then(|| {
        format!(
            "has more than {MAX_EXPANDED} schemas after references are expanded; use fewer references to schemas that \
             contain references"
        )
    })
}
