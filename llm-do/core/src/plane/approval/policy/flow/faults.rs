//! Declarations about where data comes from that belong to no item.

use std::sync::Arc;

use super::super::Policy;
use super::super::effects::unknown;
use super::super::faults::placed;
use super::Sink;
use crate::observe::event::ItemKind;
use crate::plane::registry::{Registered, Registry};

impl Sink {
    /// Returns why calls of a tool cannot be those of the sink.
    fn faults(&self, name: &str, tool: &Registered) -> Vec<String> {
        if tool.kind() != ItemKind::Tool {
            return vec![format!("`{name}` is not a tool: the calls that it makes are labelled themselves")];
        }
        let properties = &tool.parameters()["properties"];
        let missing = self.data.iter().filter(|argument| properties.get(argument.as_str()).is_none());
        missing.map(|argument| format!("`{name}` has no argument `{argument}`")).collect()
    }
}

impl Policy {
    /// Lists the declarations of unknown names, and the arguments that a tool does not have.
    pub(in super::super) fn flow_faults(&self, registry: &Registry) -> Vec<String> {
        let unknown_name = |(count, name): (usize, &Arc<str>)| {
            let is_known = registry.get(name).is_some() || registry.lacks(name);
            if is_known { None } else { unknown(name, registry, count) }
        };
        let flow = &self.flow;
        let names = flow.sources.keys().chain(&flow.private).chain(flow.ids.keys()).enumerate();
        let names = names.filter_map(|(count, name)| Some((name, unknown_name((count, name))?)));
        let sinks = flow.sinks.iter().enumerate().flat_map(|(count, (name, sink))| {
            let of_tool = registry.get(name).map(|tool| sink.faults(name, tool)).unwrap_or_default();
            of_tool.into_iter().chain(unknown_name((count, name))).map(move |fault| (name, fault))
        });
        let readers = flow.code_reads.iter().filter_map(|name| Some((name, reader_fault(name, registry)?)));
        names.chain(sinks).chain(readers).map(|(name, fault)| self.flow_fault(name, &fault)).collect()
    }

    /// Returns a fault of the declaration of a name, with its place, if it is known.
    fn flow_fault(&self, name: &str, fault: &str) -> String {
        placed(self.flow_places.get(name).map(String::as_str), format!("`flow`: {fault}"))
    }
}

/// Returns why a model does not see what its code returns, if the name is not that of a code-mode worker.
fn reader_fault(name: &str, registry: &Registry) -> Option<String> {
    match registry.get(name) {
        Some(worker) if worker.plan().is_some_and(|plan| plan.code) => None,
        Some(_) => Some(format!("`{name}` is not a worker in code mode: its model sees all results in any case")),
        None => Some(format!("unknown worker `{name}`")),
    }
}
