//! Projects: workers, tools and settings in the files of one folder.

mod advance;
mod demand;
mod digest;
mod find;
mod folder;
mod front_matter;
mod json;
mod learned;
mod manifest;
mod mcp;
mod policy;
mod read;
mod report;
mod script;
mod servers;
mod skills;
mod subagent;
mod tool_file;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use llm_do_core::base::error::fault_list;
use llm_do_core::declare::worker_spec::WorkerSpec;
use llm_do_core::plane::approval::{ApprovalMode, Policy};
use llm_do_core::plane::function_tool::Alias;
use llm_do_core::plane::registry::{LeftOut, Origin};
use llm_do_core::session::runtime::RuntimeBuilder;
#[cfg(feature = "mcp")]
use llm_do_mcp::TokenStore;
use serde_json::Value;

pub use self::demand::{Demand, Kind, of_worker, root_demand};
pub use self::digest::{Digest, Digests};
pub use self::folder::{Folder, check_kind, digest_key, open_file};
use self::learned::LearnedFile;
pub use self::manifest::expanded;
#[cfg(feature = "mcp")]
pub use self::mcp::LogIn;
pub use self::mcp::ServerFile;
pub use self::policy::PolicyFile;
use self::report::Report;
use self::script::ScriptFile;
use self::skills::{Chosen, Skill};

/// The definitions in the files of a project: workers, tools, an entry, settings and a policy.
///
/// [The module](self) describes the files. [`WithProject::project`] adds a project to a runtime.
#[derive(Debug, Default)]
pub struct Project {
    root: PathBuf,
    /// The opened path, without symbolic links: the folder, the manifest or the worker file.
    path: PathBuf,
    /// The digests of all files that were read, and of programs in the folder that servers start.
    files: Digests,
    entry: Option<String>,
    arguments: Option<Value>,
    /// The place of the entry's name, if the entry is a tool that may change something.
    tool_entry: Option<String>,
    workers: Vec<(WorkerSpec, Origin)>,
    aliases: Vec<(Alias, Origin)>,
    scripts: Vec<(ScriptFile, Origin)>,
    learned: Vec<(LearnedFile, Origin)>,
    skills: Vec<Arc<Skill>>,
    /// The skills that each worker lists, if any.
    chosen_skills: Chosen,
    policy: Policy,
    policy_file: Option<PathBuf>,
    /// The approval mode, with its place.
    mode: Option<(ApprovalMode, String)>,
    max_depth: Option<u32>,
    /// Whether a denied call ends the run; `false` keeps the setting of the program.
    end_on_denial: Option<bool>,
    takes_input: Option<bool>,
    /// The names of the items that are offered to clients.
    exposed: Vec<String>,
    store: Option<PathBuf>,
    servers: Vec<ServerFile>,
    /// All servers that files define, including those that cannot be started.
    known_servers: Vec<ServerFile>,
    /// The store of the servers' tokens, which the command line sets.
    #[cfg(feature = "mcp")]
    tokens: Option<TokenStore>,
    /// The toolsets of servers that are not started.
    inactive: Vec<String>,
    warnings: Vec<String>,
    /// The omitted faulty items, in the formats of other programs.
    left_out: Vec<LeftOut>,
}

