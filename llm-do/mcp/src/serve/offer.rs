//! The offered items, and the descriptions of their tools.

use std::sync::Arc;

use llm_do_core::declare::tool::Effect;
use llm_do_core::observe::event::ItemKind;
use llm_do_core::plane::registry::{Registered, Registry};
use llm_do_worker_file::{MCP_SAMPLING, did_you_mean};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use super::ServeError;

/// The offered items, sorted by name.
#[derive(Clone, Debug)]
pub(super) struct Offer(Vec<Offered>);

/// An item with its description for clients.
#[derive(Clone, Debug)]
pub(super) struct Offered {
    pub(super) item: Arc<Registered>,
    pub(super) tool: Tool,
}

impl Offer {
    /// Offers all items of the registry, without the tools by which servers ask a model.
    pub(super) fn everything(registry: &Registry) -> Self {
        let offered = registry.iter().filter(|item| !item.name().starts_with(MCP_SAMPLING));
        Self(offered.map(Offered::new).collect())
    }

    /// Keeps the items with these names, and those of the toolsets with these names.
    pub(super) fn only(mut self, registry: &Registry, names: &[String]) -> Result<Self, ServeError> {
        let members = |name: &str| {
            let toolset = registry.toolsets().find(|(toolset, ..)| *toolset == name);
            toolset.map(|(_, _, members)| members.iter().map(|member| member.tool().to_owned()).collect::<Vec<_>>())
        };
        let mut kept = Vec::new();
        for name in names {
            if self.get(name).is_some() {
                kept.push(name.clone());
            } else if let Some(members) = members(name) {
                kept.extend(members);
            } else {
                let known = registry.iter().map(|item| item.name()).chain(registry.toolsets().map(|(name, ..)| name));
                let hint = did_you_mean(name, known);
                return Err(ServeError::new(format!("unknown tool, worker, entry or toolset `{name}`{hint}")));
            }
        }
        self.0.retain(|offered| kept.iter().any(|name| name == offered.item.name()));
        Ok(self)
    }

    /// Keeps the items that change nothing.
    pub(super) fn read_only(mut self) -> Self {
        self.0.retain(|offered| offered.item.effect() == Effect::ReadOnly);
        self
    }

    /// Returns the item with this name.
    pub(super) fn get(&self, name: &str) -> Option<&Offered> {
        self.0.binary_search_by(|offered| offered.item.name().cmp(name)).ok().map(|index| &self.0[index])
    }

    /// Returns an error message for an unknown name.
    pub(super) fn hint(&self, name: &str) -> String {
        did_you_mean(name, self.0.iter().map(|offered| offered.item.name()))
    }

    pub(super) fn has_workers(&self) -> bool {
        self.0.iter().any(|offered| offered.item.kind() == ItemKind::Worker)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Offered> {
        self.0.iter()
    }
}

impl Offered {
    fn new(item: &Arc<Registered>) -> Self {
        let parameters = object(item.parameters().clone());
        let mut tool = Tool::new(item.name().to_owned(), item.description().to_owned(), parameters);
        tool = tool.with_title(title(item.name())).with_annotations(annotations(item.effect()));
        if let Some(output) = item.output().filter(is_specific) {
            tool = tool.with_raw_output_schema(object(output));
        }
        Self { item: Arc::clone(item), tool }
    }
}

/// Returns whether the schema of a result describes more than text or any value.
fn is_specific(schema: &Value) -> bool {
    let notes = ["$schema", "title", "description"];
    let describes = |schema: &JsonObject| schema.keys().any(|key| !notes.contains(&key.as_str()));
    schema["type"] != "string" && schema.as_object().is_some_and(describes)
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}

/// Returns the title of a name: `read_file` becomes `Read file`.
pub(super) fn title(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut letters = words.trim().chars();
    letters.next().map_or_else(|| name.to_owned(), |first| first.to_uppercase().chain(letters).collect())
}

/// Converts an effect to the protocol's hints, whose defaults assume the worst.
fn annotations(effect: Effect) -> ToolAnnotations {
    let hints = ToolAnnotations::new();
    match effect {
        Effect::ReadOnly => hints.read_only(true).destructive(false).idempotent(true),
        // A repetition has no further effect, but the first call may replace data.
        Effect::Idempotent => hints.read_only(false).destructive(true).idempotent(true),
        Effect::Destructive => hints.read_only(false).destructive(true).idempotent(false),
        _ => hints.read_only(false),
    }
}
