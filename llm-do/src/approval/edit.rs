//! Arguments that an approver puts in the place of a caller's.

use serde_json::Value;

use crate::registry::{Code, Registered};

/// Checks and decodes arguments, and returns them as they would run, defaults filled in.
pub(super) fn decode(tool: &Registered, given: Value) -> Result<Value, String> {
    tool.validate(&given)?;
    let written = match &tool.code {
        Code::Function(decode) => decode(given).and_then(|start| start.written()),
        Code::Worker(plan) => (plan.ask)(given).map(|(_, written)| written),
    };
    // Whoever gave them reads it.
    written.map_err(|fault| fault.told().to_owned())
}
