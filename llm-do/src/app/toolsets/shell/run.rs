//! Decides about a command, runs it, and reports its result.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use tokio::process::Command;

use super::fault::Fault;
use super::process::{self, Finished};
use super::rules::{self, Approved};
use super::settings::{Sandbox, Shell};
use super::{command, environment, sandbox};
use crate::plane::context::CallContext;

/// A command that may run once it is approved.
#[derive(Debug)]
pub(super) struct Prepared {
    settings: Shell,
    words: Vec<String>,
    root: PathBuf,
    bwrap: Option<PathBuf>,
}

impl Prepared {
    /// Parses a command and finds the sandbox; fails if the command cannot or may not run.
    pub(super) fn new<D>(ctx: &CallContext<D>, command: &str) -> Result<Self, Fault> {
        let settings = ctx.state::<Shell>().map(|settings| Shell::clone(&settings)).unwrap_or_default();
        let words = command::split(command)?;
        rules::check_refused(&settings, &words)?;
        let root = settings.root_in(ctx.project_root()).canonicalize().map_err(Fault::Root)?;
        let bwrap = sandbox::find(&settings, &root);
        if bwrap.is_none() && settings.sandbox == Sandbox::Required {
            return Err(Fault::NoSandbox);
        }
        Ok(Self { settings, words, root, bwrap })
    }

    /// Returns how the command may run without approval.
    pub(super) fn approved(&self) -> Result<Option<Approved>, Fault> {
        rules::approved(&self.settings, &self.words, self.bwrap.is_some())
    }

    /// Describes what would run, and where, to the approver.
    pub(super) fn preview(&self) -> String {
        let (words, root) = (&self.words, self.root.display());
        let network = if self.settings.has_network { "with the network" } else { "without network" };
        match self.bwrap {
            Some(_) => format!("runs {words:?} in `{root}`, in a sandbox that can change this folder, {network}"),
            None => format!("runs {words:?} in `{root}`, WITHOUT a sandbox: it can do all that this program can"),
        }
    }

    /// Runs the command; `seconds` may shorten its time.
    pub(super) async fn run(self, approved: Approved, seconds: Option<u32>) -> Result<String, Fault> {
        let Self { settings, words, root, bwrap } = &self;
        let program = bwrap.as_deref().unwrap_or(Path::new(&words[0]));
        let mut command = Command::new(program);
        match bwrap {
            Some(_) => command.args(sandbox::arguments(settings, root, approved)).args(words),
            None => command.args(&words[1..]),
        };
        command.current_dir(root).env_clear().envs(environment::variables(settings, root));
        let given = seconds.map(|seconds| Duration::from_secs(seconds.into()));
        let timeout = given.map_or(settings.timeout, |given| given.min(settings.timeout));
        let finished = process::run(command, program, timeout, settings.max_output).await?;
        Ok(answer(&finished, timeout, bwrap.is_some().then_some(approved)))
    }
}

fn answer(finished: &Finished, timeout: Duration, sandbox: Option<Approved>) -> String {
    let mut text = match finished.status {
        Some(status) => ended(status),
        None => format!("killed: the command took longer than {timeout:?}"),
    };
    if !finished.status.is_some_and(|status| status.success()) {
        text.push_str(match sandbox {
            Some(Approved::Reading) => "\nsandbox: no file can be changed",
            Some(Approved::Changing) => "\nsandbox: only the working directory can be changed, without `.git`",
            None => "",
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