impl Project {
    /// Reads a project: a folder, its `project.json`, or a single worker file.
    ///
    /// Names of tools are resolved when a runtime is built, since it also has the linked tools of the program.
    ///
    /// # Errors
    ///
    /// Returns the faults of all files, each with its file, line and field.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ProjectError> {
        let mut report = Report::default();
        let mut project = read::project(path.as_ref(), &mut report);
        if !report.faults.is_empty() {
            return Err(ProjectError::new(report.faults));
        }
        project.warnings = report.warnings;
        Ok(project)
    }

    /// Returns its folder, which is the root of files in prompts and of the toolset `filesystem_project`.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the name of its entry, if any.
    #[must_use]
    pub fn entry(&self) -> Option<&str> {
        self.entry.as_deref()
    }

    /// Returns the file that defines the worker or tool with this name.
    fn place_of(&self, name: &str) -> Option<String> {
        let worker = self.workers.iter().find(|(spec, _)| spec.name() == name).map(|(_, origin)| origin);
        let alias = || self.aliases.iter().find(|(alias, _)| alias.name == name).map(|(_, origin)| origin);
        let script = || self.scripts.iter().find(|(script, _)| script.name == name).map(|(_, origin)| origin);
        let learned = || self.learned.iter().find(|(learned, _)| learned.name == name).map(|(_, origin)| origin);
        worker.or_else(alias).or_else(script).or_else(learned).map(ToString::to_string)
    }

    /// Returns the names of its workers, of all formats.
    pub fn workers(&self) -> impl Iterator<Item = &str> {
        self.workers.iter().map(|(spec, _)| spec.name())
    }

    /// Returns the file with its policy, if any.
    #[doc(hidden)]
    #[must_use]
    pub fn policy_file(&self) -> Option<&Path> {
        self.policy_file.as_deref()
    }

    /// Returns whether it defines no callable item.
    #[doc(hidden)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entry.is_none() && self.workers.is_empty() && !self.has_tools()
    }

    fn has_tools(&self) -> bool {
        !(self.aliases.is_empty() && self.scripts.is_empty() && self.learned.is_empty())
    }

    /// Returns whether [`open`](Self::open) reads a path.
    #[doc(hidden)]
    #[must_use]
    pub fn is_project_file(path: &Path) -> bool {
        let is_manifest = path.file_name().is_some_and(|name| name == read::MANIFEST);
        path.is_file() && (is_manifest || read::is_worker_file(path))
    }

    /// Returns the arguments of the entry in `project.json`, if any.
    #[must_use]
    pub fn arguments(&self) -> Option<&Value> {
        self.arguments.as_ref()
    }

    /// Returns the names of `mcp.expose`: tools, workers and toolsets that `mcp` and `serve` offer to clients.
    #[must_use]
    pub fn exposed(&self) -> &[String] {
        &self.exposed
    }

    /// Returns whether the entry accepts input of the user; otherwise, it receives [`arguments`](Self::arguments).
    /// Default: true.
    #[must_use]
    pub fn takes_input(&self) -> bool {
        self.takes_input.unwrap_or(true)
    }

    /// Returns the faults because of which parts of files in the formats of other programs are omitted.
    #[doc(hidden)]
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        self.left_out.iter().filter(|left_out| left_out.is_fault).map(|left_out| left_out.reason.as_str())
    }

    /// Returns the keys, tools and files without an effect, each with its file and line. These include the omitted
    /// faulty subagents, skills and servers, which are errors only if another item names them.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// Adds projects to a [`RuntimeBuilder`].
pub trait WithProject: Sized {
    /// Adds the definitions of a project: its workers and tools, its settings and its policy.
    ///
    /// Rules of the program's own [policy](RuntimeBuilder::policy) take precedence over all rules of the project, as does its
    /// [approval mode](RuntimeBuilder::approval_mode): set both before. Other settings of the project replace earlier ones.
    ///
    /// The files of a project may approve calls in advance: see [`Project::approvals`]. They may name MCP servers, which
    /// [`build`](RuntimeBuilder::build) starts: see [`Project::servers`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use llm_do::prelude::*;
    /// # use llm_do::testing::TestModel;
    /// use llm_do::json;
    /// use llm_do::project::Project;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// # let folder = std::env::temp_dir().join(format!("llm-do-project-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// std::fs::write(folder.join("main.worker"), "---\nname: greeter\n---\nGreet the person.\n")?;
    /// let project = Project::open(&folder)?;
    /// assert_eq!(project.entry(), Some("greeter"));
    ///
    /// # let model = TestModel::new().text("Hello, Ann!");
    /// let runtime = Runtime::builder().project(project).force_model(model).build()?;
    /// assert_eq!(runtime.run_named("greeter", json!({ "input": "Ann" })).await?, "Hello, Ann!");
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[track_caller]
    fn project(self, project: Project) -> Self;
}

impl WithProject for RuntimeBuilder {
    fn project(mut self, project: Project) -> Self {
        let project = project.without_inactive_tools();
        let Project {
            root,
            workers,
            aliases,
            scripts,
            learned,
            skills,
            chosen_skills,
            policy,
            mode,
            store,
            servers,
            left_out,
            ..
        } = project;
        if !chosen_skills.is_empty() {
            self = self.tool(skills::tool(skills, chosen_skills));
        }
        self = self.with_files(workers, aliases).leaving_out(left_out);
        self = learned::add(script::add(self, scripts), learned).project_root(root).working_in_project();
        self = self.fallback_policy(policy);
        if let Some((mode, _)) = mode {
            self = self.fallback_mode(mode);
        }
        if let Some(depth) = project.max_depth {
            self = self.max_depth(depth);
        }
        if project.end_on_denial == Some(true) {
            self = self.end_on_denial(true);
        }
        #[cfg(feature = "mcp")]
        let servers: Vec<_> = servers.into_iter().map(|server| server.tokens_in(project.tokens.as_ref())).collect();
        self = servers::add(self, &servers);
        match store {
            #[cfg(feature = "workers")]
            Some(store) => self.worker_store(store),
            _ => self,
        }
    }
}

/// All faults of the files of a project.
///
/// `Debug` prints the same text as `Display`, since a test that fails with `?` prints it.
pub struct ProjectError {
    faults: Vec<String>,
}

impl ProjectError {
    fn new(faults: Vec<String>) -> Self {
        Self { faults }
    }

    /// Returns the faults, each with its file and line: `project.json:3: ..`. A fault may have further lines with
    /// details.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }
}

fault_list!(ProjectError, "the project");
