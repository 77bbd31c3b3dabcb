//! Subagent files: Markdown with front matter, below `.claude/agents`.
//!
//! Source: <https://code.claude.com/docs/en/sub-agents>, read 2026-11.

use std::path::{Path, PathBuf};

use llm_do_providers::{ServerSideTool, ThinkingLevel, WebSearch};
use llm_do_worker_file::{
    Content, Key, Located, Node, Place, Reader, check_worker_name, did_you_mean, read_yaml, split_front_matter,
};

use super::Report;
use super::report::shown;
use crate::declare::worker_file::{LoadedFile, ToolLines};
use crate::declare::worker_spec::WorkerSpec;
use crate::plane::definition::ToolDef;
use crate::plane::registry::Origin;

/// The names of tools in subagent files, and the registered names of ours that do the same.
const TOOLS: [(&str, &str); 10] = [
    ("Read", "project_read_file"),
    ("Write", "project_write_file"),
    ("Edit", "project_edit_file"),
    ("MultiEdit", "project_edit_file"),
    ("Glob", "project_list_files"),
    ("LS", "project_list_files"),
    ("Grep", "project_search_files"),
    ("Bash", "shell"),
    ("WebFetch", "http_fetch"),
    ("AskUserQuestion", "user_input_ask_user"),
];
/// The tool that a model's provider runs.
const WEB_SEARCH: &str = "WebSearch";
/// Tools without a counterpart.
const UNSUPPORTED_TOOLS: [&str; 9] =
    ["Agent", "BashOutput", "ExitPlanMode", "KillShell", "NotebookEdit", "Skill", "SlashCommand", "Task", "TodoWrite"];
/// The models that have short names: the newest of each family in the built-in price table.
const MODELS: [(&str, &str); 4] = [
    ("fable", "anthropic:claude-fable-5-2"),
    ("haiku", "anthropic:claude-haiku-5-5"),
    ("opus", "anthropic:claude-opus-5-5"),
    ("sonnet", "anthropic:claude-sonnet-5-5"),
];
/// Keys that are known and have no effect.
const IGNORED: [&str; 8] =
    ["background", "color", "hooks", "initialPrompt", "isolation", "mcpServers", "memory", "permissionMode"];
/// All keys, for suggestions.
const KEYS: [&str; 8] = ["name", "description", "tools", "disallowedTools", "model", "maxTurns", "effort", "skills"];

/// A subagent as a worker.
#[derive(Debug)]
pub(super) struct Subagent {
    pub(super) spec: WorkerSpec,
    pub(super) origin: Origin,
    /// The skills whose text joins the instructions.
    pub(super) skills: Vec<Located<String>>,
    pub(super) path: PathBuf,
}

/// Reads a subagent file.
pub(super) fn read(path: &Path, report: &mut Report) -> Option<Subagent> {
    let text = report.text_of(path)?;
    let parts = split_front_matter(&text).map_err(|fault| report.faults(path, [fault])).ok()?;
    let mut faults = Vec::new();
    let root = read_yaml(parts.yaml, parts.yaml_line, &mut faults);
    let top = Place::line(parts.yaml_line - 1);
    let mut reading = Reading { path, report, faults, keys: Keys::default() };
    if let Some(root) = root {
        reading.root(root, top);
    }
    let Reading { keys, faults, .. } = reading;
    let is_faulty = !faults.is_empty();
    report.faults(path, faults);
    let instructions = parts.instructions.map(|text| text.value).unwrap_or_default();
    (!is_faulty).then(|| keys.into_subagent(path, instructions, report)).flatten()
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
    skills: Vec<Located<String>>,
}

struct Reading<'a> {
    path: &'a Path,
    report: &'a mut Report,
    faults: Vec<llm_do_worker_file::Fault>,
    keys: Keys,
}

