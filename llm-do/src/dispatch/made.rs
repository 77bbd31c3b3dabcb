//! Workers that models make: kept for the session, and found by nobody but who asks for a made one.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use super::{Plane, Run};
use crate::context::{CallContext, Host};
use crate::declared::{Callee, Declared};
use crate::error::{BoxError, CallError};
use crate::event::Caller;
use crate::journal::StepKind;
use crate::prompt::Prompt;
use crate::registry::{Origin, Registered, did_you_mean};
use crate::worker_spec::WorkerSpec;

/// The workers that were made in this session.
#[derive(Debug, Default)]
pub(crate) struct Made {
    workers: Mutex<BTreeMap<Arc<str>, MadeWorker>>,
    /// The folder that they are written to, as worker files.
    store: Option<PathBuf>,
}

#[derive(Clone, Debug)]
struct MadeWorker {
    worker: Arc<Registered>,
    /// The key of the call that made it, by which a journal tells what is made again when a call is not.
    by: Arc<str>,
    /// What it is, as a worker file.
    file: String,
}

impl Made {
    /// Returns none yet; those to come are written to `store`.
    pub(crate) fn new(store: Option<PathBuf>) -> Self {
        Self { store, ..Self::default() }
    }

    fn get(&self, name: &str) -> Option<Arc<Registered>> {
        self.lock().get(name).map(|made| Arc::clone(&made.worker))
    }

    /// Returns the files of the workers that the call of this key, and the calls below it, made.
    pub(super) fn below(&self, key: &str) -> Vec<String> {
        let inside = |by: &str| by.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.lock().values().filter(|made| inside(&made.by)).map(|made| made.file.clone()).collect()
    }

    /// Adds a worker, and its file if there is a folder for it: both or neither.
    fn add(&self, made: &MadeWorker) -> Result<(), String> {
        let name = made.worker.name();
        let path = self.store.as_ref().map(|folder| folder.join(format!("{name}.worker")));
        if let Some(path) = &path {
            create(path, &made.file).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => format!("there is a worker file `{name}` already; choose another name"),
                _ => format!("the worker file cannot be written: {error}"),
            })?;
        }
        match self.lock().entry(name.into()) {
            Entry::Vacant(place) => drop(place.insert(made.clone())),
            Entry::Occupied(_) => {
                path.as_deref().map_or(Ok(()), fs::remove_file).map_err(|error| error.to_string())?;
                return Err(taken(name));
            }
        }
        Ok(())
    }

    /// Adds a worker that was made before, unless it is here.
    fn restore(&self, made: MadeWorker) {
        self.lock().entry(made.worker.name().into()).or_insert(made);
    }

    /// Says what to do about a name that nothing was made by.
    fn hint(&self, name: &str) -> String {
        let made = self.lock();
        if made.is_empty() {
            return "no worker was made yet".to_owned();
        }
        let names: Vec<_> = made.keys().map(|name| format!("`{name}`")).collect();
        let near = did_you_mean(name, made.keys().map(AsRef::as_ref));
        format!("the workers that were made are {}{near}", names.join(", "))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, MadeWorker>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes a file that is not there yet, and leaves none that is half written.
fn create(path: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let mut file = File::create_new(path)?;
    let written = file.write_all(text.as_bytes());
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(path);
    }
    written
}

fn taken(name: &str) -> String {
    format!("a worker `{name}` was made already; choose another name")
}

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
        let described = Registered::written(spec, Origin::Session);
        let model = described.plan().map(|plan| self.models.choose(spec.name(), plan));
        faults.extend(model.and_then(Result::err).map(|error| error.to_string()));
        worker.ok().filter(|_| faults.is_empty()).ok_or(faults)
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
    pub(super) async fn create(&self, ctx: &CallContext, mut spec: WorkerSpec) -> Result<Value, CallError> {
        let maker = ctx.caller().and_then(CallContext::declared);
        let worker = self.plane.makeable(&mut spec, maker).map_err(|faults| refused(ctx, &faults.join("; ")))?;
        let tools: Vec<_> = worker.declared().into_iter().flatten().map(str::to_owned).collect();
        let made = MadeWorker { worker: Arc::new(worker), by: ctx.key(), file: spec.to_worker_file() };
        let (plane, inner, added) = (Arc::clone(&self.plane), ctx.clone(), made.clone());
        let local = async move {
            // Off the async threads, where it is not broken off between the file and the worker.
            let adding = tokio::task::spawn_blocking(move || plane.made.add(&added));
            let added = adding.await.unwrap_or_else(|fault| Err(fault.to_string()));
            added.map_err(|fault| refused(&inner, &fault))
        };
        ctx.step(StepKind::Effect, "made", || json!(made.file), local).await?;
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
    ) -> Result<Value, CallError> {
        let invalid = |message| CallError::InvalidArguments { tool: name.to_owned(), message };
        let arguments = arguments(&*self.made(name)?, input, attachments).map_err(invalid)?;
        Ok(self.call(caller, Callee::Made(name), Ok(arguments), Caller::Code).await?.value)
    }
}

fn refused(ctx: &CallContext, why: &str) -> CallError {
    CallError::Failed { tool: ctx.name().to_owned(), source: format!("nothing was made: {why}").into() }
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
