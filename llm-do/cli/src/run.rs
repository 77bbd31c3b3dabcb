//! `run`: runs one root call, shows its events and prints its result.

use std::fs::File;
use std::future::Future;
use std::io::{self, Write};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::poll_immediate;
use llm_do_core::base::error::{CallError, chain};
use llm_do_core::base::open_file::{create_private_unlinked, refuse_link};
use llm_do_core::base::printable::printable;
use llm_do_core::base::usage::UsageTree;
use llm_do_core::declare::tool::ToolReturn;
use llm_do_core::observe::event::{EffectLog, EffectSink, JsonLines, Verbosity};
use llm_do_core::observe::journal::{FileJournal, JournalError};
use llm_do_core::session::runtime::RuntimeBuilder;
use llm_do_providers::{ProviderError, finish_cancellations};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::args::RunOptions;
use super::config::{Set, Settings};
use super::flags::Flag;
use super::input::root;
use super::output::Format;
use super::progress::Progress;
use super::project::Entries;
use super::setup::async_runtime;
use super::terminal_user::{NoTerminalApprover, TerminalUser};
use super::wait_notice::{await_with_notice, with_wait_notice};
use super::{CommandError, files};

/// The file that `--events` names.
pub(super) type EventFile = JsonLines<io::BufWriter<File>>;

/// Runs the root call of the options, and prints its result.
pub(super) fn run(
    builder: RuntimeBuilder,
    mut options: RunOptions,
    flags: Vec<Flag>,
    runs_projects: bool,
) -> Result<(), CommandError> {
    options.call.flags = flags;
    options.call.session.items.take_path(&mut options.name);
    if options.name.is_none() {
        options.name = options.prompt.take();
    }
    let settings = Settings { output: Set::option(options.call.output, "--output"), ..options.call.session.settings() };
    let mut settings = settings.read(options.call.session.items.project.as_deref())?;
    let (mut builder, entries) = options.call.session.add_files(builder, &mut settings, runs_projects)?;
    let roots = entries.roots(options.tool.as_deref(), options.name.as_deref(), options.prompt.is_some());
    let registry = super::project::collect_for(&mut builder, roots)?;
    let root = root(&registry, &options, &entries)?;
    let options = &options.call;
    // Opened before the events file: if another run uses the journal, its events file must not be truncated.
    let journal = options.journal.as_deref().map(open_journal).transpose()?;
    let file = options.events.as_deref().map(|path| create_events(path, options.journal.as_deref())).transpose()?;
    let progress = Progress::new(settings.verbosity());
    if settings.format() == Format::Text {
        progress.show_answers(&registry);
    }
    let token = builder.cancellation_token();
    let builder = configure(builder, &settings, &entries, &progress);
    let mut builder = options.session.keep_evidence(builder, entries.project.as_deref());
    let cannot_ask = builder.has_no_approver();
    let is_asking = builder.asks_approver();
    if cannot_ask {
        builder = builder.default_approver(NoTerminalApprover);
    }
    if let Some(file) = &file {
        builder = builder.shared_sink(Arc::clone(file) as _);
    }
    let effects = Arc::new(EffectSink::default());
    let (mut builder, printed) = settings.format().add_to(builder.shared_sink(Arc::clone(&effects) as _));
    if let Some(journal) = journal {
        builder = builder.journal(journal);
    }
    progress.show_panics();
    let runtime = builder.build_on(registry).map_err(CommandError::from_error)?;
    let start = runtime.start_named(&root.name, root.arguments).with_files();
    let start = if options.dry_run { start.dry_run() } else { start };
    let handle = start.handle();
    let (result, is_aborted) = block_on(&token, async {
        let result = start.await;
        let is_aborted = token.is_cancelled();
        progress.settle().await;
        if settings.verbosity() != Verbosity::Quiet {
            print_usage(&handle.usage_tree());
        }
        if let Some(file) = file {
            finish_events(file, &token).await?;
        }
        if let Some(printed) = printed {
            finish_events(printed, &token).await?;
        }
        Ok((result, is_aborted))
    })??;
    let journal = options.journal.as_deref();
    let effects = effects.log();
    if is_aborted {
        let hint = journal.map(resume_hint).unwrap_or_default();
        return Err(CommandError::Error(format!("aborted by user{}{hint}", effects.after_error())));
    }
    let plan = options.dry_run.then(|| handle.plan());
    settings.format().print(&result, &handle, &effects, progress.take_answer().as_deref(), plan.as_ref())?;
    let verbosity = settings.verbosity();
    if options.dry_run {
        return end_dry_run(&result, verbosity);
    }
    let returned = result.map_err(|error| run_error(&error, verbosity, journal, (cannot_ask, is_asking), &effects))?;
    files::write_all(returned.attachments(), options.session.items.files.as_deref())
}

