//! `run`: one root call, its events, its result.

use std::fs::File;
use std::future::Future;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::poll_immediate;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::args::RunOptions;
use super::input::root;
use super::patience::{announced, awaited};
use super::person::{NoTerminal, Person};
use super::progress::Progress;
use super::{Failure, files, print};
use crate::base::error::{CallError, chain};
use crate::base::printable::printable;
use crate::base::usage::UsageTree;
use crate::observe::event::{JsonLines, Verbosity};
use crate::observe::journal::{FileJournal, JournalError};
use crate::plane::approval::ApprovalMode;
use crate::session::runtime::RuntimeBuilder;

/// The file that `--events` names.
type EventFile = JsonLines<io::BufWriter<File>>;

/// Runs what the options say and prints its result.
pub(super) fn run(builder: RuntimeBuilder, options: &RunOptions) -> Result<(), Failure> {
    let mut builder = options.workers.added(builder);
    let registry = builder.collect().map_err(Failure::error)?;
    let root = root(&registry, options)?;
    // Before the events: a run that another goes on with must not empty that one's file.
    let journal = options.journal.as_deref().map(journal).transpose()?;
    let file = options.events.as_deref().map(|path| create(path, options.journal.as_deref())).transpose()?;
    let progress = Progress::new(verbosity(options.verbose));
    let token = builder.cancellation_token();
    let mut builder = configure(builder, options, &progress);
    let cannot_ask = builder.has_nobody_to_ask();
    if cannot_ask {
        builder = builder.default_approver(NoTerminal);
    }
    if let Some(file) = &file {
        builder = builder.shared_sink(Arc::clone(file) as _);
    }
    if let Some(journal) = journal {
        builder = builder.journal(journal);
    }
    progress.show_panics();
    let runtime = builder.build_on(registry).map_err(Failure::error)?;
    let start = runtime.start_named(&root.name, root.arguments).with_files();
    let handle = start.handle();
    let (result, is_aborted) = block_on(&token, async {
        let result = start.await;
        let is_aborted = token.is_cancelled();
        progress.settle().await;
        if options.verbose > 0 {
            show_usage(&handle.usage_tree());
        }
        if let Some(file) = file {
            finish(file, &token).await?;
        }
        Ok((result, is_aborted))
    })??;
    let journal = options.journal.as_deref();
    if is_aborted {
        let hint = journal.map(resuming).unwrap_or_default();
        return Err(Failure::Error(format!("aborted by user{hint}")));
    }
    let returned = result.map_err(|error| failure(&error, journal, cannot_ask))?;
    show(returned.value())?;
    files::keep(returned.attachments(), options.files.as_deref())
}

/// Creates the file for events, which is not that of the journal.
fn create(path: &Path, journal: Option<&Path>) -> Result<Arc<EventFile>, Failure> {
    let found = |path: &Path| path.canonicalize().ok();
    if journal.is_some_and(|journal| found(path).is_some_and(|path| found(journal) == Some(path))) {
        let text = format!("--events and --journal are both {}: choose two files", path.display());
        return Err(Failure::Usage(text));
    }
    let fault = |error| Failure::Usage(format!("cannot write --events {}: {error}", path.display()));
    let what = format!("`{}` to be opened by a reader", path.display());
    announced(&what, || JsonLines::create(path)).map(Arc::new).map_err(fault)
}

/// Waits until all events are written, as long as the user does: what they go to may take no more.
async fn finish(file: Arc<EventFile>, token: &CancellationToken) -> Result<(), Failure> {
    let writing = tokio::task::spawn_blocking(move || file.finish());
    // A run that was aborted has its events written all the same; the next interrupt ends the process.
    let can_be_aborted = !token.is_cancelled();
    let written = tokio::select! {
        written = awaited("the events to be written: what --events names takes no more", writing) => written,
        () = token.cancelled(), if can_be_aborted => {
            return Err(Failure::Error("aborted by user: the events are not all written".to_owned()));
        }
    };
    let fault = |error: io::Error| Failure::Error(format!("the events are not all written: {error}"));
    written.map_err(io::Error::from).flatten().map_err(fault)
}

