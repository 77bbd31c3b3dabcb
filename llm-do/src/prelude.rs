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

pub use crate::base::error::{CallError, Result};
pub use crate::declare::prompt::Prompt;
pub use crate::declare::tool::ToolReturn;
pub use crate::plane::context::{CallContext, State, ToolContext};
pub use crate::session::runtime::Runtime;
pub use llm_do_macros::{data, entry, tool, toolset, worker};
