//! Sources of tools that must be queried, such as servers.

use std::fmt::Debug;
use std::path::Path;
#[cfg(feature = "mcp")]
use std::sync::Arc;

#[cfg(feature = "mcp")]
use futures_util::future::BoxFuture;
#[cfg(feature = "mcp")]
use serde_json::Value;

use super::function_tool::FunctionTool;
#[cfg(feature = "mcp")]
use crate::base::error::CallError;

/// A source that is queried for tools when a runtime is built.
pub(crate) trait ToolSource: Debug + Send + Sync {
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
    #[cfg(feature = "mcp")]
    fn built(&self, calls: Arc<dyn RootCalls>);
}

/// Makes calls in a runtime, without keeping it alive.
#[cfg(feature = "mcp")]
pub(crate) trait RootCalls: Debug + Send + Sync {
    /// Runs a tool as a root call that needs approval; `None` if the runtime is gone.
    fn call(&self, tool: &str, arguments: Value) -> Option<BoxFuture<'static, Result<Value, CallError>>>;
}

/// The tools of a source.
#[derive(Debug)]
pub(crate) struct LoadedTools {
    /// The name of its toolset.
    pub(crate) toolset: String,
    pub(crate) description: String,
    pub(crate) tools: Vec<FunctionTool>,
    /// Tools that the source itself calls, which are not in the toolset.
    pub(crate) own: Vec<FunctionTool>,
    /// Warnings about tools that were left out.
    pub(crate) warnings: Vec<String>,
    /// The listing with which snapshots of servers are compared.
    #[cfg(feature = "mcp")]
    pub(crate) listing: Listing,
}

/// All tools of a source, as it describes them.
#[cfg(feature = "mcp")]
#[derive(Debug)]
pub struct Listing {
    pub source: String,
    pub tools: Vec<Value>,
}
