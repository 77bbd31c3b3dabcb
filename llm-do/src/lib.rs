//! Tools, LLM workers and entries from annotated Rust functions, on one tool plane.
//!
//! A **tool** is a function with a JSON schema ([`tool`]), a **worker** is a tool that a language model implements
//! ([`worker`](macro@worker)), an **entry** is a root call ([`entry`]). Every call, from code or from a model, is
//! resolved by name, validated, checked against limits, approved, metered and reported in one place, and one
//! [`CallContext`] is passed down the whole call tree. So a worker can be hardened into code, or code replaced by a
//! worker, without changes to callers.
//!
//! ```standalone_crate
//! use llm_do::prelude::*;
//!
//! /// Count the words of a text.
//! #[tool(effect = read_only)]
//! fn count_words(text: &str) -> usize {
//!     text.split_whitespace().count()
//! }
//!
//! /// Counts the words of several texts.
//! #[entry(toolsets = [count_words])]
//! async fn count_all(ctx: &CallContext<count_all>, texts: Vec<String>) -> Result<usize> {
//!     let mut sum = 0;
//!     for text in texts {
//!         sum += ctx.call(count_words { text }).await?;
//!     }
//!     Ok(sum)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<()> {
//! let runtime = Runtime::builder().build()?;
//! let sum = runtime.run(count_all { texts: vec!["one two".into(), "three".into()] }).await?;
//! assert_eq!(sum, 3);
//! # Ok(())
//! # }
//! ```
//!
//! Most applications use `fn main() -> ExitCode { llm_do::cli::main() }` instead, which runs everything that is
//! linked (feature `cli`).
//!
//! # Where to find what
//!
//! | to | see |
//! |---|---|
//! | write tools, workers, entries, toolsets and their types | [`tool`], [`worker`](macro@worker), [`entry`], [`toolset`], [`data`] |
//! | make calls from a body, ask a model or the user, define a worker at run time, delegate a task | [`CallContext`] |
//! | start runs, by type or by name, from async or sync code | [`Runtime`], [`RuntimeBuilder`](runtime::RuntimeBuilder) |
//! | configure a model in code, wrap it, or add a provider | `OpenAiModel`, `Server`, `OpenAiResponsesModel`, `AnthropicModel`, `GeminiModel`, `LocalModel`, [`FallbackModel`](model::FallbackModel), [`LimitedModel`](model::LimitedModel), [`model_provider!`](model::model_provider) |
//! | describe a model that the built-in table does not know | [`CapabilityTable`](model::CapabilityTable), [`RuntimeBuilder::capabilities`](runtime::RuntimeBuilder::capabilities) |
//! | serve many users with one runtime | [in a server](server), [`Start`](runtime::Start) |
//! | get the usage and history of a run, send it a message, or cancel it | [`Runtime::start`], [`RunHandle`](runtime::RunHandle), [`UsageTree`](usage::UsageTree) |
//! | continue a conversation | [`Chat`], [`CallContext::thread`], [`History`] |
//! | shorten a long conversation | [`RuntimeBuilder::compaction`](runtime::RuntimeBuilder::compaction), [`Compaction`](history::Compaction), [`HistoryProcessor`](history::HistoryProcessor) |
//! | bound the results that models get, and the files of prompts | [`RuntimeBuilder::max_result`](runtime::RuntimeBuilder::max_result), [`AttachmentPolicy`](prompt::AttachmentPolicy) |
//! | require approval, and decide | [`Policy`](approval::Policy), [`RuntimeBuilder::approve_with`](runtime::RuntimeBuilder::approve_with), [`Approver`](approval::Approver), [`ApprovalInbox`](approval::ApprovalInbox) |
//! | pay half for what can wait | [batches](model#batches) |
//! | limit requests, tokens, money, time, depth | [`Limits`], [`PriceTable`](usage::PriceTable), [`RuntimeBuilder::timeout`](runtime::RuntimeBuilder::timeout), [`RuntimeBuilder::max_depth`](runtime::RuntimeBuilder::max_depth) |
//! | serve tools to MCP clients | `mcp::McpService` |
//! | keep many runs in one file and serve them over HTTP | `serve::Service` |
//! | run on many machines, on the engine Restate | `serve::RestateWorker` |
//! | use the tools of MCP servers | `mcp::McpServer`, `mcp::WithMcp`, `mcp::using_servers` |
//! | give a worker more tools than fit into a request | [`RuntimeBuilder::max_tools`](runtime::RuntimeBuilder::max_tools) |
//! | run read-only calls of one turn together | [`RuntimeBuilder::max_concurrent_calls`](runtime::RuntimeBuilder::max_concurrent_calls) |
//! | observe, log, trace | [`EventSink`](event::EventSink), [`EventKind`](event::EventKind), [`JsonLines`](event::JsonLines), [`Terminal`](event::Terminal), [`event_channel`](event::event_channel) |
//! | look at a run: its calls, requests, waits and costs, as text or as a page | `trace` |
//! | resume an interrupted run, or replay one | [`FileJournal`](journal::FileJournal), [`MemoryJournal`](journal::MemoryJournal), [`Journal`](journal::Journal) |
//! | see what a run would change before it does | [`dry_run`], [`Start::dry_run`](runtime::Start::dry_run) |
//! | keep the journals of many runs in one file | `journal::SqliteJournal`, [`Start::journal`](runtime::Start::journal) |
//! | inspect, change or refuse calls and requests | [`Guard`](guard::Guard), [`FunctionGuard`](guard::FunctionGuard) |
//! | add tools at run time, use a part of what is linked, run a library's own runtime inside a call | [`FunctionTool`](runtime::FunctionTool), [`RuntimeBuilder::only`](runtime::RuntimeBuilder::only), [`Runtime::run_under`] |
//! | load workers from files, or define them at run time | [worker files](macro@worker#a-worker-file-at-run-time), [`WorkerSpec`](worker::WorkerSpec), `toolsets::workers` |
//! | write a tool as a Python file that needs no compiler | `script` |
//! | run a folder of worker files, subagents and skills | `project` |
//! | pass files to models | [`Prompt`], [`Attachment`], [`ToolReturn`] |
//! | read, search and change files | `toolsets::filesystem` |
//! | run commands | `toolsets::shell` |
//! | fetch pages of the web | `toolsets::http` |
//! | ask users | [`Question`](context::Question), [`InputHandler`](context::InputHandler), `toolsets::user_input` |
//! | call the tools of an MCP server by type | `mcp::Snapshot` |
//! | replace a worker with code, wholly or where code is sure, and monitor it | [`harden`], [`RuntimeBuilder::hybrid`](runtime::RuntimeBuilder::hybrid), [`Shadow`](harden::Shadow) |
//! | have an evaluator score each result of a worker, and the worker improve it | [`worker::refine`], [`RuntimeBuilder::refine`](runtime::RuntimeBuilder::refine) |
//! | evaluate models, prompts and tools over a dataset | `eval` |
//! | test | [`check!`], `testing`, [`ToolContext`] |
//!
//! The crate `llm_do_providers` holds models and providers. This crate re-exports what applications need of it; models for tests
//! are in `testing`.
//!
//! # Features
//!
//! All features are off by default, and all are additive.
//!
//! | feature | adds |
//! |---|---|
//! | `cli` | the module `cli`: the command line |
//! | `anthropic` | models `anthropic:..`: Claude, and all servers with Anthropic's Messages API |
//! | `gemini` | models `gemini:..`: Google's models in the Gemini API |
//! | `openai` | models `openai:..`: OpenAI, and all servers with its chat completions API; `ollama:..`, `openrouter:..` and others, see `Server`; `openai-responses:..` |
//! | `local` | models `local:..` in the process: a small one, or any dense GGUF of the Llama and Qwen families |
//! | `local-download` | `local:OWNER/REPO/FILE.gguf`: downloads the file from the Hugging Face Hub |
//! | `testing` | the module `testing`: test models and an event recorder |
//! | `attachments` | files in prompts, read below the project's root: [`Prompt::attach_file`]; included in `cli` |
//! | `worker-files` | `#[worker(file = "..")]`, [`WorkerSpec::from_worker_file`](worker::WorkerSpec::from_worker_file), [`RuntimeBuilder::worker_dir`](runtime::RuntimeBuilder::worker_dir); included in `project` and `workers` |
//! | `json-schema` | schemas from programs ([`FunctionTool`](runtime::FunctionTool), [`WorkerSpec`](worker::WorkerSpec)), and on Rust types the keywords that few use, such as `pattern`, `format: email` and `if`; included in `worker-files` |
//! | `filesystem` | `toolsets::filesystem`: tools that read, search and change the files of one folder |
//! | `eval` | the module `eval`: datasets, evaluators, and comparisons of models, prompts and tools; with `cli`, the command `eval` |
//! | `learn` | `harden::Learner`: learns decisions from recorded cases without a model; included in `cli` |
//! | `project` | the module `project`: workers, tools, subagents and skills in the files of a folder; included in `cli` |
//! | `mcp` | the module `mcp`: serves tools over MCP, and makes toolsets of the tools of MCP servers |
//! | `serve` | the module `serve`: many runs as a service, over HTTP and in one file; `journal::SqliteJournal` |
//! | `restate` | `serve::RestateWorker`: runs on many machines, kept by the engine Restate; needs Rust 1.90 |
//! | `keyring` | tokens of MCP servers in the keyring of the system, `OAuth::keyring` and `mcp login`; includes `mcp` |
//! | `mcp-snapshots` | typed toolsets of MCP servers, `toolset! { pub NAME = mcp(".."); }`, for crates that only declare them; included in `mcp` |
//! | `http` | `toolsets::http`: a tool that fetches pages and files of the web |
//! | `script` | the module `script`: tools that are Python files, checked before they run; needs Rust 1.95 |
//! | `shell` | `toolsets::shell`: a tool that runs commands, in a sandbox where there is one |
//! | `user_input` | `toolsets::user_input`: a tool with which models ask the user |
//! | `workers` | `toolsets::workers`: tools with which models create workers |
//! | `trace` | the module `trace`: what happened in a run, as a tree and as a page; with `cli`, the command `trace` |
//! | `tracing` | `TracingSink`: `tracing` spans that follow OpenTelemetry's conventions for generative AI |
//! | `chrono04`, `jiff02`, `url2`, `uuid1` | arguments and results with types of that crate and major version; the crate's feature `serde` must be enabled too |

