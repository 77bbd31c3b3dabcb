//! The subagents of a project, with the skills that they name.

use super::ProjectReader;
use super::skills::skill_of_subagent;
use crate::ServerFile;
use crate::find::Files;
use crate::subagent::{self, KnownNames, ServerSet, Subagent};

impl ProjectReader<'_> {
    /// Reads the subagents that were found.
    pub(super) fn subagents(&mut self, files: &Files) {
        let workers = self.project.workers.iter().map(|(spec, _)| spec.name().to_owned());
        let names: Vec<_> = workers.chain(self.project.aliases.iter().map(|(alias, _)| alias.name.clone())).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let listed =
            self.project.servers.iter().filter(|server| self.listed_servers.iter().any(|name| name == server.name()));
        let set = |server: &ServerFile| ServerSet { name: server.toolset(), foreign: server.foreign_toolset() };
        let servers: Vec<_> = listed.map(set).collect();
        let known = KnownNames { items: &names, servers: &servers };
        for path in &files.subagents {
            let Some(subagent) = subagent::read(path, known, self.project, self.report) else { continue };
            self.subagent(subagent);
        }
    }

    /// Adds a subagent with its skills, unless another worker or tool of the project has its name.
    fn subagent(&mut self, mut subagent: Subagent) {
        let name = subagent.spec.name().to_owned();
        if let Some(first) = self.project.place_of(&name) {
            let text = format!("`name`: `{name}` is already defined in {first}; rename one");
            return self.report.leave_out_duplicate(&subagent.path, text);
        }
        let skills = std::mem::take(&mut subagent.skills);
        let with_skills = self.report.foreign(|report| {
            for name in &skills {
                let skill = skill_of_subagent(&self.skills, &subagent.path, name, report);
                if let Some(skill) = skill.filter(|skill| report.count_text(&subagent.path, skill.body.len())) {
                    let text = format!("\n\n# Skill: {}\n\n{}", skill.name, skill.body);
                    subagent.spec.instructions.push_str(&text);
                }
            }
        });
        if let Err(reason) = with_skills {
            return self.report.leave_out([name], reason);
        }
        if let Some(given) = subagent.given {
            self.renamed.push((given, name));
        }
        self.project.workers.push((subagent.spec, subagent.origin));
    }
}
