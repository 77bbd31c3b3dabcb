//! Skills: folders with a `SKILL.md`, which models read when a task needs them.
//!
//! Source: <https://agentskills.io/specification>, read 2026-11.

use std::fmt::Write;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use llm_do_worker_file::{
    Content, Fault, Key, Located, Node, Place, Reader, did_you_mean, read_yaml, split_front_matter,
};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::Report;
use crate::base::error::Result;
use crate::declare::tool::Effect;
use crate::plane::function_tool::FunctionTool;

/// The tool with which models read skills.
pub(super) const READ_SKILL: &str = "read_skill";
/// The maximum size of a file that a model reads, in bytes.
const MAX_FILE: u64 = 1 << 20;
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;
const MAX_COMPATIBILITY: usize = 500;
/// Keys of one program or of a later version, which have no effect.
const IGNORED: [&str; 13] = [
    "agent",
    "allowed-tools",
    "argument-hint",
    "arguments",
    "background",
    "context",
    "disable-model-invocation",
    "disallowed-tools",
    "effort",
    "hooks",
    "model",
    "paths",
    "when_to_use",
];
const KEYS: [&str; 6] = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// A skill.
#[derive(Clone, Debug)]
pub(super) struct Skill {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) body: String,
    pub(super) folder: PathBuf,
}

/// Reads the `SKILL.md` of a folder.
pub(super) fn read(folder: &Path, report: &mut Report) -> Option<Skill> {
    let path = folder.join("SKILL.md");
    let text = report.text_of(&path)?;
    let parts = split_front_matter(&text).map_err(|fault| report.faults(&path, [fault])).ok()?;
    let mut faults = Vec::new();
    let root = read_yaml(parts.yaml, parts.yaml_line, &mut faults);
    let mut reading = Reading { faults, warnings: Vec::new(), name: None, description: None };
    if let Some(root) = root {
        reading.root(root, Place::line(parts.yaml_line - 1), folder);
    }
    for (place, message) in reading.warnings {
        report.warning(&path, place, message);
    }
    let is_faulty = !reading.faults.is_empty();
    report.faults(&path, reading.faults);
    let body = parts.instructions.map(|text| text.value).unwrap_or_default();
    let (Some(name), Some(description)) = (reading.name, reading.description) else { return None };
    (!is_faulty).then(|| Skill { name, description, body, folder: folder.to_owned() })
}

struct Reading {
    faults: Vec<Fault>,
    warnings: Vec<(Place, String)>,
    name: Option<String>,
    description: Option<String>,
}

impl Reading {
    fn fault(&mut self, place: Place, message: impl Into<String>) {
        self.faults.push(Fault::new(place, message));
    }

    fn root(&mut self, root: Node, top: Place, folder: &Path) {
        let entries = match root.content {
            Content::Map(entries) => entries,
            Content::Null | Content::Invalid => Vec::new(),
            other => return self.fault(root.place, format!("expected lines `key: value`, found {}", other.kind())),
        };
        for name in ["name", "description"] {
            if !entries.iter().any(|(key, _)| key.name == name) {
                self.fault(top, format!("missing `{name}`: a skill needs a name and a description"));
            }
        }
        for (key, node) in entries {
            self.key(&key, Node { place: key.place, ..node }, folder);
        }
    }

    fn key(&mut self, key: &Key, node: Node, folder: &Path) {
        match key.name.as_str() {
            "name" => self.name = self.limited("name", node, MAX_NAME).and_then(|name| self.checked(name, folder)),
            "description" => {
                self.description = self.limited("description", node, MAX_DESCRIPTION).map(|text| text.value);
            }
            "compatibility" => drop(self.limited("compatibility", node, MAX_COMPATIBILITY)),
            "license" => drop(Reader { key: "license", faults: &mut self.faults }.string(node)),
            "metadata" => self.metadata(node),
            name if IGNORED.contains(&name) => {
                self.warnings.push((key.place, format!("`{name}` has no effect here")));
            }
            name => {
                let hint = did_you_mean(name, KEYS);
                self.warnings.push((key.place, format!("unknown key `{name}` has no effect here{hint}")));
            }
        }
    }

