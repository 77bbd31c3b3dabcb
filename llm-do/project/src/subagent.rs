//! Subagent files: Markdown with front matter, below `.claude/agents`.
//!
//! Source: <https://code.claude.com/docs/en/sub-agents>, read 2026-11.

mod name;
mod tools;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use llm_do_core::declare::worker_file::LoadedFile;
use llm_do_core::declare::worker_spec::WorkerSpec;
use llm_do_core::plane::registry::Origin;
use llm_do_providers::{ServerSideTool, ThinkingLevel, WebSearch};
use llm_do_worker_file::{Content, Fault, Located, McpServerItem, Node, Place, Reader, did_you_mean, read_mcp_items};

use self::tools::Tools;
use super::Project;
use super::front_matter::{self, FrontMatter, as_text};
use super::report::{Report, shown};

/// The models with short names: the newest of each family in the built-in price table.
const MODELS: [(&str, &str); 4] = [
    ("fable", "anthropic:claude-fable-5-2"),
    ("haiku", "anthropic:claude-haiku-5-5"),
    ("opus", "anthropic:claude-opus-5-5"),
    ("sonnet", "anthropic:claude-sonnet-5-5"),
];
/// Known keys without an effect.
const IGNORED: [&str; 7] = ["background", "color", "hooks", "initialPrompt", "isolation", "memory", "permissionMode"];
/// Reads the value of a key.
type ReadKey = fn(&mut SubagentReader, &str, Node);
/// The keys that have an effect.
const KEYS: [(&str, ReadKey); 9] = [
    ("name", |reading, key, node| reading.keys.name = reading.reader(key).string(as_text(node))),
    ("description", |reading, key, node| reading.keys.description = reading.reader(key).string(as_text(node))),
    ("tools", |reading, key, node| reading.keys.tools = reading.names(key, node)),
    ("disallowedTools", |reading, key, node| reading.keys.disallowed = values(reading.names(key, node))),
    ("model", |reading, _, node| reading.model(node)),
    ("maxTurns", |reading, _, node| reading.max_turns(&node)),
    ("effort", |reading, _, node| reading.effort(node)),
    ("skills", |reading, key, node| reading.keys.skills = values(reading.names(key, node))),
    ("mcpServers", |reading, key, node| {
        let mut reader = Reader { key, faults: &mut reading.faults };
        reading.keys.servers = values(read_mcp_items(&mut reader, node, &mut reading.notes));
    }),
];

/// The names that a subagent may use, in addition to linked items.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownNames<'a> {
    /// The workers and tools of the project.
    pub(super) items: &'a [&'a str],
    /// The toolsets of the MCP servers in `.mcp.json`.
    pub(super) servers: &'a [ServerSet],
}

/// The toolset of a server.
#[derive(Clone, Debug)]
pub(super) struct ServerSet {
    /// Its registered name.
    pub(super) name: String,
    /// Its name in the files of other programs.
    pub(super) foreign: String,
}

/// A subagent as a worker.
#[derive(Debug)]
pub(super) struct Subagent {
    pub(super) spec: WorkerSpec,
    pub(super) origin: Origin,
    /// The skills whose text joins the instructions.
    pub(super) skills: Vec<Located<String>>,
    pub(super) path: PathBuf,
    /// The name in the file, if the registered name differs.
    pub(super) given: Option<String>,
}

/// Reads a subagent file of a project that defines these workers and tools; adds the servers that it defines to the
/// project.
///
/// A faulty or disabled subagent is omitted.
pub(super) fn read(path: &Path, known: KnownNames<'_>, project: &mut Project, report: &mut Report) -> Option<Subagent> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut names = vec![stem.clone()];
    let warned = report.warnings.len();
    let servers = (project.servers.len(), project.known_servers.len());
    let reason = match report.foreign(|report| read_file(path, known, &mut names, project, report)) {
        Ok(Some(subagent)) => return Some(subagent),
        Ok(None) => return report.switch_off(names, shown(path).display()),
        Err(_) if is_document(&stem, &names) => {
            report.warnings.truncate(warned);
            return None;
        }
        Err(reason) => reason,
    };
    // Its own servers are not started.
    project.servers.truncate(servers.0);
    project.known_servers.truncate(servers.1);
    report.leave_out(names, reason);
    None
}

