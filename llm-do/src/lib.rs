//! Tools, LLM workers and entries from annotated Rust functions, on one tool plane.
//!
//! A **tool** is a function with a JSON schema ([`tool`]), a **worker** is a tool that a language model implements
//! ([`worker`]), an **entry** is a root call ([`entry`]). Every call, from code or from a model, is found by name,
//! checked, counted in depth, approved, metered and reported in one place; one [`CallContext`] flows down the whole
//! call tree. So a worker can be hardened into code, or code softened into a worker, and no caller changes.
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
//! An application usually has `fn main() -> ExitCode { llm_do::cli::main() }` instead, which runs whatever is linked in
//! (feature `cli`).
//!
//! # What is where
//!
//! | to | see |
//! |---|---|
//! | write tools, workers, entries, groups and the types they use | [`tool`], [`worker`], [`entry`], [`toolset`], [`data`] |
//! | call others in a body, ask a model, a worker made on the spot, the best worker for a task, or the user | [`CallContext`] |
//! | begin runs, by type or by name, with async code or without | [`Runtime`], [`RuntimeBuilder`] |
//! | set up a model in code, wrap it, or add a provider | `OpenAiModel`, `Server`, `OpenAiResponsesModel`, `AnthropicModel`, `GeminiModel`, `LocalModel`, [`FallbackModel`], [`LimitedModel`], [`model_provider!`] |
//! | say what a model takes that the built-in table does not know | [`CapabilityTable`], [`RuntimeBuilder::capabilities`] |
//! | serve many users with one runtime | [in a server](server), [`Start`] |
//! | see what a run used and said, or cancel it | [`Runtime::start`], [`RunHandle`], [`UsageTree`] |
//! | go on from what was said | [`Chat`], [`History`], [`HistoryProcessor`] |
//! | say what needs approval, and decide | [`Policy`], [`RuntimeBuilder::approve_with`], [`Approver`], [`ApprovalInbox`] |
//! | limit requests, tokens, money, time, depth | [`Limits`], [`PriceTable`], [`RuntimeBuilder::timeout`], [`RuntimeBuilder::max_depth`] |
//! | watch, log, trace | [`EventSink`], [`EventKind`], [`JsonLines`], [`Terminal`], [`event_channel`] |
//! | resume a run that broke off, or replay one | [`FileJournal`], [`MemoryJournal`], [`Journal`] |
//! | look at, change or refuse each call and request | [`Guard`], [`FunctionGuard`] |
//! | have workers that are not compiled: from files, values or models | [worker files](macro@worker#a-worker-file-at-run-time), [`WorkerSpec`], `toolsets::workers` |
//! | give models files | [`Prompt`], [`Attachment`], [`ToolReturn`] |
//! | ask users | [`InputHandler`] |
//! | replace a worker by code, and watch how it does | [`harden`], [`Shadow`] |
//! | test | [`check!`], `testing`, [`ToolContext`] |
//!
//! What stands between this crate and models is of the crate `llm_do_providers`; what one uses is here too, models for tests
//! in `testing`: where an example says `llm_do_providers`, read `llm_do`.
//!
//! # Features
//!
//! All are off by default, and none takes anything away.
//!
//! | feature | adds |
//! |---|---|
//! | `cli` | the module `cli`: the command line |
//! | `anthropic` | models `anthropic:..`: Claude, and every server that speaks Anthropic's Messages API |
//! | `gemini` | models `gemini:..`: Google's, behind the Gemini API |
//! | `openai` | models `openai:..`: OpenAI, and every server that speaks its chat protocol; `ollama:..`, `openrouter:..` and others by name, see `Server`; `openai-responses:..` |
//! | `local` | models `local:..`, inside the process: a small one, or any dense GGUF of the Llama and Qwen families |
//! | `local-download` | `local:OWNER/REPO/FILE.gguf`: its file from the Hugging Face Hub |
//! | `testing` | the module `testing`: models and a recorder for tests |
//! | `workers` | `toolsets::workers`: tools by which models make workers |
//! | `tracing` | `TracingSink`: spans of `tracing`, by OpenTelemetry's conventions for generative AI |
//! | `chrono04`, `jiff02`, `url2`, `uuid1` | arguments and results of the types of that crate and major version; its own feature `serde` is needed too |

