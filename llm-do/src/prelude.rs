//! What an application's source usually begins with: `use llm_do::prelude::*;`.
//!
//! The derives `Serialize`, `Deserialize` and `JsonSchema` are here for crates that depend on serde and schemars;
//! `#[data]` derives all three and needs neither. What few items name is not here:
//! [`FromContext`](crate::context::FromContext), [`Settings`](crate::Settings), [`Attachment`](crate::Attachment) and
//! [`json!`](crate::json).

pub use std::path::PathBuf;
pub use std::process::ExitCode;

pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};

pub use llm_do_core::base::error::{CallError, Result};
pub use llm_do_core::declare::prompt::Prompt;
pub use llm_do_core::declare::tool::ToolReturn;
pub use llm_do_core::plane::context::{CallContext, State, ToolContext};
pub use llm_do_core::session::runtime::Runtime;
pub use llm_do_macros::{data, entry, tool, toolset, worker};
#[cfg(feature = "mcp")]
pub use llm_do_mcp::WithMcp as _;
#[cfg(feature = "project")]
pub use llm_do_project::{PolicyFile as _, WithProject as _};
