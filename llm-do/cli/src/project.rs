//! The files that a command uses: worker files, a project, and a policy.

use std::path::{Path, PathBuf};

use clap::Args;
use llm_do_core::declare::worker_spec::WorkerSpec;
use llm_do_core::plane::approval::Policy;
use llm_do_core::plane::registry::{Origin, Registry};
use llm_do_core::session::runtime::RuntimeBuilder;
use llm_do_project::{Demand, Digest, Digests, Kind, PolicyFile, Project, WithProject, of_worker, root_demand};
use serde_json::Value;

use super::CommandError;
use super::agreed::{Agreement, AgreementState};
use super::config::{Set, Settings, Source};
use super::output::warn;
use super::rule_file::RuleFile;
use super::trust::{Grant, Subject, Trust};
use super::wait_notice::with_wait_notice;

/// Options that add files to the linked items.
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
    /// The folder of the tools `filesystem_cwd`, and of the files of a result, which are written there under new names. Default: the
    /// root of the project, or else the current folder; files of results are not written.
    #[arg(long, value_name = "DIR")]
    pub(super) files: Option<PathBuf>,
    /// Agree for this command to everything that the files of the project do beyond asking a model. Default: the user is asked
    /// once, and without a terminal nothing is run.
    #[arg(long)]
    pub(super) trust_project: bool,
}

/// The properties of a project that a command needs.
#[derive(Debug, Default)]
pub(super) struct Entries {
    /// The entry of the project.
    pub(super) entry: Option<String>,
    /// The arguments of the entry, unless the user gives some.
    pub(super) arguments: Option<Value>,
    /// The workers of the project, which can be run by name like entries.
    pub(super) workers: Vec<String>,
    /// The items that the project offers to clients besides its entry and workers.
    #[cfg_attr(not(any(feature = "mcp", feature = "serve")), expect(dead_code, reason = "nothing is served"))]
    pub(super) exposed: Vec<String>,
    /// Whether the project accepts no input of the user.
    pub(super) refuses_input: bool,
    /// Whether the program runs projects, but found none.
    pub(super) needs_project: bool,
    /// Whether the project has an entry that the user did not agree to.
    pub(super) is_entry_refused: bool,
    /// The folder of the project.
    pub(super) project: Option<PathBuf>,
    /// The number of faulty parts of the project that are left out.
    pub(super) left_out: usize,
    /// The file for rules of the user.
    pub(super) rules: RuleFile,
}

impl Entries {
    /// Returns the items that a command may run: the item of `--tool`, the item that its first word names, or the entry
    /// of the project. `None` stands for any item.
    pub(super) fn roots(&self, tool: Option<&str>, word: Option<&str>, has_prompt: bool) -> Option<Vec<String>> {
        if let Some(tool) = tool {
            return Some(vec![tool.to_owned()]);
        }
        let is_name = |word: &str| has_prompt || self.workers.iter().any(|name| name == word);
        match (word, &self.entry) {
            (Some(word), _) if is_name(word) => Some(vec![word.to_owned()]),
            // The word is the name of another entry, or a prompt.
            (word, Some(entry)) => Some(word.into_iter().map(str::to_owned).chain([entry.clone()]).collect()),
            (_, None) => None,
        }
    }
}

impl FileOptions {
    /// Returns whether an option names a policy.
    pub(super) fn has_policy(&self) -> bool {
        self.policy.is_some()
    }

    /// Returns the settings that the options set.
    pub(super) fn settings(&self) -> Settings {
        let folders = Some(&self.worker_dir).filter(|folders| !folders.is_empty());
        Settings {
            worker_dir: Set::option(folders.cloned(), "--worker-dir"),
            policy: Set::option(self.policy.clone(), "--policy"),
            ..Settings::default()
        }
    }

    /// Returns the way in which the user is asked about the files of a project.
    pub(super) fn trust(&self, approves_all: bool) -> Trust {
        match (self.trust_project, approves_all) {
            (true, _) => Trust::Given,
            (false, true) => Trust::ApproveAll,
            (false, false) => Trust::Ask,
        }
    }

