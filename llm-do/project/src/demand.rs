//! Demands: the actions of a project's files beyond requesting a model with tools whose calls are approved.
//!
//! The user has to agree to them before anything runs.

mod of_worker;

use std::fmt;
use std::path::Path;

use llm_do_core::base::open_file::folder_or_current;

pub use self::of_worker::of_worker;
use super::Project;
use super::advance::EVERY_CALL;
use super::digest::Digests;
use super::mcp::ServerFile;
use super::read::MANIFEST;
use super::report::shown;

/// The maximum nesting of workers that a project may set without a question: the default of a runtime.
const MAX_DEPTH: u32 = 5;
/// Files and folders in home folders, but not in projects.
const OF_HOME: [&str; 4] = [".ssh", ".gnupg", ".aws", ".bash_history"];

/// The kinds of demands, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[doc(hidden)]
pub enum Kind {
    /// Starts a program, or sends data to an address.
    Server,
    /// Approves calls in advance.
    Approval,
    /// The root contains more than the project.
    Root,
    /// Uses a provider that the user's keys pay for.
    Model,
    /// The provider runs tools, or requests have fields that the program does not set.
    Provider,
    /// Runs code of the project or of a model.
    Code,
    /// Runs tools of the program without approval.
    Tool,
    /// Sets a limit that is looser than the program's.
    Limit,
}

/// An action that needs the user's agreement.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Demand {
    pub kind: Kind,
    /// The file, and the line if it is known.
    place: String,
    /// The description, which is what the user agrees to.
    pub text: String,
    /// Whether an agreement covers only one command, since a change would not be noticed.
    pub is_for_one_command: bool,
}

impl Demand {
    pub fn new(kind: Kind, place: impl Into<String>, text: impl Into<String>) -> Self {
        Self { kind, place: place.into(), text: text.into(), is_for_one_command: false }
    }

    fn of_server(server: &ServerFile) -> Self {
        let demand = Self::new(Kind::Server, server.place(), server.demand());
        Self { is_for_one_command: !server.is_compared(), ..demand }
    }

    /// Returns whether it is the approval mode of a `project.json`.
    #[must_use]
    pub fn is_of_mode(&self) -> bool {
        self.kind == Kind::Approval && self.text == EVERY_CALL
    }

    /// Returns whether the rest of the project works without it.
    #[must_use]
    pub fn can_be_dropped(&self) -> bool {
        matches!(self.kind, Kind::Server | Kind::Approval)
    }
}

impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() { f.write_str(&self.text) } else { write!(f, "{}: {}", self.place, self.text) }
    }
}

impl Project {
    /// Returns all actions of its files beyond requesting a model with tools whose calls are approved, each with the
    /// file, including [servers](Self::servers) and [approvals](Self::approvals).
    ///
    /// [The module](https://docs.rs/llm-do/latest/llm_do/project/index.html) lists the keys. If the user did not write
    /// the project, show the demands to the user before a runtime is built with it.
    #[must_use]
    pub fn demands(&self) -> Vec<String> {
        self.demand_list().iter().map(ToString::to_string).collect()
    }

    #[doc(hidden)]
    pub fn demand_list(&self) -> Vec<Demand> {
        let servers = self.servers.iter().map(Demand::of_server);
        let approvals = self.advances().into_iter();
        let approvals = approvals.map(|advance| Demand::new(Kind::Approval, advance.place, advance.calls));
        let workers = self.workers.iter().flat_map(|(spec, origin)| of_worker(spec, origin, &self.aliases));
        let mut demands: Vec<_> =
            servers.chain(approvals).chain(self.of_root()).chain(workers).chain(self.of_scripts()).collect();
        demands.extend(self.of_limits());
        demands.sort_by_key(|demand| demand.kind);
        demands
    }

    /// Returns the subject of an agreement besides the demands: the digests of all files that were read.
    #[doc(hidden)]
    #[must_use]
    pub fn digests(&self) -> &Digests {
        &self.files
    }

    /// Returns the opened path, without symbolic links.
    #[doc(hidden)]
    #[must_use]
    pub fn opened(&self) -> &Path {
        &self.path
    }

    fn of_root(&self) -> Option<Demand> {
        let has_items = self.has_tools() || !self.workers.is_empty();
        let text = root_demand(&self.root).filter(|_| has_items)?;
        Some(Demand::new(Kind::Root, "", format!("its tools work on the files of {text}")))
    }

    fn of_scripts(&self) -> impl Iterator<Item = Demand> {
        self.scripts.iter().map(|(script, _)| {
            let place = shown(&script.path).display().to_string();
            Demand::new(
                Kind::Code,
                place,
                format!("the script `{}` runs, without approval if it only reads", script.name),
            )
        })
    }

    fn of_limits(&self) -> Option<Demand> {
        let depth = self.max_depth.filter(|depth| *depth > MAX_DEPTH)?;
        let text = format!("workers may be nested {depth} deep, and not only {MAX_DEPTH}");
        Some(Demand::new(Kind::Limit, MANIFEST, text))
    }
}

/// Describes a folder that contains more than a project: the user's home folder, a parent of it, or a folder that looks
/// like one.
#[doc(hidden)]
#[must_use]
pub fn root_demand(root: &Path) -> Option<String> {
    let canonical = folder_or_current(root).canonicalize().ok()?;
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    if home.is_some_and(|home| home.starts_with(&canonical)) {
        return Some(format!("{}, which contains your home folder", canonical.display()));
    }
    let private = OF_HOME.into_iter().find(|name| canonical.join(name).symlink_metadata().is_ok())?;
    Some(format!("{}, which contains `{private}`", canonical.display()))
}
