//! The wire of llm-do: messages, the [`Model`] trait, settings, usage and the providers.
//!
//! This crate knows nothing of Rust functions as tools, nor of the runtime; applications depend on `llm-do`, which
//! re-exports what they need of it.

mod catalog;
mod error;
#[cfg(feature = "local")]
mod local;
mod message;
mod model;
mod settings;
mod usage;

pub use self::catalog::{ModelProvider, model};
pub use self::error::{ErrorKind, ProviderError};
#[cfg(feature = "local")]
pub use self::local::LocalModel;
pub use self::message::{FinishReason, Message, ResponsePart, ToolCall, ToolResult, UserPart};
pub use self::model::{
    Model, OutputSchema, Profile, Request, Response, ResponseStream, StreamEvent, ToolChoice, ToolSpec, replay,
};
pub use self::settings::Settings;
pub use self::usage::Usage;

#[doc(hidden)]
pub use inventory;
