//! Code mode: a worker's model writes code that calls the worker's tools, and a process of its own runs it.

mod check;
mod child;
mod instructions;
mod process;
mod protocol;
mod reader;
mod script_child;
mod script_process;
mod session;
mod shown;
mod type_process;

pub use self::child::interpreter_process;
pub(crate) use self::protocol::ScriptData;
pub(crate) use self::script_process::ScriptProcess;
pub(crate) use self::session::CodeTool;
pub(crate) use self::type_process::TypeProcess;
