//! Calls that a model starts in the background, and how their results join the conversation.
//!
//! A call is admitted like every other one, and then runs beside the worker. Its result joins before a later request, or in place of the
//! end; the journal records after which answer, so that a replay has it there.

use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use llm_do_providers::{ToolCall, ToolResult, ToolSpec, UserPart};
use llm_do_worker_file::BACKGROUND_PARAMETER;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::WorkerRun;
use super::turn::{CallFault, CallResult, Turns};
use crate::base::error::CallError;
use crate::base::mutex::IgnorePoison;
use crate::declare::tool::ToolReturn;
use crate::observe::event::EventKind;
use crate::observe::journal::StepKind;
use crate::plane::background::InBackground;
use crate::plane::context::{CallContext, GivenArguments, JournalMethod, StepOutcome};
use crate::plane::declared::Callee;
use crate::plane::history::background_text;
use crate::plane::mailbox::Mail;

/// The tool that waits for a result.
const WAIT_FOR: &str = "wait_for";
/// The name of the steps that record which results joined.
const RESULTS: &str = "background results";
/// What a model reads of a wait that a message of the user interrupted.
const INTERRUPTED: &str = "the user interrupted; the calls in the background go on, and their results come later";

/// The arguments of a call of a tool that may run in the background.
pub(super) enum BackgroundArguments<'a> {
    Now(GivenArguments<'a>),
    /// To be started in the background.
    Later(Value),
}

/// The arguments of `wait_for`.
#[derive(Deserialize)]
struct WaitArguments {
    #[serde(default)]
    id: Option<u32>,
}

/// The calls of a worker's model in the background whose results it has not got.
#[derive(Debug, Default)]
pub(crate) struct ModelCalls {
    started: AtomicU32,
    calls: Mutex<Vec<ModelCall>>,
    /// Notified when a call has started or finished.
    changed: Notify,
}

#[derive(Debug)]
struct ModelCall {
    number: u32,
    call: ToolCall,
    /// Its context, once it was admitted.
    ctx: Option<CallContext>,
    /// Its result, and how many had finished before it.
    result: Option<(usize, Result<ToolReturn, CallError>)>,
}

impl ModelCall {
    fn is_finished(&self) -> bool {
        self.result.is_some()
    }
}

/// A result that a model gets.
struct Joined {
    text: String,
    outcome: CallResult,
    user_messages: Vec<String>,
}

impl ModelCalls {
    fn lock(&self) -> MutexGuard<'_, Vec<ModelCall>> {
        self.calls.lock().ignore_poison()
    }

    /// Adds a call, and returns its number: 1-based, in the order of the calls.
    fn add(&self, call: &ToolCall) -> u32 {
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        self.lock().push(ModelCall { number, call: call.clone(), ctx: None, result: None });
        number
    }

    /// Notes that a call was admitted.
    fn admit(&self, number: u32, ctx: CallContext) {
        if let Some(call) = self.lock().iter_mut().find(|call| call.number == number) {
            call.ctx = Some(ctx);
        }
        self.changed.notify_waiters();
    }

    fn finish(&self, number: u32, result: Result<ToolReturn, CallError>) {
        let mut calls = self.lock();
        let before = calls.iter().filter_map(|call| call.result.as_ref()).map(|(order, _)| order + 1).max();
        if let Some(call) = calls.iter_mut().find(|call| call.number == number) {
            call.result = Some((before.unwrap_or_default(), result));
        }
        drop(calls);
        self.changed.notify_waiters();
    }

    /// Returns the numbers of the calls that have finished, in that order.
    fn finished(&self) -> Vec<u32> {
        let calls = self.lock();
        let order = |call: &ModelCall| Some((call.result.as_ref()?.0, call.number));
        let mut finished: Vec<_> = calls.iter().filter_map(order).collect();
        finished.sort_unstable();
        finished.into_iter().map(|(_, number)| number).collect()
    }

    /// Returns the numbers of all calls.
    fn numbers(&self) -> Vec<u32> {
        self.lock().iter().map(|call| call.number).collect()
    }

    /// Returns the ids of the calls whose results the model has not got.
    pub(super) fn ids(&self) -> Vec<String> {
        self.lock().iter().map(|call| call.call.id.clone()).collect()
    }

    /// Waits until `found` returns something.
    async fn until<T>(&self, mut found: impl FnMut(&mut Vec<ModelCall>) -> Option<T>) -> T {
        loop {
            let mut changed = pin!(self.changed.notified());
            // Registered before the look, so that no change in between is missed.
            changed.as_mut().enable();
            if let Some(found) = found(&mut self.lock()) {
                return found;
            }
            changed.await;
        }
    }

    /// Waits for a call, and removes it; `None` if there is no such call.
    async fn take(&self, number: u32) -> Option<ModelCall> {
        self.until(|calls| match calls.iter().position(|call| call.number == number) {
            None => Some(None),
            Some(index) => calls[index].is_finished().then(|| Some(calls.remove(index))),
        })
        .await
    }

    /// Waits for a call with this number, or for any; returns its number.
    async fn ended(&self, wanted: Option<u32>) -> u32 {
        self.until(|calls| {
            let is_wanted = |call: &&ModelCall| wanted.is_none_or(|number| call.number == number);
            let finished =
                calls.iter().filter(is_wanted).filter_map(|call| Some((call.result.as_ref()?.0, call.number)));
            finished.min().map(|(_, number)| number)
        })
        .await
    }

    /// Waits until no call runs any more.
    async fn all_ended(&self) {
        self.until(|calls| calls.iter().all(ModelCall::is_finished).then_some(())).await;
    }

    /// Waits for an admitted call that fails with an error that ends its caller, and returns that error.
    pub(super) async fn failed(&self, ends: impl Fn(&CallError) -> bool) -> CallError {
        self.until(|calls| {
            let is_end =
                |call: &ModelCall| call.ctx.is_some() && matches!(&call.result, Some((_, Err(error))) if ends(error));
            let index = calls.iter().position(is_end)?;
            calls.remove(index).result.and_then(|(_, result)| result.err())
        })
        .await
    }
}

