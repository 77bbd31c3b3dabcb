//! The calls of one turn, and what the model is told of each.

use futures_util::{FutureExt, StreamExt, TryStreamExt, stream};
use llm_do_providers::{ToolCall, ToolResult};
use serde_json::{Value, json};

use super::WorkerRun;
use super::turn::Called;
use crate::base::error::{CallError, chain};
use crate::declare::tool::ToolReturn;
use crate::observe::event::Caller;
use crate::plane::declared::Callee;

/// How many calls that change nothing are under way at once in one turn.
const AT_ONCE: usize = 16;

impl WorkerRun {
    /// Makes the calls of one turn: in order, or together if none of them changes anything.
    pub(super) async fn call_all(&self, calls: &[ToolCall]) -> Result<Vec<Called>, CallError> {
        let at_once = if calls.iter().all(|call| self.ctx.is_read_only(&call.name)) { AT_ONCE } else { 1 };
        let calls: Vec<_> = calls.iter().map(|call| self.call(call).boxed()).collect();
        stream::iter(calls).buffered(at_once).try_collect().await
    }

    /// Makes one call; an error that the model may mend becomes its result.
    async fn call(&self, call: &ToolCall) -> Result<Called, CallError> {
        let outcome = self.ctx.dispatch(Callee::Shown(&call.name), parse(&call.arguments), Caller::Model).await;
        let error = match outcome {
            Ok(returned) => return Ok(Called { result: answered(call, returned), fault: None, is_denied: false }),
            Err(error) => error,
        };
        let (is_denied, is_refused) = (error.is_denied(), error.is_refused());
        // What took all of this worker's own time leaves none to mend it.
        let is_told =
            if is_denied { self.return_denials } else { error.is_recoverable() && self.ctx.in_time().is_ok() };
        if !is_told {
            return Err(error);
        }
        let error = self.shown(error, &call.name);
        let told = if is_denied { denial(&error, &call.name) } else { error.model_message() };
        let result = ToolResult::new(call, told).with_error(true);
        Ok(Called { result, fault: Some(chain(&error)), is_denied: is_denied || is_refused })
    }

    /// Returns the error of a call as its model knows the tool: by the name that it called.
    fn shown(&self, error: CallError, shown: &str) -> CallError {
        match self.ctx.frame().declared.as_ref().and_then(|declared| declared.tool(shown)) {
            Some(tool) => error.renamed(tool, shown),
            None => error,
        }
    }
}

/// Reads arguments as a model wrote them; nothing at all stands for no arguments.
fn parse(arguments: &str) -> Result<Value, String> {
    if arguments.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(arguments).map_err(|error| format!("not JSON: {error}"))
}

fn answered(call: &ToolCall, returned: ToolReturn) -> ToolResult {
    let ToolReturn { value, attachments, .. } = returned;
    let content = match value {
        // Nothing but files: some providers refuse an empty text.
        Value::Null if !attachments.is_empty() => "see the files".to_owned(),
        value => text_of(value),
    };
    ToolResult::new(call, content).with_attachments(attachments)
}

/// Writes a result as a model reads it: text as it is, anything else as JSON.
fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn denial(error: &CallError, tool: &str) -> String {
    json!({ "error": chain(error), "tool_name": tool, "error_type": "permission" }).to_string()
}
