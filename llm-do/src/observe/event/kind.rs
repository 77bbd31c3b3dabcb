//! What can happen in a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use llm_do_providers::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::detail::{ApprovalScope, Caller, DecidedBy, Delta, GuardAction, GuardHook, ItemKind, Outcome, RuleSource};
use super::parts::EventPart;
use crate::base::usage::RunUsage;

/// What happened.
///
/// To read a kind that this version does not know is an error: whoever reads events of a later version skips these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// The call is approved and starts to run.
    CallStarted {
        /// Whether it is a tool, a worker or an entry.
        what: ItemKind,
        /// Who decided to call.
        by: Caller,
        /// The arguments.
        arguments: Value,
    },
    /// The call says how far it is: `ctx.progress(..)`.
    Progress {
        /// What it says.
        text: String,
    },
    /// The call ended.
    CallFinished {
        /// How.
        #[serde(flatten)]
        outcome: Outcome,
        /// The names, or else the media types, of the files that came with the result.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<String>,
        /// What a tool says to the operator and to no model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// Wall-clock time since it started, in milliseconds.
        elapsed_ms: u64,
        /// Whether the journal had the result, and nothing ran.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        replayed: bool,
    },
    /// The call was refused before it ran: unknown, undeclared, malformed, too deep or denied; or it is a server-side tool,
    /// which is left out of the worker's requests.
    CallRefused {
        /// Who decided to call.
        by: Caller,
        /// Why.
        error: String,
    },
    /// The call needs approval.
    ApprovalAsked {
        /// What it would do, in a line.
        summary: String,
        /// The arguments.
        arguments: Value,
        /// The arguments as they were given, if `arguments` does not tell all of them. What a type hides when it is written,
        /// such as a secret, is hidden here too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        given: Option<Value>,
        /// The place of the question among those that are open at once, from 1; 0 where nobody is asked, since the
        /// mode or an earlier decision answers.
        position: usize,
        /// How many questions there are in that row so far.
        total: usize,
    },
    /// It was decided whether the call may run.
    ApprovalDecided {
        /// Whether it may.
        approved: bool,
        /// Who or what decided.
        by: DecidedBy,
        /// Where the rule came from by which it ran, was refused or was asked about.
        rule: RuleSource,
        /// Why not, if not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The arguments that the approver put in the place of those asked about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited: Option<Value>,
        /// Which equal calls will run without a question: more than this one only if the approver said so.
        scope: ApprovalScope,
    },
    /// A guard changed or refused something of the call; none of it where a guard let everything pass.
    Guarded {
        /// The guard's name.
        guard: Arc<str>,
        /// What it saw.
        hook: GuardHook,
        /// What it did.
        action: GuardAction,
        /// Why, if it refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The call asks the user.
    InputAsked {
        /// The question.
        prompt: String,
    },
    /// The user answered.
    InputAnswered {
        /// The answer.
        answer: String,
    },
    /// A task was given to the worker that is best for it.
    Subtask {
        /// The task.
        description: String,
        /// The worker.
        worker: String,
        /// What each worker that takes the task got for it, by name.
        points: BTreeMap<String, u32>,
    },
    /// A worker was asked alongside the call, as a [`Shadow`](crate::harden::Shadow) of it, which may have ended before.
    Shadowed {
        /// The worker.
        worker: String,
        /// Whether both came to the same result.
        agrees: bool,
        /// What the call came to.
        answer: Outcome,
        /// What the worker came to.
        other: Outcome,
    },
    /// A worker asks its model.
    ModelRequest {
        /// The model, `provider:model`.
        model: Arc<str>,
        /// The how many-th request of this call, from 1.
        turn: u32,
        /// How many messages it holds.
        messages: usize,
        /// The tools offered.
        tools: Vec<Arc<str>>,
    },
    /// The model is not answering yet.
    ModelWaiting {
        /// What it does.
        on: String,
    },
    /// A setting was not sent to the model as it was set, because the model or its server does not accept it.
    ///
    /// Reported once for each run, model and setting.
    SettingWarning {
        /// The model that answered, `provider:model`.
        model: Arc<str>,
        /// The setting, such as `temperature`.
        setting: String,
        /// What was sent instead, if anything, and why.
        message: String,
    },
    /// A piece of the answer, for display: without streaming, one for each part.
    ModelDelta {
        /// What it is a piece of.
        #[serde(flatten)]
        delta: Delta,
    },
    /// The model's provider runs one of its own tools. Whether it may was decided before the worker's first request, and
    /// not for each use.
    ///
    /// Told while an answer arrives, so not where a journal has the answer; each is followed by a
    /// [`ServerSideToolFinished`](Self::ServerSideToolFinished), unless the run is cancelled meanwhile.
    ServerSideToolStarted {
        /// The tool, such as `web_search`.
        tool: Arc<str>,
        /// What it was asked, in the provider's own terms.
        input: Value,
    },
    /// The tool ended; what it found is in the [`ModelResponse`](Self::ModelResponse).
    ServerSideToolFinished {
        /// The tool.
        tool: Arc<str>,
        /// What it was asked.
        input: Value,
        /// Why it failed, in a word of the provider's, or that the answer broke off; none if it did not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The model answered.
    ModelResponse {
        /// The model, as the provider names it.
        model: String,
        /// The answer. A sink sees its files whole; in JSON they are their media types and sizes.
        parts: Vec<EventPart>,
        /// What it used.
        usage: Usage,
    },
    /// The model is asked again, since its answer was not as it should be.
    ModelRetry {
        /// What was wrong.
        reason: String,
    },
    /// What the call and all calls below it used; follows each request that was answered or failed, and ends the run.
    Usage {
        /// The sum.
        #[serde(flatten)]
        used: RunUsage,
    },
    /// A sink was too slow, and missed events of this run and others that ran at the time: this one and those after it.
    ///
    /// It tells the sink that missed them and no other, with the place, call and time of the first of them.
    Dropped {
        /// How many.
        count: u64,
    },
}