pub mod prelude;
// A page of the documentation; it names what the features have.
#[cfg(all(any(doc, doctest), feature = "restate"))]
#[doc = include_str!("../docs/production.md")]
pub mod production {}
// A page of the documentation; it names what the features have.
#[cfg(all(any(doc, doctest), feature = "restate"))]
#[doc = include_str!("../docs/scale.md")]
pub mod scale {}
// A page of the documentation.
#[cfg(any(doc, doctest))]
#[doc = include_str!("../docs/server.md")]
pub mod server {}
// A page of the documentation.
#[cfg(any(doc, doctest))]
#[doc = include_str!("../docs/security.md")]
pub mod security {}

/// Makes traits of async functions usable as `dyn`: for implementations of [`Model`], [`ToolContext`],
/// [`Approver`](approval::Approver), [`InputHandler`](context::InputHandler), [`Journal`](journal::Journal),
/// [`Guard`](guard::Guard), [`HistoryProcessor`](history::HistoryProcessor) and
/// [`EventSink::flush`](event::EventSink::flush).
#[doc(no_inline)]
pub use async_trait::async_trait;
// The examples that collect the registry are crates of their own: those that are merged into one would share it.
#[doc = include_str!("../docs/data.md")]
pub use llm_do_macros::data;
#[doc = include_str!("../docs/entry.md")]
pub use llm_do_macros::entry;
#[doc = include_str!("../docs/tool.md")]
pub use llm_do_macros::tool;
#[doc = include_str!("../docs/toolset.md")]
pub use llm_do_macros::toolset;
#[doc = include_str!("../docs/worker.md")]
pub use llm_do_macros::worker;
pub use llm_do_providers::{Attachment, Model, Settings};
pub use serde_json::{Value, json};