/// Returns whether a file without the name of a subagent is documentation, such as `README.md` and `CONTRIBUTING.md`.
fn is_document(stem: &str, names: &[String]) -> bool {
    let is_capital = |letter: char| letter.is_ascii() && !letter.is_ascii_lowercase();
    let has_capitals_only = stem.chars().all(is_capital) && stem.contains(|letter: char| letter.is_ascii_uppercase());
    names.len() == 1 && (stem.eq_ignore_ascii_case("readme") || has_capitals_only)
}

/// Reads a subagent, and adds its name to `names`; `None` if it has a fault or is disabled.
fn read_file(
    path: &Path,
    known: KnownNames<'_>,
    names: &mut Vec<String>,
    project: &mut Project,
    report: &mut Report,
) -> Option<Subagent> {
    let text = report.text_of(path)?;
    let mut reading = SubagentReader::default();
    let known_keys = KEYS.map(|(name, _)| name);
    let all_keys = [&known_keys[..], &IGNORED[..]].concat();
    let mut parsed = front_matter::parse(&text, &all_keys, &mut reading.faults).unwrap_or_default();
    if parsed.take_disabled() {
        return None;
    }
    if reading.faults.is_empty() {
        front_matter::check_required(&parsed, "subagent", &mut reading.faults);
    }
    let FrontMatter { entries, body } = parsed;
    for (key, node) in entries {
        match KEYS.iter().find(|(name, _)| *name == key.name) {
            Some((name, read)) => read(&mut reading, name, node),
            None => report.ignored_key(path, &key, &IGNORED, &known_keys),
        }
    }
    let SubagentReader { keys, faults, notes } = reading;
    names.extend(keys.name.iter().map(|name| name.value.clone()));
    front_matter::warn(path, notes, report);
    let is_faulty = !faults.is_empty();
    report.faults(path, faults);
    if is_faulty {
        return None;
    }
    let own = keys.servers.iter().filter(|item| matches!(item, McpServerItem::Inline(_))).cloned().collect();
    let own = project.servers_of((path, "mcpServers"), own, &[], report);
    let own = own.into_iter().map(|(name, _)| ServerSet { foreign: name.clone(), name });
    let servers: Vec<_> = known.servers.iter().cloned().chain(own).collect();
    keys.into_subagent(path, body, KnownNames { servers: &servers, ..known }, report)
}

#[derive(Default)]
struct SubagentKeys {
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

fn values<T>(list: Option<Located<Vec<T>>>) -> Vec<T> {
    list.map(|list| list.value).unwrap_or_default()
}

#[derive(Default)]
struct SubagentReader {
    faults: Vec<Fault>,
    /// The keys and values without an effect.
    notes: Vec<Fault>,
    keys: SubagentKeys,
}

impl SubagentReader {
    fn reader<'a>(&'a mut self, key: &'a str) -> Reader<'a> {
        Reader { key, faults: &mut self.faults }
    }

    fn fault(&mut self, place: Place, message: impl Into<String>) {
        self.faults.push(Fault::new(place, message));
    }

    /// Reads a list of names, or names that are separated by commas; repeated names count once.
    fn names(&mut self, key: &str, node: Node) -> Option<Located<Vec<Located<String>>>> {
        let place = node.place;
        let names = match node.content {
            Content::Null => Vec::new(),
            Content::String(text) => {
                let names = tools::separated(&text).into_iter();
                names.map(|name| Located { place, value: name.to_owned() }).collect()
            }
            Content::List(items) => items.into_iter().filter_map(|item| self.item(key, item)).collect(),
            _ => return self.reader(key).wrong("a list of names, or names separated by commas", &node),
        };
        let mut seen = HashSet::new();
        let value = names.into_iter().filter(|name| seen.insert(name.value.clone())).collect();
        Some(Located { place, value })
    }

    /// Reads a name in a list. `Bash(git: *)` is a name too, although YAML parses it as a map. A blank name is dropped.
    fn item(&mut self, key: &str, node: Node) -> Option<Located<String>> {
        let Node { place, content } = node;
        let value = match content {
            Content::Null | Content::Invalid => return None,
            Content::String(text) => text.trim().to_owned(),
            Content::Map(entries) => match entries.as_slice() {
                [(key, node)] => match &node.content {
                    Content::String(text) => format!("{}: {text}", key.name),
                    _ => return self.reader(key.name.as_str()).wrong("a string", node),
                },
                _ => return self.reader(key).fault(place, format!("`{key}`: expected names as items, found a map")),
            },
            other => {
                return self.reader(key).invalid(place, format!("expected names as items, found {}", other.kind()));
            }
        };
        (!value.is_empty()).then_some(Located { place, value })
    }

