//! Subagent files: Markdown with front matter, below `.claude/agents`.
//!
//! Source: <https://code.claude.com/docs/en/sub-agents>, read 2026-11.

mod tools;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use llm_do_providers::{ServerSideTool, ThinkingLevel, WebSearch};
use llm_do_worker_file::{
    Content, Fault, Key, Located, McpServerItem, Node, Place, Reader, check_worker_name, did_you_mean, read_mcp_items,
};

use self::tools::Tools;
use super::Project;
use super::front_matter::{self, FrontMatter};
use super::report::{Report, shown};
use crate::declare::worker_file::LoadedFile;
use crate::declare::worker_spec::WorkerSpec;
use crate::plane::registry::Origin;

/// The models that have short names: the newest of each family in the built-in price table.
const MODELS: [(&str, &str); 4] = [
    ("fable", "anthropic:claude-fable-5-2"),
    ("haiku", "anthropic:claude-haiku-5-5"),
    ("opus", "anthropic:claude-opus-5-5"),
    ("sonnet", "anthropic:claude-sonnet-5-5"),
];
/// Keys that are known and have no effect.
const IGNORED: [&str; 7] = ["background", "color", "hooks", "initialPrompt", "isolation", "memory", "permissionMode"];
/// All keys, for suggestions.
const KEYS: [&str; 9] =
    ["name", "description", "tools", "disallowedTools", "model", "maxTurns", "effort", "skills", "mcpServers"];

/// What a subagent may name, besides what the program links.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    /// The workers and tools of the project.
    pub(super) items: &'a [&'a str],
    /// The toolsets of the MCP servers in `.mcp.json`.
    pub(super) servers: &'a [String],
}

/// A subagent as a worker.
#[derive(Debug)]
pub(super) struct Subagent {
    pub(super) spec: WorkerSpec,
    pub(super) origin: Origin,
    /// The skills whose text joins the instructions.
    pub(super) skills: Vec<Located<String>>,
    pub(super) path: PathBuf,
}

/// Reads a subagent file of a project that defines these workers and tools; adds the servers that it defines to the project.
pub(super) fn read(path: &Path, known: Known<'_>, project: &mut Project, report: &mut Report) -> Option<Subagent> {
    let text = report.text_of(path)?;
    let mut reading = Reading::default();
    let FrontMatter { entries, body } = front_matter::parse(&text, "subagent", &mut reading.faults).unwrap_or_default();
    for (key, node) in entries {
        if !reading.key(&key, node) {
            report.ignored_key(path, &key, &IGNORED, &KEYS);
        }
    }
    let Reading { keys, faults, notes } = reading;
    for Fault { place, message } in notes {
        report.warning(path, place, message);
    }
    let is_faulty = !faults.is_empty();
    report.faults(path, faults);
    if is_faulty {
        return None;
    }
    let own = keys.servers.iter().filter(|item| matches!(item, McpServerItem::Inline(_))).cloned().collect();
    let own = project.servers_of((path, "mcpServers"), own, &[], report);
    let servers: Vec<_> = known.servers.iter().cloned().chain(own.into_iter().map(|(toolset, _)| toolset)).collect();
    keys.into_subagent(path, body, Known { servers: &servers, ..known }, report)
}

#[derive(Default)]
struct Keys {
    name: Option<Located<String>>,
    description: Option<Located<String>>,
    tools: Option<Located<Vec<Located<String>>>>,
    disallowed: Vec<Located<String>>,
    model: Option<String>,
    max_turns: Option<u32>,
    effort: Option<ThinkingLevel>,
    servers: Vec<McpServerItem>,
    skills: Vec<Located<String>>,
}

#[derive(Default)]
struct Reading {
    faults: Vec<Fault>,
    /// What has no effect.
    notes: Vec<Fault>,
    keys: Keys,
}

impl Reading {
    fn reader<'a>(&'a mut self, key: &'a str) -> Reader<'a> {
        Reader { key, faults: &mut self.faults }
    }

    fn fault(&mut self, place: Place, message: impl Into<String>) {
        self.faults.push(Fault::new(place, message));
    }