#[doc(hidden)]
pub use llm_do_core::__private;
#[cfg(feature = "testing")]
pub use llm_do_core::app::testing;
pub use llm_do_core::base::error::{CallError, Result};
pub use llm_do_core::base::usage::Limits;
pub use llm_do_core::check;
pub use llm_do_core::declare::prompt::Prompt;
pub use llm_do_core::declare::tool::{Effect, OnUnknown, Tool, ToolReturn};
pub use llm_do_core::declare::toolset::Toolset;
pub use llm_do_core::plane::context::{CallContext, State, ToolContext};
pub use llm_do_core::plane::history::History;
pub use llm_do_core::plane::registry::Registry;
pub use llm_do_core::session::runtime::{Chat, Runtime};
#[cfg(any(
    feature = "filesystem",
    feature = "http",
    feature = "shell",
    feature = "user_input",
    feature = "workers"
))]
#[doc(inline)]
pub use llm_do_toolsets as toolsets;

/// Which calls need approval, and who decides.
pub mod approval {
    pub use llm_do_core::app::proposed_policy::{PolicyProposal, PolicyProposer, ProposedRule};
    pub use llm_do_core::observe::event::{
        ApprovalScope, ArgumentOrigin, DecidedBy, FlowReason, Label, Labels, ResultOrigin, RuleSource, ValueOrigin,
    };
    pub use llm_do_core::plane::approval::{
        ApprovalInbox, ApprovalMode, ApprovalOverview, ApprovalRequest, Approver, CallReview, Decision, FlowMode,
        InboxApprover, PendingApproval, Policy, ProposedCall, Reach, RefusedEdit, RememberedApproval, ReviewVerdict,
        Rule, WorkerRule,
    };
    pub use llm_do_core::plane::origin::{Origins, ReadResult, RootCall};
}

