//! The skills of a project, and their use by its workers and subagents.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use llm_do_worker_file::{Located, Skills};

use super::ProjectReader;
use crate::find::Files;
use crate::report::{Report, shown};
use crate::skills::{self, Skill};

impl ProjectReader<'_> {
    /// Reads the skills that were found; of two with the same name, the first is used.
    pub(super) fn read_skills(&mut self, files: &Files) {
        let mut known: BTreeMap<String, PathBuf> = BTreeMap::new();
        for folder in &files.skills {
            let Some(skill) = skills::read(folder, self.report) else { continue };
            match known.entry(skill.name.clone()) {
                Entry::Occupied(first) => {
                    let text = format!(
                        "`name`: duplicate skill `{}`, already defined in {}; rename one",
                        skill.name,
                        shown(first.get()).display()
                    );
                    self.report.leave_out_duplicate(&folder.join("SKILL.md"), text);
                }
                Entry::Vacant(place) => {
                    place.insert(folder.clone());
                    self.skills.push(Arc::new(skill));
                }
            }
        }
    }

    /// Returns the skills that a worker names.
    pub(super) fn chosen_skills(&mut self, path: &Path, skills: &Skills) -> Vec<Arc<Skill>> {
        match skills {
            Skills::All => self.skills.clone(),
            Skills::Named(names) => names.iter().filter_map(|name| self.skill(path, name)).collect(),
        }
    }

    /// Returns the skill that a worker names, or reports that it is unknown.
    fn skill(&mut self, path: &Path, name: &Located<String>) -> Option<Arc<Skill>> {
        let found = find(&self.skills, &name.value);
        if found.is_none() {
            let hint = unknown(&self.skills, &name.value, self.report);
            self.report.fault(path, name.place, format!("`skills`: unknown skill `{}`{hint}", name.value));
        }
        found
    }
}

/// Returns a skill of a subagent; an unknown skill is omitted with a warning, as in other programs.
pub(super) fn skill_of_subagent(
    known: &[Arc<Skill>],
    path: &Path,
    name: &Located<String>,
    report: &mut Report,
) -> Option<Arc<Skill>> {
    let found = find(known, &name.value);
    if found.is_none() {
        let hint = unknown(known, &name.value, report);
        report.warning(path, name.place, format!("`skills`: unknown skill `{}` is left out{hint}", name.value));
    }
    found
}

/// Returns the skill with this name, or in the folder with this name.
fn find(known: &[Arc<Skill>], name: &str) -> Option<Arc<Skill>> {
    let found = known.iter().find(|skill| skill.name == name);
    found.or_else(|| known.iter().find(|skill| skill.of_folder == name)).cloned()
}

/// Returns the reason that a skill is unknown.
fn unknown(known: &[Arc<Skill>], name: &str, report: &Report) -> String {
    report.why_left_out(name).unwrap_or_else(|| {
        let known: Vec<_> = known.iter().map(|skill| skill.name.as_str()).collect();
        match report.hint(name, &known, "skills: ") {
            none if none.is_empty() => "; the project has no skills".to_owned(),
            hint => hint,
        }
    })
}
