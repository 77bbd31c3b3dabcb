//! The tool plane: finds, checks, approves, runs and reports every call; `dispatch` is its center.

pub mod approval;
pub mod config;
pub mod context;
pub mod conversation;
pub mod declared;
pub mod definition;
pub mod dispatch;
pub mod function_tool;
pub mod guard;
pub mod history;
pub mod history_processor;
pub mod instance;
pub mod model_choice;
pub mod registry;
#[cfg(feature = "script")]
pub mod script;
pub mod tool_source;
pub mod user_input;
pub mod worker;
