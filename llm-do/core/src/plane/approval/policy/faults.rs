//! Names in a policy that belong to no item, or to an item of a different kind.

use std::sync::Arc;

use llm_do_providers::ServerSideTool;
use llm_do_worker_file::did_you_mean;

use super::Policy;
use crate::observe::event::ItemKind;
use crate::plane::approval::Reviewer;
use crate::plane::registry::Registry;

/// The maximum number of unknown names with a suggestion, since each is compared with all names.
const MAX_SUGGESTIONS: usize = 100;

impl Policy {
    /// Lists the names that are not registered, or that belong to an item of a different kind.
    ///
    /// Names in approvals for calls are [`ignored`](Self::ignored). A tool is unknown while its server is not needed,
    /// which is not a fault.
    pub(in super::super) fn faults(&self, registry: &Registry) -> Vec<String> {
        let items: Vec<_> = registry.iter().map(|item| item.name()).collect();
        let toolsets: Vec<_> = toolset_names(registry).collect();
        let workers = registry.iter().filter(|item| item.kind() == ItemKind::Worker);
        let workers: Vec<_> = workers.map(|item| item.name()).collect();
        let (tool, toolset) = (("tool", &*items), ("toolset", &*toolsets));
        let server_side: Vec<_> = ServerSideTool::ALL.iter().map(ServerSideTool::name).collect();
        let server_side = ("server-side tool", &*server_side);
        let at = |name| (name, self.places.get(name).map(String::as_str));
        let is_checked = |name: &&Arc<str>| !registry.lacks(name);
        let calls = self.calls.iter().filter(|call| !call.is_approval() && is_checked(&&call.tool));
        let calls = calls.map(|call| (&call.tool, call.place.as_deref()));
        let reviewer = self.reviewer.iter().filter(|name| registry.get(name).is_none());
        unknown(self.tools.keys().filter(is_checked).map(at), tool, toolset)
            .chain(unknown(calls, tool, toolset))
            .chain(unknown(self.toolsets.keys().map(at), toolset, tool))
            .chain(unknown(self.worker_overrides.keys().map(at), ("worker", &workers), tool))
            .chain(unknown(self.server_side_overrides.keys().map(at), server_side, tool))
            .chain(unknown(reviewer.map(|name| (name, None)), ("worker", &workers), tool))
            .chain(self.reviewer.iter().filter_map(|name| Reviewer::fault(name, registry)))
            .chain(self.flow_faults(registry))
            .chain(self.effect_faults(registry))
            .chain(self.on_unknown_faults(registry))
            .collect()
    }
}

/// Returns an error text for each name that is not `known`, with the place of its rule.
fn unknown<'a>(
    names: impl Iterator<Item = (&'a Arc<str>, Option<&'a str>)>,
    (kind, known): (&'a str, &'a [&'a str]),
    (other, others): (&'a str, &'a [&'a str]),
) -> impl Iterator<Item = String> {
    let unknown = names.filter(|(name, _)| !known.contains(&&***name)).enumerate();
    unknown.map(move |(count, (name, place))| {
        if others.contains(&&**name) {
            return placed(place, format!("unknown {kind} `{name}`: it is a {other}; set its rule with `{other}`"));
        }
        let hint = suggestion(count, name, known.iter().copied());
        placed(place, format!("unknown {kind} `{name}`{hint}"))
    })
}

/// Returns a suggestion for the unknown name with this index, if it is one of the first.
pub(super) fn suggestion<'a>(index: usize, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    if index < MAX_SUGGESTIONS { did_you_mean(name, known) } else { String::new() }
}

/// Returns the names of all toolsets.
pub(super) fn toolset_names(registry: &Registry) -> impl Iterator<Item = &str> {
    registry.toolset_defs().keys().copied().chain(registry.groups().map(|group| &*group.name))
}

/// Returns a text about a rule with its place, if known.
pub(super) fn placed(place: Option<&str>, text: String) -> String {
    match place {
        Some(place) => format!("{place}: {text}"),
        None => text,
    }
}
