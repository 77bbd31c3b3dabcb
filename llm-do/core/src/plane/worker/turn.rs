//! The turns of a worker as a state machine without I/O, used for live, streamed and replayed runs and in tests.

mod failures;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use llm_do_providers::{
    Attachment, FinishReason, Message, Response, ResponsePart, ToolCall, ToolResult, Transcript, UserPart,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use self::failures::{CallFault, Refusal};
use self::failures::{Denials, Failures};
use super::output::{Output, ReadResult};
use crate::base::error::Fault;
use crate::base::mend::Mends;
use crate::declare::toolset::OUTPUT_TOOL;
use crate::plane::history::unfinished;
use crate::plane::history_processor::Ratios;

/// What asks a model to continue an interrupted answer.
const CONTINUE: &str = "The answer was interrupted. Continue.";

/// The limits of one call of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    /// The maximum number of requests in one call.
    pub(crate) max_turns: u32,
    /// The maximum number of consecutive retries of the output, of invalid arguments of one tool, or of equal calls
    /// that fail.
    pub(crate) retries: u32,
}

/// The state of a worker's call between two effects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Turns {
    /// Shared with a request in flight.
    messages: Arc<Transcript>,
    phase: Phase,
    turn: u32,
    limits: Limits,
    /// The number of messages from before the call that are unchanged.
    kept: usize,
    /// The number of messages that the model has received or sent.
    sent: usize,
    failures: Failures,
    #[serde(default)]
    denials: Denials,
    /// How many times messages to the run have joined.
    #[serde(default)]
    joined: u32,
    /// The files that the model created so far, which are returned with the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<Attachment>,
    /// The names of the tools that the model loaded, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    loaded: Vec<Arc<str>>,
    /// What was mended in the result of the last answer.
    #[serde(skip)]
    mends: Mends,
    /// What the provider counted for the messages that the model has received and sent, while they are unchanged.
    #[serde(default)]
    counted: Option<u64>,
    /// How the provider counts what is estimated.
    #[serde(default)]
    ratios: Ratios,
    /// The place of the prompt among the messages, unless something removed it.
    #[serde(default)]
    prompt: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Phase {
    Request,
    Call {
        calls: Vec<ToolCall>,
        /// The result in the same answer as the calls; it is accepted if they succeed.
        pending: Option<PendingResult>,
    },
    Done(Value),
    Failed(String),
}

/// A valid result, and the calls of the output tool that returned it. The first call counts, but each is answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct PendingResult {
    calls: Vec<ToolCall>,
    value: Value,
}

