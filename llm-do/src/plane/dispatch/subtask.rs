//! Subtasks: chooses the best matching worker and calls it.

use std::sync::Arc;

use serde_json::Value;

use super::Run;
use crate::base::error::CallError;
use crate::declare::subtask::{Candidate, SubtaskRequest, best, score};
use crate::declare::tool::ToolReturn;
use crate::observe::event::{Caller, EventKind, ItemKind};
use crate::plane::context::{CallContext, Host};
use crate::plane::declared::Callee;
use crate::plane::registry::Registered;

impl Run {
    /// Calls the best matching worker among those that the caller may call.
    pub(super) async fn run_subtask(
        &self,
        caller: &CallContext,
        request: SubtaskRequest,
    ) -> Result<ToolReturn, CallError> {
        let no_worker = |message: String| CallError::NoWorker { tool: caller.name().to_owned(), message };
        if let Some(fault) = request.fault() {
            return Err(no_worker(fault.to_owned()));
        }
        let workers = self.workers(caller);
        let mut candidates = Vec::new();
        for worker in &workers {
            if let Some(arguments) = arguments(worker, &request).await {
                candidates.push((worker, arguments));
            }
        }
        let points: Vec<_> = candidates.iter().map(|(worker, _)| (worker.name(), points(worker, &request))).collect();
        let worker = best(&points).map_err(no_worker)?.to_owned();
        caller.emit(|| EventKind::Subtask {
            description: request.description().to_owned(),
            worker: worker.clone(),
            points: points.iter().map(|(name, points)| ((*name).to_owned(), *points)).collect(),
        });
        let arguments =
            candidates.into_iter().find(|(candidate, _)| candidate.name() == worker).map(|(_, given)| given);
        let given = Ok(arguments.unwrap_or_default());
        self.call(caller.clone(), Callee::Item(&worker), given, Caller::Code).await
    }

    /// Returns the workers that a call may call, sorted by name.
    fn workers(&self, caller: &CallContext) -> Vec<&Arc<Registered>> {
        let declared = caller.declared();
        let may_call = |item: &&Arc<Registered>| declared.is_none_or(|declared| declared.shown(item.name()).is_some());
        self.plane.registry.iter().filter(|item| item.kind() == ItemKind::Worker).filter(may_call).collect()
    }
}

/// Returns the first form of the request that is valid for a worker.
async fn arguments(worker: &Registered, request: &SubtaskRequest) -> Option<Value> {
    for form in request.forms() {
        if let (arguments, Ok(())) = worker.validate_apart(form).await {
            return Some(arguments);
        }
    }
    None
}

fn points(worker: &Registered, request: &SubtaskRequest) -> u32 {
    let hints = worker.hints();
    score(request, Candidate { name: worker.name(), description: worker.description(), hints: &hints })
}
