//! Builds created workers: new workers, which are checked, and workers that were created before.

use std::sync::Arc;

use llm_do_worker_file::check_model_name;

use super::StoredWorker;
use super::catalog::{CreatedWorker, name_taken, was_replaced};
use crate::base::error::CallError;
use crate::declare::worker_spec::WorkerSpec;
use crate::plane::context::CallContext;
use crate::plane::dispatch::{Plane, Run};
use crate::plane::registry::{Origin, Registered};

/// The tool that replaces a worker; the error for a name in use mentions it.
const REPLACE: &str = "worker_replace";

impl Plane {
    /// Returns why no model can run the worker, if so.
    ///
    /// A malformed name is refused even under a forced model, since a worker file with the name could not be read.
    fn model_fault(&self, spec: &WorkerSpec) -> Option<String> {
        if let Some(fault) = spec.model.as_deref().and_then(|name| check_model_name(name).err()) {
            return Some(fault);
        }
        let described = Registered::from_spec(spec, Origin::Session);
        let plan = described.plan()?;
        self.models.choose(spec.name(), plan).err().map(|error| error.to_string())
    }
}

impl Run {
    /// Builds a worker, or returns all of its faults in addition to the given ones.
    pub(super) fn build_worker(
        &self,
        ctx: &CallContext,
        spec: &WorkerSpec,
        stored: &StoredWorker,
        mut faults: Vec<String>,
        replaces: bool,
    ) -> Result<Registered, Vec<String>> {
        let (registry, earlier) = (&self.plane.registry, self.chat.created_workers.get(spec.name()));
        // In a resumed run, a file that describes the same worker was written by the process that died.
        let is_own = (self.is_resumed && registry.is_loaded_from_file(spec))
            || earlier.as_ref().is_some_and(|earlier| self.is_own_file(spec.name(), &earlier.stored));
        let worker = if is_own { registry.rebuild_worker(spec) } else { registry.worker(spec, Origin::Session) };
        faults.extend(worker.as_ref().err().into_iter().flatten().cloned());
        if spec.instructions.trim().is_empty() {
            faults.push("its instructions are blank".to_owned());
        }
        if replaces {
            faults.extend(self.chat.created_workers.replaceable(spec.name(), stored.maker.as_deref()).err());
        } else if let Some(earlier) = earlier {
            faults.push(taken(ctx, &earlier, stored));
        }
        // Otherwise the first call would report an invalid model.
        faults.extend(self.plane.model_fault(spec));
        worker.ok().filter(|_| faults.is_empty()).ok_or(faults)
    }

    /// Builds a worker from the journal.
    pub(super) fn restored(&self, ctx: &CallContext, stored: &StoredWorker) -> Result<Arc<Registered>, CallError> {
        self.rebuild_worker(stored, "the journal")
            .map_err(|fault| CallError::Journal { tool: ctx.name().to_owned(), source: fault.into() })
    }

    /// Returns a created worker; a worker of a loaded chat is built when it is first used.
    pub(super) fn built(&self, created: &CreatedWorker) -> Result<Arc<Registered>, String> {
        if let Some(worker) = &created.worker {
            return Ok(Arc::clone(worker));
        }
        let worker = self.rebuild_worker(&created.stored, "the chat")?;
        if worker.name != created.name {
            return Err(format!("the chat has the worker `{}` under this name", worker.name));
        }
        self.chat.created_workers.keep_built(&created.name, created.stored.revision, &worker);
        Ok(worker)
    }

    /// Builds a worker that was created before; its own file may have been read at start-up.
    fn rebuild_worker(&self, stored: &StoredWorker, source: &str) -> Result<Arc<Registered>, String> {
        let spec = stored.file.parse::<WorkerSpec>();
        let spec = spec.map_err(|error| format!("invalid worker in {source}: {error}"))?;
        let registry = &self.plane.registry;
        let worker = match registry.get(spec.name()) {
            None => registry.worker(&spec, Origin::Session),
            Some(_) if self.is_own_file(spec.name(), stored) => registry.rebuild_worker(&spec),
            Some(other) => {
                let other = other.location();
                Err(vec![format!("{other} differs from it; restore that file, or rename that item")])
            }
        };
        let worker = worker.map_err(|faults| {
            format!("the worker `{}` cannot be restored from {source}: {}", spec.name(), faults.join("; "))
        })?;
        Ok(Arc::new(worker))
    }

    /// Returns whether the registered item with this name is from the worker's own file, or from that of its
    /// replacement.
    fn is_own_file(&self, name: &str, stored: &StoredWorker) -> bool {
        let Some(item) = self.plane.registry.get(name) else { return false };
        let is_replaced = || self.worker_store().is_some_and(|folder| was_replaced(&folder, name, stored));
        item.is_read_from(&stored.file) || (item.is_of_worker_file() && is_replaced())
    }
}

/// Returns the error that a created worker already has the name.
fn taken(ctx: &CallContext, earlier: &CreatedWorker, stored: &StoredWorker) -> String {
    let declared = ctx.caller().and_then(CallContext::declared);
    let replace = declared.map_or(Some(REPLACE), |declared| declared.shown(REPLACE));
    let is_own = earlier.stored.maker == stored.maker;
    let instead = replace.filter(|_| is_own).map(|tool| format!(", or replace it with `{tool}`"));
    format!("{}{}", name_taken(&earlier.name), instead.unwrap_or_default())
}
