//! The tool plane: finds, checks, approves, runs and reports every call; `dispatch` is its center.

pub mod approval;
mod background;
pub mod call_stream;
mod call_summary;
#[doc(hidden)]
pub mod config;
pub mod context;
#[doc(hidden)]
pub mod conversation;
#[doc(hidden)]
pub mod declared;
pub mod definition;
pub mod dispatch;
pub mod function_tool;
#[doc(hidden)]
pub mod guarantee;
pub mod guard;
pub mod history;
pub mod history_processor;
#[doc(hidden)]
pub mod instance;
#[doc(hidden)]
pub mod kept_results;
pub mod mailbox;
#[doc(hidden)]
pub mod model_choice;
pub mod origin;
pub mod plan;
pub mod registry;
#[cfg(feature = "script")]
pub mod script;
#[doc(hidden)]
pub mod tool_source;
pub mod user_input;
#[doc(hidden)]
pub mod worker;
