//! Workers that models make: put together for who makes them, and called by nobody but who asks for a made one.

mod kept;
mod store;

use std::path::PathBuf;
use std::sync::Arc;

use llm_do_providers::is_model_name;
use serde_json::{Map, Value, json};
use tokio_util::task::AbortOnDropHandle;

pub(crate) use self::kept::Made;
use self::kept::{MadeWorker, taken};
use super::{Plane, Run};
use crate::base::error::{BoxError, CallError};
use crate::declare::prompt::Prompt;
use crate::declare::tool::ToolReturn;
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::Caller;
use crate::observe::journal::{StepKind, StepSpec};
use crate::plane::context::{CallContext, Host, JournalMethod};
use crate::plane::declared::{Callee, Declared};
use crate::plane::registry::{Origin, Registered};

impl Plane {
    /// Puts a worker together, or returns everything that is wrong with it, besides the `faults` that are known.
    ///
    /// In a run that is resumed, a file that describes the same worker was written by the process that died.
    fn makeable(
        &self,
        spec: &WorkerSpec,
        mut faults: Vec<String>,
        is_resumed: bool,
    ) -> Result<Registered, Vec<String>> {
        let is_made = self.made.get(spec.name()).is_some();
        let worker = if is_made || (is_resumed && self.registry.is_loaded_from_file(spec)) {
            self.registry.rebuild_worker(spec)
        } else {
            self.registry.worker(spec, Origin::Session)
        };
        faults.extend(worker.as_ref().err().into_iter().flatten().cloned());
        if spec.instructions.trim().is_empty() {
            faults.push("its instructions are blank".to_owned());
        }
        if is_made {
            faults.push(taken(spec.name()));
        }
        // A model that is no model would only be found out by the first call.
        faults.extend(self.model_fault(spec));
        worker.ok().filter(|_| faults.is_empty()).ok_or(faults)
    }

    /// Says why no model runs the worker; a malformed name is refused under a forced model too, since no file with it is read.
    fn model_fault(&self, spec: &WorkerSpec) -> Option<String> {
        if let Some(name) = spec.model.as_deref().filter(|name| !is_model_name(name)) {
            return Some(format!("`{name}` is not a model's name; write `provider:model`"));
        }
        let described = Registered::from_spec(spec, Origin::Session);
        let plan = described.plan()?;
        self.models.choose(spec.name(), plan).err().map(|error| error.to_string())
    }

    /// Puts a worker together again that the journal says was made; its own file may have been read since.
    fn remade(&self, file: String, by: Arc<str>) -> Result<MadeWorker, BoxError> {
        let spec: WorkerSpec = file.parse()?;
        let registered = self.registry.get(spec.name());
        let worker = match registered.filter(|_| !self.registry.is_loaded_from_file(&spec)) {
            None if registered.is_some() => self.registry.rebuild_worker(&spec),
            None => self.registry.worker(&spec, Origin::Session),
            Some(other) => {
                let other = other.location();
                Err(vec![format!("{other} is not what the journal has; restore it, or start with a new journal")])
            }
        };
        let worker = worker
            .map_err(|faults| format!("the worker `{}` cannot be made again: {}", spec.name(), faults.join("; ")))?;
        Ok(MadeWorker { worker: worker.into(), by, file })
    }
}

impl Run {
    /// Makes a worker for the caller of `ctx`, who may call all that it may.
    pub(super) async fn create(&self, ctx: &CallContext, mut spec: WorkerSpec) -> Result<Value, BoxError> {
        let maker: Option<&Declared> = ctx.caller().and_then(CallContext::declared);
        let ungranted = maker.map_or_else(Vec::new, |maker| self.plane.registry.grant(&mut spec, maker));
        let file = spec.to_worker_file();
        let placed = ctx.journal().map(|journal| {
            let (step, visit) = ctx.next_step(StepKind::Effect, "made", json!(file));
            (journal.is_recorded(&step.key), step, visit)
        });
        if placed.is_some() {
            ctx.record_denials().await?;
        }
        let made = if placed.as_ref().is_some_and(|(is_recorded, ..)| *is_recorded) {
            // It was made in an earlier process: its name is judged no more.
            let failed = |source| CallError::Journal { tool: ctx.name().to_owned(), source };
            self.plane.remade(file, ctx.key()).map_err(failed)?
        } else {
            let worker = self.plane.makeable(&spec, ungranted, self.is_resumed);
            let worker = worker.and_then(|worker| readable(&file).map(|()| worker));
            let worker = worker.map_err(|faults| refused(&faults.join("; ")))?;
            MadeWorker { worker: Arc::new(worker), by: ctx.key(), file }
        };
        let tools: Vec<_> = made.worker.declared().into_iter().flatten().map(str::to_owned).collect();
        self.keep(ctx, placed.as_ref().map(|(_, step, _)| step.clone()), made.clone()).await?;
        // What the journal says was added by another process.
        self.plane.made.restore(made);
        Ok(json!({ "worker": spec.name(), "may_call": tools }))
    }