/// What functions get from the call they run in, and what they ask of it.
pub mod context {
    pub use tokio_util::sync::CancellationToken;

    pub use llm_do_core::declare::partial::{Partial, PartialFields};
    pub use llm_do_core::declare::question::Question;
    pub use llm_do_core::declare::subtask::SubtaskRequest;
    pub use llm_do_core::declare::toolset::{NamedInstance, OfInstance};
    pub use llm_do_core::plane::call_stream::CallStream;
    pub use llm_do_core::plane::context::{Ask, CallHandle, FromContext, Thread};
    pub use llm_do_core::plane::user_input::{InputHandler, InputRequest};
}

#[doc = include_str!("../docs/dry_run.md")]
pub mod dry_run {
    pub use llm_do_core::observe::event::{PlannedApproval, PlannedKind};
    pub use llm_do_core::plane::plan::{Plan, PlannedCall};
}

/// What errors are made of.
pub mod error {
    pub use llm_do_core::base::error::{BoxError, Fault, UnknownOutcome, Unsure, chain};
}

/// What happens in a run, and the sinks that receive it.
pub mod event {
    /// The time of an [`Event`] and of a journal's [`Record`](crate::journal::Record), in UTC.
    #[doc(no_inline)]
    pub use jiff::Timestamp;

    pub use llm_do_core::base::clock::{Clock, SystemClock};
    #[cfg(feature = "tracing")]
    pub use llm_do_core::observe::event::TracingSink;
    pub use llm_do_core::observe::event::{
        ByDigest, Callback, Caller, ChannelSink, CodeAnswer, ContentFile, ContentMessage, ContentResult, Delivery,
        Delta, Event, EventKind, EventPart, EventReceiver, EventSink, EventValue, FileInfo, GuardAction, GuardHook,
        ItemKind, JsonLines, Mend, Outcome, RequestContent, Terminal, Verbosity, event_channel,
    };
}

