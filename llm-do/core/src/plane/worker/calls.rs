//! Makes the tool calls of one turn, and returns their results to the model.

use futures_util::{FutureExt, StreamExt, TryStreamExt, stream};
use llm_do_providers::{ToolCall, ToolResult};
use serde_json::json;

use super::WorkerRun;
use super::background::BackgroundArguments;
use super::messages::Interruption;
use super::tool_search::{self, Found};
use super::turn::{CallFault, CallResult, Refusal};
use crate::base::error::{CallError, chain};
use crate::base::mend;
use crate::declare::tool::ToolReturn;
use crate::observe::event::{Caller, EventKind};
use crate::plane::context::GivenArguments;
use crate::plane::declared::Callee;

/// The result that a model sees for a call that was not made because of a message.
const INTERRUPTED: &str = "not run: the user interrupted; read the user's message";

impl Refusal {
    /// Returns who refused the call, if the error is a refusal.
    fn from_error(error: &CallError) -> Option<Self> {
        if error.is_denied() {
            return Some(Self::Denied);
        }
        error.is_refused().then_some(Self::ByGuard)
    }
}

impl WorkerRun {
    /// Makes the calls of one turn: concurrently if all of them are read-only, otherwise in order. The result of each
    /// call is put into its place as soon as the call finishes, so that it is kept if another call ends the turn.
    ///
    /// A call that is not made because of a message to the run has a result with that reason. Of several errors, that of the first
    /// call in order is returned.
    pub(super) async fn call_all(
        &self,
        calls: &[ToolCall],
        finished: &mut [Option<CallResult>],
        interruption: &Interruption,
    ) -> Result<(), CallError> {
        if let ([call], [place]) = (calls, &mut *finished) {
            return self.call_into((0, call), place, interruption).boxed().await;
        }
        let concurrency = self.concurrency(calls);
        let calls = calls.iter().enumerate().zip(finished);
        let calls: Vec<_> = calls.map(|(call, place)| self.call_into(call, place, interruption).boxed()).collect();
        stream::iter(calls).buffered(concurrency).try_collect().await
    }

    /// Returns the maximum number of concurrent calls among these.
    fn concurrency(&self, calls: &[ToolCall]) -> usize {
        let is_read_only = |name: &str| self.reads_results(name) || self.ctx.is_read_only(name);
        let are_read_only = calls.iter().all(|call| is_read_only(&call.name));
        if are_read_only { self.ctx.max_concurrent_calls() } else { 1 }
    }

    /// Makes the call with this index, unless the turn is interrupted before it.
    async fn call_into(
        &self,
        (index, call): (usize, &ToolCall),
        place: &mut Option<CallResult>,
        interruption: &Interruption,
    ) -> Result<(), CallError> {
        let is_made = self.is_made(index, interruption);
        *place = Some(if is_made { self.call(call).await? } else { interrupted(call) });
        Ok(())
    }

    /// Makes one call. A result that is too long for the model is shortened.
    async fn call(&self, call: &ToolCall) -> Result<CallResult, CallError> {
        let mended = self.mended(call);
        let call = mended.as_deref().unwrap_or(call);
        if let Some(found) = self.search.as_ref().and_then(|search| search.answer(call)) {
            return Ok(self.found(call, found));
        }
        if self.reads_results(&call.name) {
            return Ok(self.read_result(call));
        }
        if self.is_wait(&call.name) {
            return Box::pin(self.wait_for(call)).await;
        }
        let given = match self.given(call) {
            BackgroundArguments::Now(given) => given,
            BackgroundArguments::Later(arguments) => return Box::pin(self.start(call, arguments)).await,
        };
        let mut outcome = self.dispatch(call, given).await?;
        self.shorten(call, &mut outcome);
        Ok(outcome)
    }

    /// Makes one call on the plane.
    async fn dispatch(&self, call: &ToolCall, given: GivenArguments<'_>) -> Result<CallResult, CallError> {
        let outcome = self.ctx.dispatch(Callee::Shown(&call.name), given, Caller::Model).await;
        self.outcome(call, outcome)
    }