    /// Keeps a worker for the session and as a file: a step of its own, if there is a journal.
    async fn keep(&self, ctx: &CallContext, step: Option<StepSpec>, made: MadeWorker) -> Result<(), BoxError> {
        let (plane, tool, is_resumed) = (Arc::clone(&self.plane), ctx.name().to_owned(), self.is_resumed);
        let local = async move {
            // Off the async threads, where it is not broken off between the file and the worker. What has not begun when
            // nobody waits any more never does.
            let adding = AbortOnDropHandle::new(tokio::task::spawn_blocking(move || plane.made.add(&made, is_resumed)));
            let added = adding.await.unwrap_or_else(|fault| Err(fault.to_string()));
            added.map_err(|fault| CallError::Failed { tool, source: refused(&fault) })
        };
        let kept = match step {
            Some(step) => ctx.recorded(JournalMethod::Step, step, local).await.map(drop),
            None => local.await,
        };
        kept.map_err(|error| match error {
            CallError::Failed { source, .. } => source,
            other => other.into(),
        })
    }

    /// Makes workers that a call made which the journal replays.
    pub(super) fn recreate(&self, ctx: &CallContext, files: Vec<String>) -> Result<(), CallError> {
        for file in files {
            let failed = |source| CallError::Journal { tool: ctx.name().to_owned(), source };
            self.plane.made.restore(self.plane.remade(file, ctx.key()).map_err(failed)?);
        }
        Ok(())
    }

    /// Finds a worker that was made.
    pub(super) fn made(&self, name: &str) -> Result<Arc<Registered>, CallError> {
        let unknown = || CallError::NotFound { tool: name.to_owned(), hint: self.plane.made.hint(name) };
        self.plane.made.get(name).ok_or_else(unknown)
    }

    /// Calls a worker that was made.
    pub(super) async fn call_worker(
        &self,
        caller: &CallContext,
        name: &str,
        input: Value,
        attachments: Vec<PathBuf>,
    ) -> Result<ToolReturn, CallError> {
        let invalid = |fault: String| CallError::invalid(name, fault);
        let arguments = arguments(&*self.made(name)?, input, attachments).map_err(invalid)?;
        self.call(caller.clone(), Callee::Made(name), Ok(arguments), Caller::Code).await
    }
}

/// Says why a worker could not be made again from its file, which has limits of its own.
fn readable(file: &str) -> Result<(), Vec<String>> {
    file.parse::<WorkerSpec>().map(drop).map_err(|error| error.faults().to_vec())
}

fn refused(why: &str) -> BoxError {
    format!("nothing was made: {why}").into()
}

/// Returns the arguments for a worker: a prompt, or what its schema asks for, written as JSON or as a text of it.
fn arguments(worker: &Registered, input: Value, attachments: Vec<PathBuf>) -> Result<Value, String> {
    if worker.takes_prompt() {
        let Value::String(text) = input else { return Err("it takes a text as its input".to_owned()) };
        let prompt = attachments.into_iter().fold(Prompt::new(text), Prompt::attach_file);
        return serde_json::to_value(prompt).map_err(|error| error.to_string());
    }
    if !attachments.is_empty() {
        return Err("it takes no attachments, since it has an input schema".to_owned());
    }
    let arguments: Option<Map<_, _>> = match input {
        Value::Object(arguments) => Some(arguments),
        Value::String(text) => serde_json::from_str(&text).ok(),
        _ => None,
    };
    arguments
        .map(Value::Object)
        .ok_or_else(|| format!("its input is an object of this schema: {}", worker.parameters()))
}
