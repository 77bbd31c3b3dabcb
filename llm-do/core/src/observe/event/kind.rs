//! The kinds of events.

use std::collections::BTreeMap;
use std::sync::Arc;

use llm_do_providers::Usage;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::content::{ContentFile, RequestContent};
use super::detail::{
    ApprovalScope, Caller, CodeAnswer, DecidedBy, Delta, GuardAction, GuardHook, ItemKind, Outcome, RuleSource,
};
use super::label::Labels;
use super::origin::ArgumentOrigin;
use super::parts::EventPart;
use super::planned::{PlannedApproval, PlannedKind};
use super::value::EventValue;
use crate::base::mend::Mend;
use crate::base::usage::RunUsage;
use crate::declare::question::Question;
use crate::declare::tool::Effect;

/// What happened in a call or run.
///
/// Reading a kind that this version does not know is an error: a reader of events from a later version should skip
/// them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// The call was approved and starts to run.
    CallStarted {
        /// Whether it is a tool, a worker or an entry.
        what: ItemKind,
        /// Who made the call.
        by: Caller,
        /// The arguments.
        arguments: EventValue,
        /// What the call itself may change; `None` for a call that only reads, or that acts only through other calls.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<Effect>,
        /// Whether it runs in the background of its caller.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        background: bool,
    },
    /// The call reports its progress, by `ctx.progress(..)`.
    Progress {
        /// The progress report.
        text: String,
    },
    /// The call finished.
    CallFinished {
        /// The result or the error.
        #[serde(flatten)]
        outcome: Outcome,
        /// Whose text the result may carry, and whether it is private; without [sources](crate::plane::approval::Policy::source), each is
        /// trusted and public.
        #[serde(flatten)]
        labels: Labels,
        /// The names of the files that came with the result; the media type of a file without a name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<String>,
        /// The tool's note for the operator; no model sees it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// Wall-clock time since the call started, in milliseconds.
        elapsed_ms: u64,
        /// Whether the result came from the journal, and nothing ran.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        replayed: bool,
    },
    /// The call was refused before it ran: it is unknown, undeclared, malformed, nested too deeply or denied; or it
    /// is a server-side tool that is left out of the worker's requests.
    CallRefused {
        /// Who made the call.
        by: Caller,
        /// The error.
        error: String,
        /// The arguments, if known: decoded, or else as given. Values that a type hides when it is serialized, such as
        /// secrets, are hidden here too. A value that its type cannot decode is `"***"`, unless its type hides nothing.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
        arguments: Option<EventValue>,
    },
    /// In a [dry run](https://docs.rs/llm-do/latest/llm_do/dry_run/index.html): the call would change something or need approval, so it is in the plan.
    CallPlanned {
        /// The kind of the planned call.
        what: PlannedKind,
        /// Who made the call.
        by: Caller,
        /// A description of the call, in one line.
        summary: String,
        /// The arguments, without the parts that their types hide when they are serialized.
        arguments: Value,
        /// The effect of the call.
        effect: Effect,
        /// The approval that the call would need.
        approval: PlannedApproval,
        /// The source of the rule that decides about the approval; `None` for an effect, which needs none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<RuleSource>,
        /// Whether the call ran without approval, since it changes something only by calls that are planned separately.
        /// Otherwise, this is the last event of the call.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        ran: bool,
    },
    /// The call needs approval.
    ApprovalAsked {
        /// What the call would do, in one line.
        summary: String,
        /// The arguments.
        arguments: Value,
        /// The arguments before decoding, if they contain more than `arguments`. Values that a type hides when it is
        /// serialized, such as secrets, are hidden here too.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
        given: Option<Value>,
        /// The 1-based position of the question among those that are open; 0 if no question is asked because the mode or
        /// an earlier decision answers.
        position: usize,
        /// The number of questions in the queue so far.
        total: usize,
        /// Where the values of the arguments came from.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        origins: Vec<ArgumentOrigin>,
    },
    /// Whether the call may run was decided.
    ApprovalDecided {
        /// Whether it may run.
        approved: bool,
        /// What decided.
        by: DecidedBy,
        /// Where the rule came from that applied to the call.
        rule: RuleSource,
        /// The reason of a denial.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The arguments that the approver substituted.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
        edited: Option<Value>,
        /// Which equal calls will run without a question: only this one, unless the approver chose a wider scope.
        scope: ApprovalScope,
        /// Whether the journal has the decision: an earlier attempt of the run reported it when it was made.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        replayed: bool,
    },
    /// The approver's arguments cannot run: a rule blocks them, or they are invalid. The approver is asked again, unless a
    /// denial follows.
    EditRefused {
        /// The arguments, as their types write them, which may hide secrets.
        arguments: Value,
        /// Where the rule came from that blocks them; `None` if they are invalid.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<RuleSource>,
        /// Why they cannot run.
        reason: String,
    },
    /// A guard changed or refused something. If all guards accept, there is no event.
    Guarded {
        /// The guard's name.
        guard: Arc<str>,
        /// What it examined.
        hook: GuardHook,
        /// What it did.
        action: GuardAction,
        /// The reason of a refusal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Code of the call states that an untrusted value may steer calls, by [`CallContext::endorse`](crate::plane::context::CallContext::endorse).
    Endorsed {
        /// The value.
        value: Value,
        /// Why it may.
        reason: String,
    },
    /// The call asks the user a question.
    InputAsked {
        /// The question.
        #[serde(flatten)]
        question: Question,
    },
    /// The user answered.
    InputAnswered {
        /// The answer; several choices separated by commas.
        answer: String,
    },
    /// A message to the run joined the conversation of the worker.
    UserMessage {
        /// The message.
        text: String,
        /// Whether it interrupted what the worker did.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        interrupts: bool,
        /// The id of the message, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<Arc<str>>,
        /// Whether it came from the journal.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        replayed: bool,
    },
    /// A task was delegated to the worker that fits it best.
    Subtask {
        /// The task.
        description: String,
        /// The worker.
        worker: String,
        /// The score of each worker that accepts the task, by name.
        points: BTreeMap<String, u32>,
    },
    /// A worker was run alongside the call, as its [`Shadow`](crate::plane::dispatch::Shadow); the call may have finished
    /// before.
    Shadowed {
        /// The worker.
        worker: String,
        /// Whether both had the same result.
        agrees: bool,
        /// The outcome of the call.
        answer: Outcome,
        /// The outcome of the worker.
        other: Outcome,
    },
    /// The latest comparisons of a [`Shadow`](crate::plane::dispatch::Shadow) disagree more often than it
    /// [allows](crate::plane::dispatch::Shadow::alert_over). Reported once, until the share has fallen again.
    Drifted {
        /// The worker.
        worker: String,
        /// How many of the latest comparisons disagree.
        disagree: u64,
        /// The number of latest comparisons.
        of: u64,
    },
    /// In a [hybrid](crate::session::runtime::RuntimeBuilder::hybrid), code was asked before the worker's model.
    Hybrid {
        /// The tool that answers first.
        tool: String,
        /// Whether it answered; otherwise the worker does, or its call fails.
        answer: CodeAnswer,
        /// Why it did not answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The [guarantee](crate::session::runtime::RuntimeBuilder::guarantee) of a hybrid began or ceased to hold: code answers the next
    /// calls, or the worker does.
    Guarantee {
        /// The tool that answers first.
        tool: String,
        /// Whether it holds.
        holds: bool,
        /// The upper bound of disagreement that the comparisons showed.
        bound: f64,
        /// The number of comparisons.
        comparisons: u64,
        /// The number of comparisons that disagree.
        disagreements: u64,
        /// Why the evidence cannot be kept, so that the worker answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The [evaluator](crate::session::runtime::RuntimeBuilder::refine) of a worker scored a result.
    Scored {
        /// The evaluator.
        evaluator: String,
        /// The 1-based number of the result.
        result: u32,
        /// The score, from 0 to 1; `None` if the evaluator abstained.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        score: Option<f64>,
        /// What has to change for a better score, or why the evaluator abstained.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reasons: Vec<String>,
        /// Whether the reasons go back to the worker.
        again: bool,
    },
    /// A worker sends a request to its model.
    ModelRequest {
        /// The model, `provider:model`.
        model: Arc<str>,
        /// The 1-based number of the request in this call.
        turn: u32,
        /// How many messages it has.
        messages: usize,
        /// The names of the tools that the model may call.
        tools: Vec<Arc<str>>,
        /// The content of the request, if [content](crate::session::runtime::RuntimeBuilder::content) is enabled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<Box<RequestContent>>,
    },
    /// The model does not answer yet.
    ModelWaiting {
        /// What it is waiting for or doing.
        on: String,
    },
    /// A setting was changed or left out of a request, because the model or its server does not accept it.
    ///
    /// Reported once for each run, model and setting.
    SettingWarning {
        /// The model that answered, `provider:model`.
        model: Arc<str>,
        /// The setting, such as `temperature`.
        setting: String,
        /// The value that was sent instead, if any, and the reason.
        message: String,
    },
    /// A piece of the answer, for display. Without streaming, one for each part.
    ModelDelta {
        /// The piece.
        #[serde(flatten)]
        delta: Delta,
    },
    /// The model's provider starts one of its own tools. Whether that is allowed was decided before the worker's
    /// first request, not for each use.
    ///
    /// Reported while an answer arrives, so not for an answer from a journal. Each is followed by a
    /// [`ServerSideToolFinished`](Self::ServerSideToolFinished), unless the run is cancelled or a message interrupts the answer first.
    ServerSideToolStarted {
        /// The tool, such as `web_search`.
        tool: Arc<str>,
        /// The tool's input, in the provider's format.
        input: Value,
    },
    /// The server-side tool finished; its output is in the [`ModelResponse`](Self::ModelResponse).
    ServerSideToolFinished {
        /// The tool.
        tool: Arc<str>,
        /// The tool's input.
        input: Value,
        /// The provider's error, or a note that the answer was interrupted; `None` if the tool succeeded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The model answered.
    ModelResponse {
        /// The model, as named by the provider.
        model: String,
        /// The answer. Sinks receive files in full; JSON has only their media types and sizes.
        parts: Vec<EventPart>,
        /// What it used.
        usage: Usage,
        /// The files of the answer in the order of its parts, if [content](crate::session::runtime::RuntimeBuilder::content) is
        /// enabled.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<ContentFile>,
        /// Whether the journal had the answer, and no model was asked.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        replayed: bool,
    },
    /// JSON of the last answer was almost JSON, and was mended; its schema decides whether it is valid.
    Mended {
        /// The tool whose arguments were mended; `None` for the output of the worker.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<Arc<str>>,
        /// What was mended, each kind once.
        mends: Vec<Mend>,
    },
    /// The model is asked again, because its answer was invalid, or because it broke off while it was streamed: then the
    /// pieces before this event are not part of the answer.
    ModelRetry {
        /// What was invalid, or why it broke off.
        reason: String,
    },
    /// What the call and all calls below it used so far. Follows each request, answered or failed, and is the run's
    /// last event.
    Usage {
        /// The total.
        #[serde(flatten)]
        used: RunUsage,
    },
    /// A sink was too slow and missed events, of this run and of concurrent runs, from this one on.
    ///
    /// Only that sink receives this event. It has the sequence number, call and time of the first missed event.
    Dropped {
        /// How many events were missed.
        count: u64,
    },
}

/// Deserializes a field that is present: `null` is a value, and only an absent field is `None`.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