/// The next effect.
#[derive(Debug, PartialEq)]
pub(crate) enum Step<'a> {
    /// Send these messages to the model, then call [`Turns::handle_response`].
    Request(&'a Arc<Transcript>),
    /// Make these calls, then call [`Turns::handle_results`].
    Call(&'a [ToolCall]),
    /// Finished with this output.
    Done(&'a Value),
    /// Failed with this reason.
    Failed(&'a str),
}

/// The outcome of one call of [`Step::Call`].
#[derive(Debug)]
pub(crate) struct CallResult {
    pub(crate) result: ToolResult,
    /// Why it failed, if it did; the model receives the result instead.
    pub(crate) fault: Option<CallFault>,
    /// Why the call was not made, if it was refused or interrupted. A refusal is not a failure of the model, so it does not use up a retry.
    pub(crate) refusal: Option<Refusal>,
    /// The tools that the call loaded.
    pub(crate) loaded: Vec<Arc<str>>,
}

impl Turns {
    /// Starts with `messages`; the last is the prompt, and the first `kept` are already in the conversation.
    pub(crate) fn new(messages: Vec<Message>, kept: usize, limits: Limits) -> Self {
        Self {
            prompt: messages.len().checked_sub(1),
            messages: Arc::new(messages.into()),
            phase: Phase::Request,
            turn: 0,
            limits,
            kept,
            sent: 0,
            failures: Failures::default(),
            denials: Denials::default(),
            joined: 0,
            files: Vec::new(),
            loaded: Vec::new(),
            mends: Mends::default(),
            counted: None,
            ratios: Ratios::default(),
        }
    }

    /// Adds tools that the model loaded.
    pub(crate) fn add_loaded(&mut self, names: impl IntoIterator<Item = Arc<str>>) {
        for name in names {
            if !self.loaded.contains(&name) {
                self.loaded.push(name);
            }
        }
    }

    /// Returns the names of the tools that the model loaded, in order.
    pub(crate) fn loaded(&self) -> &[Arc<str>] {
        &self.loaded
    }

    /// Returns the next effect.
    pub(crate) fn step(&self) -> Step<'_> {
        match &self.phase {
            Phase::Request => Step::Request(&self.messages),
            Phase::Call { calls, .. } => Step::Call(calls),
            Phase::Done(value) => Step::Done(value),
            Phase::Failed(message) => Step::Failed(message),
        }
    }

    /// Returns the messages so far.
    pub(crate) fn messages(&self) -> &Arc<Transcript> {
        &self.messages
    }

    /// Removes and returns the messages, after the last step.
    pub(crate) fn take_messages(&mut self) -> Vec<Message> {
        std::mem::take(Arc::make_mut(&mut self.messages)).into()
    }

    /// Replaces the messages between two steps.
    pub(crate) fn replace_messages(&mut self, messages: Vec<Message>) {
        let prompt = self.prompt.and_then(|place| self.messages.get(place));
        self.prompt = prompt.and_then(|prompt| messages.iter().rposition(|message| message == prompt));
        let unchanged = Arc::make_mut(&mut self.messages).replace(messages);
        self.kept = self.kept.min(unchanged);
        if unchanged < self.sent {
            self.counted = None;
        }
    }

    /// Returns what the provider counted for the first messages, and how many they are; `None` if it counted other ones.
    pub(crate) fn counted(&self) -> Option<(usize, usize)> {
        let tokens = self.counted?;
        Some((usize::try_from(tokens).unwrap_or(usize::MAX), self.sent))
    }

    /// Returns the place of the prompt among the messages.
    pub(crate) fn prompt(&self) -> Option<usize> {
        self.prompt
    }

    /// Returns how the provider counts what is estimated.
    pub(crate) fn ratios(&self) -> Ratios {
        self.ratios
    }

    /// Remembers how the provider counts what is estimated.
    pub(crate) fn set_ratios(&mut self, ratios: Ratios) {
        self.ratios = ratios;
    }

    /// Returns the number of messages of the conversation that the call left unchanged.
    pub(crate) fn kept(&self) -> usize {
        self.kept
    }

    /// Adds the results of an interrupted turn, each at the index of its call; its other calls are unfinished.
    ///
    /// All calls with the same id then have a result; by the id alone, a later call would have the result of the first.
    pub(crate) fn interrupt(&mut self, finished: Vec<Option<CallResult>>) {
        let Phase::Call { calls, .. } = &self.phase else { return };
        if finished.iter().all(Option::is_none) {
            return;
        }
        let result = |(call, finished): (&ToolCall, Option<CallResult>)| {
            finished.map_or_else(|| unfinished(call), |finished| finished.result)
        };
        let results = calls.iter().zip(finished).map(result).collect();
        self.push(Message::Tool { results });
    }

    fn push(&mut self, message: Message) {
        Arc::make_mut(&mut self.messages).push(message);
    }

    /// Returns the number of answers so far.
    pub(crate) fn turn(&self) -> u32 {
        self.turn
    }

    /// Returns the maximum number of consecutive retries.
    pub(crate) fn retries(&self) -> u32 {
        self.limits.retries
    }

    /// Returns the messages of a request that are new to the model.
    pub(crate) fn new_messages<'m>(&self, messages: &'m [Message]) -> &'m [Message] {
        messages.get(self.sent..).unwrap_or(messages)
    }

    /// Returns the files that the model created, without those in answers that were rejected by a guard.
    pub(crate) fn files(&self) -> &[Attachment] {
        &self.files
    }

    /// Adds the user's answers to questions of tools.
    pub(crate) fn add_user_messages(&mut self, messages: &[String]) {
        if !messages.is_empty() {
            self.push(Message::user(messages.join("\n\n")));
        }
    }

    /// Returns whether messages may join the conversation now: before a request, or in place of the end.
    pub(crate) fn takes_messages(&self) -> bool {
        match self.phase {
            Phase::Request => true,
            Phase::Done(_) => self.turn < self.limits.max_turns,
            Phase::Call { .. } | Phase::Failed(_) => false,
        }
    }

    /// Returns whether the call ends with its output.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Done(_))
    }

    /// Adds messages to the run, which the model answers before the call ends, as one that may be pinned.
    pub(crate) fn join(&mut self, messages: &[String], is_pinned: bool) {
        if !messages.is_empty() {
            self.joined += 1;
            let message = Message::user(messages.join("\n\n"));
            self.push(if is_pinned { message.pinned() } else { message });
            self.phase = Phase::Request;
        } else if matches!((&self.phase, self.messages.last()), (Phase::Request, Some(Message::Assistant { .. }))) {
            // The process ended between the interruption and its message.
            self.push(Message::user(CONTINUE));
        }
    }

    /// Returns how many times messages to the run have joined.
    pub(crate) fn joined(&self) -> u32 {
        self.joined
    }

    /// Adds an answer that no model gave.
    pub(crate) fn add_answer(&mut self, text: String) {
        self.push(Message::Assistant { parts: vec![ResponsePart::Text { text }] });
    }

    /// Asks for a better result than that of the last answer.
    pub(crate) fn refine(&mut self, reasons: String) {
        self.push(Message::user(reasons));
        self.failures.forget_output();
        self.phase = Phase::Request;
    }

    /// Returns to messages from before, such as those of an earlier result.
    pub(crate) fn return_to(&mut self, messages: &Arc<Transcript>) {
        if !Arc::ptr_eq(&self.messages, messages) {
            self.replace_messages(messages.to_vec());
        }
    }

    /// Adds results of calls in the background, which the model answers before the call ends.
    pub(crate) fn join_results(&mut self, parts: Vec<UserPart>) {
        self.add_parts(parts);
        self.phase = Phase::Request;
    }

    /// Adds parts of a message that no request follows yet.
    pub(crate) fn add_parts(&mut self, parts: Vec<UserPart>) {
        if !parts.is_empty() {
            self.push(Message::User { parts });
        }
    }

    /// Handles the model's response; returns its fault, if the model is asked again.
    pub(crate) fn handle_response(&mut self, response: Response, output: &Output) -> Option<String> {
        let (text, finish) = (response.text(), response.finish);
        // Files of a rejected text are kept, since the model would not create them again.
        self.files.extend(response.attachments().cloned());
        let calls = self.push_response(response);
        match finish {
            FinishReason::Length => {
                let reason = "the answer was cut off at the limit on output tokens; answer more briefly";
                self.reject(&calls, &reason.into())
            }
            FinishReason::ContentFilter => {
                self.fail_with(&calls, "the model refused, or its provider's filter stopped the answer".to_owned());
                None
            }
            FinishReason::Interrupted => {
                self.next(None);
                None
            }
            FinishReason::Stop | FinishReason::ToolCalls if !calls.is_empty() => self.start_calls(calls, output),
            _ if calls.is_empty() => match self.noted(output.read_text(&text, !self.files.is_empty())) {
                Ok(value) => self.done(value),
                Err(fault) => self.reject(&calls, &fault),
            },
            _ => match calls.iter().find(|call| may_be_cut_off(call)) {
                Some(call) => {
                    let fault = Fault::from(incomplete(&call.name));
                    self.reject(&calls, &fault)
                }
                None => self.start_calls(calls, output),
            },
        }
    }

    /// Returns the result that was read, and notes what was mended.
    fn noted(&mut self, read: ReadResult) -> Result<Value, Fault> {
        self.mends = read.mends;
        read.value
    }

    /// Returns what was mended in the result of the last answer, and forgets it.
    pub(crate) fn take_mends(&mut self) -> Mends {
        std::mem::take(&mut self.mends)
    }

    /// Rejects a response; returns `reason` if the model is asked again.
    pub(crate) fn reject_response(&mut self, response: Response, reason: String) -> Option<String> {
        let calls = self.push_response(response);
        self.reject(&calls, &reason.into())
    }

    /// Adds a response to the messages; returns its calls.
    fn push_response(&mut self, response: Response) -> Vec<ToolCall> {
        self.turn += 1;
        let calls = response.tool_calls().cloned().collect();
        // Of an interrupted answer, nothing may have arrived.
        if response.finish != FinishReason::Interrupted || !response.parts.is_empty() {
            self.counted = counted(&response);
            self.push(Message::Assistant { parts: response.parts });
        }
        self.sent = self.messages.len();
        calls
    }

    /// Continues with the calls of an answer. A call of the output tool returns the result once the other calls
    /// succeed.
    fn start_calls(&mut self, calls: Vec<ToolCall>, output: &Output) -> Option<String> {
        let is_output = |call: &ToolCall| call.name == OUTPUT_TOOL && output.tool().is_some();
        let Some(call) = calls.iter().find(|call| is_output(call)).cloned() else {
            if self.turn >= self.limits.max_turns {
                self.fail_with(&calls, self.too_many_turns());
            } else {
                self.phase = Phase::Call { calls, pending: None };
            }
            return None;
        };
        let value = match self.noted(output.read_json(&call.arguments)) {
            Ok(value) => value,
            Err(fault) => return self.reject(&calls, &fault),
        };
        let (results, others): (Vec<_>, Vec<_>) = calls.into_iter().partition(is_output);
        if others.is_empty() {
            self.answer(&results, "result accepted", false);
            return self.done(value);
        }
        self.phase = Phase::Call { calls: others, pending: Some(PendingResult { calls: results, value }) };
        None
    }

    /// Handles the results of the calls of [`Step::Call`].
    pub(crate) fn handle_results(&mut self, outcomes: Vec<CallResult>) {
        let (calls, pending) = match &mut self.phase {
            Phase::Call { calls, pending } => (std::mem::take(calls), pending.take()),
            _ => (Vec::new(), None),
        };
        let failed = outcomes.iter().any(|outcome| outcome.fault.is_some());
        self.add_loaded(outcomes.iter().flat_map(|outcome| outcome.loaded.iter().cloned()));
        let denied = self.denials.count(&calls, &outcomes);
        let spent = self.failures.count(&calls, &outcomes, self.limits.retries).or(denied);
        let mut results: Vec<_> = outcomes.into_iter().map(|outcome| outcome.result).collect();
        match pending {
            Some(PendingResult { calls, value }) if !failed => {
                results.extend(results_of(&calls, "result accepted", false));
                self.phase = Phase::Done(value);
            }
            pending => {
                let reason = "not accepted because another call in the same answer failed; return the result again";
                let calls = pending.map(|pending| pending.calls).unwrap_or_default();
                results.extend(results_of(&calls, reason, true));
                self.next(spent);
            }
        }
        self.push(Message::Tool { results });
    }

    fn done(&mut self, value: Value) -> Option<String> {
        self.phase = Phase::Done(value);
        None
    }

    /// Returns the fault to the model, unless its retries are used up.
    fn reject(&mut self, calls: &[ToolCall], fault: &Fault) -> Option<String> {
        let spent = self.failures.add(OUTPUT_TOOL, &fault.to_string(), self.limits.retries);
        let reason = fault.model_message().to_owned();
        if calls.is_empty() {
            self.push(Message::user(format!("{reason}. Try again.")));
        } else {
            self.answer(calls, &format!("not run: {reason}"), true);
        }
        self.next(spent);
        matches!(self.phase, Phase::Request).then_some(reason)
    }

    /// Fails the call without an output.
    fn fail_with(&mut self, calls: &[ToolCall], message: String) {
        self.answer(calls, &format!("not run: {message}"), true);
        self.phase = Phase::Failed(message);
    }

    /// Answers each of `calls`, so that providers accept the history.
    fn answer(&mut self, calls: &[ToolCall], content: &str, is_error: bool) {
        if !calls.is_empty() {
            self.push(Message::Tool { results: results_of(calls, content, is_error).collect() });
        }
    }

    fn next(&mut self, spent: Option<String>) {
        self.phase = match spent {
            Some(message) => Phase::Failed(message),
            None if self.turn >= self.limits.max_turns => Phase::Failed(self.too_many_turns()),
            None => Phase::Request,
        };
    }

    fn too_many_turns(&self) -> String {
        format!("no result after {} requests; raise `max_turns` if the task needs more", self.limits.max_turns)
    }
}

