//! Sources of tools that must be queried, such as servers.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::function_tool::FunctionTool;
use crate::base::error::CallError;

/// A source that is queried for tools when a runtime is built.
pub trait ToolSource: Debug + Send + Sync {
    /// Returns its own name.
    fn name(&self) -> &str;

    /// Returns the name of the toolset that its tools form.
    fn toolset(&self) -> String;

    /// Returns whether its tools may be missing.
    fn is_optional(&self) -> bool;

    /// Returns what it waits for, from the beginning of the query until its tools are known.
    fn waits_for(&self) -> Option<String>;

    /// Begins the query, without waiting. `root` is the folder of the project.
    fn begin(&self, root: &Path);

    /// Waits for the tools.
    fn load(&self) -> Result<LoadedTools, String>;

    /// Is called with the runtime that was built.
    fn built(&self, calls: Arc<dyn RootCalls>);
}

/// Makes calls in a runtime, without keeping it alive.
pub trait RootCalls: Debug + Send + Sync {
    /// Runs a tool as a root call that needs approval; `None` if the runtime is gone.
    fn call(&self, tool: &str, arguments: Value) -> Option<BoxFuture<'static, Result<Value, CallError>>>;
}

/// The tools of a source.
#[derive(Debug)]
pub struct LoadedTools {
    /// The name of its toolset.
    pub toolset: String,
    pub description: String,
    pub tools: Vec<FunctionTool>,
    /// Tools that the source itself calls, which are not in the toolset.
    pub own: Vec<FunctionTool>,
    /// Warnings about tools that were left out.
    pub warnings: Vec<String>,
    /// The names of the source and of its tools in the files of other programs, with the registered names.
    pub foreign: Vec<(String, Arc<str>)>,
    /// The listing with which snapshots of servers are compared.
    pub listing: Listing,
}

/// All tools of a source, as it describes them.
#[derive(Debug)]
pub struct Listing {
    pub source: String,
    pub tools: Vec<Value>,
}
