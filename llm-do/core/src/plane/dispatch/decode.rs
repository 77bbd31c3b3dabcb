//! Decodes the arguments of calls.

use serde_json::{Map, Value};

use crate::base::error::{CallError, Fault};
use crate::declare::argument::Given;
use crate::plane::context::CallContext;
use crate::plane::registry::{Prepared, Registered};

/// Checks and decodes the arguments of a call; `null` stands for an empty object.
///
/// `given` is an error if they are not JSON.
pub(super) fn decode(tool: &Registered, given: Result<Given, String>) -> Result<Prepared, CallError> {
    decode_or_keep(tool, given, &mut None)
}

/// Like [`decode`]; stores arguments that cannot be decoded in `refused`.
pub(super) fn decode_or_keep(
    tool: &Registered,
    given: Result<Given, String>,
    refused: &mut Option<Value>,
) -> Result<Prepared, CallError> {
    let decode = |given| Prepared::decode_or_keep(tool, or_empty(given), refused);
    let decoded = given.map_err(Fault::new).and_then(decode);
    decoded.map_err(|fault| CallError::invalid(tool.name(), fault))
}

/// Like [`decode`], with slow checks on a blocking thread; returns early if the call of `ctx` is stopped.
pub(super) async fn decode_async(
    ctx: &CallContext,
    tool: &Registered,
    arguments: impl Into<Given>,
) -> Result<Prepared, CallError> {
    decode_async_or_keep(ctx, tool, arguments, &mut None).await
}

/// Like [`decode_async`]; stores arguments that cannot be decoded in `refused`.
pub(super) async fn decode_async_or_keep(
    ctx: &CallContext,
    tool: &Registered,
    arguments: impl Into<Given>,
    refused: &mut Option<Value>,
) -> Result<Prepared, CallError> {
    tokio::select! {
        biased;
        decoded = Prepared::decode_apart(tool, or_empty(arguments.into()), refused) => {
            decoded.map_err(|fault| CallError::invalid(tool.name(), fault))
        }
        error = ctx.stopped() => Err(error),
    }
}

fn or_empty(arguments: Given) -> Given {
    if arguments.value.is_null() { Value::Object(Map::new()).into() } else { arguments }
}
