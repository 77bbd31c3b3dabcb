//! Tasks for whichever worker is best for them.

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
    /// Gives a task to the best of the workers that the caller may call.
    pub(super) async fn give(&self, caller: &CallContext, request: SubtaskRequest) -> Result<ToolReturn, CallError> {
        let workers = self.workers(caller);
        let taking: Vec<_> = workers.iter().filter_map(|worker| Some((worker, arguments(worker, &request)?))).collect();
        let points: Vec<_> = taking.iter().map(|(worker, _)| (worker.name(), points(worker, &request))).collect();
        let no_worker = |message| CallError::NoWorker { tool: caller.name().to_owned(), message };
        let worker = best(&points).map_err(no_worker)?.to_owned();
        caller.emit(|| EventKind::Subtask {
            description: request.description().to_owned(),
            worker: worker.clone(),
            points: points.iter().map(|(name, points)| ((*name).to_owned(), *points)).collect(),
        });
        let arguments = taking.into_iter().find(|(candidate, _)| candidate.name() == worker).map(|(_, given)| given);
        let given = Ok(arguments.unwrap_or_default());
        self.call(caller.clone(), Callee::Item(&worker), given, Caller::Code).await
    }

    /// Lists the workers that a call may call, by name.
    fn workers(&self, caller: &CallContext) -> Vec<&Arc<Registered>> {
        let declared = caller.declared();
        let may_call = |item: &&Arc<Registered>| declared.is_none_or(|declared| declared.shown(item.name()).is_some());
        self.plane.registry.iter().filter(|item| item.kind() == ItemKind::Worker).filter(may_call).collect()
    }
}

fn arguments(worker: &Registered, request: &SubtaskRequest) -> Option<Value> {
    request.arguments(|arguments| worker.validate(arguments).is_ok())
}

fn points(worker: &Registered, request: &SubtaskRequest) -> u32 {
    let hints = worker.hints();
    score(request, Candidate { name: worker.name(), description: worker.description(), hints: &hints })
}
