//! Tool files: an alias of a linked tool, or a worker.

mod python;

use std::path::Path;

use llm_do_worker_file::{
    Content, Fault, Key, Located, Node, Parts, Place, Reader, check_worker_name, did_you_mean, read_keys, read_yaml,
    split_front_matter, unknown_key,
};
use serde_json::{Map, Value};

use super::Report;
use super::learned::{self, LearnedFile};
use super::report::shown;
use super::script::{self, ScriptFile};
use crate::declare::worker_file::{LoadedFile, ReadWorker, checked, json as value_of};
use crate::plane::definition::DeclaredRule;
use crate::plane::function_tool::Alias;
use crate::plane::registry::Origin;

const DOCUMENTATION: &str = "see the documentation of `llm_do::project`";
const KEYS: [&str; 6] = ["type", "name", "function", "description", "arguments", "approval"];
/// The line before and after the front matter.
const FENCE: &str = "---";
const TYPES: [&str; 4] = ["function", "agent", "script", "learned"];

/// The definition in a tool file.
#[derive(Debug)]
pub(super) enum ToolFile {
    Alias(Box<Alias>, Origin),
    Worker(Box<ReadWorker>),
    Script(Box<ScriptFile>, Origin),
    Learned(Box<LearnedFile>, Origin),
}

/// Reads a tool file.
pub(super) fn read(path: &Path, report: &mut Report) -> Option<ToolFile> {
    let text = report.text_of(path)?;
    let (mut faults, mut notes) = (Vec::new(), Vec::new());
    let read = parse(path, &text, report, &mut faults, &mut notes);
    for Fault { place, message } in notes {
        report.warning(path, place, message);
    }
    let is_faulty = !faults.is_empty();
    report.faults(path, faults);
    read.filter(|_| !is_faulty)
}

fn parse(
    path: &Path,
    text: &str,
    report: &Report,
    faults: &mut Vec<Fault>,
    notes: &mut Vec<Fault>,
) -> Option<ToolFile> {
    let Parts { yaml, yaml_line, instructions } = split(text).map_err(|fault| faults.push(fault)).ok()?;
    let root = read_yaml(yaml, yaml_line, faults)?;
    let top = Place::line(yaml_line.saturating_sub(1).max(1));
    let Content::Map(mut entries) = root.content else {
        faults.push(Fault::new(root.place, format!("expected lines `key: value`, found {}", root.content.kind())));
        return None;
    };
    let Some(position) = entries.iter().position(|(key, _)| key.name == "type") else {
        faults.push(Fault::new(
            top,
            "missing `type`: add `type: function`, `type: agent`, `type: script` or `type: learned`",
        ));
        return None;
    };
    let (key, kind) = &entries[position];
    let kind = Reader { key: "type", faults }.string(Node { place: key.place, ..kind.clone() })?;
    match kind.value.as_str() {
        "agent" => {
            entries.remove(position);
            python::rename(path, &mut entries, notes);
            let root = Node { place: root.place, content: Content::Map(entries) };
            let reading = read_keys(root, top, instructions, std::mem::take(faults));
            checked(reading).map(|read| ToolFile::Worker(Box::new(read))).map_err(|found| *faults = found).ok()
        }
        "function" => {
            if let Some(text) = instructions {
                faults.push(Fault::new(text.place, "a tool of `type: function` has no instructions; remove the text"));
            }
            let lines = entries.iter().map(|(key, _)| (key.name.clone(), key.place.line)).collect();
            let alias = ToolFileKeys::default().read(entries, top, faults);
            let alias = alias.into_alias(path, top, faults, notes)?;
            Some(ToolFile::Alias(Box::new(alias), Origin::File(LoadedFile::new(shown(path).to_owned(), lines))))
        }
        "script" => {
            if let Some(text) = instructions {
                faults.push(Fault::new(text.place, "a tool of `type: script` has no instructions; remove the text"));
            }
            let lines = entries.iter().map(|(key, _)| (key.name.clone(), key.place.line)).collect();
            let (script, mut tools): (ScriptFile, Vec<_>) = script::of_tool_file(path, entries, report, faults)?;
            tools.extend::<Vec<_>>(lines);
            Some(ToolFile::Script(Box::new(script), Origin::File(LoadedFile::new(shown(path).to_owned(), tools))))
        }
        "learned" => {
            if let Some(text) = instructions {
                faults.push(Fault::new(text.place, "a tool of `type: learned` has no instructions; remove the text"));
            }
            let lines = entries.iter().map(|(key, _)| (key.name.clone(), key.place.line)).collect();
            let learned = learned::of_tool_file(path, entries, report, faults)?;
            Some(ToolFile::Learned(Box::new(learned), Origin::File(LoadedFile::new(shown(path).to_owned(), lines))))
        }
        other => {
            let message = format!(
                "`type`: expected `function`, `agent`, `script` or `learned`, found `{other}`{}",
                did_you_mean(other, TYPES)
            );
            faults.push(Fault::new(kind.place, message));
            None
        }
    }
}

