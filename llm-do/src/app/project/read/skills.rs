//! The skills of a project, and those that its workers and subagents name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use llm_do_worker_file::{Located, Place, Skills};

use super::ProjectReader;
use crate::app::project::find::Files;
use crate::app::project::skills::{self, Skill};

impl ProjectReader<'_> {
    /// Reads the skills that were found; two of one name are a fault.
    pub(super) fn read_skills(&mut self, files: &Files) {
        let mut known: BTreeMap<String, PathBuf> = BTreeMap::new();
        for folder in &files.skills {
            let Some(skill) = skills::read(folder, self.report) else { continue };
            if let Some(first) = known.insert(skill.name.clone(), folder.clone()) {
                let message = format!(
                    "`name`: duplicate skill `{}`, already defined in {}; rename one",
                    skill.name,
                    first.display()
                );
                self.report.fault(&folder.join("SKILL.md"), Place::line(1), message);
            }
            self.skills.push(Arc::new(skill));
        }
    }

    /// Returns the skills that a worker names.
    pub(super) fn chosen_skills(&mut self, path: &Path, skills: &Skills) -> Vec<Arc<Skill>> {
        match skills {
            Skills::All => self.skills.clone(),
            Skills::Named(names) => names.iter().filter_map(|name| self.skill(path, name)).collect(),
        }
    }

    /// Returns the skill of this name, or reports that it is unknown.
    pub(super) fn skill(&mut self, path: &Path, name: &Located<String>) -> Option<Arc<Skill>> {
        let found = self.skills.iter().find(|skill| skill.name == name.value).cloned();
        if found.is_none() {
            let known: Vec<_> = self.skills.iter().map(|skill| skill.name.as_str()).collect();
            let hint = match self.report.hint(&name.value, &known, "skills: ") {
                none if none.is_empty() => "; the project has no skills".to_owned(),
                hint => hint,
            };
            self.report.fault(path, name.place, format!("`skills`: unknown skill `{}`{hint}", name.value));
        }
        found
    }
}
