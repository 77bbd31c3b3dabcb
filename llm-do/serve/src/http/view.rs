//! The forms of requests and answers, with their schemas.

mod waits;

use std::sync::Arc;

use jiff::Timestamp;
use llm_do_core::base::usage::RunUsage;
use llm_do_core::observe::event::{EffectLog, MadeEffect};
use llm_do_core::observe::journal::{Settlement, UnknownCall};
use llm_do_core::plane::guarantee::HybridStatus;
use llm_do_providers::Usage;
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use self::waits::{Answer, Answered, Decision, WaitList, WaitListQuery, WaitView};
use crate::store::{ChatRow, Filter, MessageRow, Outcome, Page, RunRow, RunState, Source, Wait};

/// The maximum number of runs, chats, approvals and questions in a list.
#[doc(hidden)]
pub const MAX_LIST: u32 = 500;

/// A request to start a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "::schemars")]
pub(crate) struct StartRun {
    /// The entry, as listed by `/entries`.
    pub(super) entry: String,
    /// Its arguments, by name.
    #[serde(default = "no_arguments")]
    pub(super) arguments: Value,
}

fn no_arguments() -> Value {
    Value::Object(Map::new())
}

/// Which runs a list contains.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "::schemars")]
#[doc(hidden)]
pub struct RunListQuery {
    /// Only runs in this state.
    pub state: Option<RunState>,
    /// Only runs of this entry.
    pub entry: Option<String>,
    /// Only runs of this chat.
    pub chat: Option<String>,
    /// Only runs before this one: `next` of the page before.
    pub before: Option<String>,
    /// Only runs that were started at this time or later.
    #[schemars(with = "Option<String>")]
    pub since: Option<Timestamp>,
    /// Only runs that were started before this time.
    #[schemars(with = "Option<String>")]
    pub until: Option<Timestamp>,
    /// Only runs of this tenant, for those who see several.
    pub tenant: Option<String>,
    /// Only runs that a program of this version accepted.
    pub version: Option<String>,
    /// The maximum number of runs: default 50, at most 500; fewer if they are long.
    pub limit: Option<u32>,
}

impl RunListQuery {
    /// Returns the filter of the runs of a tenant, or of all.
    pub(crate) fn filter(self, scope: Option<Arc<str>>) -> Filter {
        let limit = self.limit.unwrap_or(50).clamp(1, MAX_LIST);
        let Self { state, entry, chat, before, since, until, tenant, version, .. } = self;
        Filter { scope, tenant, state, entry, chat, before, since, until, version, limit }
    }
}

/// How one run is requested.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunQuery {
    /// How many seconds the answer may wait until the run has ended or waits for a person.
    pub(super) wait: Option<u64>,
}

/// A page of runs, the latest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct RunList {
    runs: Vec<RunView>,
    /// `before` of the next page, if there may be one.
    next: Option<String>,
}

impl From<Page<RunRow>> for RunList {
    fn from(page: Page<RunRow>) -> Self {
        let next = page.rows.last().filter(|_| page.is_full).map(|run| run.id.clone());
        Self { runs: page.rows.into_iter().map(|run| RunView::new(run, Vec::new())).collect(), next }
    }
}

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct RunView {
    id: String,
    entry: String,
    arguments: Value,
    state: RunState,
    /// The result of a run that succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    /// The error of a run that failed, with its causes.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Whether a request to cancel it was accepted.
    is_cancelled: bool,
    tenant: String,
    /// The version of the program that accepted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Who started it.
    client: String,
    source: Source,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat: Option<String>,
    #[schemars(with = "String")]
    created: Timestamp,
    #[schemars(with = "Option<String>")]
    started: Option<Timestamp>,
    #[schemars(with = "Option<String>")]
    finished: Option<Timestamp>,
    /// When it continues, if it waits for a time.
    #[schemars(with = "Option<String>")]
    wakes: Option<Timestamp>,
    /// The process that drives it: the number of the process, and a name of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<String>,
    /// Until when that process has claimed it; it renews the claim before. A time that has passed: the process has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    process_until: Option<Timestamp>,
    /// How often a process began to drive it.
    attempts: u64,
    /// How long processes worked on it, in milliseconds, without the time in which it was set aside; as of a few seconds ago.
    worked_ms: u64,
    usage: UsageView,
    /// Its approvals and questions, if one run was requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waits: Vec<WaitView>,
    /// The messages that it got before it ended, if one run was requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<MessageView>,
    /// The calls that may have changed something, in their order, if one run was requested that failed or was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    effects: Option<Vec<MadeEffect>>,
    /// How many such calls are not listed, since the list is full.
    #[serde(skip_serializing_if = "Option::is_none")]
    more_effects: Option<u64>,
    /// The calls that may have had their effect, if one run was requested that failed or was cancelled, and its records can be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<UnknownCall>,
}

