//! The settings of the tool.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::watch::Limits;

/// Whether commands run in a sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sandbox {
    /// Commands run in a sandbox if one works; otherwise each command needs approval.
    #[default]
    Auto,
    /// Commands run only in a sandbox; if none works, each command fails.
    Required,
    /// Commands run only in the sandbox of `bwrap`; if it does not work, each command fails.
    Bwrap,
    /// Commands run only in the sandbox of Landlock; if it does not work, each command fails.
    Landlock,
    /// Commands run without a sandbox; the rules still decide which need approval.
    Off,
}

/// The confinement of a command, from the weakest to the strongest.
///
/// As JSON: `"none"`, `"landlock"` or `"bwrap"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SandboxKind {
    /// No sandbox: the command has the permissions of this process.
    None,
    /// Landlock, and a filter of system calls.
    Landlock,
    /// `bwrap`: namespaces, mounts and the same filter.
    Bwrap,
}

impl fmt::Display for SandboxKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Landlock => "Landlock",
            Self::Bwrap => "`bwrap`",
        })
    }
}

/// The settings of the tool, for [`RuntimeBuilder::state`](llm_do_core::session::runtime::RuntimeBuilder::state).
///
/// Without settings, the defaults apply.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use llm_do::Runtime;
/// use llm_do::toolsets::shell::Shell;
///
/// # fn main() -> llm_do::Result<()> {
/// let shell = Shell::new().allow("cargo check").deny("git push").timeout(Duration::from_secs(120));
/// let runtime = Runtime::builder().project_root("/srv/app").state(shell).build()?;
/// # drop(runtime);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "give the settings to `RuntimeBuilder::state`"]
pub struct Shell {
    root: Option<PathBuf>,
    pub(super) variables: Vec<(String, String)>,
    pub(super) timeout: Duration,
    pub(super) max_output: usize,
    pub(super) allowed: Vec<String>,
    pub(super) denied: Vec<String>,
    pub(super) has_network: bool,
    pub(super) sandbox: Sandbox,
    pub(super) bwrap: PathBuf,
    pub(super) readable: Vec<PathBuf>,
    pub(super) limits: Limits,
}

impl Shell {
    /// Creates settings with the defaults.
    pub fn new() -> Self {
        Self {
            root: None,
            variables: Vec::new(),
            timeout: Duration::from_secs(60),
            max_output: 50 << 10,
            allowed: Vec::new(),
            denied: Vec::new(),
            has_network: false,
            sandbox: Sandbox::Auto,
            bwrap: "bwrap".into(),
            readable: Vec::new(),
            limits: Limits { processes: 256, memory: 4 << 30 },
        }
    }

    /// Sets the working directory, relative to the project's root. Default: the
    /// [project's root](llm_do_core::session::runtime::RuntimeBuilder::project_root).
    ///
    /// In a sandbox, a command can change only this folder.
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = Some(root.into());
        self
    }

    /// Sets an environment variable of the commands. Default: `PATH`, `HOME`, `LANG`, `LC_ALL`, `LC_CTYPE`, `TZ` and
    /// `USER` of this process; other variables are not passed on.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Sets the time after which a command is killed, unless the call sets a shorter one. Default: 60 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the maximum number of returned bytes of each output stream. Default: 50 KiB.
    pub fn max_output(mut self, bytes: usize) -> Self {
        self.max_output = bytes;
        self
    }

    /// Approves commands that begin with these words. Default: only commands that are known to only read.
    ///
    /// Where [`Sandbox::Auto`] finds no sandbox, these commands need approval too. Programs that run other programs (shells,
    /// interpreters, `env`, `xargs`, ..) are approved only with exactly these words, and further words that start a program, such as
    /// `make --eval`, need approval: the [page of the tool](crate::shell#programs-that-start-programs) lists both. Of the
    /// programs in the list of reading commands, options that are not in the list still need approval.
    pub fn allow(mut self, words: impl Into<String>) -> Self {
        self.allowed.push(words.into());
        self
    }

    /// Refuses commands that begin with these words, even approved ones. Default: none.
    ///
    /// The rule also applies to other spellings of the program: `rm` refuses `/bin/rm` too, and `python` also
    /// `python3.11`. It prevents mistakes, not attacks: an approved script or another order of options can have the
    /// same effect.
    pub fn deny(mut self, words: impl Into<String>) -> Self {
        self.denied.push(words.into());
        self
    }

    /// Lets commands in the sandbox reach internet addresses, including local ones. Default: they have no sockets.
    ///
    /// Other kinds of sockets stay denied: Unix, raw and kernel sockets.
    pub fn network(mut self) -> Self {
        self.has_network = true;
        self
    }

    /// Lets commands in the sandbox read a file or folder, such as `/home/ann/.cargo` or `/opt/tool`. Default: the
    /// system's files that the [page of the tool](crate::shell#the-sandbox) lists, and the working
    /// directory.
    ///
    /// A missing path is skipped.
    pub fn readable(mut self, path: impl Into<PathBuf>) -> Self {
        self.readable.push(path.into());
        self
    }

    /// Sets the maximum number of concurrent processes of a command. The command is killed if it has more, or more than
    /// 8 times as many threads. Default: 256, with 2048 threads.
    ///
    /// Processes are counted on Linux only, 10 times per second, or 50 times with `bwrap`.
    pub fn max_processes(mut self, count: usize) -> Self {
        self.limits.processes = count;
        self
    }

    /// Sets the maximum memory of a command with all its processes, in bytes; the command is killed if it uses more.
    /// Default: 4 GiB.
    ///
    /// Memory is measured on Linux only, 10 times per second, or 50 times with `bwrap`; shared memory counts for each
    /// process. The [page of the tool](crate::shell#the-sandbox) lists what is counted.
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.limits.memory = bytes;
        self
    }

    /// Sets whether commands run in a sandbox. Default: [`Sandbox::Auto`].
    pub fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Sets the program `bwrap`. Default: the program in `PATH`; if it does not work, Landlock is used.
    ///
    /// A program in the working directory is not used, since commands could replace it.
    pub fn bwrap(mut self, program: impl Into<PathBuf>) -> Self {
        self.bwrap = program.into();
        self
    }

    /// Returns the working directory of commands and their access, for a project in this folder.
    pub(super) fn environment(&self, project: &Path) -> String {
        let Self { variables, has_network, sandbox, bwrap, readable, .. } = self;
        format!("{:?}", (self.root_in(project), variables, has_network, sandbox, bwrap, readable))
    }

    /// Returns the working directory, for a project in this folder.
    pub(super) fn root_in(&self, project: &Path) -> PathBuf {
        self.root.as_ref().map_or_else(|| project.to_owned(), |root| project.join(root))
    }
}

impl Default for Shell {
    fn default() -> Self {
        Self::new()
    }
}