    /// Adds the files to the builder, and completes the settings with those of the project and the application.
    ///
    /// A program that `runs_projects` uses the current folder, if the options name none.
    pub(super) fn add_to(
        &self,
        builder: RuntimeBuilder,
        settings: &mut Settings,
        runs_projects: bool,
        trust: Trust,
    ) -> Result<(RuntimeBuilder, Entries), CommandError> {
        self.add_with(builder, settings, runs_projects, trust, Vec::new())
    }

    /// Like [`add_to`](Self::add_to), and decides about further files of the command in the same question.
    pub(super) fn add_with(
        &self,
        builder: RuntimeBuilder,
        settings: &mut Settings,
        runs_projects: bool,
        trust: Trust,
        others: Vec<Subject>,
    ) -> Result<(RuntimeBuilder, Entries), CommandError> {
        let application = builder.preset();
        let (builder, entries) = self.add_files(builder, settings, runs_projects, trust, others)?;
        settings.complete(&builder, &application);
        Ok((builder, entries))
    }

    fn add_files(
        &self,
        builder: RuntimeBuilder,
        settings: &Settings,
        runs_projects: bool,
        trust: Trust,
        others: Vec<Subject>,
    ) -> Result<(RuntimeBuilder, Entries), CommandError> {
        let (mut builder, mut subjects) = self.add_worker_dirs(builder, settings)?;
        subjects.extend(others);
        if let Some(folder) = &self.files {
            builder = builder.working_folder(folder);
        }
        if let Some(path) = settings.policy.get() {
            let policy = Policy::from_file(path).map_err(CommandError::from_error)?;
            builder = builder.preferred_policy(policy);
        }
        let path = self.project.as_deref().or(runs_projects.then_some(Path::new(".")));
        // Rules of one project do not belong in a file for all projects.
        let is_given = settings.policy.source().is_some_and(Source::is_of_command);
        let given = settings.policy.get().filter(|_| is_given).cloned().map(RuleFile::read);
        let Some(path) = path else {
            subjects.extend(of_settings(settings)?);
            trust.decide(&subjects)?;
            return Ok((builder, Entries { rules: given.unwrap_or_default(), ..Entries::default() }));
        };
        let project = open(path)?;
        let needs_project = runs_projects && self.project.is_none() && project.is_empty();
        let has_entry = project.entry().is_some();
        let subject = of_project(path, &project, Some(settings));
        let is_harmless = subject.demands.is_empty();
        let agreement = subject.agreement.clone();
        subjects.push(subject);
        let answer = trust.decide(&subjects)?;
        let is_kept = is_harmless || agreement.known() == AgreementState::Yes;
        let project = match answer {
            Grant::Everything => project,
            Grant::WithoutOptional => project.without_approvals().without_servers(),
            Grant::Nothing => project.without_servers(),
        };
        #[cfg(feature = "mcp")]
        let project = project.with_tokens(super::mcp::tokens());
        let entries = Entries {
            entry: project.entry().map(str::to_owned),
            arguments: project.arguments().cloned(),
            workers: project.workers().map(str::to_owned).collect(),
            exposed: project.exposed().to_vec(),
            refuses_input: !project.takes_input(),
            rules: given.unwrap_or_else(|| RuleFile::of_project(&project, is_kept.then_some(agreement))),
            needs_project,
            is_entry_refused: has_entry && project.entry().is_none(),
            project: Some(project.root().to_owned()),
            left_out: project.left_out().count(),
        };
        Ok((builder.project(project), entries))
    }

    /// Adds the worker files of folders, and returns their demands, since they may be untrusted, like a project.
    fn add_worker_dirs(
        &self,
        mut builder: RuntimeBuilder,
        settings: &Settings,
    ) -> Result<(RuntimeBuilder, Vec<Subject>), CommandError> {
        let mut subjects = Vec::new();
        for folder in settings.worker_dir.get().into_iter().flatten() {
            let (changed, workers) = builder.read_worker_dir(folder).map_err(CommandError::from_error)?;
            builder = changed;
            let workers: Vec<_> = workers.iter().map(|(spec, origin)| (spec, origin)).collect();
            workers.iter().try_for_each(|(_, origin)| inside(folder, origin))?;
            subjects.push(of_worker_dir(folder, &workers, self.files.is_some() || self.project.is_some()));
        }
        Ok((builder, subjects))
    }

