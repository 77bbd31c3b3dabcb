//! Workers that models create at run time, and calls of them by name.

mod catalog;
#[cfg(any(feature = "workers", test))]
mod file;
#[cfg(not(any(feature = "workers", test)))]
#[path = "runtime_worker/without_file.rs"]
mod file;

use std::path::PathBuf;
use std::sync::Arc;

use llm_do_worker_file::check_model_name;
use serde_json::{Map, Value, json};
use tokio_util::task::AbortOnDropHandle;

pub(crate) use self::catalog::RuntimeWorkers;
use self::catalog::{RuntimeWorker, name_taken};
use super::{Plane, Run};
use crate::base::error::{BoxError, CallError};
use crate::declare::prompt::Prompt;
use crate::declare::tool::ToolReturn;
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::Caller;
use crate::observe::journal::{StepKind, StepSpec};
use crate::plane::context::{CallContext, GivenArguments, Host, JournalMethod};
use crate::plane::declared::{Callee, Declared};
use crate::plane::registry::{Origin, Registered};

impl Plane {
    /// Builds a worker, or returns all of its faults in addition to the given ones.
    ///
    /// In a resumed run, a file that describes the same worker was written by the process that died.
    fn build_worker(
        &self,
        spec: &WorkerSpec,
        mut faults: Vec<String>,
        is_resumed: bool,
    ) -> Result<Registered, Vec<String>> {
        let exists = self.runtime_workers.get(spec.name()).is_some();
        let worker = if exists || (is_resumed && self.registry.is_loaded_from_file(spec)) {
            self.registry.rebuild_worker(spec)
        } else {
            self.registry.worker(spec, Origin::Session)
        };
        faults.extend(worker.as_ref().err().into_iter().flatten().cloned());
        if spec.instructions.trim().is_empty() {
            faults.push("its instructions are blank".to_owned());
        }
        if exists {
            faults.push(name_taken(spec.name()));
        }
        // Otherwise an invalid model would only be reported by the first call.
        faults.extend(self.model_fault(spec));
        worker.ok().filter(|_| faults.is_empty()).ok_or(faults)
    }

    /// Returns why no model can run the worker, if none can.
    ///
    /// A malformed name is refused even under a forced model, since a worker file with it could not be read.
    fn model_fault(&self, spec: &WorkerSpec) -> Option<String> {
        if let Some(fault) = spec.model.as_deref().and_then(|name| check_model_name(name).err()) {
            return Some(fault);
        }
        let described = Registered::from_spec(spec, Origin::Session);
        let plan = described.plan()?;
        self.models.choose(spec.name(), plan).err().map(|error| error.to_string())
    }

    /// Rebuilds a worker from the journal; its own file may have been read at start.
    fn rebuild_worker(&self, file: String, by: Arc<str>) -> Result<RuntimeWorker, BoxError> {
        let spec: WorkerSpec = file.parse()?;
        let registered = self.registry.get(spec.name());
        let worker = match registered.filter(|_| !self.registry.is_loaded_from_file(&spec)) {
            None if registered.is_some() => self.registry.rebuild_worker(&spec),
            None => self.registry.worker(&spec, Origin::Session),
            Some(other) => {
                let other = other.location();
                Err(vec![format!(
                    "{other} differs from the worker in the journal; restore it, or start with a new journal"
                )])
            }
        };
        let worker = worker.map_err(|faults| {
            format!("the worker `{}` cannot be restored from the journal: {}", spec.name(), faults.join("; "))
        })?;
        Ok(RuntimeWorker { worker: worker.into(), by, file })
    }
}

impl Run {
    /// Creates a worker for the caller of `ctx`; it may call what that caller may.
    pub(super) async fn create_worker(&self, ctx: &CallContext, mut spec: WorkerSpec) -> Result<Value, BoxError> {
        let creator: Option<&Declared> = ctx.caller().and_then(CallContext::declared);
        let ungranted = creator.map_or_else(Vec::new, |creator| self.plane.registry.grant(&mut spec, creator));
        let file = spec.to_worker_file();
        let journaled = ctx.journal().map(|journal| {
            let (step, in_flight) = ctx.next_step(StepKind::Effect, "made", json!(file));
            (journal.is_recorded(&step.key), step, in_flight)
        });
        if journaled.is_some() {
            ctx.record_denials().await?;
        }
        let created = if journaled.as_ref().is_some_and(|(is_recorded, ..)| *is_recorded) {
            // An earlier process created it, so its name is not checked again.
            let failed = |source| CallError::Journal { tool: ctx.name().to_owned(), source };
            self.plane.rebuild_worker(file, ctx.key()).map_err(failed)?
        } else {
            let worker = self.plane.build_worker(&spec, ungranted, self.is_resumed);
            let worker = worker.and_then(|worker| check_readable(&file).map(|()| worker));
            let worker = worker.map_err(|faults| not_created(&faults.join("; ")))?;
            RuntimeWorker { worker: Arc::new(worker), by: ctx.key(), file }
        };
        let tools: Vec<_> = created.worker.declared().into_iter().flatten().map(str::to_owned).collect();
        self.record_worker(ctx, journaled.as_ref().map(|(_, step, _)| step.clone()), created.clone()).await?;
        // A worker restored from the journal was added by an earlier process.
        self.plane.runtime_workers.restore(created);
        Ok(json!({ "worker": spec.name(), "may_call": tools }))
    }

    /// Adds a worker to the session and writes its file, as a separate step if there is a journal.
    async fn record_worker(
        &self,
        ctx: &CallContext,
        step: Option<StepSpec>,
        created: RuntimeWorker,
    ) -> Result<(), BoxError> {
        let (plane, tool, is_resumed) = (Arc::clone(&self.plane), ctx.name().to_owned(), self.is_resumed);
        let local = async move {
            // On a blocking thread, so that cancellation cannot separate the file from the worker. If this future is dropped
            // before the thread starts, nothing is added.
            let adding = AbortOnDropHandle::new(tokio::task::spawn_blocking(move || {
                plane.runtime_workers.add(&created, is_resumed)
            }));
            let added = adding.await.unwrap_or_else(|fault| Err(fault.to_string()));
            added.map_err(|fault| CallError::Failed { tool, source: not_created(&fault) })
        };
        let recorded = match step {
            Some(step) => ctx.recorded(JournalMethod::Step, step, local).await.map(drop),
            None => local.await,
        };
        recorded.map_err(|error| match error {
            CallError::Failed { source, .. } => source,
            other => other.into(),
        })
    }

    /// Restores the workers that a replayed call created.
    pub(super) fn restore_workers(&self, ctx: &CallContext, files: Vec<String>) -> Result<(), CallError> {
        for file in files {
            let failed = |source| CallError::Journal { tool: ctx.name().to_owned(), source };
            self.plane.runtime_workers.restore(self.plane.rebuild_worker(file, ctx.key()).map_err(failed)?);
        }
        Ok(())
    }

    /// Finds a worker that was created at run time.
    pub(super) fn runtime_worker(&self, name: &str) -> Result<Arc<Registered>, CallError> {
        let unknown = || CallError::NotFound { tool: name.to_owned(), hint: self.plane.runtime_workers.hint(name) };
        self.plane.runtime_workers.get(name).ok_or_else(unknown)
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

/// Returns why the file of a worker could not be read again, if so: files have their own limits.
fn check_readable(file: &str) -> Result<(), Vec<String>> {
    file.parse::<WorkerSpec>().map(drop).map_err(|error| error.faults().to_vec())
}

fn not_created(why: &str) -> BoxError {
    format!("the worker was not created: {why}").into()
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
