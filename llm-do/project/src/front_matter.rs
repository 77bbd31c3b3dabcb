//! Markdown files with front matter, such as subagents and skills: keys, followed by a text.

mod lenient;

use std::path::Path;

use llm_do_worker_file::{Content, Fault, Key, Node, Place, read_yaml, split_front_matter};

use super::report::Report;

/// A file's keys and text.
#[derive(Debug, Default)]
pub(super) struct FrontMatter {
    /// The keys with their values, each at the place of its key.
    pub(super) entries: Vec<(Key, Node)>,
    pub(super) body: String,
}

impl FrontMatter {
    /// Returns whether it has a key, with any value.
    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|(key, _)| key.name == name)
    }

    /// Removes the key that disables the file; returns whether the file is disabled. Any value except `false` disables
    /// it.
    pub(super) fn take_disabled(&mut self) -> bool {
        let switch = self.entries.iter().position(|(key, _)| key.name == DISABLED);
        switch.is_some_and(|switch| self.entries.remove(switch).1.content != Content::Flag(false))
    }
}

/// The key that disables a file.
const DISABLED: &str = "disabled";

/// Parses a file; `known` are the keys of its format, which begin a new value in a text that is not valid YAML.
pub(super) fn parse(text: &str, known: &[&str], faults: &mut Vec<Fault>) -> Option<FrontMatter> {
    let parts = split_front_matter(text).map_err(|fault| faults.push(fault)).ok()?;
    let root = read(parts.yaml, parts.yaml_line, known, faults)?;
    let entries = match root.content {
        Content::Map(entries) => entries,
        Content::Null | Content::Invalid => Vec::new(),
        other => {
            faults.push(Fault::new(root.place, format!("expected lines `key: value`, found {}", other.kind())));
            return None;
        }
    };
    let at_key = |(key, node): (Key, Node)| {
        let place = key.place;
        (key, Node { place, ..node })
    };
    let entries = entries.into_iter().map(at_key).collect();
    Some(FrontMatter { entries, body: parts.instructions.map(|text| text.value).unwrap_or_default() })
}

/// Reports a missing name or description of a file of this kind, such as `subagent`.
pub(super) fn check_required(parsed: &FrontMatter, kind: &str, faults: &mut Vec<Fault>) {
    for name in ["name", "description"] {
        if !parsed.has(name) {
            let message = format!("missing `{name}`: a {kind} needs a name and a description");
            faults.push(Fault::new(Place::line(1), message));
        }
    }
}

/// Parses YAML; values that are not valid YAML are texts, as in the programs that write these files.
fn read(yaml: &str, line: usize, known: &[&str], faults: &mut Vec<Fault>) -> Option<Node> {
    let mut found = Vec::new();
    let root = read_yaml(yaml, line, &mut found);
    if found.is_empty() {
        return root;
    }
    let read = lenient::read(yaml, line, known);
    if read.is_none() {
        faults.append(&mut found);
    }
    read
}

/// Returns a number or a flag in its source form, for keys whose values are texts.
pub(super) fn as_text(node: Node) -> Node {
    match node.text() {
        Some(text) => Node { place: node.place, content: Content::String(text) },
        None => node,
    }
}

/// Adds the warnings of a file.
pub(super) fn warn(path: &Path, notes: Vec<Fault>, report: &mut Report) {
    for Fault { place, message } in notes {
        report.warning(path, place, message);
    }
}
