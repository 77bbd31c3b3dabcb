//! The tool plane: finds, checks, approves, runs and reports every call; `dispatch` is its center.

pub(crate) mod approval;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod conversation;
pub(crate) mod declared;
pub(crate) mod definition;
pub(crate) mod dispatch;
pub(crate) mod function_tool;
pub(crate) mod guard;
pub(crate) mod history;
pub(crate) mod history_processor;
pub(crate) mod instance;
pub(crate) mod kept_results;
pub(crate) mod model_choice;
pub(crate) mod plan;
pub(crate) mod registry;
#[cfg(feature = "script")]
pub(crate) mod script;
pub(crate) mod tool_source;
pub(crate) mod user_input;
pub(crate) mod worker;
