//! Recorded cases.

use serde_json::Value;

/// A recorded case: an input, and the output that was given for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The arguments.
    pub input: Value,
    /// The output, the most frequent if there were several.
    pub output: Value,
    /// Whether the input was also given another output. An answer to it counts as wrong.
    pub is_contradicted: bool,
}
