//! The handlers that the engine calls: a run, and one call of a run.

use std::error::Error as _;
use std::future::IntoFuture;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use llm_do_core::base::error::{CallError, chain};
use llm_do_core::base::usage::RunUsage;
use llm_do_core::observe::event::{ItemKind, Label};
use llm_do_core::observe::journal::{EngineJournal, JournalError};
use llm_do_core::session::runtime::{RunHandle, Runtime, Start};
use restate_sdk::endpoint::{ContextInternal, Error};
use restate_sdk::errors::{HandlerError, TerminalError};
use restate_sdk::serde::Json;
use restate_sdk::service::Service;
use restate_sdk::service::macro_support::ServiceBoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::entry::{End, Outcome};
use super::log::{Invoked, Log};
use super::names::Names;
use crate::ask::Absent;

/// The state that the handlers of one application share; clones share it.
#[derive(Clone)]
pub(super) struct Handlers(Arc<Application>);

struct Application {
    runtime: Runtime,
    names: Names,
    /// The names of the items that can be started.
    entries: Vec<String>,
}

/// The input of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunInput {
    pub(super) entry: String,
    #[serde(default = "no_arguments")]
    arguments: Value,
    /// The tenant of the run, if a service started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tenant: Option<String>,
    /// Whose text the arguments may carry, if they are not the user's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<Label>,
}

/// One call of a run, with the records that lead to it.
#[derive(Debug, Deserialize)]
struct CallInput {
    run: String,
    start: RunInput,
    call: Arc<str>,
    steps: Vec<Box<RawValue>>,
}

fn no_arguments() -> Value {
    json!({})
}

/// A run, and its handle.
type Running = (BoxFuture<'static, Result<Value, CallError>>, RunHandle);

impl Service for Handlers {
    type Future = ServiceBoxFuture;

    fn handle(&self, ctx: ContextInternal) -> Self::Future {
        let Self(application) = self.clone();
        Box::pin(async move {
            match ctx.handler_name() {
                "run" => {
                    let (Json(input), metadata) = ctx.input::<Json<RunInput>>().await;
                    let result = Box::pin(application.run(&ctx, input, metadata.invocation_id)).await;
                    ctx.handle_handler_result(result.map(Json));
                }
                "call" => {
                    let (Json(input), _) = ctx.input::<Json<CallInput>>().await;
                    let result = Box::pin(application.call(&ctx, input)).await;
                    ctx.handle_handler_result(result.map(Json));
                }
                unknown => return Err(Error::unknown_handler(ctx.service_name(), unknown)),
            }
            ctx.end();
            Ok(())
        })
    }
}

impl Handlers {
    pub(super) fn new(runtime: Runtime, names: Names, entries: Vec<String>) -> Self {
        Self(Arc::new(Application { runtime, names, entries }))
    }
}

impl Application {
    /// Runs an entry, or continues it.
    async fn run(&self, ctx: &ContextInternal, input: RunInput, id: String) -> Result<Outcome, HandlerError> {
        self.check_offered(&input.entry)?;
        let (sender, requests) = mpsc::unbounded_channel();
        let journal = EngineJournal::new(sender, self.may_leave());
        let invoked = Invoked { run: id.clone(), start: json!(input), earlier: Vec::new() };
        let mut log = Log::read(ctx, &self.names, invoked, journal.clone(), requests).await?;
        if let Some(outcome) = log.outcome() {
            return returned(outcome.clone());
        }
        let (run, handle) = self.start(&id, input, journal, &log);
        let end = match log.serve(run).await {
            Ok(result) => End::Result(result),
            Err(_) if log.cancellation.is_cancelled() => End::Cancelled {},
            Err(error) if is_retried(&error) => return Err(HandlerError::from(chain(&error))),
            Err(error) => End::Error(chain(&error)),
        };
        let outcome = Outcome { end, usage: handle.usage() };
        log.end(outcome.clone()).await;
        returned(outcome)
    }

    /// Runs one call of a run, which is replayed up to that call.
    async fn call(&self, ctx: &ContextInternal, input: CallInput) -> Result<Value, HandlerError> {
        let CallInput { run: id, start, call, steps } = input;
        let (sender, requests) = mpsc::unbounded_channel();
        let (journal, value) = EngineJournal::of_call(Arc::clone(&call), sender, self.may_leave());
        let invoked = Invoked { run: id.clone(), start: json!(start), earlier: steps };
        let mut log = Log::read(ctx, &self.names, invoked, journal.clone(), requests).await?;
        if let Some(outcome) = log.outcome() {
            return returned_value(outcome.end.clone());
        }
        let (run, _) = self.start(&id, start, journal, &log);
        let part = pin!(async {
            tokio::select! { Ok(value) = value => Ok(value), ended = run => Err(ended) }
        });
        let value = log.serve(part).await;
        let end = match value {
            Ok(value) => End::Result(value),
            Err(_) if log.cancellation.is_cancelled() => End::Cancelled {},
            Err(ended) => {
                return Err(HandlerError::from(match ended {
                    Ok(_) => format!("the run `{id}` ended without the call `{call}`, which it made before"),
                    Err(error) => chain(&error),
                }));
            }
        };
        log.end(Outcome { end: end.clone(), usage: RunUsage::default() }).await;
        returned_value(end)
    }

    fn start(&self, id: &str, input: RunInput, journal: EngineJournal, log: &Log<'_>) -> Running {
        let start: Start<Value> = self.runtime.start_named(&input.entry, input.arguments).with_id(id);
        let start = match input.tenant {
            Some(tenant) => start.tenant(tenant),
            None => start,
        };
        let start = match input.source {
            Some(label) => start.source(label),
            None => start,
        };
        let start =
            start.journal(journal).approver(Absent).input_handler(Absent).cancellation(log.cancellation.clone());
        let handle = start.handle();
        (start.into_future(), handle)
    }

    /// Returns a function that decides which calls may run as separate invocations: calls of workers without instances
    /// of callers.
    fn may_leave(&self) -> impl Fn(&str) -> bool + Send + Sync + 'static {
        let runtime = self.runtime.clone();
        move |name| may_leave(&runtime, name)
    }

    fn check_offered(&self, name: &str) -> Result<(), HandlerError> {
        if self.entries.iter().any(|entry| entry == name) {
            return Ok(());
        }
        let hint = llm_do_worker_file::did_you_mean(name, self.entries.iter().map(String::as_str));
        Err(TerminalError::new_with_code(404, format!("unknown entry `{name}`{hint}")).into())
    }
}

/// Returns whether calls with this name may run as separate invocations.
pub(crate) fn may_leave(runtime: &Runtime, name: &str) -> bool {
    runtime.registry().get(name).is_some_and(|item| item.kind() == ItemKind::Worker)
}

/// Returns the result for a caller of the run.
fn returned(outcome: Outcome) -> Result<Outcome, HandlerError> {
    match outcome.end {
        End::Cancelled {} => Err(TerminalError::new_with_code(409, "cancelled").into()),
        _ => Ok(outcome),
    }
}

/// Returns the result of one of its calls for the run.
fn returned_value(end: End) -> Result<Value, HandlerError> {
    match end {
        End::Result(value) => Ok(value),
        End::Error(_) | End::Cancelled {} => Err(TerminalError::new_with_code(409, "cancelled").into()),
    }
}

/// Returns whether the engine should retry later: the run diverged from its log, perhaps because this is the wrong
/// version of the code.
fn is_retried(error: &CallError) -> bool {
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<JournalError>() {
            return !matches!(error, JournalError::InvalidValue { .. });
        }
        source = error.source();
    }
    false
}
