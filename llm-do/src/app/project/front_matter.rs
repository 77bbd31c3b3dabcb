//! Markdown files with front matter, as subagents and skills are: keys, and a text below them.

use llm_do_worker_file::{Content, Fault, Key, Node, Place, read_yaml, split_front_matter};

/// A file's keys and text.
#[derive(Debug, Default)]
pub(super) struct FrontMatter {
    /// The keys with their values, each at the place of its key.
    pub(super) entries: Vec<(Key, Node)>,
    pub(super) body: String,
}

/// Parses a file of this kind, such as `skill`; reports a missing name or description.
pub(super) fn parse(text: &str, kind: &str, faults: &mut Vec<Fault>) -> Option<FrontMatter> {
    let parts = split_front_matter(text).map_err(|fault| faults.push(fault)).ok()?;
    let root = lenient(parts.yaml, parts.yaml_line, faults)?;
    let entries = match root.content {
        Content::Map(entries) => entries,
        Content::Null | Content::Invalid => Vec::new(),
        other => {
            faults.push(Fault::new(root.place, format!("expected lines `key: value`, found {}", other.kind())));
            return None;
        }
    };
    for name in ["name", "description"] {
        if !entries.iter().any(|(key, _)| key.name == name) {
            let message = format!("missing `{name}`: a {kind} needs a name and a description");
            faults.push(Fault::new(Place::line(parts.yaml_line - 1), message));
        }
    }
    let at_key = |(key, node): (Key, Node)| {
        let place = key.place;
        (key, Node { place, ..node })
    };
    let entries = entries.into_iter().map(at_key).collect();
    Some(FrontMatter { entries, body: parts.instructions.map(|text| text.value).unwrap_or_default() })
}

/// Reads YAML; if it is invalid, with quotes around the texts that need them.
///
/// The programs that write these files read a line `description: Use it: always` as a text too.
fn lenient(yaml: &str, line: usize, faults: &mut Vec<Fault>) -> Option<Node> {
    let (mut found, mut others) = (Vec::new(), Vec::new());
    let root = read_yaml(yaml, line, &mut found);
    if found.is_empty() {
        return root;
    }
    let quoted = read_yaml(&quoted(yaml), line, &mut others);
    if others.is_empty() {
        return quoted;
    }
    faults.append(&mut found);
    root
}

/// Returns YAML with quotes around the values of one line that are not valid without.
fn quoted(yaml: &str) -> String {
    let line = |line: &str| match line.split_once(": ") {
        Some((key, value)) if is_key(key) && needs_quotes(value.trim()) => {
            format!("{key}: {}\n", serde_json::Value::from(value.trim()))
        }
        _ => format!("{line}\n"),
    };
    yaml.lines().map(line).collect()
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_')
}

fn needs_quotes(value: &str) -> bool {
    !value.starts_with(['"', '\'', '[', '{', '|', '>'])
        && (value.contains(": ") || value.starts_with(['*', '&', '!', '%', '@', '`']))
}
