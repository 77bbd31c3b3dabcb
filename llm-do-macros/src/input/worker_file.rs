//! The values that a worker file adds to its attribute; faults are reported at the file's name.

mod input_schema;
mod merge;
mod values;

use llm_do_worker_file::{Fault, Node, Place};
use syn::{LitStr, parse_quote_spanned};

use super::Callable;
use crate::args::Text;
use crate::args::worker::Worker;
use crate::errors::Errors;
use crate::worker_file;

/// The values of a worker file besides the keys of the attribute.
pub(crate) struct File {
    literal: LitStr,
    /// The path of the file, with which the compiler tracks its changes.
    pub(crate) path: LitStr,
    input_schema: Option<Node>,
    pub(crate) output_schema: Option<OutputSchema>,
}

/// The schema of the worker's output in a file.
pub(crate) struct OutputSchema {
    /// `file:line`.
    pub(crate) place: String,
    pub(crate) json: String,
}

/// Reads the file of the attribute, if any, into the attribute's keys.
pub(super) fn read(args: &mut Worker, errors: &mut Errors) -> Option<File> {
    let literal = args.file.clone()?;
    let found = match worker_file::find(&literal, "worker file") {
        Ok(Some(found)) => found,
        Ok(None) => {
            stand_in(args, &literal);
            return None;
        }
        Err(fault) => {
            errors.push(&literal, fault);
            stand_in(args, &literal);
            return None;
        }
    };
    let reading = llm_do_worker_file::read(&found.text);
    let had_faults = !reading.faults.is_empty();
    let input_schema = reading.file.keys.schema("input_schema").cloned();
    let output_schema = reading.file.keys.schema("output_schema").cloned();
    for fault in merge::into_attribute(args, reading, &literal) {
        errors.push(&literal, fault.in_file(literal.value()));
    }
    if had_faults {
        stand_in(args, &literal);
    }
    let output_schema =
        output_schema.map(|node| OutputSchema { place: in_file(&literal, node.place), json: node.to_json() });
    let path = LitStr::new(&found.path.to_string_lossy(), literal.span());
    Some(File { literal, path, input_schema, output_schema })
}

/// Sets a placeholder for the description, which an unread file may contain, so that its absence is not another fault.
fn stand_in(args: &mut Worker, literal: &LitStr) {
    args.shared_keys.description.get_or_insert_with(|| Text(parse_quote_spanned!(literal.span()=> #literal)));
}

fn in_file(literal: &LitStr, place: Place) -> String {
    format!("{}:{}", literal.value(), place.line)
}

impl File {
    /// Compares the file's `input_schema` with the signature.
    pub(super) fn check(&self, callable: &Callable, errors: &mut Errors) {
        let schema = self.input_schema.iter();
        let faults: Vec<Fault> = schema.flat_map(|schema| input_schema::faults(schema, callable)).collect();
        for fault in faults {
            errors.push(&self.literal, fault.in_file(self.literal.value()));
        }
    }
}
