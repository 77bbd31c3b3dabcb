//! The runs of a service: in its database, or over HTTP; and databases without a service.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use llm_do_core::observe::journal::{JournalError, JournalFile};
use llm_do_serve::{MAX_LIST, RunListQuery};
use serde::Deserialize;
use serde_json::Value;

use super::{Each, Records, RunInfo, choice};
use crate::CommandError;
use crate::args::{IN_FLIGHT, RunFilter};
use crate::runs::{Remote, Runs};

/// A journal of many runs.
pub(super) enum Store {
    /// The database of a service.
    Served(Runs, Box<JournalFile>),
    /// A database that a program writes by itself.
    Database(JournalFile),
    Service(Remote),
}

/// A page of runs, as a service lists them.
#[derive(Deserialize)]
struct Listed {
    runs: Vec<ListedRun>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct ListedRun {
    id: String,
    chat: Option<String>,
}

impl Store {
    pub(super) fn database(path: &Path) -> Result<Self, CommandError> {
        let file = JournalFile::open(path).map_err(CommandError::from_error)?;
        Ok(match Runs::in_database(path)? {
            Some(runs) => Self::Served(runs, Box::new(file)),
            None => Self::Database(file),
        })
    }

    pub(super) fn service(url: &str, token_file: Option<&Path>) -> Result<Self, CommandError> {
        Remote::named(url, token_file).map(Self::Service)
    }

    pub(super) fn read(&self, filter: &RunFilter, each: &mut Each<'_>) -> Result<(), CommandError> {
        match self {
            Self::Served(runs, file) => {
                let (mut found, mut has_records) = (0, false);
                let mut read = |run: &RunInfo, id: &str| {
                    found += 1;
                    read_from(file, run, id, &mut |run: &RunInfo, records: &mut Records<'_>| {
                        each(run, &mut records.inspect(|_| has_records = true))
                    })
                };
                read_listed(filter, |query| runs.list(query), |id| runs.run(id), &mut read)?;
                if found > 0 && !has_records {
                    note_missing(found);
                }
                Ok(())
            }
            Self::Service(service) => {
                let mut read = |run: &RunInfo, id: &str| match service.records(id)? {
                    Some(mut records) => each(run, &mut records),
                    // It was deleted meanwhile.
                    None => Ok(()),
                };
                read_listed(filter, |query| service.list(query), |id| service.run(id), &mut read)
            }
            Self::Database(file) => read_unlisted(file, filter, each),
        }
    }
}

/// Explains why runs have no records.
fn note_missing(runs: u64) {
    // Ignored: standard error may be closed.
    let _ = writeln!(
        io::stderr(),
        "note: {runs} runs without records: they have not started, or live in Restate, whose journal is `restate:NAME`"
    );
}

/// Reads the records of a run in a database, unless the run was deleted meanwhile.
fn read_from(file: &JournalFile, run: &RunInfo, id: &str, each: &mut Each<'_>) -> Result<(), CommandError> {
    match file.records(id).map_err(CommandError::from_error)? {
        Some(records) => each(run, &mut records.map(|record| record.map_err(CommandError::from_error))),
        None => Ok(()),
    }
}

/// Reads the chosen runs of a service, the latest first.
fn read_listed(
    filter: &RunFilter,
    list: impl Fn(RunListQuery) -> Result<Value, CommandError>,
    find: impl Fn(&str) -> Result<Option<Value>, CommandError>,
    read: &mut dyn FnMut(&RunInfo, &str) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let mut read = |run: ListedRun| {
        let info = RunInfo { id: Some(run.id.clone()), is_in_chat: run.chat.is_some() };
        read(&info, &run.id)
    };
    for id in &filter.run {
        let unknown = || CommandError::Error(format!("unknown run `{id}`; `runs` lists those that there are"));
        read(parsed(find(id)?.ok_or_else(unknown)?)?)?;
    }
    if !filter.run.is_empty() {
        return Ok(());
    }
    let mut seen = HashSet::new();
    for mut query in queries(filter) {
        loop {
            let page: Listed = parsed(list(query.clone())?)?;
            // A run whose state changes meanwhile may be in several lists.
            let is_new = |run: &ListedRun| filter.state.len() < 2 || seen.insert(run.id.clone());
            page.runs.into_iter().filter(is_new).try_for_each(&mut read)?;
            match page.next {
                Some(next) => query.before = Some(next),
                None => break,
            }
        }
    }
    Ok(())
}

/// Returns a query for each state, or one for all. Runs in flight are listed twice, since one may pass from a state that is listed later to
/// one that was listed before.
fn queries(filter: &RunFilter) -> Vec<RunListQuery> {
    let all = RunListQuery {
        entry: filter.entry.clone(),
        since: filter.since,
        until: filter.until,
        tenant: filter.tenant.clone(),
        version: filter.app_version.clone(),
        limit: Some(MAX_LIST),
        ..RunListQuery::default()
    };
    if filter.state.is_empty() {
        return vec![all];
    }
    let in_flight = filter.state.iter().filter(|state| filter.state.len() > 1 && IN_FLIGHT.contains(&state.as_str()));
    // The parser of the option knows the same names.
    let states = filter.state.iter().chain(in_flight).filter_map(|state| state.parse().ok());
    states.map(|state| RunListQuery { state: Some(state), ..all.clone() }).collect()
}

fn parsed<T: for<'de> Deserialize<'de>>(value: Value) -> Result<T, CommandError> {
    let fault = |error| CommandError::Error(format!("unexpected answer of the service: {error}"));
    serde_json::from_value(value).map_err(fault)
}

/// Reads the chosen runs of a database without a service, in the order in which they began.
fn read_unlisted(file: &JournalFile, filter: &RunFilter, each: &mut Each<'_>) -> Result<(), CommandError> {
    choice::check(filter)?;
    let mut after = 0;
    loop {
        let (ids, last) = file.runs(after).map_err(CommandError::from_error)?;
        if ids.is_empty() {
            return Ok(());
        }
        for id in ids.iter().filter(|id| filter.run.is_empty() || filter.run.contains(id)) {
            if filter.is_without_conditions() || is_chosen(file, id, filter)? {
                let run = RunInfo { id: Some(id.clone()), is_in_chat: false };
                read_from(file, &run, id, each)?;
            }
        }
        after = last;
    }
}

/// Returns whether the records of a run fit the filter.
fn is_chosen(file: &JournalFile, id: &str, filter: &RunFilter) -> Result<bool, CommandError> {
    let Some(records) = file.records(id).map_err(CommandError::from_error)? else { return Ok(false) };
    let records: &mut Records<'_> =
        &mut records.map(|record| record.map_err(|error: JournalError| CommandError::from_error(error)));
    Ok(!choice::chosen(records, filter)?.is_empty())
}
