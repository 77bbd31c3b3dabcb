//! Previews: the effect of a call, as text for the approver.

use serde_json::Value;

use super::decode;
use crate::base::error::{BoxError, Fault};
use crate::declare::tool::Tool;
use crate::plane::context::CallContext;

/// Returns a text that shows the effect of a call with these arguments.
pub(crate) type Preview = fn(&CallContext, Value) -> Result<String, BoxError>;

/// Decodes the arguments of a call, and calls `show` for its preview.
///
/// # Errors
///
/// Returns the error of `show`, or the reason why the arguments cannot be decoded.
#[doc(hidden)]
pub fn preview<T: Tool>(
    ctx: &CallContext,
    arguments: Value,
    show: impl FnOnce(&CallContext, &T) -> Result<String, BoxError>,
) -> Result<String, BoxError> {
    let decoded = decode::<T>(arguments).map_err(|fault: Fault| fault.to_string())?;
    show(ctx, &decoded.arguments)
}
