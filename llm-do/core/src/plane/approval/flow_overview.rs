//! What the workers of a registry may read and send, by the declarations of policies and types.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use super::rules::Rules;
use super::{FlowMode, Reach};
use crate::declare::tool::Effect;
use crate::observe::event::{ItemKind, Label, Labels};
use crate::plane::origin::is_bounded_schema;
use crate::plane::registry::{Registered, Registry};

/// What each worker may read, where what it sends may arrive, and which rule guards that.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowOverview {
    /// How strict the rule is; off if there is no source.
    pub mode: FlowMode,
    pub workers: Vec<WorkerFlow>,
}

/// What a worker may read, and where what it sends may arrive.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkerFlow {
    pub name: Arc<str>,
    /// The join of all that the worker may get from its tools.
    pub reads: Labels,
    /// Whether its model does not see untrusted text: its code works with that.
    pub withholds: bool,
    /// What a caller gets, at worst.
    pub result: Labels,
    /// The tools and workers whose results are not trusted or not public.
    pub sources: Vec<SourceFlow>,
    /// The tools whose calls the rule is about.
    pub sinks: Vec<SinkFlow>,
    /// Whether it reads untrusted text and private data, and sends to other people.
    pub has_all: bool,
}

/// A callee whose results are not trusted or not public.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourceFlow {
    pub name: Arc<str>,
    #[serde(flatten)]
    pub labels: Labels,
}

/// A callee whose calls untrusted values may not steer.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SinkFlow {
    pub name: Arc<str>,
    pub effect: Effect,
    /// The arguments that do not steer.
    pub data: Vec<String>,
    pub reach: Reach,
}

/// The labels of the results of all items, at worst.
type Results<'r> = HashMap<&'r str, Labels>;

impl Rules {
    /// Lists what the workers of a registry may read and send.
    pub(super) fn flow_overview(&self, registry: &Registry) -> FlowOverview {
        if !self.has_flow() {
            return FlowOverview { mode: FlowMode::Off, workers: Vec::new() };
        }
        let results = self.results(registry);
        let workers = registry.iter().filter(|item| item.kind() == ItemKind::Worker);
        let workers = workers.map(|worker| self.worker_flow(worker, registry, &results)).collect();
        FlowOverview { mode: self.flow_mode(), workers }
    }

    fn worker_flow(&self, worker: &Registered, registry: &Registry, results: &Results<'_>) -> WorkerFlow {
        let callees: Vec<_> = callees(worker, registry).into_iter().flatten().collect();
        let sources = callees.iter().filter_map(|item| source(item, results)).collect();
        let sinks: Vec<_> = callees.iter().filter_map(|item| self.sink_flow(item)).collect();
        let reads = self.reads(worker, registry, results);
        let is_outside = sinks.iter().any(|sink| sink.reach == Reach::Outside);
        let has_all = reads.integrity == Label::Untrusted && reads.is_private && is_outside;
        WorkerFlow {
            name: Arc::clone(&worker.name),
            reads,
            withholds: worker.plan().is_some_and(|plan| plan.code) && self.withholds(worker.name()),
            result: result_labels(worker, self.source_labels(worker).join(reads)),
            sources,
            sinks,
            has_all,
        }
    }

    fn sink_flow(&self, item: &Registered) -> Option<SinkFlow> {
        let is_sink = self.is_sink(item);
        is_sink.then(|| SinkFlow {
            name: Arc::clone(&item.name),
            effect: item.effect(),
            data: self.data_arguments(item).to_vec(),
            reach: self.reach(item),
        })
    }

    /// Returns the labels of the results of all items: items may call each other, so these grow until nothing changes.
    fn results<'r>(&self, registry: &'r Registry) -> Results<'r> {
        let mut results = Results::new();
        loop {
            let mut is_changed = false;
            for item in registry.iter() {
                let labels = self.source_labels(item).join(self.reads(item, registry, &results));
                let labels = result_labels(item, labels);
                is_changed |= results.insert(item.name(), labels) != Some(labels);
            }
            if !is_changed {
                return results;
            }
        }
    }

    /// Returns the join of all that an item may get from those that it calls.
    fn reads(&self, item: &Registered, registry: &Registry, results: &Results<'_>) -> Labels {
        if !item.is_composite() || item.server().is_some() {
            return Labels::default();
        }
        let has_own_tools = item.plan().is_some_and(|plan| !plan.server_side_tools.is_empty());
        let own = if has_own_tools { Labels::public(Label::Untrusted) } else { Labels::default() };
        let Some(callees) = callees(item, registry) else {
            return Labels { integrity: Label::Untrusted, is_private: self.has_private() };
        };
        callees.iter().filter_map(|callee| results.get(callee.name()).copied()).fold(own, Labels::join)
    }
}

/// Lists the items that an item may call; `None` if it may call all.
fn callees<'r>(item: &Registered, registry: &'r Registry) -> Option<Vec<&'r Registered>> {
    let declared = item.declared.as_ref()?;
    Some(declared.iter().filter_map(|tool| registry.get(&tool.tool)).map(|item| &**item).collect())
}

fn source(item: &Registered, results: &Results<'_>) -> Option<SourceFlow> {
    let labels = results.get(item.name()).copied().filter(|labels| !labels.is_default())?;
    Some(SourceFlow { name: Arc::clone(&item.name), labels })
}

/// Returns the labels of a result that is made from what has these: a type without text bounds it.
fn result_labels(item: &Registered, labels: Labels) -> Labels {
    let is_bounded = !labels.is_default() && item.known_output().is_some_and(is_bounded_schema);
    if is_bounded { labels.bounded() } else { labels }
}
