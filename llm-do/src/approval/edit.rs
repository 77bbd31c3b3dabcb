//! Arguments that an approver puts in the place of a caller's.

use serde_json::Value;

use crate::definition::Implementation;
use crate::registry::Registered;

/// Checks and decodes arguments, and returns them as they would run, defaults filled in.
pub(super) fn decode(tool: &Registered, given: Value) -> Result<Value, String> {
    tool.validate(&given)?;
    match &tool.def.implementation {
        Implementation::Function(start) => start(given).map(|(_, written)| written),
        Implementation::Worker { ask, .. } => ask(given).map(|(_, written)| written),
    }
}