    /// Returns the outcome of a call; a denial, or an error that the model may correct, becomes its result.
    pub(super) fn outcome(
        &self,
        call: &ToolCall,
        outcome: Result<ToolReturn, CallError>,
    ) -> Result<CallResult, CallError> {
        let error = match outcome {
            Ok(returned) => {
                return Ok(CallResult {
                    result: tool_result(call, returned),
                    fault: None,
                    refusal: None,
                    loaded: Vec::new(),
                });
            }
            Err(error) => error,
        };
        // A refusal is not a failure: the model has nothing to correct.
        let is_planned = matches!(error, CallError::DryRun { .. });
        let refusal = Refusal::from_error(&error);
        let is_invalid = matches!(error, CallError::InvalidArguments { .. } | CallError::NotFound { .. });
        if !self.is_returned(&error) {
            return Err(error);
        }
        let error = self.with_shown_name(error, &call.name);
        let content = match refusal {
            Some(Refusal::Denied) => denial(&error, &call.name),
            _ => error.model_message(),
        };
        let result = ToolResult::new(call, content).with_error(!is_planned);
        let fault = (!is_planned).then(|| CallFault { text: chain(&error), is_invalid });
        Ok(CallResult { result, fault, refusal, loaded: Vec::new() })
    }

    /// Returns whether the model gets an error of its call; other errors end the worker's call.
    pub(super) fn is_returned(&self, error: &CallError) -> bool {
        match Refusal::from_error(error) {
            Some(Refusal::Denied) => !self.end_on_denial && !error.is_stopped(),
            // If the call used up the worker's time, the model has no time to correct the error.
            _ => error.is_recoverable() && self.ctx.check_deadline().is_ok(),
        }
    }

    /// Returns the call with mended arguments, if its model may write such and they can be mended.
    fn mended(&self, call: &ToolCall) -> Option<Box<ToolCall>> {
        if !self.model.profile().mend_arguments {
            return None;
        }
        let is_search = self.search.is_some() && tool_search::is_own(&call.name);
        let is_own = is_search || self.reads_results(&call.name) || self.is_wait(&call.name);
        let mended = mend::arguments(&call.arguments, is_own || self.ctx.is_read_only(&call.name))?;
        self.report_mends(Some(&call.name), mended.mends);
        let mut call = Box::new(call.clone());
        call.arguments = mended.json.into_owned();
        Some(call)
    }

    /// Returns the result of a search for tools, and reports it.
    fn found(&self, call: &ToolCall, found: Found) -> CallResult {
        let Found { text, loaded, is_error } = found;
        self.ctx.emit(|| EventKind::Progress { text: format!("`{}`: {text}", call.name) });
        let fault = is_error.then(|| CallFault { text: text.clone(), is_invalid: true });
        let result = ToolResult::new(call, text).with_error(is_error);
        CallResult { result, fault, refusal: None, loaded: loaded.into_iter().collect() }
    }

    /// Returns the error with the name that the model uses for the tool.
    fn with_shown_name(&self, error: CallError, shown: &str) -> CallError {
        match self.ctx.frame().declared.as_ref().and_then(|declared| declared.tool(shown)) {
            Some(tool) => error.renamed(tool, shown),
            None => error,
        }
    }
}

/// Returns the result of a call that was not made, since a message to the run interrupted the turn before.
fn interrupted(call: &ToolCall) -> CallResult {
    let result = ToolResult::new(call, INTERRUPTED).with_error(true);
    let fault = CallFault { text: INTERRUPTED.to_owned(), is_invalid: false };
    CallResult { result, fault: Some(fault), refusal: Some(Refusal::Interrupted), loaded: Vec::new() }
}

fn tool_result(call: &ToolCall, mut returned: ToolReturn) -> ToolResult {
    let attachments = std::mem::take(returned.attachments_mut());
    // Some providers refuse an empty text beside files.
    let is_empty = !attachments.is_empty() && returned.value().is_null();
    let content = if is_empty { "see the files".to_owned() } else { returned.into_text() };
    ToolResult::new(call, content).with_attachments(attachments)
}

fn denial(error: &CallError, tool: &str) -> String {
    json!({ "error": chain(error), "tool_name": tool, "error_type": "permission" }).to_string()
}
