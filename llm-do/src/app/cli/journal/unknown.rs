//! Calls of a journal whose outcome is unknown: listed, and settled by hand.

use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::short;
use crate::app::cli::run::block_on;
use crate::app::cli::{CommandError, print, print_json};
use crate::base::printable::printable_line;
use crate::observe::journal::{FileJournal, JournalError, Record, Settlement, UnknownCall};
use crate::plane::dispatch::unknown_calls;

/// Prints the calls that may have had their effect.
pub(super) fn list(path: &Path, is_json: bool) -> Result<(), CommandError> {
    let calls = read(path)?;
    if is_json {
        // Read from JSON, so it can be serialized again.
        return calls.iter().try_for_each(|call| print_json(&serde_json::to_string(call).unwrap_or_default()));
    }
    if calls.is_empty() {
        return print("the journal has no call with an unknown outcome");
    }
    calls.iter().try_for_each(|call| print(&describe(call)))
}

/// Settles what became of a call that may have had its effect.
pub(super) fn settle(path: &Path, step: &str, settlement: &Settlement) -> Result<(), CommandError> {
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
    let records: Result<Vec<Record>, JournalError> = FileJournal::read(path).and_then(Iterator::collect);
    let records = records.map_err(CommandError::from_error)?;
    block_on(&CancellationToken::new(), unknown_calls(&records))
}

/// Describes a call that may have had its effect, with the key of its step.
pub(in crate::app::cli) fn describe(call: &UnknownCall) -> String {
    let UnknownCall { step, tool, began, settled } = call;
    let began = began.map(|began| format!(" began at {began:.0},")).unwrap_or_default();
    let outcome = match settled {
        Some(Settlement::Result(result)) => format!("has happened, with the result {}", short(result)),
        Some(Settlement::NotDone) => "has not happened".to_owned(),
        None => "may have had its effect".to_owned(),
    };
    format!("`{}`{began} {outcome}: {}", printable_line(tool), printable_line(step))
}
