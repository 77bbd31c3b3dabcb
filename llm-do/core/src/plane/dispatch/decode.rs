//! Decodes the arguments of calls.

use serde_json::{Map, Value};

use super::Run;
use crate::base::error::{CallError, Fault};
use crate::declare::argument::Given;
use crate::plane::context::CallContext;
use crate::plane::registry::{Prepared, Registered};

/// The readers of the arguments and the result of a call; each variant includes the previous ones.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Readers {
    /// Only the tool; text stays text.
    Tool,
    /// Sinks, which take the arguments as decoded by the tool.
    Sinks,
    /// An approver, a guard, a journal, a shadow or the plan of a dry run, which also take the arguments as given.
    Plane,
}

impl Readers {
    pub(super) fn of(run: &Run, tool: &Registered) -> Self {
        let is_read = run.run_journal().is_some()
            || run.guards.is_some()
            || run.settings.dry_run.is_some()
            || run.plane.shadows.contains(tool)
            || run.approvals().pre_approved(tool).is_none();
        match (is_read, run.events.is_observed) {
            (true, _) => Self::Plane,
            (false, true) => Self::Sinks,
            (false, false) => Self::Tool,
        }
    }
}

/// Checks and decodes the arguments of a call; `null` stands for an empty object.
///
/// `given` is an error if the arguments are not JSON. `is_read` is whether they have readers besides the tool.
pub(super) fn decode(tool: &Registered, given: Result<Given, String>, is_read: bool) -> Result<Prepared, CallError> {
    decode_or_keep(tool, given, is_read, &mut None)
}

/// Like [`decode`]; stores arguments that cannot be decoded in `refused`.
pub(super) fn decode_or_keep(
    tool: &Registered,
    given: Result<Given, String>,
    is_read: bool,
    refused: &mut Option<Value>,
) -> Result<Prepared, CallError> {
    let decode = |given| Prepared::decode_or_keep(tool, or_empty(given), is_read, refused);
    let decoded = given.map_err(Fault::new).and_then(decode);
    decoded.map_err(|fault| CallError::invalid(tool.name(), fault))
}

/// Like [`decode`], with slow checks on a blocking thread; returns early if the call of `ctx` is stopped.
pub(super) async fn decode_async(
    ctx: &CallContext,
    tool: &Registered,
    arguments: impl Into<Given>,
    is_read: bool,
) -> Result<Prepared, CallError> {
    decode_async_or_keep(ctx, tool, arguments, is_read, &mut None).await
}

/// Like [`decode_async`]; stores arguments that cannot be decoded in `refused`.
pub(super) async fn decode_async_or_keep(
    ctx: &CallContext,
    tool: &Registered,
    arguments: impl Into<Given>,
    is_read: bool,
    refused: &mut Option<Value>,
) -> Result<Prepared, CallError> {
    tokio::select! {
        biased;
        decoded = Prepared::decode_apart(tool, or_empty(arguments.into()), is_read, refused) => {
            decoded.map_err(|fault| CallError::invalid(tool.name(), fault))
        }
        error = ctx.stopped() => Err(error),
    }
}

fn or_empty(arguments: Given) -> Given {
    if arguments.value.is_null() { Value::Object(Map::new()).into() } else { arguments }
}