    /// Takes the first word of a command as the project, if it is a project's path.
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

/// Opens a project, and prints its parts without an effect.
pub(super) fn open(path: &Path) -> Result<Project, CommandError> {
    let project = Project::open(path).map_err(CommandError::from_error)?;
    warn(project.warnings());
    Ok(project)
}

/// Returns the demands of a project, including the settings in its folder.
pub(super) fn of_project(path: &Path, project: &Project, settings: Option<&Settings>) -> Subject {
    let mut demands = project.demand_list();
    if let Some(settings) = settings {
        // The mode of the user, or a stricter mode in the folder, takes precedence over the manifest's.
        demands.retain(|demand| !(demand.is_of_mode() && settings.decides_mode()));
        demands.extend(settings.demand());
    }
    let agreement = Agreement::of_project(project, &demands);
    Subject { name: path.display().to_string(), demands, agreement }
}

/// Returns the demands of the settings file in the current folder, without a project.
fn of_settings(settings: &Settings) -> Result<Option<Subject>, CommandError> {
    let Some(demand) = settings.demand() else { return Ok(None) };
    let here = std::env::current_dir().map_err(CommandError::from_error)?;
    let demands = vec![demand];
    let agreement = Agreement::new(&here.join(".llm-do"), &here, &demands, Digests::new());
    Ok(Some(Subject { name: here.display().to_string(), demands, agreement }))
}

/// Fails if a worker file is a link to a file outside its folder.
fn inside(folder: &Path, origin: &Origin) -> Result<(), CommandError> {
    let file = PathBuf::from(origin.to_string());
    let is_inside = file.canonicalize().and_then(|file| Ok(file.starts_with(folder.canonicalize()?)));
    match is_inside {
        Ok(false) => Err(CommandError::Error(format!("{origin}: it is a link to a file outside of its folder"))),
        _ => Ok(()),
    }
}

/// Returns the demands of the worker files of a folder.
fn of_worker_dir(folder: &Path, workers: &[(&WorkerSpec, &Origin)], has_files: bool) -> Subject {
    let mut demands: Vec<_> = workers.iter().flat_map(|(spec, origin)| of_worker(spec, origin, &[])).collect();
    let root = root_demand(Path::new(".")).filter(|_| !has_files && !workers.is_empty());
    demands.extend(root.map(|text| Demand::new(Kind::Root, "", format!("its tools work on the files of {text}"))));
    demands.sort_by_key(|demand| demand.kind);
    // Of the workers rather than their files: these workers run, even if a file has changed since it was read.
    let files =
        workers.iter().map(|(spec, origin)| (origin.to_string(), Digest::new(spec.to_worker_file().as_bytes())));
    let agreement = Agreement::new(folder, folder, &demands, files.collect());
    Subject { name: folder.display().to_string(), demands, agreement }
}

/// Like [`collect`], for the items that runs of these roots need, if the roots are known.
pub(super) fn collect_for(builder: &mut RuntimeBuilder, roots: Option<Vec<String>>) -> Result<Registry, CommandError> {
    if let Some(roots) = roots {
        builder.for_runs_of(roots);
    }
    collect(builder)
}

/// Collects the items, and prints the omitted ones; shows which server it waits for.
pub(super) fn collect(builder: &mut RuntimeBuilder) -> Result<Registry, CommandError> {
    builder.wait_notice(|what, work| with_wait_notice(what, work));
    let registry = builder.collect().map_err(CommandError::from_error)?;
    warn(builder.warnings());
    Ok(registry)
}

/// Returns the error of a program that runs projects, in a folder without a project.
pub(super) fn no_project() -> CommandError {
    CommandError::Usage("this folder has no project: create one with `init`, or name one with --project".to_owned())
}
