//! Files with an approval policy.

use std::path::Path;

use llm_do_core::declare::worker_file::json as value_of;
use llm_do_core::plane::approval::Policy;
use llm_do_worker_file::{Content, Fault, Node, Place};
use serde_path_to_error::{Path as Route, Segment};

use super::report::shown;
use super::{ProjectError, Report, json};

/// Reads a [`Policy`] from a file of its own.
pub trait PolicyFile: Sized {
    /// Reads a policy from a JSON file.
    ///
    /// # Errors
    ///
    /// Returns the faults of the file, with their lines and fields.
    fn from_file(path: impl AsRef<Path>) -> Result<Self, ProjectError>;
}

impl PolicyFile for Policy {
    fn from_file(path: impl AsRef<Path>) -> Result<Self, ProjectError> {
        let mut report = Report::default();
        let policy = read(path.as_ref(), &mut report);
        policy.ok_or_else(|| ProjectError::new(report.faults))
    }
}

/// Reads a policy from a file.
pub(super) fn read(path: &Path, report: &mut Report) -> Option<Policy> {
    let text = report.text_of(path)?;
    let mut faults = Vec::new();
    let root = json::read(&text, &mut faults);
    let policy = root.and_then(|root| from_node(&root, path, "", &mut faults));
    let has_faults = !faults.is_empty();
    report.faults(path, faults);
    policy.filter(|_| !has_faults)
}

/// Reads a policy that is the value of `key` in `file`; reports its first fault.
pub(super) fn from_node(node: &Node, file: &Path, key: &str, faults: &mut Vec<Fault>) -> Option<Policy> {
    let read: Result<Policy, _> = serde_path_to_error::deserialize(value_of(node.clone()));
    read.map_err(|error| {
        let place = place_of(node, error.path());
        let field = match (key, error.path().to_string().as_str()) {
            ("", ".") => "policy".to_owned(),
            ("", field) => field.to_owned(),
            (key, ".") => key.to_owned(),
            (key, field) => format!("{key}.{field}"),
        };
        faults.push(Fault::new(place, format!("`{field}`: {}", error.inner())));
    })
    .ok()
    .map(|policy| with_places(policy, node, file))
}

/// Records the place of each rule. Building a runtime checks whether its name is known.
fn with_places(mut policy: Policy, node: &Node, file: &Path) -> Policy {
    let Content::Map(kinds) = &node.content else { return policy };
    for (kind, rules) in kinds {
        let at = |place: Place| format!("{}:{}", shown(file).display(), place.line);
        match &rules.content {
            Content::Map(effects) if kind.name == "effects" => {
                for (name, _) in effects {
                    policy.place_effect(&name.name, at(name.place));
                }
            }
            Content::Map(settings) if kind.name == "on_unknown" => {
                for (name, _) in settings {
                    policy.place_on_unknown(&name.name, at(name.place));
                }
            }
            Content::Map(parts) if kind.name == "flow" => {
                for (_, names) in parts {
                    for (name, place) in named(names) {
                        policy.place_flow(name, at(place));
                    }
                }
            }
            Content::Map(rules) => rules.iter().for_each(|(name, _)| policy.place(&name.name, at(name.place))),
            Content::List(calls) => {
                for (index, call) in calls.iter().enumerate() {
                    let condition = call.get("when").map(|condition| at(condition.place));
                    policy.place_call(index, at(call.get("tool").unwrap_or(call).place), condition);
                }
            }
            _ => {}
        }
    }
    policy
}

/// Lists the names in a map or a list, with their places.
fn named(names: &Node) -> Vec<(&str, Place)> {
    match &names.content {
        Content::Map(names) => names.iter().map(|(name, _)| (name.name.as_str(), name.place)).collect(),
        Content::List(names) => names.iter().filter_map(text_of).collect(),
        _ => Vec::new(),
    }
}

fn text_of(node: &Node) -> Option<(&str, Place)> {
    match &node.content {
        Content::String(text) => Some((text.as_str(), node.place)),
        _ => None,
    }
}

/// Returns the place of the innermost value on the route.
fn place_of(root: &Node, route: &Route) -> Place {
    let mut node = root;
    for segment in route {
        let next = match (segment, &node.content) {
            (Segment::Map { key } | Segment::Enum { variant: key }, Content::Map(_)) => node.get(key),
            (Segment::Seq { index }, Content::List(items)) => items.get(*index),
            _ => None,
        };
        let Some(next) = next else { break };
        node = next;
    }
    node.place
}
