//! `attachments`: the files that a prompt may have.

use crate::table::{COUNT, COUNT_32, KeyDef, Value};
use crate::values::Reader;
use crate::yaml::Node;

/// The keys of `attachments`.
pub const ATTACHMENTS: &[KeyDef] = &[
    KeyDef::new("count", COUNT_32, "The maximum number of files of a prompt"),
    KeyDef::new("bytes", COUNT, "The maximum size of each file, in bytes. Default: 20 MiB for a file that is read"),
    KeyDef::new("types", types, "A list of media types, which may have `*`, such as `image/*`. Default: any"),
];

/// Checks a pattern of media types.
///
/// # Errors
///
/// Returns the fault of a pattern that no media type matches.
pub fn check_media_type(pattern: &str) -> Result<(), String> {
    if pattern.contains('/') || pattern.contains('*') {
        return Ok(());
    }
    Err(format!("`{pattern}` is not a media type: write one such as `image/png`, or a pattern such as `image/*`"))
}

fn types(node: Node, reader: &mut Reader<'_>) -> Option<Value> {
    let mut types = reader.nonempty_strings(node)?.value;
    types.retain(|pattern| match check_media_type(&pattern.value) {
        Ok(()) => true,
        Err(fault) => reader.fault::<()>(pattern.place, fault).is_some(),
    });
    Some(Value::Texts(types))
}
