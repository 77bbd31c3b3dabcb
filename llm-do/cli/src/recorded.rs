//! The recorded runs that commands read: in files and databases, of services, and in the engine Restate.

mod choice;
#[cfg(feature = "restate")]
mod engine;
mod file;
mod reading;
#[cfg(feature = "serve")]
mod store;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use llm_do_core::app::harden::Cases;
#[cfg(feature = "script")]
use llm_do_core::app::harden::Runs;
use llm_do_core::observe::journal::Record;

use self::reading::Reading;
use super::CommandError;
use super::args::RunFilter;

/// The records of a run, or of all runs in a file.
pub(super) type Records<'r> = dyn Iterator<Item = Result<Record, CommandError>> + 'r;

/// What a command does with each run and its records.
pub(super) type Each<'e> = dyn FnMut(&RunInfo, &mut Records<'_>) -> Result<(), CommandError> + 'e;

/// What is known of a run besides its records.
#[derive(Clone, Debug, Default)]
pub(super) struct RunInfo {
    /// `None` for a file, which may have several runs.
    pub(super) id: Option<String>,
    /// Whether it continues a chat, so that its result depends on more than its input.
    pub(super) is_in_chat: bool,
}

/// A journal that the user names.
enum Source<'s> {
    File(&'s Path),
    #[cfg(feature = "serve")]
    Store(Box<store::Store>),
    #[cfg(feature = "restate")]
    Engine(Box<engine::Engine>),
}

/// Calls `each` with the runs of the journals that the filter chooses, one by one: those of a file together.
pub(super) fn for_each(sources: &[PathBuf], filter: &RunFilter, each: &mut Each<'_>) -> Result<(), CommandError> {
    let reading = Reading::new();
    for source in sources {
        let source = Source::named(source, filter)?;
        source.read(filter, &mut |run: &RunInfo, records: &mut Records<'_>| {
            reading.begin();
            each(run, &mut records.inspect(|_| reading.count()))
        })?;
    }
    Ok(())
}

/// Passes the records on up to the first that cannot be read, whose error it returns.
pub(super) fn read_all<T>(
    records: &mut Records<'_>,
    read: impl FnOnce(&mut dyn Iterator<Item = Record>) -> T,
) -> Result<T, CommandError> {
    let mut fault = None;
    let mut good = records.map_while(|record| record.map_err(|error| fault = Some(error)).ok());
    let value = read(&mut good);
    match fault {
        Some(fault) => Err(fault),
        None => Ok(value),
    }
}

/// Reads the recorded cases of a worker, at most about `max` distinct inputs.
pub(super) fn cases(worker: &str, sources: &[PathBuf], filter: &RunFilter, max: usize) -> Result<Cases, CommandError> {
    let mut cases = Cases::of(worker).at_most(max);
    for_each(sources, filter, &mut |run: &RunInfo, records: &mut Records<'_>| {
        read_all(records, |records| if run.is_in_chat { cases.add_continued(records) } else { cases.add(records) })
    })?;
    if cases.left_out() > 0 {
        let (kept, calls) = (cases.len(), cases.left_out());
        // Ignored: standard error may be closed.
        let _ = writeln!(
            io::stderr(),
            "note: {kept} distinct inputs are kept, and {calls} calls with further inputs are left out; --max-cases sets the maximum"
        );
    }
    Ok(cases)
}

/// Reads the recorded runs of a worker, at most `max` of them.
#[cfg(feature = "script")]
pub(super) fn runs(worker: &str, sources: &[PathBuf], filter: &RunFilter, max: usize) -> Result<Runs, CommandError> {
    let mut runs = Runs::of(worker).at_most(max);
    for_each(sources, filter, &mut |run: &RunInfo, records: &mut Records<'_>| {
        read_all(records, |records| if run.is_in_chat { runs.add_continued(records) } else { runs.add(records) })
    })?;
    Ok(runs)
}

/// Calls `each` with the records of each run: those of a file are split by runs.
pub(super) fn for_each_run(
    sources: &[PathBuf],
    filter: &RunFilter,
    mut each: impl FnMut(&RunInfo, Vec<Record>) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    for_each(sources, filter, &mut |run: &RunInfo, records: &mut Records<'_>| match &run.id {
        Some(_) => {
            let records = records.collect::<Result<_, _>>()?;
            each(run, records)
        }
        None => file::by_run(records, &mut each),
    })
}

/// Returns whether a journal is a database, a service or an engine, which has runs in flight.
pub(super) fn has_runs_in_flight(source: &Path) -> bool {
    !matches!(Kind::of(source), Kind::File)
}

/// The kind of a journal, by its name, or by the first bytes of the file.
#[cfg_attr(
    not(all(feature = "serve", feature = "restate")),
    expect(dead_code, reason = "what the program cannot read needs no name")
)]
enum Kind<'s> {
    File,
    Database,
    /// The database of `serve` for the current folder.
    Default,
    Service(&'s str),
    Engine(&'s str),
}

impl<'s> Kind<'s> {
    fn of(source: &'s Path) -> Self {
        match source.to_str() {
            Some("store:") => Self::Default,
            Some(url) if url.starts_with("http://") || url.starts_with("https://") => Self::Service(url),
            Some(name) if name.starts_with("restate:") => Self::Engine(&name["restate:".len()..]),
            _ if file::is_database(source) => Self::Database,
            _ => Self::File,
        }
    }
}

impl<'s> Source<'s> {
    #[cfg_attr(not(feature = "serve"), expect(unused_variables, reason = "files need no token"))]
    fn named(source: &'s Path, filter: &RunFilter) -> Result<Self, CommandError> {
        match Kind::of(source) {
            Kind::File => Ok(Self::File(source)),
            #[cfg(feature = "serve")]
            Kind::Database => store::Store::database(source).map(Self::stored),
            #[cfg(feature = "serve")]
            Kind::Default => store::Store::database(&super::serve::store(None, None)?).map(Self::stored),
            #[cfg(feature = "serve")]
            Kind::Service(url) => store::Store::service(url, filter.token_file.as_deref()).map(Self::stored),
            #[cfg(feature = "restate")]
            Kind::Engine(name) => engine::Engine::named(name).map(|engine| Self::Engine(Box::new(engine))),
            #[cfg(not(all(feature = "serve", feature = "restate")))]
            _ => Err(CommandError::Usage(format!(
                "{}: this program is built without the feature of llm-do that reads such a journal, `serve` or `restate`",
                source.display()
            ))),
        }
    }

    #[cfg(feature = "serve")]
    fn stored(store: store::Store) -> Self {
        Self::Store(Box::new(store))
    }

    fn read(self, filter: &RunFilter, each: &mut Each<'_>) -> Result<(), CommandError> {
        match self {
            Self::File(path) => file::read(path, filter, each),
            #[cfg(feature = "serve")]
            Self::Store(store) => store.read(filter, each),
            #[cfg(feature = "restate")]
            Self::Engine(engine) => engine.read(filter, each),
        }
    }
}
