//! Scripts: tools that are functions in files of Python, run by an interpreter that can only call their tools.

mod annotation;
mod calls;
mod checker;
mod classes;
mod code;
mod docstring;
mod exception;
mod fault;
mod interpreter;
mod large_stack;
mod limits;
mod linked;
mod literal;
mod literals;
mod names;
mod nested_calls;
mod outside;
mod parse;
mod printer;
mod program;
mod read;
mod stubs;
mod type_size;
mod types;
mod values;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;

use monty::MontyRun;
use serde_json::{Map, Value};

pub use self::code::interpreter_process;
pub(crate) use self::code::{CodeTool, ScriptData, ScriptProcess, TypeProcess};
pub(crate) use self::large_stack::on_large_stack;
pub(crate) use self::limits::{MAX_SOURCE, MAX_TIME};
pub(crate) use self::linked::LinkedScript;
use self::names::Callees;
pub(crate) use self::names::{ScriptCallee, identifier};
#[doc(hidden)]
pub use self::read::effect;
use self::stubs::Stubs;
use crate::base::mutex::IgnorePoison;
use crate::declare::tool::Effect;

/// A script that was read.
pub(crate) struct Script {
    /// The name of its function.
    pub(crate) name: String,
    /// Its file, for faults.
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) description: String,
    /// The schema of its arguments.
    pub(crate) parameters: Value,
    /// The schema of its result.
    pub(crate) output: Value,
    /// The arguments that a call may omit.
    pub(crate) defaults: Map<String, Value>,
    is_async: bool,
    /// The names of its tools and toolsets, each with its line.
    pub(crate) toolsets: Vec<(String, usize)>,
    /// The effect in its front matter.
    pub(crate) effect: Option<Effect>,
    /// Its classes that are dictionaries when it runs.
    dict_classes: Vec<String>,
    /// The texts that it contains.
    literals: BTreeSet<String>,
    /// Cloned for each call, since it cannot be shared.
    compiled: Mutex<MontyRun>,
}

impl Script {
    /// Reads the function `function` of a script.
    ///
    /// `file` is the name of the script in faults: all are returned, each with its line and column.
    pub(crate) fn read(file: &str, function: &str, text: &str) -> Result<Self, Vec<String>> {
        on_large_stack(|| read::read(file, function, text))
            .unwrap_or_else(|fault| Err(vec![format!("{file}: {fault}")]))
    }

    /// Returns a copy of the compiled script.
    fn program(&self) -> MontyRun {
        self.compiled.lock().ignore_poison().clone()
    }
}

/// Returns tools as functions of Python, for a reader.
pub(crate) fn stubs(tools: Vec<ScriptCallee>) -> Result<String, Vec<String>> {
    Ok(Stubs::new(&Callees::new(tools)?, false).text())
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("name", &self.name).field("file", &self.file).finish_non_exhaustive()
    }
}