impl Reading<'_> {
    fn reader<'a>(&'a mut self, key: &'a str) -> Reader<'a> {
        Reader { key, faults: &mut self.faults }
    }

    fn fault(&mut self, place: Place, message: impl Into<String>) {
        self.faults.push(llm_do_worker_file::Fault::new(place, message));
    }

    fn root(&mut self, root: Node, top: Place) {
        let entries = match root.content {
            Content::Map(entries) => entries,
            Content::Null | Content::Invalid => Vec::new(),
            other => return self.fault(root.place, format!("expected lines `key: value`, found {}", other.kind())),
        };
        for name in ["name", "description"] {
            if !entries.iter().any(|(key, _)| key.name == name) {
                self.fault(top, format!("missing `{name}`: a subagent needs a name and a description"));
            }
        }
        for (key, node) in entries {
            self.key(&key, Node { place: key.place, ..node });
        }
    }

    fn key(&mut self, key: &Key, node: Node) {
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
            "skills" => self.keys.skills = self.names("skills", node).map(|list| list.value).unwrap_or_default(),
            name if IGNORED.contains(&name) => {
                self.report.warning(self.path, key.place, format!("`{name}` has no effect here"));
            }
            name => {
                let hint = did_you_mean(name, KEYS);
                self.report.warning(self.path, key.place, format!("unknown key `{name}` has no effect here{hint}"));
            }
        }
    }

    /// Reads a list of names, or names that are separated by commas.
    fn names(&mut self, key: &str, node: Node) -> Option<Located<Vec<Located<String>>>> {
        let place = node.place;
        match node.content {
            Content::Null => Some(Located { place, value: Vec::new() }),
            Content::String(text) => {
                let names = separated(&text).into_iter();
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

/// Splits names at the commas outside of parentheses.
fn separated(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let names = text.split(|letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    names.map(str::trim).filter(|name| !name.is_empty()).collect()
}

impl Keys {
    fn into_subagent(self, path: &Path, instructions: String, report: &mut Report) -> Option<Subagent> {
        let (name, description) = (self.name?, self.description?);
        if let Err(message) = check_worker_name(&name.value) {
            report.fault(path, name.place, format!("`name`: {message}"));
            return None;
        }
        let mut chosen = Tools { path, report, names: ToolLines::new(), has_search: false };
        match &self.tools {
            Some(tools) => tools.value.iter().for_each(|tool| chosen.add(tool)),
            None => chosen.add_all(),
        }
        chosen.remove(&self.disallowed);
        let Tools { names, has_search, .. } = chosen;
        let listed = self.tools.iter().flat_map(|tools| &tools.value).map(|tool| format!("`{}`", tool.value));
        let listed: Vec<_> = listed.collect();
        if !listed.is_empty() && names.is_empty() && !has_search {
            let place = self.tools.as_ref().map_or(name.place, |tools| tools.place);
            report.fault(path, place, format!("`tools`: none of these tools is available here: {}", listed.join(", ")));
            return None;
        }
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

/// The tools of a subagent by their registered names, each with its line.
struct Tools<'a> {
    path: &'a Path,
    report: &'a mut Report,
    names: ToolLines,
    has_search: bool,
}

impl Tools<'_> {
    /// Adds all tools that have a counterpart in this program.
    fn add_all(&mut self) {
        for (_, tool) in TOOLS {
            if is_linked(tool) {
                self.push(tool, Place::line(1));
            }
        }
    }

    fn add(&mut self, Located { place, value }: &Located<String>) {
        let (name, limits) = value.split_once('(').map_or((value.as_str(), false), |(name, _)| (name, true));
        let found = TOOLS.into_iter().find(|(known, _)| *known == name.trim()).map(|(_, tool)| tool);
        if name.trim() == WEB_SEARCH {
            self.has_search = true;
        } else if let Some(tool) = found.filter(|tool| is_linked(tool)) {
            self.push(tool, *place);
        } else if let Some(tool) = found {
            self.warn(*place, format!("the tool `{name}` is left out: the program does not link `{tool}`"));
        } else if name.starts_with("mcp__") {
            self.warn(*place, format!("the tool `{name}` is left out: MCP servers are not supported yet"));
        } else if UNSUPPORTED_TOOLS.contains(&name.trim()) {
            self.warn(*place, format!("the tool `{name}` is left out: it has no counterpart here"));
        } else {
            // One of the project or the program, or an unknown one, which the registry reports.
            self.push(name.trim(), *place);
        }
        if limits {
            let message =
                format!("the limits of `{value}` are not enforced; use a policy: see `llm_do::approval::Policy`");
            self.warn(*place, message);
        }
    }

    fn push(&mut self, tool: &str, place: Place) {
        if !self.names.iter().any(|(known, _)| known == tool) {
            self.names.push((tool.to_owned(), place.line));
        }
    }

    fn remove(&mut self, disallowed: &[Located<String>]) {
        for Located { value, .. } in disallowed {
            let name = value.split('(').next().unwrap_or_default().trim();
            let tool = TOOLS.into_iter().find(|(known, _)| *known == name).map_or(name, |(_, tool)| tool);
            self.names.retain(|(known, _)| known != tool);
            self.has_search &= name != WEB_SEARCH;
        }
    }

    fn warn(&mut self, place: Place, message: String) {
        self.report.warning(self.path, place, message);
    }
}

fn is_linked(tool: &str) -> bool {
    inventory::iter::<ToolDef>.into_iter().any(|def| def.name == tool)
}
