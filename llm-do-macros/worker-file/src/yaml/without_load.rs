//! Without the feature `yaml`, nothing is read.

use super::Node;
use crate::{Fault, Place};

/// Reports that reading a file needs a feature.
#[must_use]
pub fn read(_: &str, first_line: usize, faults: &mut Vec<Fault>) -> Option<Node> {
    let message = "turn on the feature `worker-files` of `llm-do` to read worker files";
    faults.push(Fault::new(Place::line(first_line), message));
    None
}
