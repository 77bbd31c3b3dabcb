//! `runs`: lists the runs of a service, shows one, settles the outcomes of its calls, or sends it a message.

mod remote;
mod text;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use llm_do_core::observe::journal::Settlement;
use llm_do_core::plane::mailbox::RunMessage;
use llm_do_serve::{RunFile, RunListQuery};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub(super) use self::remote::Remote;
use super::args::{ListRunsOptions, RunSource, RunsCommand, RunsOptions, SendOptions, SettleOptions, ShowRunOptions};
use super::run::block_on;
use super::{CommandError, NO_OUTCOME, print, print_json};

/// The environment variable of the token for a running service.
const TOKEN: &str = "LLM_DO_SERVE_TOKEN";

pub(super) fn runs(options: &RunsOptions) -> Result<(), CommandError> {
    match &options.command {
        Some(RunsCommand::Show(options)) => show(options),
        Some(RunsCommand::Settle(options)) => settle(options),
        Some(RunsCommand::Send(options)) => send(options),
        None => list(&options.list),
    }
}

/// The source of the runs.
pub(super) enum Runs {
    /// The database, with its path.
    File(RunFile, PathBuf),
    Service(Remote),
}

impl Runs {
    fn open(source: &RunSource) -> Result<Self, CommandError> {
        let Some(url) = &source.url else {
            let store = super::serve::store(source.store.as_deref(), None)?;
            let file = RunFile::open(&store);
            return file.map(|file| Self::File(file, store)).map_err(CommandError::from_error);
        };
        Remote::named(url, source.token_file.as_deref()).map(Self::Service)
    }

    /// Opens a database; `None` if it has no service.
    pub(super) fn in_database(path: &Path) -> Result<Option<Self>, CommandError> {
        let found = RunFile::find(path).map_err(CommandError::from_error)?;
        Ok(found.map(|file| Self::File(file, path.to_owned())))
    }

    pub(super) fn list(&self, query: RunListQuery) -> Result<Value, CommandError> {
        match self {
            Self::File(file, _) => file.list(query).map_err(CommandError::from_error),
            Self::Service(service) => service.list(query),
        }
    }

    /// Returns a run; `None` if it is unknown.
    pub(super) fn run(&self, id: &str) -> Result<Option<Value>, CommandError> {
        match self {
            Self::File(file, _) => block_on(&CancellationToken::new(), file.run(id))?.map_err(CommandError::from_error),
            Self::Service(service) => service.run(id),
        }
    }

    fn settle(&self, id: &str, step: &str, settlement: &Settlement) -> Result<(), CommandError> {
        match self {
            Self::File(file, path) => {
                let settled = file.settle(path, id, (step, settlement));
                block_on(&CancellationToken::new(), settled)?.map_err(CommandError::from_error)
            }
            Self::Service(service) => service.settle(id, step, settlement),
        }
    }

    fn send(&self, id: &str, message: RunMessage) -> Result<(), CommandError> {
        match self {
            Self::File(file, path) => {
                let sent = file.send(path, id, message);
                block_on(&CancellationToken::new(), sent)?.map_err(CommandError::from_error)
            }
            Self::Service(service) => service.send(id, &message),
        }
    }
}

/// Reads the token of a running service, if any.
fn token(file: Option<&Path>) -> Result<Option<String>, CommandError> {
    let Some(path) = file else {
        return Ok(std::env::var(TOKEN).ok().filter(|token| !token.trim().is_empty()));
    };
    let fault = |fault: &str| CommandError::Usage(format!("--token-file {}: {fault}", path.display()));
    let token = std::fs::read_to_string(path).map_err(|error| fault(&error.to_string()))?;
    let token = token.trim();
    if token.is_empty() { Err(fault("the file is empty")) } else { Ok(Some(token.to_owned())) }
}

fn list(options: &ListRunsOptions) -> Result<(), CommandError> {
    let ListRunsOptions { state, entry, since, until, tenant, app_version, before, limit, source } = options;
    let query = RunListQuery {
        // The parser of the option accepts the same names.
        state: state.as_deref().and_then(|state| state.parse().ok()),
        entry: entry.clone(),
        chat: None,
        before: before.clone(),
        since: *since,
        until: *until,
        tenant: tenant.clone(),
        version: app_version.clone(),
        limit: Some(*limit),
    };
    let list = Runs::open(source)?.list(query)?;
    if source.json {
        return print_json(&format!("{list:#}"));
    }
    let list = text::List::read(&list)?;
    print(&list.to_string())?;
    if let Some(next) = list.next() {
        // Ignored: standard error may be closed.
        let _ = writeln!(io::stderr(), "for earlier runs: --before {next}");
    }
    Ok(())
}

fn show(options: &ShowRunOptions) -> Result<(), CommandError> {
    let ShowRunOptions { id, source } = options;
    let run = Runs::open(source)?.run(id)?;
    let run =
        run.ok_or_else(|| CommandError::Error(format!("unknown run `{id}`; `runs` lists those that there are")))?;
    if source.json { print_json(&format!("{run:#}")) } else { print(&text::Run::read(&run)?.to_string()) }
}

fn settle(options: &SettleOptions) -> Result<(), CommandError> {
    let SettleOptions { id, step, outcome, source } = options;
    let settlement = outcome.settlement().ok_or_else(|| CommandError::Usage(NO_OUTCOME.to_owned()))?;
    let runs = Runs::open(source)?;
    runs.settle(id, step, &settlement)?;
    print_changed(&runs, id, source, "settled; resume the run on the page of the service, or by `POST /runs/ID/resume`")
}

fn send(options: &SendOptions) -> Result<(), CommandError> {
    let SendOptions { id, message, worker, interrupt, pin, source } = options;
    let message = worker.iter().fold(RunMessage::new(message), RunMessage::to);
    let message = if *interrupt { message.interrupt() } else { message };
    let message = if *pin { message.pinned() } else { message };
    let runs = Runs::open(source)?;
    runs.send(id, message)?;
    print_changed(&runs, id, source, "sent; `runs show ID --json` lists the messages of the run, and which have joined")
}

/// Prints a run that was changed, as JSON, or what was done.
fn print_changed(runs: &Runs, id: &str, source: &RunSource, done: &str) -> Result<(), CommandError> {
    if source.json {
        let run = runs.run(id)?.unwrap_or_default();
        return print_json(&format!("{run:#}"));
    }
    print(done)
}
