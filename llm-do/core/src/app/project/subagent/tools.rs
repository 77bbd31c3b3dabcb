//! The tools of subagents: names in other programs, with the registered names of the equivalent tools here.

use std::collections::HashSet;
use std::path::Path;

use llm_do_worker_file::{Located, McpServerItem, Place, did_you_mean};

use super::KnownNames;
use crate::app::project::ServerFile;
use crate::app::project::report::Report;
use crate::declare::toolset::Member;
use crate::declare::worker_file::{IMPLIED, ToolLines};
use crate::plane::definition::{ToolsetDef, linked_items};

/// The names of tools in subagent files, with the registered names of the equivalent tools here.
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
/// Tools without an equivalent.
const UNSUPPORTED_TOOLS: [&str; 33] = [
    "Agent",
    "BashOutput",
    "CronCreate",
    "CronDelete",
    "CronList",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "KillBash",
    "KillShell",
    "LSP",
    "ListMcpResourcesTool",
    "Monitor",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "ReadMcpResourceTool",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TeamCreate",
    "TeamDelete",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
];
/// All tools with an equivalent.
const ALL: &str = "*";
/// The prefix of the names of tools of MCP servers.
const MCP: &str = "mcp__";

/// Splits names at the commas outside parentheses; brackets and quotes around them, as in a YAML list, are dropped.
pub(super) fn separated(text: &str) -> Vec<&str> {
    let text = text.trim();
    let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let mut depth = 0_usize;
    let names = text.split(|letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    names.map(|name| unquoted(name.trim()).trim()).filter(|name| !name.is_empty()).collect()
}

fn unquoted(name: &str) -> &str {
    let inner = |quote: char| name.strip_prefix(quote).and_then(|name| name.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(name)
}

/// The tools of a subagent by their registered names, each with its line.
pub(super) struct Tools<'a> {
    pub(super) path: &'a Path,
    pub(super) report: &'a mut Report,
    pub(super) known: KnownNames<'a>,
    pub(super) names: ToolLines,
    /// The names that were added, for fast look-ups in a long list.
    pub(super) seen: HashSet<String>,
    pub(super) has_search: bool,
    /// The disallowed tools, also as members of toolsets: registered names, and names in other programs.
    pub(super) without: Vec<String>,
}

impl<'a> Tools<'a> {
    /// Creates an empty list of tools.
    pub(super) fn new(path: &'a Path, report: &'a mut Report, known: KnownNames<'a>) -> Self {
        let (names, seen, without) = (Vec::new(), HashSet::new(), Vec::new());
        Self { path, report, known, names, seen, has_search: false, without }
    }

    /// Adds the tools that a file lists, or all tools if it lists none, without the disallowed ones; `None` if it has a
    /// fault.
    pub(super) fn chosen(
        mut self,
        listed: Option<&Located<Vec<Located<String>>>>,
        servers: &[McpServerItem],
        disallowed: Vec<Located<String>>,
    ) -> Option<Self> {
        match listed {
            Some(listed) => listed.value.iter().for_each(|tool| self.add(tool)),
            None => self.add_all(Place::line(IMPLIED)),
        }
        for Located { place, value } in servers.iter().map(McpServerItem::name) {
            self.add_of_server(&ServerFile::toolset_of(value), *place);
        }
        let count = disallowed.len();
        let is_valid = disallowed.into_iter().filter_map(|tool| self.remove(tool).then_some(())).count() == count;
        let listed = listed.filter(|listed| !listed.value.is_empty() && self.names.is_empty() && !self.has_search);
        if let Some(Located { place, value }) = listed {
            let names: Vec<_> = value.iter().map(|tool| format!("`{}`", tool.value)).collect();
            self.warn(*place, format!("`tools`: none of these tools is available here: {}", names.join(", ")));
        }
        is_valid.then_some(self)
    }

    /// Adds all tools with an equivalent in this program.
    fn add_all(&mut self, place: Place) {
        for (_, tool) in TOOLS {
            if is_linked(tool) {
                self.push(tool, place);
            }
        }
        for set in self.known.servers {
            self.push(&set.name, place);
        }
    }

    /// Adds all tools of an MCP server, or a single one. The registry resolves the name, which may be the server's own
    /// or that of other programs, since it knows the tools.
    fn add_of_server(&mut self, name: &str, place: Place) {
        let name = name.strip_suffix("__*").unwrap_or(name);
        let is_of = |set: &str| name.strip_prefix(set).is_some_and(|rest| rest.is_empty() || rest.starts_with("__"));
        if self.known.servers.iter().any(|set| is_of(&set.name) || is_of(&set.foreign)) {
            self.push(name, place);
        } else {
            let servers: Vec<_> = self.known.servers.iter().map(|set| format!("`{}`", set.name)).collect();
            let hint = self.report.why_left_out(name).unwrap_or_else(|| {
                if servers.is_empty() { "; it has none".to_owned() } else { format!("; it has {}", servers.join(", ")) }
            });
            self.warn(place, format!("the tool `{name}` is left out: the project has no such MCP server{hint}"));
        }
    }

    fn add(&mut self, Located { place, value }: &Located<String>) {
        let (name, limits) = value.split_once('(').map_or((value.as_str(), false), |(name, _)| (name, true));
        let found = TOOLS.into_iter().find(|(known, _)| *known == name.trim()).map(|(_, tool)| tool);
        if name.trim() == ALL {
            self.add_all(*place);
        } else if name.trim() == WEB_SEARCH {
            self.has_search = true;
        } else if let Some(tool) = found.filter(|tool| is_linked(tool)) {
            self.push(tool, *place);
        } else if let Some(tool) = found {
            self.warn(*place, format!("the tool `{name}` is left out: the program does not link `{tool}`"));
        } else if name.trim().starts_with(MCP) {
            self.add_of_server(name.trim(), *place);
        } else if UNSUPPORTED_TOOLS.contains(&name.trim()) {
            self.warn(*place, format!("the tool `{name}` is left out: it has no counterpart here"));
        } else {
            // A tool of the project or the program, or an unknown one, which the registry reports.
            self.push(name.trim(), *place);
        }
        if limits {
            let message =
                format!("the limits of `{value}` are not enforced; use a policy: see `llm_do::approval::Policy`");
            self.warn(*place, message);
        }
    }

    fn push(&mut self, tool: &str, place: Place) {
        if self.seen.insert(tool.to_owned()) {
            self.names.push((tool.to_owned(), place.line));
        }
    }

    /// Removes a tool; returns whether its name is known, or at least not similar to a known one, and reports it
    /// otherwise.
    fn remove(&mut self, Located { place, value }: Located<String>) -> bool {
        let name = value.split('(').next().unwrap_or_default().trim();
        let name = name.strip_suffix("__*").filter(|name| name.starts_with(MCP)).unwrap_or(name);
        let tool = TOOLS.into_iter().find(|(known, _)| *known == name).map_or(name, |(_, tool)| tool);
        let is_external = name == WEB_SEARCH || name.starts_with(MCP) || UNSUPPORTED_TOOLS.contains(&name);
        let members = toolset(name);
        let is_known = tool != name || is_external || is_linked(name) || members.is_some();
        if !is_known && !self.known.items.contains(&name) {
            let known = TOOLS.iter().map(|(name, _)| *name).chain([WEB_SEARCH]);
            let hint = did_you_mean(name, known);
            let message = format!("`disallowedTools`: unknown tool `{name}`{hint}");
            if !hint.is_empty() {
                self.report.fault(self.path, place, message);
                return false;
            }
            self.warn(place, message);
        }
        self.has_search &= name != WEB_SEARCH;
        self.without.push(tool.to_owned());
        self.without.extend(members.unwrap_or_default().into_iter().map(str::to_owned));
        self.names.retain(|(known, _)| !self.without.contains(known));
        true
    }

    fn warn(&mut self, place: Place, message: String) {
        self.report.warning(self.path, place, message);
    }
}

fn is_linked(tool: &str) -> bool {
    linked_items().any(|def| def.name == tool)
}

/// Returns the registered names of the members of a linked toolset.
fn toolset(name: &str) -> Option<Vec<&'static str>> {
    let def = inventory::iter::<ToolsetDef>.into_iter().find(|def| def.name == name)?;
    Some(def.members.iter().map(Member::tool).collect())
}