    /// Reads a key; returns whether it has an effect here.
    fn key(&mut self, key: &Key, node: Node) -> bool {
        match key.name.as_str() {
            "name" => self.keys.name = self.reader("name").string(node),
            "description" => self.keys.description = self.reader("description").string(node),
            "tools" => self.keys.tools = self.names("tools", node),
            "disallowedTools" => {
                self.keys.disallowed = self.names("disallowedTools", node).map(|list| list.value).unwrap_or_default();
            }
            "model" => self.model(node),
            "maxTurns" => self.max_turns(&node),
            "effort" => self.effort(node),
            "mcpServers" => {
                let mut reader = Reader { key: "mcpServers", faults: &mut self.faults };
                let servers = read_mcp_items(&mut reader, node, &mut self.notes);
                self.keys.servers = servers.map(|list| list.value).unwrap_or_default();
            }
            "skills" => self.keys.skills = self.names("skills", node).map(|list| list.value).unwrap_or_default(),
            _ => return false,
        }
        true
    }

    /// Reads a list of names, or names that are separated by commas.
    fn names(&mut self, key: &str, node: Node) -> Option<Located<Vec<Located<String>>>> {
        let place = node.place;
        match node.content {
            Content::Null => Some(Located { place, value: Vec::new() }),
            Content::String(text) => {
                let names = tools::separated(&text).into_iter();
                let value = names.map(|name| Located { place, value: name.to_owned() }).collect();
                Some(Located { place, value })
            }
            Content::List(_) => self.reader(key).strings(node),
            _ => self.reader(key).wrong("a list of names, or names separated by commas", &node),
        }
    }

    fn model(&mut self, node: Node) {
        let Some(Located { place, value }) = self.reader("model").string(node) else { return };
        let known = MODELS.into_iter().find(|(short, _)| *short == value).map(|(_, model)| model.to_owned());
        self.keys.model = match value.as_str() {
            "inherit" | "default" => None,
            _ if known.is_some() => known,
            name if name.contains(':') => Some(value),
            name if name.starts_with("claude") => Some(format!("anthropic:{name}")),
            name => {
                let hint = did_you_mean(name, MODELS.into_iter().map(|(short, _)| short));
                let message = format!(
                    "`model`: unknown model `{name}`{hint}\nexpected `sonnet`, `opus`, `haiku`, `fable`, `inherit`, or \
                     `provider:model`"
                );
                return self.fault(place, message);
            }
        };
    }

    fn max_turns(&mut self, node: &Node) {
        let turns: Option<u32> = self.reader("maxTurns").count(node, u32::MAX);
        if turns == Some(0) {
            return self.fault(node.place, "`maxTurns` must be at least 1: each turn is one request to the model");
        }
        self.keys.max_turns = turns;
    }

    fn effort(&mut self, node: Node) {
        let Some(word) = self.reader("effort").string(node) else { return };
        self.keys.effort = match word.value.as_str() {
            "low" => Some(ThinkingLevel::Low),
            "medium" => Some(ThinkingLevel::Medium),
            "high" | "xhigh" | "max" => Some(ThinkingLevel::High),
            other => {
                let message = format!("`effort`: expected `low`, `medium`, `high`, `xhigh` or `max`, found `{other}`");
                return self.fault(word.place, message);
            }
        };
    }
}

impl Keys {
    fn into_subagent(
        self,
        path: &Path,
        instructions: String,
        known: Known<'_>,
        report: &mut Report,
    ) -> Option<Subagent> {
        let (name, description) = (self.name?, self.description?);
        if let Err(message) = check_worker_name(&name.value) {
            report.fault(path, name.place, format!("`name`: {message}"));
            return None;
        }
        let tools = Tools { path, report, known, names: Vec::new(), seen: HashSet::new(), has_search: false };
        let Tools { names, has_search, .. } = tools.chosen(self.tools.as_ref(), &self.servers, &self.disallowed)?;
        let mut spec = WorkerSpec::new(name.value, instructions).description(description.value);
        spec = spec.toolsets(names.iter().map(|(name, _)| name));
        spec.model = self.model;
        spec.max_turns = self.max_turns.unwrap_or(spec.max_turns);
        spec.settings.thinking = self.effort;
        if has_search {
            spec = spec.server_side_tools([ServerSideTool::from(WebSearch::new())]);
        }
        let origin = Origin::File(LoadedFile::new(shown(path).to_owned(), names));
        Some(Subagent { spec, origin, skills: self.skills, path: path.to_owned() })
    }
}