impl WorkerRun {
    /// Returns the arguments of a call, without the parameter `background` of a tool that has it.
    pub(super) fn given<'a>(&self, call: &'a ToolCall) -> BackgroundArguments<'a> {
        let text = || BackgroundArguments::Now(GivenArguments::Text(&call.arguments));
        if self.background.is_none() || call.is_by_code() || !self.ctx.may_run_in_background(&call.name) {
            return text();
        }
        let Ok(Value::Object(mut fields)) = serde_json::from_str(&call.arguments) else { return text() };
        match fields.remove(BACKGROUND_PARAMETER) {
            None => text(),
            Some(Value::Bool(true)) => BackgroundArguments::Later(fields.into()),
            Some(Value::Bool(false) | Value::Null) => BackgroundArguments::Now(GivenArguments::Value(fields.into())),
            Some(other) => {
                let fault = format!("`{BACKGROUND_PARAMETER}` is {other}; write true or false");
                BackgroundArguments::Now(GivenArguments::Invalid(fault))
            }
        }
    }

    /// Starts a call in the background, and returns that it started; a call that is refused has its own outcome.
    pub(super) async fn start(&self, call: &ToolCall, arguments: Value) -> Result<CallResult, CallError> {
        let Some(calls) = &self.background else { return Err(self.cancelled()) };
        let number = calls.add(call);
        let ended = {
            let calls = Arc::clone(calls);
            move |result| calls.finish(number, result)
        };
        let started = self.ctx.start_in_background(Callee::Shown(&call.name), arguments.into(), Some(number), ended);
        let Some(ctx) = started else { return Err(self.cancelled()) };
        let admitted = async {
            match ctx.frame().in_background() {
                Some(background) => background.started.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = admitted => {}
            refused = calls.take(number) => {
                let result = refused.and_then(|call| call.result).map(|(_, result)| result);
                return self.outcome(call, result.unwrap_or_else(|| Err(self.cancelled())));
            }
        }
        calls.admit(number, ctx);
        let hint = if self.has_wait() { ", or by `wait_for`" } else { "" };
        let text =
            format!("started in the background, with the id {number}; its result comes in a later message{hint}");
        Ok(plain_result(call, text, None))
    }

    /// Returns whether a call in the background has not joined the conversation.
    pub(super) fn awaits_results(&self) -> bool {
        self.background.as_ref().is_some_and(|calls| !calls.lock().is_empty())
    }

    /// Adds what is new to the conversation: messages to the run, and results of calls in the background. In place of the end, waits
    /// for those that still run.
    pub(super) async fn join_new(&self, turns: &mut Turns, mut made: Option<usize>) -> Result<(), CallError> {
        loop {
            self.join_messages(turns, made.take()).await?;
            let Some(calls) = self.background.as_ref() else { return Ok(()) };
            if turns.takes_messages() {
                Box::pin(self.join_results(calls, turns)).await?;
            }
            if !turns.is_done() || !self.awaits_results() {
                return Ok(());
            }
            if !turns.takes_messages() {
                // The model cannot be asked again.
                calls.all_ended().await;
                return Ok(());
            }
            tokio::select! {
                biased;
                _ = calls.ended(None) => {}
                () = arrival(self.mail.as_ref().filter(|_| !self.is_replaying())) => {}
            }
        }
    }

    /// Adds results: those of the journal, or those that have come.
    async fn join_results(&self, calls: &ModelCalls, turns: &mut Turns) -> Result<(), CallError> {
        let input = json!({ "after": turns.turn() });
        let is_recorded = self.is_recorded(RESULTS, &input);
        // In place of the end, the journal has nothing later of this worker.
        let is_live = !is_recorded && (turns.is_done() || !self.is_replaying());
        let finished = if is_live { calls.finished() } else { Vec::new() };
        if finished.is_empty() && !is_recorded {
            return Ok(());
        }
        let local = move |_| async move { Ok(finished) };
        let step = self.ctx.step(JournalMethod::Step, StepKind::Effect, RESULTS, || input, local);
        let StepOutcome { value: numbers, .. }: StepOutcome<Vec<u32>> = step.await?;
        let (mut parts, mut answers, mut loaded) = (Vec::new(), Vec::new(), Vec::new());
        for number in numbers {
            let Joined { text, outcome, user_messages } = self.joined(calls, number).await?;
            answers.extend(user_messages);
            parts.push(UserPart::Text { text });
            parts.extend(outcome.result.attachments.into_iter().map(UserPart::Attachment));
            loaded.extend(outcome.loaded);
        }
        turns.add_user_messages(&answers);
        turns.add_loaded(loaded);
        turns.join_results(parts);
        Ok(())
    }

    /// Waits for a call, and returns its result for the model.
    async fn joined(&self, calls: &ModelCalls, number: u32) -> Result<Joined, CallError> {
        let Some(ModelCall { call, ctx, result: Some((_, result)), .. }) = calls.take(number).await else {
            let text = format!("the journal has the result of the background call {number}, which was not started");
            return Err(CallError::Failed { tool: self.ctx.name().to_owned(), source: text.into() });
        };
        let background = ctx.as_ref().and_then(|ctx| ctx.frame().in_background());
        let readings = background.map(InBackground::take_readings).unwrap_or_default();
        for reading in readings {
            self.ctx.origin_notes().add(reading);
        }
        let user_messages = background.map(InBackground::take_user_messages).unwrap_or_default();
        let mut outcome = self.outcome(&call, result)?;
        self.shorten(&call, &mut outcome);
        let ended = if outcome.result.is_error { "failed" } else { "has finished" };
        let text = background_text(number, &call.name, ended, &outcome.result.content);
        self.ctx.emit(|| EventKind::Progress { text: format!("reads the background call {number}, `{}`", call.name) });
        Ok(Joined { text, outcome, user_messages })
    }

    /// Returns the tool that waits for a result, if the model may start calls in the background.
    pub(super) fn wait_tool(&self) -> Option<ToolSpec> {
        self.has_wait().then(wait_spec)
    }

    /// Returns whether a call of this name waits for a result.
    pub(super) fn is_wait(&self, name: &str) -> bool {
        name == WAIT_FOR && self.has_wait()
    }

    /// Returns whether the model has the tool: the name must not be that of one of its own.
    fn has_wait(&self) -> bool {
        let declared = self.ctx.frame().declared.as_ref();
        self.background.is_some() && declared.is_none_or(|declared| declared.tool(WAIT_FOR).is_none())
    }

    /// Waits for a result, and returns it; the journal records which one came.
    pub(super) async fn wait_for(&self, call: &ToolCall) -> Result<CallResult, CallError> {
        let Some(calls) = &self.background else { return Err(self.cancelled()) };
        let wanted = match wanted(&call.arguments, &calls.numbers()) {
            Ok(wanted) => wanted,
            Err(text) => return Ok(plain_result(call, text.clone(), Some(text))),
        };
        let (started, mail, token) = (Arc::clone(calls), self.mail.clone(), self.ctx.token().clone());
        let local = move |_| async move {
            tokio::select! {
                biased;
                number = started.ended(wanted) => Ok(Some(number)),
                () = interruption(mail.as_ref()) => Ok(None),
                // A journal may run this in another task.
                () = token.cancelled() => Ok(None),
            }
        };
        let input = || json!({ "call": call.id, "id": wanted });
        let step = self.ctx.step(JournalMethod::Step, StepKind::Effect, WAIT_FOR, input, local);
        let StepOutcome { value: number, .. }: StepOutcome<Option<u32>> = self.unless_cancelled(step).await?;
        let Some(number) = number else { return Ok(plain_result(call, INTERRUPTED.to_owned(), None)) };
        let Joined { text, outcome, user_messages } = self.joined(calls, number).await?;
        let mut own = self.ctx.frame().extras_or_default().effects.user_messages.get_or_default();
        own.extend(user_messages.into_iter().map(|message| (0, message)));
        drop(own);
        let result = ToolResult::new(call, text)
            .with_error(outcome.result.is_error)
            .with_attachments(outcome.result.attachments);
        Ok(CallResult { result, fault: None, refusal: None, loaded: outcome.loaded })
    }

    /// Returns what a conversation has of calls whose results its model has not got, since the worker's call ended.
    pub(super) fn lost_calls(&self) -> Vec<UserPart> {
        let calls = self.background.iter().flat_map(|calls| std::mem::take(&mut *calls.lock()));
        let lost = calls.filter(|call| call.ctx.is_some()).map(|ModelCall { number, call, .. }| {
            let text = background_text(number, &call.name, "ended with the worker", "its result was not read");
            UserPart::Text { text }
        });
        lost.collect()
    }
}

