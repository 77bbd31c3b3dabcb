//! The operations of the plane that a context uses.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use llm_do_providers::{Message, Response};
use llm_do_providers::{ServerSideTool, SettingWarning};
use serde_json::Value;

use super::{CallContext, CallFrame, GivenArguments};
use crate::base::error::{BoxError, CallError, ErrorTypes};
use crate::declare::argument::Given;
use crate::declare::subtask::SubtaskRequest;
use crate::declare::tool::ToolReturn;
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::{Caller, EventKind, Labels, ShownContent};
use crate::observe::journal::Journal;
use crate::plane::conversation::Threads;
use crate::plane::declared::Callee;
use crate::plane::instance::{CloseTasks, TypeKey};
use crate::plane::mailbox::Mailbox;
#[cfg(feature = "script")]
use crate::plane::origin::RepeatedCall;
use crate::plane::plan::DryRun;
use crate::plane::user_input::InputHandler;

/// The plane, as used by a context. The trait inverts the order of modules, since calls nest.
pub(crate) trait Host: ErrorTypes + Send + Sync {
    /// Calls `callee` on behalf of `caller`; takes the caller by value, since the call's context keeps it.
    ///
    /// Arguments that are not JSON are refused and reported like other invalid arguments. If the arguments are given as
    /// text, the result is text too.
    fn call<'a>(
        &'a self,
        caller: CallContext,
        callee: Callee<'a>,
        arguments: GivenArguments<'a>,
        by: Caller,
    ) -> BoxFuture<'a, Result<ToolReturn, CallError>>;

    /// Prepares a call in the background; returns its context and the call, which runs when it is polled.
    ///
    /// `number` is its number among those of the caller's model, which then makes it; otherwise, code makes it.
    fn in_background(
        self: Arc<Self>,
        caller: CallContext,
        callee: Callee<'_>,
        arguments: Given,
        number: Option<u32>,
    ) -> (CallContext, BoxFuture<'static, Result<ToolReturn, CallError>>);

    /// Returns whether the arguments of a tool may omit fields when they are serialized.
    ///
    /// # Errors
    ///
    /// Returns an error for a typed call if they never serialize one of their fields.
    fn may_skip_fields(&self, tool: &str) -> Result<bool, CallError>;

    /// Returns the labels of an earlier result in the conversation of a worker, of the tool that it sees as `shown`; `None` for those of its
    /// messages. Without sources, all are trusted.
    fn earlier_labels(&self, worker: &CallContext, shown: Option<&str>) -> Labels;

    /// Returns the labels of a value of which nothing is known.
    fn unknown_labels(&self) -> Labels;

    /// Returns whether values are labelled.
    fn has_flow(&self) -> bool;

    /// Returns whether the model of a worker sees all that its code returns.
    #[cfg(feature = "script")]
    fn shows_code_results(&self, worker: &str) -> bool;

    /// Notes again a call that the code of a model made in another process, with its result; `ctx` is the call of the code.
    #[cfg(feature = "script")]
    fn note_repeated(&self, ctx: &CallContext, call: &RepeatedCall<'_>);

    /// Returns whether a sink receives events.
    fn is_observed(&self) -> bool;

    /// Returns whether anybody may decide about calls of the run: then its calls note what they read.
    fn tracks_origins(&self) -> bool;

    /// Sends an event of the call with this frame to the sinks; `parent` is the call that made it.
    fn emit(&self, call: &CallFrame, parent: Option<u64>, kind: EventKind);

    /// Returns the content of requests that the run's events already have, if content is enabled.
    fn shown_content(&self) -> Option<&ShownContent>;

    /// Reports a setting that was changed or left out for `model`, once for each run.
    fn warn(&self, ctx: &CallContext, model: &Arc<str>, warning: &SettingWarning);

    /// Calls a worker that continues the thread with this name.
    fn call_in_thread<'a>(
        &'a self,
        caller: CallContext,
        thread: &'a str,
        callee: Callee<'a>,
        arguments: Value,
    ) -> BoxFuture<'a, Result<ToolReturn, CallError>>;

    /// Returns the threads of the run.
    fn threads(&self) -> &Arc<Threads>;

    /// Delegates a task to the worker that fits it best.
    fn subtask<'a>(
        &'a self,
        caller: &'a CallContext,
        request: SubtaskRequest,
    ) -> BoxFuture<'a, Result<ToolReturn, CallError>>;

    /// Creates a worker for the caller of `ctx`, or replaces one that it created; returns its name and its callees.
    fn create_worker<'a>(
        &'a self,
        ctx: &'a CallContext,
        spec: WorkerSpec,
        replaces: bool,
    ) -> BoxFuture<'a, Result<Value, BoxError>>;

    /// Describes the workers that were created in the run or its chat, for the caller of `ctx`.
    fn list_workers(&self, ctx: &CallContext) -> Value;

    /// Calls a worker that was created at run time.
    fn call_runtime_worker<'a>(
        &'a self,
        caller: &'a CallContext,
        worker: &'a str,
        input: Value,
        attachments: Vec<PathBuf>,
    ) -> BoxFuture<'a, Result<ToolReturn, CallError>>;

    /// Returns whether a repeated call of the tool with this registered name may do harm.
    fn must_not_repeat(&self, tool: &str) -> bool;

    /// Asks the model of a worker once, as a request of the call of `ctx`.
    fn respond<'a>(
        &'a self,
        ctx: &'a CallContext,
        spec: &'a WorkerSpec,
        messages: Vec<Message>,
    ) -> BoxFuture<'a, Result<Response, CallError>>;

    /// Returns the server-side tools that a worker may use, after asking about those that need approval.
    fn permit_server_side<'a>(
        &'a self,
        worker: &'a CallContext,
        tools: &'a [ServerSideTool],
    ) -> BoxFuture<'a, Result<Vec<ServerSideTool>, CallError>>;

    /// Returns the messages to the run.
    fn mailbox(&self) -> &Arc<Mailbox>;

    /// Returns the run itself, for a run that starts under it.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;

    /// Returns the id of the run.
    fn run(&self) -> &Arc<str>;

    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Returns the session's journal, if it has one.
    fn journal(&self) -> Option<&Arc<dyn Journal>>;

    /// Returns the dry run of the run, if it is one.
    fn dry_run(&self) -> Option<&Arc<DryRun>>;

    /// Adds an effect of the call of `ctx` to the plan of a dry run, and returns its result; `None` if the effect runs.
    fn plan_effect(&self, ctx: &CallContext, name: &str, input: &Value) -> Option<Result<Value, CallError>>;

    /// Returns whether the tool or worker with the name `shown` for the caller is read-only.
    fn is_read_only(&self, caller: &CallContext, shown: &str) -> bool;

    /// Returns whether the model of `caller` may start calls in the background of the tool that it sees as `shown`.
    fn may_run_in_background(&self, caller: &CallContext, shown: &str) -> bool;

    /// Returns the maximum number of concurrent bytes the model of `caller` gets of a result of the tool that it sees as `shown`, if the tool sets it.
    fn max_result(&self, caller: &CallContext, shown: &str) -> Option<u64>;

    /// Returns how many read-only calls of one caller.
    fn max_concurrent_calls(&self) -> usize;

    /// Returns the handler of questions to the user, if there is one.
    fn input_handler(&self) -> Option<&Arc<dyn InputHandler>>;

    /// Returns the folder that files are read from.
    fn project_root(&self) -> &Path;

    /// Returns the folder that tools use as the working directory.
    fn working_folder(&self) -> &Path;

    /// Returns the handle that closes the run's instances.
    fn close_tasks(&self) -> &CloseTasks;

    /// Returns the application's state of a type, or that of a named instance.
    fn state(&self, of: TypeKey) -> Option<Arc<dyn Any + Send + Sync>>;
}
