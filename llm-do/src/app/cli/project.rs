//! The files that a command uses: worker files, a project, and a policy.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::CommandError;
use super::config::{Set, Settings, Source};
use super::rule_file::RuleFile;
use super::trust::Trust;
use crate::app::project::Project;
use crate::base::printable::printable;
use crate::plane::approval::Policy;
use crate::plane::registry::Registry;
use crate::session::runtime::RuntimeBuilder;

/// Options that add files to what is linked.
#[derive(Args, Debug, Default)]
pub(super) struct FileOptions {
    /// Add the worker files, `*.worker` and `*.agent`, in this folder; may be given several times.
    #[arg(long, value_name = "DIR")]
    worker_dir: Vec<PathBuf>,
    /// Add the workers, tools and settings of the project in this folder, or of this `project.json` or worker file.
    #[arg(long, value_name = "PATH")]
    pub(super) project: Option<PathBuf>,
    /// Decide about approvals by the rules in this JSON file, before those of the project.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

/// What a command needs to know about its project.
#[derive(Debug, Default)]
pub(super) struct Entries {
    /// The entry of the project.
    pub(super) entry: Option<String>,
    /// The arguments of the entry, if the user gives none.
    pub(super) arguments: Option<Value>,
    /// The workers of the project, which can be run by name like entries.
    pub(super) workers: Vec<String>,
    /// Whether the project does not take input of the user.
    pub(super) refuses_input: bool,
    /// Whether the program runs projects, and there was none.
    pub(super) needs_project: bool,
    /// Whether the project has an entry that the user did not agree to.
    pub(super) is_entry_refused: bool,
    /// The folder of the project.
    pub(super) project: Option<PathBuf>,
    /// Where rules of the user are written.
    pub(super) rules: RuleFile,
}

impl FileOptions {
    /// Returns the settings that the options set.
    pub(super) fn settings(&self) -> Settings {
        let folders = Some(&self.worker_dir).filter(|folders| !folders.is_empty());
        Settings {
            worker_dir: Set::option(folders.cloned(), "--worker-dir"),
            policy: Set::option(self.policy.clone(), "--policy"),
            ..Settings::default()
        }
    }

    /// Adds the files to the builder, and completes the settings with those of the project and the application.
    ///
    /// A program that `runs_projects` takes the current folder, if no other is given.
    pub(super) fn add_to(
        &self,
        builder: RuntimeBuilder,
        settings: &mut Settings,
        runs_projects: bool,
        trust: Trust,
    ) -> Result<(RuntimeBuilder, Entries), CommandError> {
        let application = builder.preset();
        let (builder, entries) = self.add_files(builder, settings, runs_projects, trust)?;
        settings.complete(&builder, &application);
        Ok((builder, entries))
    }

    fn add_files(
        &self,
        builder: RuntimeBuilder,
        settings: &Settings,
        runs_projects: bool,
        trust: Trust,
    ) -> Result<(RuntimeBuilder, Entries), CommandError> {
        let mut builder = settings.worker_dir.get().into_iter().flatten().fold(builder, RuntimeBuilder::worker_dir);
        if let Some(path) = settings.policy.get() {
            let policy = Policy::from_file(path).map_err(CommandError::from_error)?;
            builder = builder.preferred_policy(policy);
        }
        let path = self.project.as_deref().or(runs_projects.then_some(Path::new(".")));
        // Rules of one project do not belong in a file for all projects.
        let is_given = settings.policy.source().is_some_and(Source::is_of_command);
        let given = settings.policy.get().filter(|_| is_given).cloned().map(RuleFile::read);
        let Some(path) = path else {
            return Ok((builder, Entries { rules: given.unwrap_or_default(), ..Entries::default() }));
        };
        let project = Project::open(path).map_err(CommandError::from_error)?;
        for warning in project.warnings() {
            // Ignored: standard error may be closed.
            let _ = writeln!(io::stderr(), "warning: {}", printable(warning));
        }
        let needs_project = runs_projects && self.project.is_none() && project.is_empty();
        let has_entry = project.entry().is_some();
        let project = trust.apply(project)?;
        #[cfg(feature = "mcp")]
        let project = project.with_tokens(super::mcp::tokens());
        let entries = Entries {
            entry: project.entry().map(str::to_owned),
            arguments: project.arguments().cloned(),
            workers: project.workers().map(str::to_owned).collect(),
            refuses_input: !project.takes_input(),
            rules: given.unwrap_or_else(|| RuleFile::of_project(&project)),
            needs_project,
            is_entry_refused: has_entry && project.entry().is_none(),
            project: Some(project.root().to_owned()),
        };
        Ok((builder.project(project), entries))
    }

    /// Takes the first word of a command as the project, if it is the path of one.
    pub(super) fn take_path(&mut self, word: &mut Option<String>) {
        let is_path = |word: &str| {
            let path = Path::new(word);
            let is_folder = path.is_dir() && (word.contains(['/', '\\']) || word.starts_with('.'));
            is_folder || Project::is_project_file(path)
        };
        if self.project.is_none() && word.as_deref().is_some_and(is_path) {
            self.project = word.take().map(PathBuf::from);
        }
    }
}

/// Collects the items, and prints what was left out of them.
pub(super) fn collect(builder: &mut RuntimeBuilder) -> Result<Registry, CommandError> {
    let registry = builder.collect().map_err(CommandError::from_error)?;
    for warning in builder.warnings() {
        // Ignored: standard error may be closed.
        let _ = writeln!(io::stderr(), "warning: {}", printable(warning));
    }
    Ok(registry)
}

/// Returns the error of a program that runs projects, in a folder without one.
pub(super) fn no_project() -> CommandError {
    CommandError::Usage("this folder has no project: create one with `init`, or name one with --project".to_owned())
}
