//! Tools, LLM workers and entries from annotated Rust functions, on one tool plane.

extern crate self as llm_do;

mod context;
mod definition;
mod error;
mod event;
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
mod registry;
mod schema;
mod tool;
mod toolset;
mod usage;

pub use self::context::{CallContext, FromContext, State, ToolContext};
pub use self::error::{BoxError, CallError, Result, chain};
pub use self::event::{
    Caller, Delta, Event, EventKind, EventSink, JsonLines, Judge, Kind, Outcome, Terminal, Verbosity,
};
pub use self::registry::{Registered, Registry, RegistryError};
pub use self::tool::{Effect, Returns, Tool};
pub use self::toolset::{Anything, Declares, Here, In, Includes, Toolset};
pub use self::usage::RunUsage;
pub use llm_do_macros::{entry, tool, toolset, worker};