/// Opens the journal, and says so if it is resumed.
fn journal(path: &Path) -> Result<FileJournal, Failure> {
    let journal = FileJournal::open(path).map_err(Failure::error)?;
    let text = match journal.recorded() {
        0 => return Ok(journal),
        1 => "1 effect is recorded".to_owned(),
        effects => format!("{effects} effects are recorded"),
    };
    // Nobody is there to be told if standard error is gone.
    let _ = writeln!(io::stderr(), "resuming {}: {text}", path.display());
    Ok(journal)
}

/// Shows who used what, where more than the root call did.
fn show_usage(used: &UsageTree) {
    if !used.children.is_empty() {
        let _ = write!(io::stderr(), "{}", printable(&used.to_string()));
    }
}

/// Adds what the options say; what they do not say stays as the application set it.
fn configure(mut builder: RuntimeBuilder, options: &RunOptions, progress: &Progress) -> RuntimeBuilder {
    if let Some(model) = &options.model {
        builder = builder.model(model);
    }
    if let Some(depth) = options.max_depth {
        builder = builder.max_depth(depth);
    }
    if options.approve_all {
        builder = builder.approval_mode(ApprovalMode::ApproveAll);
    }
    if options.reject_all {
        builder = builder.approval_mode(ApprovalMode::RejectAll);
    }
    if options.return_permission_errors {
        builder = builder.return_permission_errors(true);
    }
    let person = Person::new(progress.clone());
    if Person::is_there() {
        builder = builder.default_approver(person.clone());
    }
    let builder = builder.default_input_handler(person);
    builder.map_limits(|limits| options.limits.over(limits)).streaming(true).sink(progress.clone())
}

fn verbosity(times: u8) -> Verbosity {
    match times {
        0 => Verbosity::Quiet,
        1 => Verbosity::Calls,
        _ => Verbosity::Stream,
    }
}

/// Waits for the run on an async runtime of its own; Ctrl+C cancels it, a second one ends the process.
pub(super) fn block_on<T>(token: &CancellationToken, run: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::error)?;
    let (ready, listening) = oneshot::channel();
    runtime.spawn(interrupts(token.clone(), ready));
    let result = runtime.block_on(async {
        // A listener that failed to begin has dropped its end: the run goes on without.
        let _ = listening.await;
        run.await
    });
    // A sync tool that is still running cannot be stopped, and need not be waited for.
    runtime.shutdown_background();
    Ok(result)
}

async fn interrupts(token: CancellationToken, ready: oneshot::Sender<()>) {
    let mut first = pin!(tokio::signal::ctrl_c());
    // The first poll installs the handler.
    let early = poll_immediate(&mut first).await;
    let _ = ready.send(());
    let interrupted = match early {
        Some(result) => result,
        None => first.await,
    };
    if interrupted.is_ok() {
        token.cancel();
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(1);
        }
    }
}

/// Returns why the run failed, and what to do.
///
/// `--approve-all` is no advice after a decision: that of a user, of the application's approver or of `--reject-all`.
fn failure(error: &CallError, journal: Option<&Path>, cannot_ask: bool) -> Failure {
    let is_undecided = cannot_ask && error.is_denied() && !error.is_blocked();
    let hint = if is_undecided { "\nrun with --approve-all to approve every call" } else { "" };
    let resuming = journal.filter(|_| !is_of_journal(error)).map(resuming).unwrap_or_default();
    Failure::Error(chain(error) + hint + &resuming)
}

/// Says how to go on with a run that is recorded.
fn resuming(journal: &Path) -> String {
    format!(
        "\nrun the same command again to resume: what is recorded in `{}` is not done again, and what failed at the end is \
         tried again",
        journal.display()
    )
}

/// Returns whether the journal itself is what is wrong: its errors say what to do.
fn is_of_journal(error: &CallError) -> bool {
    let first: &(dyn std::error::Error + 'static) = error;
    std::iter::successors(Some(first), |error| error.source())
        .any(|error| error.is::<JournalError>() || matches!(error.downcast_ref(), Some(CallError::Journal { .. })))
}

/// Prints text as it is, nothing for no result, anything else as JSON.
fn show(result: &Value) -> Result<(), Failure> {
    match result {
        Value::Null => Ok(()),
        Value::String(text) => print_safely(text),
        other => print_safely(&format!("{other:#}")),
    }
}

/// Prints to a file or a pipe as it is, to a terminal without what would steer it.
pub(super) fn print_safely(text: &str) -> Result<(), Failure> {
    if io::stdout().is_terminal() { print(&printable(text)) } else { print(text) }
}
