//! What an application's source usually begins with: `use llm_do::prelude::*;`.

pub use std::path::PathBuf;
pub use std::process::ExitCode;

pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};

pub use crate::context::{CallContext, State, ToolContext};
pub use crate::error::{CallError, Result};
pub use crate::runtime::Runtime;
