//! What a context asks of the plane.

use std::any::{Any, TypeId};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use llm_do_providers::{ServerSideTool, SettingWarning};
use serde_json::Value;

use super::CallContext;
use crate::base::error::{BoxError, CallError};
use crate::declare::subtask::SubtaskRequest;
use crate::declare::tool::ToolReturn;
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::{Caller, EventKind};
use crate::observe::journal::Journal;
use crate::plane::declared::Callee;
use crate::plane::instance::Closings;
use crate::plane::user_input::InputHandler;

/// Arguments as JSON, or why they are none.
pub(crate) type Given = Result<Value, String>;

/// The plane, as a context sees it: the one place where the order of modules turns round, since calls nest.
pub(crate) trait Host: Send + Sync {
    /// Makes the call of `caller` to `whom`; takes the caller, since the call's context holds it.
    ///
    /// `arguments` may be a text that is no JSON, and then says why not: such a call is refused and reported like any.
    fn call<'a>(
        &'a self,
        caller: CallContext,
        whom: Callee<'a>,
        arguments: Given,
        by: Caller,
    ) -> BoxFuture<'a, Result<ToolReturn, CallError>>;

    /// Returns whether the arguments of a tool may leave out fields when they are written.
    ///
    /// # Errors
    ///
    /// Returns the refusal of a typed call, if they never write one.
    fn may_skip_fields(&self, tool: &str) -> Result<bool, CallError>;

    /// Returns whether anybody listens to events.
    fn is_observed(&self) -> bool;

    /// Reports what happened in a call.
    fn emit(&self, ctx: &CallContext, kind: EventKind);

    /// Reports that `model` was not sent a setting as it was set, once for each run.
    fn warn(&self, ctx: &CallContext, model: &Arc<str>, warning: &SettingWarning);

    /// Gives a task to the worker that is best for it.
    fn subtask<'a>(
        &'a self,
        caller: &'a CallContext,
        request: SubtaskRequest,
    ) -> BoxFuture<'a, Result<ToolReturn, CallError>>;

    /// Makes a worker for the caller of `ctx`; returns its name, and what it may call.
    #[cfg_attr(not(feature = "workers"), expect(dead_code, reason = "only the tools of that feature make workers"))]
    fn make_worker<'a>(&'a self, ctx: &'a CallContext, spec: WorkerSpec) -> BoxFuture<'a, Result<Value, BoxError>>;

    /// Calls a worker that was made.
    #[cfg_attr(not(feature = "workers"), expect(dead_code, reason = "only the tools of that feature call them"))]
    fn call_made<'a>(
        &'a self,
        caller: &'a CallContext,
        worker: &'a str,
        input: Value,
        attachments: Vec<PathBuf>,
    ) -> BoxFuture<'a, Result<ToolReturn, CallError>>;

    /// Returns those of a worker's server-side tools that it may use: asks about those that need approval.
    fn permit_server_side<'a>(
        &'a self,
        worker: &'a CallContext,
        tools: &'a [ServerSideTool],
    ) -> BoxFuture<'a, Result<Vec<ServerSideTool>, CallError>>;

    /// Returns the id of the run.
    fn run(&self) -> &str;

    /// Returns the time.
    fn now(&self) -> Timestamp;

    /// Returns the session's journal, if it has one.
    fn journal(&self) -> Option<&Arc<dyn Journal>>;

    /// Returns whether what the caller sees by this name changes nothing.
    fn is_read_only(&self, caller: &CallContext, shown: &str) -> bool;

    /// Returns who answers for the user, if anybody does.
    fn input_handler(&self) -> Option<&Arc<dyn InputHandler>>;

    /// Returns the folder below which files are read.
    fn project_root(&self) -> &Path;

    /// Returns what closes the instances of the run.
    fn closings(&self) -> &Closings;

    /// Finds the application's state of a type.
    fn state(&self, of: TypeId) -> Option<Arc<dyn Any + Send + Sync>>;
}