/// Waits for a message to the worker; never returns if it takes none.
async fn arrival(mail: Option<&Mail>) {
    match mail {
        Some(mail) => mail.arrived().await,
        None => std::future::pending().await,
    }
}

/// Waits for a message that interrupts the worker; never returns if it takes none.
async fn interruption(mail: Option<&Mail>) {
    match mail {
        Some(mail) => mail.interrupted().await,
        None => std::future::pending().await,
    }
}

/// Returns the call that `wait_for` waits for: one of `numbers`, or any.
fn wanted(arguments: &str, numbers: &[u32]) -> Result<Option<u32>, String> {
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    let WaitArguments { id } =
        serde_json::from_str(arguments).map_err(|error| format!("invalid arguments for `{WAIT_FOR}`: {error}"))?;
    if numbers.is_empty() {
        return Err("no call in the background has a result to wait for; go on without".to_owned());
    }
    match id.filter(|id| !numbers.contains(id)) {
        Some(id) => {
            let known = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            Err(format!("the background call {id} has no result to wait for; there are: {known}"))
        }
        None => Ok(id),
    }
}

/// Returns a result of a text; `fault` is why the call is invalid, if it is.
fn plain_result(call: &ToolCall, text: String, fault: Option<String>) -> CallResult {
    let result = ToolResult::new(call, text).with_error(fault.is_some());
    let fault = fault.map(|text| CallFault { text, is_invalid: true });
    CallResult { result, fault, refusal: None, loaded: Vec::new() }
}

