//! Workers that models create at run time, and calls of them by name.
//!
//! They belong to the run that created them, or to its chat: no other run finds them.

mod build;
mod catalog;
#[cfg(any(feature = "workers", test))]
mod file;
#[cfg(not(any(feature = "workers", test)))]
#[path = "runtime_worker/without_file.rs"]
mod file;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio_util::task::AbortOnDropHandle;

use self::catalog::CreatedWorker;
pub(crate) use self::catalog::{CreatedWorkers, StoredWorker};
use super::Run;
use crate::base::error::{BoxError, CallError};
use crate::declare::prompt::Prompt;
use crate::declare::tool::ToolReturn;
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::Caller;
use crate::observe::journal::{StepKind, StepSpec};
use crate::plane::context::{CallContext, GivenArguments, Host, JournalMethod};
use crate::plane::declared::{Callee, Declared};
use crate::plane::registry::Registered;

impl Run {
    /// Creates a worker for the caller of `ctx`, or replaces one that it created. The worker may call the callees of
    /// that caller.
    pub(super) async fn create_worker(
        &self,
        ctx: &CallContext,
        mut spec: WorkerSpec,
        replaces: bool,
    ) -> Result<Value, BoxError> {
        let creator: Option<&Declared> = ctx.caller().and_then(CallContext::declared);
        let ungranted = creator.map_or_else(Vec::new, |creator| self.plane.registry.grant(&mut spec, creator));
        let stored =
            StoredWorker { file: spec.to_worker_file(), maker: maker(ctx), revision: 0, labels: ctx.labels_to_keep() };
        let journaled = ctx.journal().map(|journal| {
            let name = if replaces { "replaced" } else { "made" };
            let (step, in_flight) = ctx.next_step(StepKind::Effect, name, json!(stored.file));
            (journal.is_recorded(&step.key), step, in_flight)
        });
        if journaled.is_some() {
            ctx.record_denials().await?;
        }
        let worker = if journaled.as_ref().is_some_and(|(is_recorded, ..)| *is_recorded) {
            // An earlier process created the worker, so its name is not checked again.
            None
        } else {
            let worker = self.build_worker(ctx, &spec, &stored, ungranted, replaces);
            let worker = worker.and_then(|worker| check_readable(&stored.file).map(|()| worker));
            Some(Arc::new(worker.map_err(|faults| not_created(&faults.join("; "), replaces))?))
        };
        let mut created = CreatedWorker { name: spec.name().into(), worker, stored, by: ctx.key() };
        let step = journaled.as_ref().map(|(_, step, _)| step.clone());
        created.stored.revision = self.record_worker(ctx, step, created.clone(), replaces).await?;
        let worker = match created.worker.take() {
            Some(worker) => worker,
            None => self.restored(ctx, &created.stored)?,
        };
        let tools: Vec<_> = worker.declared().into_iter().flatten().map(str::to_owned).collect();
        // A worker restored from the journal was added by an earlier process.
        self.chat.created_workers.restore(CreatedWorker { worker: Some(worker), ..created });
        Ok(json!({ "worker": spec.name(), "may_call": tools }))
    }

    /// Adds a worker to the run and writes its file, as a separate step if there is a journal; returns its revision.
    async fn record_worker(
        &self,
        ctx: &CallContext,
        step: Option<StepSpec>,
        created: CreatedWorker,
        replaces: bool,
    ) -> Result<u32, BoxError> {
        let (catalog, store) = (Arc::clone(&self.chat.created_workers), self.worker_store());
        let (tool, is_resumed) = (ctx.name().to_owned(), self.is_resumed);
        let local = async move {
            // On a blocking thread, so that cancellation cannot separate the file from the worker. If this future is
            // dropped before the thread starts, nothing is added.
            let adding = AbortOnDropHandle::new(tokio::task::spawn_blocking(move || {
                if replaces {
                    return catalog.replace(&created, store.as_deref());
                }
                catalog.add(&created, store.as_deref(), is_resumed).map(|()| 0)
            }));
            let added = adding.await.unwrap_or_else(|fault| Err(fault.to_string()));
            added.map_err(|fault| CallError::Failed { tool, source: not_created(&fault, replaces) })
        };
        let recorded = match step {
            Some(step) => ctx.recorded(JournalMethod::Step, step, local).await.map(|recorded| recorded.value),
            None => local.await,
        };
        recorded.map_err(|error| match error {
            CallError::Failed { source, .. } => source,
            other => other.into(),
        })
    }

