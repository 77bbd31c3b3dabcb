//! Decides about a command, runs it, and reports its result.

use std::fmt::Write;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use futures_util::FutureExt;
use llm_do_core::plane::context::CallContext;

use super::command;
use super::fault::Fault;
use super::folder_lock::{FolderLock, Wait};
use super::git;
use super::process::{self, CommandEnd, Finished};
use super::repository_check::RepositoryCheck;
use super::rules::{self, Approved};
use super::sandbox::{self, Confinement, Launch};
use super::settings::{Sandbox, SandboxKind, Shell};
use super::watch::Exceeded;

/// A prepared command, which may run once it is approved.
#[derive(Debug)]
pub(super) struct PreparedCommand {
    settings: Shell,
    words: Vec<String>,
    root: PathBuf,
    confinement: Option<Confinement>,
}

impl PreparedCommand {
    /// Parses a command and finds the sandbox; fails if the command cannot or may not run.
    pub(super) async fn new<D>(ctx: &CallContext<D>, command: &str) -> Result<Self, Fault> {
        let settings = ctx.state::<Shell>().map(|settings| Shell::clone(&settings)).unwrap_or_default();
        let (project, command) = (ctx.project_root().to_owned(), command.to_owned());
        // The test of a sandbox starts a program in it.
        let prepared = tokio::task::spawn_blocking(move || Self::parse(settings, &project, &command));
        prepared.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }

    /// Like [`new`](Self::new), for code that may block.
    pub(super) fn new_blocking<D>(ctx: &CallContext<D>, command: &str) -> Result<Self, Fault> {
        let settings = ctx.state::<Shell>().map(|settings| Shell::clone(&settings)).unwrap_or_default();
        Self::parse(settings, ctx.project_root(), command)
    }

    fn parse(settings: Shell, project: &Path, command: &str) -> Result<Self, Fault> {
        let words = command::split(command)?;
        let root = settings.root_in(project).canonicalize().map_err(Fault::Root)?;
        rules::check_refused(&settings, &words, &root)?;
        let confinement = sandbox::find(&settings, &root);
        match settings.sandbox {
            _ if confinement.is_some() => {}
            Sandbox::Auto | Sandbox::Off => {}
            Sandbox::Required => return Err(Fault::NoSandbox("neither `bwrap` nor Landlock works")),
            Sandbox::Bwrap => return Err(Fault::NoSandbox("`bwrap` does not work")),
            Sandbox::Landlock => return Err(Fault::NoSandbox("Landlock does not work")),
        }
        Ok(Self { settings, words, root, confinement })
    }

    /// Returns the permission of the command without approval.
    pub(super) fn approved(&self) -> Result<Option<Approved>, Fault> {
        rules::approved(&self.settings, &self.words, &self.root, self.confinement.is_some())
    }

    /// Returns the kind of the sandbox in which the command would run.
    pub(super) fn sandbox(&self) -> SandboxKind {
        self.confinement.as_ref().map_or(SandboxKind::None, Confinement::kind)
    }

    /// Fails if the command would run in a weaker sandbox than the approved one.
    pub(super) fn check_sandbox(&self, approved: SandboxKind) -> Result<(), Fault> {
        if self.sandbox() < approved { Err(Fault::Weaker(approved)) } else { Ok(()) }
    }

    /// Describes the command and its environment to the approver: in at least this sandbox.
    pub(super) fn preview(&self, sandbox: SandboxKind) -> String {
        let (words, root) = (&self.words, self.root.display());
        let network = if self.settings.has_network { "with the network" } else { "without network" };
        let mut text = match sandbox {
            SandboxKind::Bwrap => {
                format!("in `{root}`, in a sandbox that can change only this folder, except `.git`, {network}")
            }
            SandboxKind::Landlock => format!(
                "in `{root}`, in a sandbox that can change only this folder, {network}; a change of `.git` is found \
                 afterwards, and fails the call"
            ),
            SandboxKind::None => {
                format!("in `{root}`, WITHOUT a sandbox: the command can do everything that this program can")
            }
        };
        if let Some(fault) = (words[0] == "git").then(|| git::fault(&self.root)).flatten() {
            let _ = write!(text, "; {fault}");
        }
        // The command comes last, since a long one would push the rest out of sight.
        let _ = write!(text, "\nruns {words:?}");
        text
    }

