//! Tools, LLM workers and entries from annotated Rust functions, on one tool plane.

extern crate self as llm_do;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod approval;
#[cfg(feature = "cli")]
pub mod cli;
mod context;
mod definition;
mod dispatch;
mod error;
mod event;
mod model_choice;
pub mod prelude;
mod registry;
mod runtime;
mod schema;
#[cfg(feature = "testing")]
pub mod testing;
mod tool;
mod toolset;
mod usage;
mod worker;

pub use self::approval::{ApprovalMode, ApprovalRequest, Approver, Decision};
pub use self::context::{CallContext, FromContext, State, ToolContext};
pub use self::error::{BoxError, CallError, Result, chain};
pub use self::event::{
    Caller, Delta, Event, EventKind, EventSink, JsonLines, Judge, Kind, Outcome, Terminal, Verbosity,
};
pub use self::registry::{Registered, Registry, RegistryError};
pub use self::runtime::{BuildError, Runtime, RuntimeBuilder};
pub use self::tool::{Effect, Returns, Tool};
pub use self::toolset::{Anything, Declares, Here, In, Includes, Toolset};
pub use self::usage::RunUsage;
pub use async_trait::async_trait;
pub use llm_do_macros::{data, entry, tool, toolset, worker};
pub use llm_do_providers::{
    ErrorKind, FinishReason, Message, Model, ModelProvider, OutputSchema, Profile, ProviderError, Request, Response,
    ResponsePart, ResponseStream, Settings, StreamEvent, ToolCall, ToolChoice, ToolResult, ToolSpec, Usage, UserPart,
};