/// A run, or for a client without the role `watch` and for a webhook, only what it needs to refer to the run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(crate = "::schemars")]
pub(crate) enum ChangedRun {
    Whole(Box<RunView>),
    Brief {
        /// The id of the run.
        id: String,
        /// Its state.
        state: RunState,
    },
}

impl ChangedRun {
    pub(super) fn new(run: RunView, may_watch: bool) -> Self {
        if may_watch { Self::Whole(Box::new(run)) } else { Self::Brief { id: run.id, state: run.state } }
    }
}

/// The usage of a run.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct UsageView {
    tool_calls: u64,
    /// Requests to models.
    requests: u64,
    input_tokens: u64,
    output_tokens: u64,
    /// The known cost in US dollars, as an exact decimal.
    #[schemars(with = "String")]
    cost: llm_do_providers::Money,
    /// Requests whose price, or the price of one of whose charges, is unknown.
    unpriced_requests: u64,
    /// The names of the charges without a known price, such as `file_search`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unpriced: Vec<&'static str>,
}

impl From<RunUsage> for UsageView {
    fn from(RunUsage { tool_calls, model, cost, .. }: RunUsage) -> Self {
        let Usage { requests, input_tokens, output_tokens, .. } = model;
        let unpriced = cost.unpriced.names().collect();
        let (cost, unpriced_requests) = (cost.known, cost.unpriced_requests);
        Self { tool_calls, requests, input_tokens, output_tokens, cost, unpriced_requests, unpriced }
    }
}

impl RunView {
    /// Returns whether it has ended, or waits for a person or a time.
    pub(super) fn is_settled(&self) -> bool {
        !matches!(self.state, RunState::Queued | RunState::Running)
    }

    pub(crate) fn new(run: RunRow, waits: Vec<Wait>) -> Self {
        let waits = waits.into_iter().map(WaitView::from).collect();
        let state = run.shown_state();
        let (process, process_until) =
            if run.state.is_finished() { (None, None) } else { (run.process, run.process_until) };
        let (result, error) = match run.outcome {
            Some(Outcome::Result(result)) => (Some(result), None),
            Some(Outcome::Error(error)) => (None, Some(error)),
            Some(Outcome::Cancelled) | None => (None, None),
        };
        Self {
            id: run.id,
            entry: run.entry,
            arguments: run.arguments,
            state,
            result,
            error,
            is_cancelled: run.is_cancelled,
            tenant: run.tenant,
            version: run.version,
            client: run.client,
            source: run.source,
            chat: run.chat,
            created: run.created,
            started: run.started,
            finished: run.finished,
            wakes: run.wake,
            process,
            process_until,
            attempts: run.attempts,
            worked_ms: u64::try_from(run.worked.as_millis()).unwrap_or(u64::MAX),
            usage: run.usage.into(),
            waits,
            messages: Vec::new(),
            effects: None,
            more_effects: None,
            unknown: Vec::new(),
        }
    }

    /// Adds the messages that it got before it ended.
    pub(super) fn with_messages(self, messages: Vec<MessageView>) -> Self {
        Self { messages, ..self }
    }

    /// Adds the calls that may have had their effect.
    pub(crate) fn with_unknown(self, unknown: Vec<UnknownCall>) -> Self {
        Self { unknown, ..self }
    }

    /// Adds the calls that may have changed something.
    pub(crate) fn with_effects(self, log: EffectLog) -> Self {
        let (effects, more) = log.into_parts();
        Self { effects: Some(effects), more_effects: Some(more), ..self }
    }
}

/// What became of a call that may have had its effect.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "::schemars")]
pub(crate) struct SettleCall {
    /// The key of its step, as in `unknown` of the run.
    pub(super) step: String,
    /// `{"result": ..}` if it has happened, with this result; `"not_done"` if it has not: it then runs once the run is resumed.
    pub(super) outcome: Settlement,
}

/// A message to an unfinished run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "::schemars")]
pub(crate) struct SendToRun {
    /// The text, which joins the conversation of a worker.
    pub(super) message: String,
    /// The registered name of the worker. Default: the outermost worker that runs.
    #[serde(default)]
    pub(super) worker: Option<String>,
    /// Whether the request of the worker in flight ends, and further calls of its last answer are not made.
    #[serde(default)]
    pub(super) interrupt: bool,
    /// Whether it stays in the conversation when that is compacted.
    #[serde(default)]
    pub(super) pin: bool,
}

/// A message to a run.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct MessageView {
    /// The id, which its event has.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Arc<str>>,
    message: String,
    /// The worker that it is addressed to, if it is to a certain one.
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<String>,
    interrupt: bool,
    /// Who sent it.
    client: String,
    #[schemars(with = "String")]
    created: Timestamp,
    /// Whether it has joined the conversation of a worker.
    joined: bool,
}