    fn model(&mut self, node: Node) {
        let Some(Located { place, value }) = self.reader("model").string(node) else { return };
        let given = value.trim();
        // Without the size of the window, as in `opus[1m]`, which depends on the model here.
        let name = given.split_once('[').filter(|(_, size)| size.ends_with(']')).map_or(given, |(name, _)| name);
        let word = name.to_lowercase();
        let known = MODELS.into_iter().find(|(short, _)| *short == word).map(|(_, model)| model.to_owned());
        self.keys.model = match word.as_str() {
            "inherit" | "default" => None,
            _ if known.is_some() => known,
            _ if name.contains(':') => Some(name.to_owned()),
            claude if claude.starts_with("claude") => Some(format!("anthropic:{claude}")),
            other => {
                let hint = did_you_mean(other, MODELS.into_iter().map(|(short, _)| short));
                let message = format!(
                    "`model`: unknown model `{given}`{hint}\nexpected `sonnet`, `opus`, `haiku`, `fable`, `inherit`, or \
                     `provider:model`"
                );
                return self.fault(place, message);
            }
        };
    }

    /// Reads a limit; an invalid one has no effect, as in other programs.
    fn max_turns(&mut self, node: &Node) {
        let turns: Option<u32> = Reader { key: "maxTurns", faults: &mut self.notes }.count(node, u32::MAX);
        if turns == Some(0) {
            let text = "`maxTurns` has no effect: it must be at least 1, since each turn is one request to the model";
            return self.notes.push(Fault::new(node.place, text));
        }
        self.keys.max_turns = turns;
    }

    /// Reads an effort; an unknown one has no effect, as in other programs.
    fn effort(&mut self, node: Node) {
        let Some(word) = (Reader { key: "effort", faults: &mut self.notes }).string(as_text(node)) else { return };
        self.keys.effort = match word.value.to_lowercase().as_str() {
            "low" => Some(ThinkingLevel::Low),
            "medium" => Some(ThinkingLevel::Medium),
            "high" | "xhigh" | "max" => Some(ThinkingLevel::High),
            _ => {
                let message =
                    format!("`effort`: expected `low`, `medium`, `high`, `xhigh` or `max`, found `{}`", word.value);
                return self.notes.push(Fault::new(word.place, message));
            }
        };
    }
}

impl SubagentKeys {
    fn into_subagent(
        self,
        path: &Path,
        instructions: String,
        known: KnownNames<'_>,
        report: &mut Report,
    ) -> Option<Subagent> {
        let (name, description) = (self.name?, self.description?);
        let registered = name::registered(&name.value, path);
        let given = (registered != name.value).then(|| name.value.clone());
        if let Some(given) = &given {
            let text = format!("`name`: `{given}` is registered as `{registered}`: models accept no other characters");
            report.warning(path, name.place, text);
        }
        let tools = Tools::new(path, report, known);
        let Tools { names, has_search, without, .. } =
            tools.chosen(self.tools.as_ref(), &self.servers, self.disallowed)?;
        let mut spec = WorkerSpec::new(registered, instructions).description(description.value);
        spec = spec.toolsets(names.iter().map(|(name, _)| name));
        spec.model = self.model;
        spec.max_turns = self.max_turns.unwrap_or(spec.max_turns);
        spec.settings.thinking = self.effort;
        if has_search {
            spec = spec.server_side_tools([ServerSideTool::from(WebSearch::new())]);
        }
        let origin = Origin::File(LoadedFile::new(shown(path).to_owned(), names).foreign(without));
        Some(Subagent { spec, origin, skills: self.skills, path: path.to_owned(), given })
    }
}

#[cfg(test)]
mod tests {
    use super::KEYS;

    #[test]
    fn the_page_of_projects_lists_every_key_of_a_subagent() {
        let page = include_str!("../../docs/project.md");
        let rows = page.lines().skip_while(|line| *line != "# Subagents").take_while(|line| !line.starts_with("Front"));
        let cells = rows.filter(|row| row.starts_with("| `")).filter_map(|row| row.split(" | ").next());
        let mut listed: Vec<_> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
        listed.sort_unstable();
        let mut known = KEYS.map(|(name, _)| name);
        known.sort_unstable();
        assert_eq!(listed, known);
    }
}
