//! Skills: folders with a `SKILL.md`, which models read when a task needs them.
//!
//! Source: <https://agentskills.io/specification>, read 2026-11.

mod tool;

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

use llm_do_worker_file::{Content, Fault, Key, Node, Place, Reader};

pub(super) use self::tool::{Chosen, tool};
use super::Report;
use super::front_matter::{self, FrontMatter, as_text};
use super::report::shown;

/// The folders of skills, each of which has its own folder.
const PLACES: [&str; 4] = ["skills", ".agents/skills", ".llm-do/skills", ".claude/skills"];
/// The tool with which models read skills.
pub(super) const READ_SKILL: &str = "read_skill";
/// The maximum number of skills in one folder.
const MAX_FOLDERS: usize = 1000;
/// The maximum lengths of a name and a description in other programs, in characters.
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;
/// Keys of a single program or of a later version, which have no effect.
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
    /// The name of its folder, which also refers to it.
    pub(super) of_folder: String,
    pub(super) description: String,
    pub(super) body: String,
    /// Its open folder.
    pub(super) folder: Arc<Dir>,
}

/// Returns the folders of a project's skills, sorted within each place; a folder that is reachable by several paths
/// counts once.
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

/// Reads the `SKILL.md` of a folder, or omits the skill.
pub(super) fn read(folder: &Path, report: &mut Report) -> Option<Skill> {
    let mut names = vec![file_name(folder)];
    let reason = match report.foreign(|report| read_file(folder, &mut names, report)) {
        Ok(Some(skill)) => return Some(skill),
        Ok(None) => return report.switch_off(names, shown(&folder.join("SKILL.md")).display()),
        Err(reason) => reason,
    };
    report.leave_out(names, reason);
    None
}

/// Reads a skill, and adds its name to those of its folder; `None` if it has a fault or is disabled.
fn read_file(folder: &Path, names: &mut Vec<String>, report: &mut Report) -> Option<Skill> {
    let path = folder.join("SKILL.md");
    let text = report.text_of(&path)?;
    let mut reading = SkillReader::default();
    let mut parsed = parsed(&text, &mut reading)?;
    if parsed.take_disabled() {
        return None;
    }
    let FrontMatter { entries, body } = parsed;
    for (key, node) in entries {
        if !reading.key(&key, node) {
            report.ignored_key(&path, &key, &IGNORED, &KEYS);
        }
    }
    reading.complete(folder, &body);
    names.extend(reading.name.clone());
    front_matter::warn(&path, reading.notes, report);
    report.faults(&path, reading.faults);
    let of_folder = file_name(folder);
    let folder = Arc::new(report.folder_at(folder)?);
    Some(Skill { of_folder, name: reading.name?, description: reading.description?, body, folder })
}

/// Parses a file. A file without front matter is a text, and its folder is the name.
fn parsed(text: &str, reading: &mut SkillReader) -> Option<FrontMatter> {
    let begins = text.trim_start_matches('\u{feff}').trim_start().lines().next();
    if begins.is_some_and(|line| line.trim_end() == "---") {
        let known: Vec<_> = KEYS.into_iter().chain(IGNORED).collect();
        return front_matter::parse(text, &known, &mut reading.faults).or(Some(FrontMatter::default()));
    }
    Some(FrontMatter { entries: Vec::new(), body: text.trim_matches('\u{feff}').trim().to_owned() })
}

fn file_name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[derive(Default)]
struct SkillReader {
    faults: Vec<Fault>,
    /// Deviations from the format that are accepted.
    notes: Vec<Fault>,
    name: Option<String>,
    description: Option<String>,
    place: Place,
}

impl SkillReader {
    fn note(&mut self, place: Place, message: impl Into<String>) {
        self.notes.push(Fault::new(place, message));
    }

    /// Reads a key; returns whether it has an effect here, or belongs to the format.
    fn key(&mut self, key: &Key, node: Node) -> bool {
        match key.name.as_str() {
            "name" => {
                self.place = key.place;
                self.name = self.limited("name", node, MAX_NAME);
                if self.name.as_ref().is_some_and(|name| name.contains(char::is_control)) {
                    self.faults.push(Fault::new(key.place, "`name`: invalid name: it has control characters"));
                }
            }
            "description" => self.description = self.limited("description", node, MAX_DESCRIPTION),
            "compatibility" | "license" | "metadata" => {}
            _ => return false,
        }
        true
    }

    /// Reads a text; a text that exceeds the maximum of the format is used too.
    fn limited(&mut self, key: &str, node: Node, max: usize) -> Option<String> {
        if node.content == Content::Null {
            return None;
        }
        let text = Reader { key, faults: &mut self.faults }.string(as_text(node))?;
        let length = text.value.chars().count();
        if length > max {
            self.note(text.place, format!("`{key}` has {length} characters: other programs allow {max}"));
        }
        Some(text.value.trim().to_owned())
    }

    /// Fills in missing values like other programs: the name of the folder, and the first paragraph.
    fn complete(&mut self, folder: &Path, body: &str) {
        if !self.faults.is_empty() {
            return;
        }
        let of_folder = file_name(folder);
        match &self.name {
            None => {
                self.note(Place::line(1), format!("missing `name`: it is that of its folder, `{of_folder}`"));
                self.name = Some(of_folder);
            }
            Some(name) if *name != of_folder => {
                let text =
                    format!("`name`: other programs expect that of its folder, `{of_folder}`, instead of `{name}`");
                self.note(self.place, text);
            }
            Some(_) => {}
        }
        if self.description.is_none() {
            let mut paragraphs = body.split("\n\n").map(str::trim);
            match paragraphs.find(|text| !text.is_empty() && !text.starts_with('#')) {
                Some(text) => {
                    self.note(Place::line(1), "missing `description`: it is the first paragraph of the text");
                    self.description = Some(text.chars().take(MAX_DESCRIPTION).collect());
                }
                None => self.faults.push(Fault::new(Place::line(1), "missing `description`, and there is no text")),
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
