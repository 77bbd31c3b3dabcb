//! Code mode: a worker's model writes code that calls the worker's tools, and a process of its own runs it.

mod check;
mod child;
mod instructions;
mod protocol;
mod session;

pub use self::child::interpreter_process;
pub(crate) use self::session::CodeTool;