/// Returns the error of a dry run, unless it ended at a planned call; does not write the files of its result.
fn end_dry_run(result: &Result<ToolReturn, CallError>, verbosity: Verbosity) -> Result<(), CommandError> {
    match result {
        Err(error) if error.is_dry_run() => {
            let text = printable(&chain(error));
            // Ignored: standard error may be closed.
            let _ =
                writeln!(io::stderr(), "the run ended at a planned call, since its caller needs the result: {text}");
            Ok(())
        }
        Err(error) => Err(CommandError::Error(described(error, verbosity))),
        Ok(_) => Ok(()),
    }
}

/// Creates the file for events; fails if it is also the journal.
pub(super) fn create_events(path: &Path, journal: Option<&Path>) -> Result<Arc<EventFile>, CommandError> {
    let canonical = |path: &Path| path.canonicalize().ok();
    if journal.is_some_and(|journal| canonical(path).is_some_and(|path| canonical(journal) == Some(path))) {
        let text = format!("--events and --journal are both {}: use two different files", path.display());
        return Err(CommandError::Usage(text));
    }
    let fault = |error| CommandError::Usage(format!("cannot write --events {}: {error}", path.display()));
    let what = format!("a reader of `{}` to open it", path.display());
    let create = || create_private_unlinked(path).map(|file| JsonLines::new(io::BufWriter::new(file)));
    with_wait_notice(&what, create).map(Arc::new).map_err(fault)
}

/// Waits until all events are written or the user interrupts, since the reader of the events may block.
pub(super) async fn finish_events<W>(file: Arc<JsonLines<W>>, token: &CancellationToken) -> Result<(), CommandError>
where
    W: Write + Send + 'static,
{
    let writing = tokio::task::spawn_blocking(move || file.finish());
    // The events of an aborted run are written too; the next interrupt ends the process.
    let can_be_aborted = !token.is_cancelled();
    let written = tokio::select! {
        written = await_with_notice("the --events file to accept more data", writing) => written,
        () = token.cancelled(), if can_be_aborted => {
            return Err(CommandError::Error("aborted by user: not all events are written".to_owned()));
        }
    };
    let fault = |error: io::Error| CommandError::Error(format!("not all events are written: {error}"));
    written.map_err(io::Error::from).flatten().map_err(fault)
}

/// Opens the journal, and reports if the run is resumed.
fn open_journal(path: &Path) -> Result<FileJournal, CommandError> {
    let fault = |error| CommandError::Usage(format!("cannot write --journal {}: {error}", path.display()));
    refuse_link(path).map_err(fault)?;
    let journal = FileJournal::open(path).map_err(CommandError::from_error)?;
    let text = match journal.recorded() {
        0 => return Ok(journal),
        1 => "1 effect is recorded".to_owned(),
        effects => format!("{effects} effects are recorded"),
    };
    // Ignored: standard error may be closed.
    let _ = writeln!(io::stderr(), "resuming {}: {text}", path.display());
    Ok(journal)
}

/// Prints the usage by call, unless the root call made no other calls.
fn print_usage(used: &UsageTree) {
    if !used.children.is_empty() {
        let _ = write!(io::stderr(), "{}", printable(&used.to_string()));
    }
}

/// Applies the settings, and shows events and questions at the terminal.
pub(super) fn configure(
    builder: RuntimeBuilder,
    settings: &Settings,
    entries: &Entries,
    progress: &Progress,
) -> RuntimeBuilder {
    let mut builder = settings.add_to(builder);
    let user = TerminalUser::new(progress.clone(), entries.rules.clone());
    if TerminalUser::is_available() {
        builder = builder.default_approver(user.clone());
    }
    builder.default_input_handler(user).streaming(true).sink(progress.clone())
}

