//! Workers that models make: put together for who makes them, and called by nobody but who asks for a made one.

mod kept;

use std::path::PathBuf;
use std::sync::Arc;

use llm_do_providers::is_model_name;
use serde_json::{Map, Value, json};

pub(crate) use self::kept::Made;
use self::kept::{MadeWorker, taken};
use super::{Plane, Run};
use crate::context::{CallContext, Host, Way};
use crate::declared::{Callee, Declared};
use crate::error::{BoxError, CallError};
use crate::event::Caller;
use crate::journal::StepKind;
use crate::prompt::Prompt;
use crate::registry::{Origin, Registered};
use crate::tool::ToolReturn;
use crate::worker_spec::WorkerSpec;

impl Plane {
    /// Puts a worker together for `maker`, or returns everything that is wrong with it.
    fn makeable(&self, spec: &mut WorkerSpec, maker: Option<&Declared>) -> Result<Registered, Vec<String>> {
        let mut faults = maker.map_or_else(Vec::new, |maker| self.registry.grant(spec, maker));
        let worker = self.registry.worker(spec, Origin::Session);
        faults.extend(worker.as_ref().err().into_iter().flatten().cloned());
        if spec.instructions.trim().is_empty() {
            faults.push("its instructions are blank".to_owned());
        }
        if self.made.get(spec.name()).is_some() {
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
        let described = Registered::written(spec, Origin::Session);
        let plan = described.plan()?;
        self.models.choose(spec.name(), plan).err().map(|error| error.to_string())
    }

    /// Puts a worker together again that the journal says was made.
    fn remade(&self, file: String, by: Arc<str>) -> Result<MadeWorker, BoxError> {
        let spec: WorkerSpec = file.parse()?;
        let worker = self
            .registry
            .worker(&spec, Origin::Session)
            .map_err(|faults| format!("the worker `{}` cannot be made again: {}", spec.name(), faults.join("; ")))?;
        Ok(MadeWorker { worker: worker.into(), by, file })
    }
}

impl Run {
    /// Makes a worker for the caller of `ctx`, who may call all that it may.
    pub(super) async fn create(&self, ctx: &CallContext, mut spec: WorkerSpec) -> Result<Value, BoxError> {
        let maker = ctx.caller().and_then(CallContext::declared);
        let worker = self.plane.makeable(&mut spec, maker).map_err(|faults| refused(&faults.join("; ")))?;
        let tools: Vec<_> = worker.declared().into_iter().flatten().map(str::to_owned).collect();
        let made = MadeWorker { worker: Arc::new(worker), by: ctx.key(), file: spec.to_worker_file() };
        let (plane, added, tool) = (Arc::clone(&self.plane), made.clone(), ctx.name().to_owned());
        let local = async move {
            // Off the async threads, where it is not broken off between the file and the worker.
            let adding = tokio::task::spawn_blocking(move || plane.made.add(&added));
            let added = adding.await.unwrap_or_else(|fault| Err(fault.to_string()));
            added.map_err(|fault| CallError::Failed { tool, source: refused(&fault) })
        };
        let kept = ctx.step(Way::Step, StepKind::Effect, "made", || json!(made.file), local).await;
        kept.map_err(|error| match error {
            CallError::Failed { source, .. } => source,
            other => other.into(),
        })?;
        // What the journal says was added by another process.
        self.plane.made.restore(made);
        Ok(json!({ "worker": spec.name(), "may_call": tools }))
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