    /// Runs the command; `seconds` may shorten its timeout. It first waits for other commands, for at most the same
    /// time.
    pub(super) async fn run<D>(
        self,
        ctx: &CallContext<D>,
        approved: Approved,
        seconds: Option<u32>,
    ) -> Result<String, Fault> {
        let given = seconds.map(|seconds| Duration::from_secs(seconds.into()));
        let timeout = given.map_or(self.settings.timeout, |given| given.min(self.settings.timeout));
        if self.confinement.is_none() {
            return self.run_in(approved, timeout, &[]).await;
        }
        let report = |folder: &Path| {
            ctx.progress(format!("waiting for another command, which may change `{}`", folder.display()));
        };
        let wait = Wait::new(timeout, &report);
        if approved == Approved::Reading {
            let _lock = FolderLock::above(&self.root, wait).await?;
            return self.run_in(approved, timeout, &[]).await;
        }
        let check = RepositoryCheck::new(&self.root, wait).await?;
        // The command may have changed a repository even if its call failed.
        let ended = AssertUnwindSafe(self.run_in(approved, timeout, check.folders())).catch_unwind().await;
        let (result, panic) = match ended {
            Ok(result) => (result, None),
            Err(panic) => (Err(Fault::Panicked), Some(panic)),
        };
        match (check.finish(result).await, panic) {
            (Err(Fault::Panicked), Some(panic)) => std::panic::resume_unwind(panic),
            (checked, _) => checked,
        }
    }

    async fn run_in(&self, approved: Approved, timeout: Duration, protected: &[PathBuf]) -> Result<String, Fault> {
        let Self { settings, words, root, confinement } = self;
        let reading = (approved == Approved::Reading && words[0] == "git").then(|| git::reading(words));
        let words = reading.as_deref().unwrap_or(words);
        let launch = Launch { settings, root, words, approved, protected };
        let finished = process::run(&launch, confinement.as_ref(), timeout).await?;
        Ok(answer(&finished, timeout, confinement.as_ref(), approved))
    }
}

fn answer(finished: &Finished, timeout: Duration, confinement: Option<&Confinement>, approved: Approved) -> String {
    let mut text = match finished.end {
        CommandEnd::Exited(status) => ended(status),
        CommandEnd::TimedOut => format!("killed: the command took longer than {timeout:?}"),
        CommandEnd::Exceeded(Exceeded::Processes(limit)) => {
            format!("killed: the command had more than {limit} processes")
        }
        CommandEnd::Exceeded(Exceeded::Threads(limit)) => format!("killed: the command had more than {limit} threads"),
        CommandEnd::Exceeded(Exceeded::Memory(limit)) => {
            format!("killed: the command used more than {limit} bytes of memory")
        }
    };
    if !matches!(finished.end, CommandEnd::Exited(status) if status.success()) {
        text.push_str(match (confinement, approved) {
            (Some(_), Approved::Reading) => "\nsandbox: no file can be changed",
            (Some(_), Approved::Changing) => "\nsandbox: only the working directory can be changed, except `.git`",
            (None, _) => "",
        });
    }
    for (name, output) in [("stdout", &finished.stdout), ("stderr", &finished.stderr)] {
        if !output.is_empty() {
            let _ = write!(text, "\n{name}:\n{output}");
        }
    }
    text
}

fn ended(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("killed by signal {signal}");
    }
    format!("exit status: {}", status.code().unwrap_or(-1))
}
