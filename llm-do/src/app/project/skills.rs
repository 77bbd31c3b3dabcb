//! Skills: folders with a `SKILL.md`, which models read when a task needs them.
//!
//! Source: <https://agentskills.io/specification>, read 2026-11.

mod tool;

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

use llm_do_worker_file::{Content, Fault, Key, Located, Node, Place, Reader};

pub(super) use self::tool::{Chosen, tool};
use super::Report;
use super::front_matter::{self, FrontMatter};
use super::report::shown;

/// Where skills are, each in a folder of its own.
const PLACES: [&str; 4] = ["skills", ".agents/skills", ".llm-do/skills", ".claude/skills"];
/// The tool with which models read skills.
pub(super) const READ_SKILL: &str = "read_skill";
/// How many skills are looked for in one place.
const MAX_FOLDERS: usize = 1000;
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;
const MAX_COMPATIBILITY: usize = 500;
/// Keys of one program or of a later version, which have no effect.
const IGNORED: [&str; 15] = [
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
    "shell",
    "user-invocable",
    "when_to_use",
];
const KEYS: [&str; 6] = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// A skill.
#[derive(Debug)]
pub(super) struct Skill {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) body: String,
    /// Its folder, opened.
    pub(super) folder: Arc<Dir>,
}

/// Returns the folders of a project's skills, sorted within each place; one that is reached by several ways counts once.
pub(super) fn folders(root: &Path, report: &mut Report) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in PLACES {
        let place = root.join(folder);
        if !place.is_dir() || !report.is_inside(&place) {
            continue;
        }
        let Ok(entries) = std::fs::read_dir(&place) else { continue };
        let mut found: Vec<_> = entries.take(MAX_FOLDERS).filter_map(|entry| Some(entry.ok()?.path())).collect();
        found.sort();
        found.retain(|folder| folder.is_dir() && report.is_inside(folder));
        for folder in found {
            let is_new = folder.canonicalize().map_or(true, |canonical| seen.insert(canonical));
            if folder.join("SKILL.md").exists() {
                folders.extend(is_new.then_some(folder));
            } else {
                report.warnings.push(format!("{}: left out: it has no `SKILL.md`", shown(&folder).display()));
            }
        }
    }
    folders
}

/// Reads the `SKILL.md` of a folder.
pub(super) fn read(folder: &Path, report: &mut Report) -> Option<Skill> {
    let path = folder.join("SKILL.md");
    let text = report.text_of(&path)?;
    let mut reading = Reading::default();
    let parsed = front_matter::parse(&text, "skill", &mut reading.faults);
    let FrontMatter { entries, body } = parsed.unwrap_or_default();
    for (key, node) in entries {
        if !reading.key(&key, node, folder) {
            report.ignored_key(&path, &key, &IGNORED, &KEYS);
        }
    }
    let is_faulty = !reading.faults.is_empty();
    report.faults(&path, reading.faults);
    let opened = report.folder_at(folder)?;
    let (Some(name), Some(description)) = (reading.name, reading.description) else { return None };
    (!is_faulty).then(|| Skill { name, description, body, folder: Arc::new(opened) })
}

#[derive(Default)]
struct Reading {
    faults: Vec<Fault>,
    name: Option<String>,
    description: Option<String>,
}

impl Reading {
    fn fault(&mut self, place: Place, message: impl Into<String>) {
        self.faults.push(Fault::new(place, message));
    }

    /// Reads a key; returns whether it has an effect here, or is only checked.
    fn key(&mut self, key: &Key, node: Node, folder: &Path) -> bool {
        match key.name.as_str() {
            "name" => self.name = self.limited("name", node, MAX_NAME).and_then(|name| self.checked(name, folder)),
            "description" => {
                self.description = self.limited("description", node, MAX_DESCRIPTION).map(|text| text.value);
            }
            "compatibility" => drop(self.limited("compatibility", node, MAX_COMPATIBILITY)),
            "license" => drop(Reader { key: "license", faults: &mut self.faults }.string(node)),
            "metadata" => self.metadata(node),
            _ => return false,
        }
        true
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
            // Numbers and flags too: the format's own reader takes each scalar as a string.
            if matches!(node.content, Content::List(_) | Content::Map(_)) {
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