extern crate self as llm_do;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod agreement;
mod approval;
mod argument;
mod cancellation;
mod check;
#[cfg(feature = "cli")]
pub mod cli;
mod clock;
mod context;
mod declared;
mod definition;
mod delay;
mod dispatch;
mod error;
mod event;
mod guard;
pub mod harden;
mod history;
mod instance;
mod journal;
mod model_choice;
mod open_file;
pub mod prelude;
mod printable;
mod prompt;
mod rare;
mod registry;
mod runtime;
mod schema;
mod subtask;
#[cfg(feature = "testing")]
pub mod testing;
// A page of the documentation.
#[cfg(any(doc, doctest))]
#[doc = include_str!("../docs/server.md")]
pub mod server {}
mod tool;
mod toolset;
#[cfg(feature = "workers")]
pub mod toolsets;
mod usage;
mod user_input;
mod worker;
mod worker_file;
mod worker_spec;

pub use self::approval::{
    ApprovalInbox, ApprovalMode, ApprovalRequest, Approver, Decision, InboxApprover, PendingApproval, Policy,
    ProposedCall, Rule, WorkerRule,
};
pub use self::clock::{Clock, SystemClock};
pub use self::context::{Ask, CallContext, FromContext, State, ToolContext};
pub use self::dispatch::Shadow;
pub use self::error::{BoxError, CallError, Fault, Result, chain};
#[cfg(feature = "tracing")]
pub use self::event::TracingSink;
pub use self::event::{
    ApprovalScope, Callback, Caller, ChannelSink, Delivery, Delta, Event, EventKind, EventPart, EventReceiver,
    EventSink, FileInfo, GuardAction, Hook, JsonLines, Judge, Kind, Outcome, RuleSource, Terminal, Verbosity,
    event_channel,
};
pub use self::guard::{FunctionGuard, Guard, GuardedCall, GuardedRequest, Refusal};
pub use self::history::{History, HistoryProcessor};
pub use self::journal::{
    FileJournal, Interrupted, Journal, JournalError, Local, MemoryJournal, Record, Records, StepKind, StepSpec,
};
pub use self::prompt::{Attached, Prompt};
pub use self::registry::{Registered, Registry, RegistryError};
pub use self::runtime::{BuildError, Chat, RunHandle, Runtime, RuntimeBuilder, Start};
pub use self::subtask::SubtaskRequest;
pub use self::tool::{Effect, FromReturn, TakesHistory, Tool, ToolOutput, ToolReturn};
pub use self::toolset::{Anything, Declares, Includes, Member, Toolset};
pub use self::usage::{Cost, Exceeded, Limits, ModelUsage, RunUsage, UsageTree};
pub use self::user_input::{InputHandler, InputRequest};
pub use self::worker_file::WorkerFileError;
pub use self::worker_spec::{OutputMode, WorkerSpec};
/// Makes traits of async functions fit for `dyn`: for implementations of [`Model`], [`Approver`], [`InputHandler`],
/// [`Journal`], [`Guard`], [`HistoryProcessor`], [`ToolContext`] and [`EventSink::flush`].
#[doc(no_inline)]
pub use async_trait::async_trait;
/// The time of an [`Event`] and of a [`Record`], and what [`Journal::now`] returns.
#[doc(no_inline)]
pub use jiff::Timestamp;
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
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "local-download", feature = "openai"))]
pub use llm_do_providers::ApiKey;
#[cfg(feature = "anthropic")]
pub use llm_do_providers::{AnthropicBuilder, AnthropicModel};
pub use llm_do_providers::{
    Attachment, CapabilityEntry, CapabilityTable, CapabilityTableError, ErrorKind, ExtraHeaders, FallbackModel,
    FinishReason, LimitedModel, Message, Model, ModelProvider, Money, MoneyError, OutputSchema, Price, PriceEntry,
    PriceTable, PriceTableError, Profile, ProviderData, ProviderError, Request, RequestHint, Response, ResponsePart,
    ResponseStream, ServerSideTool, ServerSideToolUse, SettingWarning, Settings, StreamEvent, Thinking, ThinkingLevel,
    ToolCall, ToolChoice, ToolResult, ToolSpec, Usage, UserPart, WebSearch, model_provider, replay,
};
#[cfg(feature = "local")]
pub use llm_do_providers::{FetchProgress, LocalBuilder, LocalModel};
#[cfg(feature = "gemini")]
pub use llm_do_providers::{GeminiBuilder, GeminiModel};
#[cfg(feature = "openai")]
pub use llm_do_providers::{OpenAiBuilder, OpenAiModel, OpenAiResponsesBuilder, OpenAiResponsesModel, Server};
pub use serde_json::{Value, json};
pub use tokio_util::sync::CancellationToken;