/// Types that declare where text comes from.
///
/// [`Untrusted`](flow::Untrusted) marks what anyone may have written, in results and in arguments that are only passed on, and
/// [`Bounded`](flow::Bounded) is implemented by types that carry no text. A [policy](approval::Policy#untrusted-text) declares the same by
/// name, for tools of other programs.
pub mod flow {
    pub use llm_do_core::declare::flow::{Bounded, Untrusted};
}

/// Guards: they see every call and every request to a model, and may change or refuse it.
pub mod guard {
    pub use llm_do_core::plane::guard::{FunctionGuard, Guard, GuardedCall, GuardedRequest, Refusal};
}

/// What changes a worker's [`History`] before each request.
pub mod history {
    pub use llm_do_core::plane::history_processor::{Compaction, HistoryProcessor};
}

/// Where effects are recorded, so that a run resumes without repeating them.
pub mod journal {
    #[cfg(feature = "serve")]
    pub use llm_do_core::observe::journal::{Expired, OpenPromise, Retention, SqliteJournal, SqliteRun};
    pub use llm_do_core::observe::journal::{
        FileJournal, Journal, JournalError, JournalOutcome, LocalOutcome, MemoryJournal, Promise, PromiseFuture,
        PromiseSpec, Record, Records, Settlement, StepFuture, StepKind, StepSpec, Unrecorded,
    };
}

/// Models: those of each provider, wrappers of models, and what an implementation of [`Model`] needs.
#[doc = include_str!("../docs/batches.md")]
pub mod model {
    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "local-download", feature = "openai"))]
    pub use llm_do_providers::ApiKey;
    #[cfg(feature = "anthropic")]
    pub use llm_do_providers::{AnthropicBuilder, AnthropicModel};
    pub use llm_do_providers::{
        BatchedRequest, CapabilityEntry, CapabilityTable, CapabilityTableError, ContextWindow, ErrorKind, ExtraHeaders,
        FallbackModel, FinishReason, LimitedModel, Message, ModelProvider, OutputSchema, Profile, ProviderData,
        ProviderError, Request, RequestHint, Response, ResponsePart, ResponseStream, ServerSideTool, ServerSideToolUse,
        SettingWarning, StreamEvent, Thinking, ThinkingLevel, ToolCall, ToolChoice, ToolResult, ToolSpec, Transcript,
        UserPart, WebSearch, WindowEntry, model_provider, replay,
    };
    #[cfg(feature = "local")]
    pub use llm_do_providers::{FetchProgress, LocalBuilder, LocalModel};
    #[cfg(feature = "gemini")]
    pub use llm_do_providers::{GeminiBuilder, GeminiModel};
    #[cfg(feature = "openai")]
    pub use llm_do_providers::{OpenAiBuilder, OpenAiModel, OpenAiResponsesBuilder, OpenAiResponsesModel, Server};
}

/// The parts of a [`Prompt`].
pub mod prompt {
    pub use llm_do_core::declare::prompt::{Attached, AttachmentPolicy};
}

/// What is registered.
pub mod registry {
    pub use llm_do_core::plane::registry::{Registered, RegistryError};
}

/// How a [`Runtime`] is set up, and how its runs begin.
pub mod runtime {
    pub use llm_do_core::plane::function_tool::{FunctionTool, SubtaskTool};
    pub use llm_do_core::plane::mailbox::{RunMessage, SendError};
    pub use llm_do_core::session::runtime::{BuildError, ChatHandle, ChatState, RunHandle, RuntimeBuilder, Start};
}

#[cfg(feature = "script")]
#[doc = include_str!("../docs/script.md")]
pub mod script {
    pub use llm_do_core::plane::function_tool::{ScriptFault, ScriptTool};
    pub use llm_do_core::plane::script::interpreter_process;
}

/// What runs used, in requests, tokens and money.
pub mod usage {
    pub use llm_do_providers::{
        Charge, Money, MoneyError, Price, PriceEntry, PriceTable, PriceTableError, Unpriced, Usage,
    };