fn wait_spec() -> ToolSpec {
    let text = "Wait for the result of a call in the background, and return it. Without it, each result comes in a later message.";
    let parameters = json!({
        "type": "object",
        "properties": {
            "id": { "type": "integer", "minimum": 1, "description": "The id of the call. Default: the first that finishes." },
        },
        "required": [],
        "additionalProperties": false,
    });
    ToolSpec { name: WAIT_FOR.into(), description: text.into(), parameters: Arc::new(parameters) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> ToolCall {
        ToolCall::new("c", "look", "{}")
    }

    #[tokio::test]
    async fn results_are_taken_in_the_order_in_which_the_calls_finished() {
        let calls = ModelCalls::default();
        assert_eq!([calls.add(&call()), calls.add(&call()), calls.add(&call())], [1, 2, 3]);
        calls.finish(3, Ok(json!("c").into()));
        calls.finish(1, Ok(json!("a").into()));
        assert_eq!(calls.finished(), [3, 1]);
        assert_eq!(calls.ended(None).await, 3);
        assert_eq!(calls.ended(Some(1)).await, 1);
        assert!(calls.take(3).await.is_some() && calls.take(3).await.is_none());
        assert_eq!(calls.numbers(), [1, 2]);
    }

    #[test]
    fn a_wait_names_a_call_that_has_no_result_yet() {
        assert_eq!(wanted("", &[2]), Ok(None));
        assert_eq!(wanted(r#"{"id": 2}"#, &[1, 2]), Ok(Some(2)));
        assert!(wanted(r#"{"id": 3}"#, &[1, 2]).unwrap_err().ends_with("there are: 1, 2"));
        assert!(wanted("{}", &[]).is_err() && wanted(r#"{"id": "x"}"#, &[1]).is_err());
    }
}