    /// Restores the workers that a replayed call created.
    pub(super) fn restore_workers(&self, ctx: &CallContext, created: Vec<StoredWorker>) -> Result<(), CallError> {
        for stored in created {
            let worker = self.restored(ctx, &stored)?;
            let name = Arc::clone(&worker.name);
            self.chat.created_workers.restore(CreatedWorker { name, worker: Some(worker), stored, by: ctx.key() });
        }
        Ok(())
    }

    /// Describes the workers of the run: their descriptions and callees, and whether the caller of `ctx` may replace
    /// them.
    pub(super) fn list_workers(&self, ctx: &CallContext) -> Value {
        let maker = maker(ctx);
        let describe = |created: CreatedWorker| {
            let (name, is_yours) = (&*created.name, created.stored.maker == maker);
            let worker = match self.built(&created) {
                Ok(worker) => worker,
                Err(fault) => return json!({ "worker": name, "fault": fault, "is_yours": is_yours }),
            };
            let may_call: Vec<_> = worker.declared().into_iter().flatten().collect();
            let mut described = json!({ "worker": name, "description": worker.description(), "may_call": may_call });
            if !worker.takes_prompt() {
                described["input_schema"] = worker.parameters().clone();
            }
            described["is_yours"] = is_yours.into();
            described
        };
        self.chat.created_workers.all().into_iter().map(describe).collect()
    }

    /// Finds a worker that was created in this run or its chat.
    pub(super) fn runtime_worker(&self, name: &str) -> Result<Arc<Registered>, CallError> {
        let unknown = |hint| CallError::NotFound { tool: name.to_owned(), hint };
        match self.chat.created_workers.get(name) {
            Some(created) => self.built(&created).map_err(unknown),
            None => Err(unknown(self.chat.created_workers.hint(name))),
        }
    }

    /// Calls a worker that was created at run time.
    pub(super) async fn call_worker(
        &self,
        caller: &CallContext,
        name: &str,
        input: Value,
        attachments: Vec<PathBuf>,
    ) -> Result<ToolReturn, CallError> {
        let invalid = |fault: String| CallError::invalid(name, fault);
        let arguments = arguments(&*self.runtime_worker(name)?, input, attachments).map_err(invalid)?;
        self.call(caller.clone(), Callee::RuntimeWorker(name), GivenArguments::Value(arguments), Caller::Code).await
    }
}

/// Returns the item that called the tool of `ctx`, to which the worker belongs; `None` for the user.
fn maker(ctx: &CallContext) -> Option<Arc<str>> {
    let caller = ctx.caller().filter(|_| ctx.frame().by != Caller::User)?;
    Some(Arc::clone(&caller.frame().name))
}

/// Returns why the file of a worker could not be read again, if so; files have separate limits.
fn check_readable(file: &str) -> Result<(), Vec<String>> {
    file.parse::<WorkerSpec>().map(drop).map_err(|error| error.faults().to_vec())
}

fn not_created(why: &str, replaces: bool) -> BoxError {
    let what = if replaces { "replaced" } else { "created" };
    format!("the worker was not {what}: {why}").into()
}

/// Returns the arguments for a worker: a prompt, or an object for its schema, given as JSON or as a string of JSON.
fn arguments(worker: &Registered, input: Value, attachments: Vec<PathBuf>) -> Result<Value, String> {
    if worker.takes_prompt() {
        let Value::String(text) = input else { return Err("its input must be a string".to_owned()) };
        let prompt = attachments.into_iter().fold(Prompt::new(text), Prompt::attach_file);
        return serde_json::to_value(prompt).map_err(|error| error.to_string());
    }
    if !attachments.is_empty() {
        return Err("attachments are not supported, since the worker has an input schema".to_owned());
    }
    let arguments: Option<Map<_, _>> = match input {
        Value::Object(arguments) => Some(arguments),
        Value::String(text) => serde_json::from_str(&text).ok(),
        _ => None,
    };
    arguments
        .map(Value::Object)
        .ok_or_else(|| format!("its input must be an object that matches this schema: {}", worker.parameters()))
}