    pub use llm_do_core::base::usage::{Cost, Exceeded, ModelUsage, RunUsage, UsageTree};
}

/// Workers as values, and from files.
pub mod worker {
    pub use llm_do_core::declare::refine::{Assessment, Refine, refine};
    pub use llm_do_core::declare::worker_file::WorkerFileError;
    pub use llm_do_core::declare::worker_spec::{OutputMode, WorkerSpec};
}

/// The command line of an application: runs and lists the tools, workers and entries that are linked in.
#[cfg(feature = "cli")]
pub mod cli {
    pub use llm_do_cli::{Cli, main};
}

#[cfg(feature = "eval")]
pub mod eval {
    #![doc = include_str!("../docs/eval.md")]

    pub use llm_do_eval::{
        Arguments, CalledTool, Case, Change, Comparison, Dataset, DatasetError, Estimate, EvalError, Evaluation,
        Evaluator, EvaluatorContext, EvaluatorFailure, EvaluatorSpec, Finding, Findings, Kept, KeptError, Latency,
        MetricSummary, NamedFinding, Report, RunRecord, Scalar, Variant, VariantSummary,
    };
}

pub mod harden {
    #![doc = include_str!("../docs/hardening.md")]

    pub use llm_do_core::app::harden::{
        Agreement, Answer, Case, Cases, Compared, Gate, Guarantee, HybridStatus, InvalidGuarantee, Judgment, Ranking,
        RecordedCalls, Report, Shadow, Summary, Verdict, WorkerUsage, compare, compare_one, hybrid_status,
    };
    #[cfg(feature = "script")]
    pub use llm_do_core::app::harden::{
        Attempt, CallPath, ChangedResults, Chosen, Contradiction, Parts, PathScore, Proposal, ProposalEnd,
        ProposalReport, ProposeError, Proposer, Runs, Score,
    };
    #[cfg(feature = "learn")]
    pub use llm_do_core::app::harden::{FewRules, LearnError, LearnReport, LearnedProposal, Learner};
    pub use llm_do_core::app::replay::{
        NowDecided, PolicyChange, PolicyExample, PolicyReplay, PolicyReport, RecordedDecision,
    };
    #[cfg(feature = "learn")]
    pub use llm_do_core::plane::function_tool::{LearnedFault, LearnedTool};
}

/// MCP, the Model Context Protocol, both ways: serves what is linked, and uses the tools of servers.
///
/// Source: <https://modelcontextprotocol.io/specification/2026-07-28>.
#[cfg(feature = "mcp-snapshots")]
pub mod mcp {
    pub use llm_do_core::app::snapshot::{Changes, Snapshot, SnapshotError, SnapshotTool, check_snapshots};
    #[cfg(feature = "mcp")]
    pub use llm_do_mcp::{
        Authorizer, ClientRequest, HttpOptions, McpClient, McpConnection, McpError, McpHttpService, McpServer,
        McpService, McpTools, MissingCapability, OAuth, ServeError, WithMcp, reaper_process,
    };

    // A page of the documentation.
    #[cfg(all(feature = "mcp", any(doc, doctest)))]
    #[doc = include_str!("../docs/mcp_client.md")]
    pub mod using_servers {
        #[allow(unused_imports, reason = "for links")]
        use super::{Authorizer, McpServer};
    }
}

#[cfg(feature = "project")]
pub mod project {
    #![doc = include_str!("../docs/project.md")]

    pub use llm_do_project::{PolicyFile, Project, ProjectError, WithProject};
}

/// Many runs as a service: started, watched and decided over HTTP, in one file.
#[cfg(feature = "serve")]
pub mod serve {
    pub use llm_do_serve::{Client, OpenService, Role, Schedule, Service, ServiceError, Webhook};
    #[cfg(feature = "restate")]
    pub use llm_do_serve::{RestateEngine, RestateWorker};
}

#[cfg(feature = "trace")]
pub mod trace {
    #![doc = include_str!("../docs/trace.md")]

    pub use llm_do_trace::{Trace, TraceFault, write_page};
}