pub(super) fn verbosity(times: u8) -> Verbosity {
    match times {
        0 => Verbosity::Quiet,
        1 => Verbosity::Calls,
        _ => Verbosity::Stream,
    }
}

/// Runs a future on an async runtime, which it shuts down; Ctrl+C or `SIGTERM` cancels the run, and a second Ctrl+C
/// ends the process.
pub(super) fn block_on<T>(token: &CancellationToken, run: impl Future<Output = T>) -> Result<T, CommandError> {
    let runtime = async_runtime()?;
    let (ready, listening) = oneshot::channel();
    runtime.spawn(interrupts(token.clone(), ready));
    runtime.spawn(terminated(token.clone()));
    let result = runtime.block_on(async {
        // Ignored: without a Ctrl+C listener, the run continues.
        let _ = listening.await;
        let result = run.await;
        finish_cancellations().await;
        result
    });
    // Does not wait for running sync tools, since they cannot be stopped.
    runtime.shutdown_background();
    Ok(result)
}

/// Cancels the token when the system asks this program to end, as on a deploy.
#[cfg(unix)]
pub(super) async fn terminated(token: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    if let Ok(mut terminate) = signal(SignalKind::terminate()) {
        terminate.recv().await;
        token.cancel();
    }
}

#[cfg(not(unix))]
pub(super) async fn terminated(_: CancellationToken) {}

async fn interrupts(token: CancellationToken, ready: oneshot::Sender<()>) {
    let mut first = pin!(tokio::signal::ctrl_c());
    // The first poll installs the handler.
    let first_poll = poll_immediate(&mut first).await;
    let _ = ready.send(());
    let interrupted = match first_poll {
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

/// Returns the error of a failed run, with the effects that it made, and advice.
///
/// `cannot_ask` is whether no approver exists, and `is_asking` whether one exists.
///
/// `--approve-all` is advised only for an undecided call, not after a denial by a user, an approver or `--reject-all`.
fn run_error(
    error: &CallError,
    verbosity: Verbosity,
    journal: Option<&Path>,
    (cannot_ask, is_asking): (bool, bool),
    effects: &EffectLog,
) -> CommandError {
    let is_denied = error.is_denied() && !error.is_blocked();
    let hint = if is_denied && cannot_ask { "\nrun with --approve-all to approve every call" } else { "" };
    let resume = journal
        .filter(|_| !is_journal_error(error))
        .map(|journal| if is_denied && is_asking { denial_hint(journal) } else { resume_hint(journal) });
    CommandError::Error(described(error, verbosity) + &effects.after_error() + hint + &resume.unwrap_or_default())
}

/// Returns the text of an error and its sources; with `-vv`, also the response of a model's provider, if it refused a
/// request.
pub(super) fn described(error: &CallError, verbosity: Verbosity) -> String {
    let first: &(dyn std::error::Error + 'static) = error;
    let mut sources = std::iter::successors(Some(first), |error| error.source());
    let refusal = sources.find_map(|error| error.downcast_ref::<ProviderError>());
    match refusal.and_then(ProviderError::provider_text).filter(|_| verbosity >= Verbosity::Stream) {
        Some(text) => format!("{}\n{} wrote: {text}", chain(error), refusal.map_or("", ProviderError::provider)),
        None => chain(error),
    }
}

/// Explains that the answer to a question is recorded.
fn denial_hint(journal: &Path) -> String {
    format!("\nthe answer is recorded in `{}`; to be asked again, use another journal", journal.display())
}

/// Explains how to resume a recorded run.
fn resume_hint(journal: &Path) -> String {
    format!(
        "\nrun the same command again to resume: effects recorded in `{}` are not repeated, and the final failure is \
         retried",
        journal.display()
    )
}

/// Returns whether the journal itself failed; its errors contain their own advice.
fn is_journal_error(error: &CallError) -> bool {
    let first: &(dyn std::error::Error + 'static) = error;
    std::iter::successors(Some(first), |error| error.source())
        .any(|error| error.is::<JournalError>() || matches!(error.downcast_ref(), Some(CallError::Journal { .. })))
}