/// Splits front matter and instructions. Without a first line `---`, front matter ends at the first one; without any,
/// the whole file is front matter.
fn split(text: &str) -> Result<Parts<'_>, Fault> {
    let yaml = text.trim_start_matches('\u{feff}');
    let first = yaml.lines().find(|line| !line.trim().is_empty());
    if first.is_some_and(|line| line.trim_end() == FENCE) {
        return split_front_matter(text);
    }
    let (mut end, mut lines) = (0, 0);
    for line in yaml.split_inclusive('\n') {
        if line.trim_end() == FENCE {
            let below = &yaml[end + line.len()..];
            let blank_lines = below.lines().take_while(|line| line.trim().is_empty()).count();
            let (place, value) = (Place::line(lines + 2 + blank_lines), below.trim().replace("\r\n", "\n"));
            let instructions = (!value.is_empty()).then_some(Located { place, value });
            return Ok(Parts { yaml: &yaml[..end], yaml_line: 1, instructions });
        }
        (end, lines) = (end + line.len(), lines + 1);
    }
    Ok(Parts { yaml, yaml_line: 1, instructions: None })
}

#[derive(Default)]
struct ToolFileKeys {
    name: Option<Located<String>>,
    function: Option<Located<String>>,
    description: Option<String>,
    arguments: Map<String, Value>,
    approval: Option<DeclaredRule>,
    has_function: bool,
}

impl ToolFileKeys {
    fn read(mut self, entries: Vec<(Key, Node)>, top: Place, faults: &mut Vec<Fault>) -> Self {
        self.has_function = entries.iter().any(|(key, _)| key.name == "function");
        if !self.has_function {
            faults.push(Fault::new(top, "missing `function`: the name of a linked tool"));
        }
        for (key, node) in entries {
            self.key(&key, Node { place: key.place, ..node }, faults);
        }
        self
    }

    fn key(&mut self, key: &Key, node: Node, faults: &mut Vec<Fault>) {
        let mut reader = Reader { key: &key.name, faults };
        match key.name.as_str() {
            "type" => {}
            "name" => self.name = reader.string(node),
            "function" => self.function = reader.string(node),
            "description" => self.description = reader.string(node).map(|text| text.value),
            "arguments" => {
                let entries = reader.map(node).unwrap_or_default();
                self.arguments = entries.into_iter().map(|(key, node)| (key.name, value_of(node))).collect();
            }
            "approval" => self.approval = approval(node, &mut reader),
            _ => faults.push(unknown_key(key, "", &KEYS, DOCUMENTATION)),
        }
    }

    fn into_alias(self, path: &Path, top: Place, faults: &mut Vec<Fault>, notes: &mut Vec<Fault>) -> Option<Alias> {
        let function = python::function(self.function?, notes);
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let name = self.name.unwrap_or(Located { place: top, value: stem });
        if let Err(message) = check_worker_name(&name.value) {
            faults.push(Fault::new(name.place, format!("`name`: {message}")));
            return None;
        }
        Some(Alias {
            name: name.value,
            target: function.value,
            description: self.description,
            defaults: self.arguments,
            approval: self.approval,
        })
    }
}

/// Returns the name of a tool, also if it is invalid, which is a fault.
pub(super) fn tool_name(node: Node, place: Place, reader: &mut Reader<'_>) -> Option<String> {
    let name = reader.string(node)?.value;
    if let Err(message) = check_worker_name(&name) {
        reader.invalid::<()>(place, message);
    }
    Some(name)
}

pub(super) fn approval(node: Node, reader: &mut Reader<'_>) -> Option<DeclaredRule> {
    let word = reader.string(node)?;
    match word.value.as_str() {
        "ask" => Some(DeclaredRule::Ask),
        "pre_approved" => Some(DeclaredRule::PreApproved),
        "blocked" => Some(DeclaredRule::Blocked("its tool file blocks it")),
        other => reader.invalid(word.place, format!("expected `ask`, `pre_approved` or `blocked`, found `{other}`")),
    }
}