/// Returns what the provider counted for a request and its answer; `None` if it ran tools or summarized the conversation, since it then
/// counts several requests.
fn counted(response: &Response) -> Option<u64> {
    let usage = &response.usage;
    let is_summary = |part: &ResponsePart| matches!(part, ResponsePart::Opaque(data) if data.is_compaction());
    let has_run_tools = usage.server_side_tools > 0 || usage.web_searches > 0 || response.parts.iter().any(is_summary);
    // Broken answers that were repeated are requests too.
    let tokens = usage.total_tokens() / usage.requests.max(1);
    (tokens > 0 && !has_run_tools).then_some(tokens)
}

/// Returns whether the arguments of `call` may be incomplete in an answer with an unknown finish reason.
///
/// Empty arguments may be incomplete: some servers write `{}` if no arguments arrived, and defaults would then replace
/// them.
fn may_be_cut_off(call: &ToolCall) -> bool {
    match serde_json::from_str::<Value>(&call.arguments) {
        Ok(Value::Object(fields)) => fields.is_empty(),
        Ok(_) | Err(_) => true,
    }
}

fn incomplete(tool: &str) -> String {
    format!(
        "the answer stopped for an unknown reason, and the arguments of `{tool}` may be incomplete; call it again with all \
         its arguments"
    )
}

/// Returns the same content as the result of each of `calls`.
fn results_of(calls: &[ToolCall], content: &str, is_error: bool) -> impl Iterator<Item = ToolResult> {
    calls.iter().map(move |call| ToolResult::new(call, content).with_error(is_error))
}
