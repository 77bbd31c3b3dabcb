//! What code in place of a worker takes.

use serde_json::Value;

use crate::plane::registry::Registered;

/// The parameter of a prompt for its files, which code in place of a worker cannot read.
const ATTACHMENTS: &str = "attachments";

/// Returns the parameters of code in place of a worker: those of the worker, without the files of a prompt.
pub(super) fn parameters(worker: &Registered) -> Value {
    let mut parameters = worker.parameters().clone();
    if worker.takes_prompt()
        && let Some(properties) = parameters["properties"].as_object_mut()
    {
        properties.remove(ATTACHMENTS);
    }
    parameters
}