    fn limited(&mut self, key: &str, node: Node, max: usize) -> Option<Located<String>> {
        let text = Reader { key, faults: &mut self.faults }.string(node)?;
        let length = text.value.chars().count();
        if length > max {
            self.fault(text.place, format!("`{key}` has {length} characters: the limit is {max}"));
            return None;
        }
        Some(text)
    }

    fn checked(&mut self, name: Located<String>, folder: &Path) -> Option<String> {
        let Located { place, value } = name;
        let is_allowed = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        if !value.chars().all(is_allowed) || value.starts_with('-') || value.ends_with('-') || value.contains("--") {
            let message = format!(
                "`name`: invalid name `{value}`: expected lowercase letters, digits and single hyphens between them"
            );
            self.fault(place, message);
            return None;
        }
        if folder.file_name().is_none_or(|folder| folder != value.as_str()) {
            let folder = folder.file_name().unwrap_or_default().to_string_lossy();
            self.fault(place, format!("`name`: `{value}` must be the name of its folder, `{folder}`"));
            return None;
        }
        Some(value)
    }

    fn metadata(&mut self, node: Node) {
        let Some(entries) = (Reader { key: "metadata", faults: &mut self.faults }).map(node) else { return };
        for (key, node) in entries {
            if !matches!(node.content, Content::String(_)) {
                let message = format!("`metadata.{}`: expected a string, found {}", key.name, node.content.kind());
                self.fault(key.place, message);
            }
        }
    }
}

/// Returns the section of a worker's instructions that lists its skills.
pub(super) fn catalogue<'a>(skills: impl IntoIterator<Item = &'a Skill>) -> String {
    let mut text = format!(
        "# Skills\n\nA skill is a text with instructions for one kind of task. Before a task that a skill describes, read the \
         skill with `{READ_SKILL}`.\n"
    );
    for skill in skills {
        let _ = write!(text, "\n- `{}`: {}", skill.name, skill.description.trim());
    }
    text
}

/// Returns the tool with which models read these skills.
pub(super) fn tool(skills: Vec<Skill>) -> FunctionTool {
    let names: Vec<_> = skills.iter().map(|skill| skill.name.clone()).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "enum": names, "description": "The name of the skill." },
            "file": {
                "type": "string",
                "description": "A file in the folder of the skill, as a relative path; omit it for the instructions."
            },
        },
        "required": ["name"],
        "additionalProperties": false,
    });
    let skills = Arc::new(skills);
    let description = "Read the instructions of a skill, or a file that they mention.";
    FunctionTool::new(READ_SKILL, description, schema, Effect::ReadOnly, move |_ctx, arguments| {
        let skills = Arc::clone(&skills);
        async move { text(&skills, &arguments).await }
    })
    .summary("read the skill {name}")
}

async fn text(skills: &[Skill], arguments: &Value) -> Result<String> {
    let skill = skills
        .iter()
        .find(|skill| arguments["name"] == skill.name)
        .ok_or_else(|| format!("unknown skill {}", arguments["name"]))?;
    let Some(file) = arguments["file"].as_str().filter(|file| !file.is_empty()) else { return Ok(skill.body.clone()) };
    let (folder, path) = (skill.folder.clone(), file.to_owned());
    let read = spawn_blocking(move || contained(&folder, &path)).await?;
    Ok(read.map_err(|error| format!("`{file}` of the skill `{}` cannot be read: {error}", skill.name))?)
}

/// Reads a text below a folder; neither the path nor a link may lead outside.
fn contained(folder: &Path, path: &str) -> io::Result<String> {
    let dir = Dir::open_ambient_dir(folder, ambient_authority())?;
    // Checked before the file is opened, since opening a device may have effects.
    if !dir.metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    dir.open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(io::Error::other(format!("it is too large: the limit is {MAX_FILE} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
}
