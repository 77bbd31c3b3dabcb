//! The form in which a model sees the values and the output of its code.

use serde_json::{Value, json};

use crate::base::clip::clip;

/// The maximum size of the last value that the model sees, in bytes of JSON.
pub(super) const MAX_SHOWN: usize = 16 * 1024;

/// Returns a value, or the beginning of one that is too large for the model.
pub(super) fn bounded(value: Value) -> Value {
    let text = value.to_string();
    let size = text.len();
    if size <= MAX_SHOWN {
        return value;
    }
    let beginning = clipped_to(&text, MAX_SHOWN / 4);
    json!(format!("{size} bytes, of which this is the beginning: {beginning}; compute what you need of it"))
}

pub(super) fn clipped_to(text: &str, bytes: usize) -> String {
    let beginning = clip(text, bytes);
    if beginning.len() == text.len() { text.to_owned() } else { format!("{beginning}...") }
}
