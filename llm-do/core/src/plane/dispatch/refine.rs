//! Refinements: which workers have an evaluator, which scores their results. `worker/refine` scores them.

use std::collections::HashMap;
use std::sync::Arc;

use llm_do_worker_file::did_you_mean;
use serde_json::Map;

use super::signature;
use crate::declare::refine::Refine;
use crate::observe::event::ItemKind;
use crate::plane::context::CallContext;
use crate::plane::registry::{Registered, Registry};
use crate::plane::worker::{RESULT, Refinement, Takes};

/// The evaluators, by the name of their worker.
#[derive(Debug, Default)]
pub(crate) struct Refinements(HashMap<String, Arc<Refinement>>);

impl Refinements {
    /// Registers workers with their evaluators, or returns their faults.
    pub(crate) fn new(mut refined: Vec<Refine>, registry: &Registry) -> Result<Self, Vec<String>> {
        // The server of the evaluator was not needed for these runs, or could not be used: nothing scores the results.
        refined.retain(|refine| !registry.lacks(&refine.evaluator));
        let mut faults: Vec<_> = refined.iter().flat_map(|refine| faults(refine, registry)).collect();
        let mut by_worker = HashMap::new();
        for refine in &refined {
            let other = by_worker.insert(refine.worker.as_str(), refine).filter(|other| *other != refine);
            if let Some(other) = other {
                let (worker, one, other) = (&refine.worker, &other.evaluator, &refine.evaluator);
                faults.push(format!("`{worker}` is refined twice, by `{one}` and by `{other}`: keep one"));
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let refinements = by_worker.into_iter().filter_map(|(worker, refine)| {
            let takes = takes(registry.get(worker)?, registry.get(&refine.evaluator)?);
            let Refine { evaluator, at_most, accept, .. } = refine.clone();
            Some((worker.to_owned(), Arc::new(Refinement { evaluator, at_most, accept, takes })))
        });
        Ok(Self(refinements.collect()))
    }

    /// Returns what scores the results of a call of a worker.
    ///
    /// A worker that is defined for one call or at run time only shares the name.
    pub(super) fn of(&self, ctx: &CallContext) -> Option<&Arc<Refinement>> {
        let is_registered = !self.0.is_empty() && ctx.frame().variant.is_none();
        self.0.get(ctx.name()).filter(|_| is_registered)
    }
}

fn faults(refine: &Refine, registry: &Registry) -> Vec<String> {
    let Refine { worker, evaluator, .. } = refine;
    let names = || registry.iter().map(|item| item.name());
    let unknown = |name: &&String| registry.get(name).is_none();
    let missing = [worker, evaluator].into_iter().filter(unknown);
    let mut faults: Vec<_> =
        missing.map(|name| format!("unknown name `{name}`{}", did_you_mean(name, names()))).collect();
    if registry.get(worker).is_some_and(|item| item.kind() != ItemKind::Worker) {
        faults.push(format!("`{worker}` is not a worker: name the worker first, then its evaluator"));
    }
    if worker == evaluator {
        faults.push(format!("`{worker}` cannot score its own results"));
    }
    faults.extend(refine.faults().map(|fault| format!("`{worker}`: {fault}")));
    if faults.is_empty()
        && let (Some(worker), Some(evaluator)) = (registry.get(worker), registry.get(evaluator))
        && let Some(fault) = signature::evaluator_fault(worker, evaluator)
    {
        faults.push(format!("`{}` cannot score the results of `{}`: {fault}", evaluator.name(), worker.name()));
    }
    faults
}

/// Returns what the evaluator gets.
fn takes(worker: &Registered, evaluator: &Registered) -> Takes {
    if evaluator.takes_prompt() {
        return Takes::Prompt;
    }
    let has = |item: &Registered, name: &str| item.parameters()["properties"].get(name).is_some();
    let own = evaluator.parameters()["properties"].as_object().into_iter().flat_map(Map::keys);
    Takes::Arguments(own.filter(|name| *name != RESULT && has(worker, name)).cloned().collect())
}
