//! Calls of a journal whose outcome is unknown: listed, and settled by the user.

use std::path::Path;

use llm_do_core::base::printable::printable_line;
use llm_do_core::observe::journal::{FileJournal, Record, Settlement, UnknownCall};
use llm_do_core::plane::dispatch::unknown_calls;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::short;
use crate::args::RunFilter;
use crate::recorded::{Records, RunInfo};
use crate::run::block_on;
use crate::{CommandError, print, print_json, recorded};

/// Prints the calls that may have had their effect.
pub(super) fn list(source: &Path, filter: &RunFilter, is_json: bool) -> Result<(), CommandError> {
    let mut is_any = false;
    recorded::for_each(&[source.to_owned()], filter, &mut |run: &RunInfo, records: &mut Records<'_>| {
        let calls = unknown(records)?;
        if !is_json && !calls.is_empty() {
            run.id.as_deref().map_or(Ok(()), |run| print(&format!("run {}", printable_line(run))))?;
        }
        is_any |= !calls.is_empty();
        calls.iter().try_for_each(|call| print_call(run, call, is_json))
    })?;
    if is_any || is_json { Ok(()) } else { print("the journal has no call with an unknown outcome") }
}

fn print_call(run: &RunInfo, call: &UnknownCall, is_json: bool) -> Result<(), CommandError> {
    if !is_json {
        return print(&describe(call));
    }
    let mut call = json!(call);
    if let Some(run) = &run.id {
        call["run"] = json!(run);
    }
    print_json(&call.to_string())
}

/// Settles the outcome of a call that may have had its effect.
pub(super) fn settle(path: &Path, step: &str, settlement: &Settlement) -> Result<(), CommandError> {
    if recorded::has_runs_in_flight(path) {
        let text = "a call of a run of a service is settled by `runs settle ID STEP`";
        return Err(CommandError::Usage(text.to_owned()));
    }
    if read(path)?.iter().all(|call| call.step != step) {
        let fault =
            format!("the key `{step}` has no call with an unknown outcome; `--unknown` lists those that there are");
        return Err(CommandError::Error(fault));
    }
    let journal = FileJournal::open(path).map_err(CommandError::from_error)?;
    let settled = journal.settle(step, settlement);
    block_on(&CancellationToken::new(), settled)?.map_err(CommandError::from_error)?;
    print("settled; run the same command again to resume")
}

fn read(path: &Path) -> Result<Vec<UnknownCall>, CommandError> {
    unknown(
        &mut FileJournal::read(path)
            .map_err(CommandError::from_error)?
            .map(|record| record.map_err(CommandError::from_error)),
    )
}

fn unknown(records: &mut Records<'_>) -> Result<Vec<UnknownCall>, CommandError> {
    let records: Vec<Record> = records.collect::<Result<_, _>>()?;
    block_on(&CancellationToken::new(), unknown_calls(&records))
}

/// Describes a call that may have had its effect, with the key of its step.
pub(crate) fn describe(call: &UnknownCall) -> String {
    let UnknownCall { step, tool, began, settled } = call;
    let began = began.map(|began| format!(" began at {began:.0},")).unwrap_or_default();
    let outcome = match settled {
        Some(Settlement::Result(result)) => format!("has happened, with the result {}", short(result)),
        Some(_) => "has not happened".to_owned(),
        None => "may have had its effect".to_owned(),
    };
    format!("`{}`{began} {outcome}: {}", printable_line(tool), printable_line(step))
}