impl MessageView {
    pub(super) fn new(MessageRow { client, message, created, .. }: MessageRow, joined: bool) -> Self {
        Self {
            id: message.id().cloned(),
            message: message.text().to_owned(),
            worker: message.worker().map(str::to_owned),
            interrupt: message.interrupts(),
            client,
            created,
            joined,
        }
    }
}

/// A request to start a chat.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "::schemars")]
pub(crate) struct StartChat {
    /// The entry that gets the messages.
    pub(super) entry: String,
}

/// A message of a chat.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "::schemars")]
pub(crate) struct SendMessage {
    /// The arguments of the entry, by name. While the chat has an unfinished run, they must be one text, which that run gets.
    pub(super) arguments: Value,
    /// Whether the message interrupts the unfinished run.
    #[serde(default)]
    pub(super) interrupt: bool,
}

/// Chats, the latest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct ChatList {
    pub(super) chats: Vec<ChatView>,
}

/// A chat; its messages are the runs with its id.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct ChatView {
    id: String,
    entry: String,
    tenant: String,
    #[schemars(with = "String")]
    created: Timestamp,
    #[schemars(with = "String")]
    updated: Timestamp,
    /// The usage of its messages that succeeded.
    usage: UsageView,
}

impl From<ChatRow> for ChatView {
    fn from(chat: ChatRow) -> Self {
        let ChatRow { id, entry, tenant, created, updated, state } = chat;
        Self { id, entry, tenant, created, updated, usage: state.usage.total().into() }
    }
}

/// The entries that can be started.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct EntryList {
    pub(super) entries: Vec<EntryView>,
}

/// An entry.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct EntryView {
    pub(super) name: String,
    pub(super) description: String,
    /// The JSON schema of its arguments.
    pub(super) parameters: Value,
}

/// The hybrids with a guarantee.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct HybridList {
    pub(super) hybrids: Vec<HybridView>,
}

/// A worker on a model, and the code that answers in its place while comparisons show that it disagrees seldom enough.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct HybridView {
    worker: String,
    /// The tool that answers first.
    tool: String,
    /// `provider:model`.
    model: String,
    /// The share of answers that may disagree.
    disagreement: f64,
    /// With which confidence.
    confidence: f64,
    /// Whether code answers.
    holds: bool,
    /// The upper bound of disagreement that the comparisons show.
    bound: f64,
    /// The comparisons that count for it.
    comparisons: u64,
    /// How many of these disagree.
    disagreements: u64,
    /// The share of the next calls that are compared.
    rate: f64,
    /// How many calls code answered.
    by_code: u64,
    /// How many calls the worker answered.
    by_worker: u64,
    /// In how many of these code abstained or failed.
    unsure: u64,
    /// What the calls by code would have cost, in US dollars.
    saved: String,
    /// When the first call was noted.
    since: String,
    /// When the latest call was noted.
    updated: String,
}

impl From<HybridStatus> for HybridView {
    fn from(status: HybridStatus) -> Self {
        Self {
            worker: status.worker,
            tool: status.tool,
            model: status.model,
            disagreement: status.guarantee.disagreement(),
            confidence: status.guarantee.confidence(),
            holds: status.holds,
            bound: status.bound,
            comparisons: status.comparisons,
            disagreements: status.disagreements,
            rate: status.rate,
            by_code: status.by_code,
            by_worker: status.by_worker,
            unsure: status.unsure,
            saved: status.saved.to_string(),
            since: status.since.to_string(),
            updated: status.updated.to_string(),
        }
    }
}

/// Why a request failed: problem details, by RFC 9457.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct ProblemView {
    /// `urn:llm-do:problem:CODE`, stable.
    r#type: String,
    title: String,
    status: u16,
    detail: String,
}

/// Adds the schemas of all bodies to a generator; returns the schema of each by the name of its type.
pub(crate) fn schemas(generator: &mut SchemaGenerator) {
    fn add<T: JsonSchema>(generator: &mut SchemaGenerator) {
        let _ = generator.subschema_for::<T>();
    }
    add::<StartRun>(generator);
    add::<RunList>(generator);
    add::<ChangedRun>(generator);
    add::<WaitList>(generator);
    add::<Decision>(generator);
    add::<Answer>(generator);
    add::<Answered>(generator);
    add::<SettleCall>(generator);
    add::<SendToRun>(generator);
    add::<StartChat>(generator);
    add::<SendMessage>(generator);
    add::<ChatList>(generator);
    add::<EntryList>(generator);
    add::<HybridList>(generator);
    add::<ProblemView>(generator);
}
