//! Journals in files of JSON Lines.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use llm_do_core::observe::journal::{FileJournal, Record, StepKind, is_in_chat, run_of};

use super::{Each, Records, RunInfo, choice};
use crate::CommandError;
use crate::args::RunFilter;

/// The first bytes of a database of SQLite.
const DATABASE: &[u8; 16] = b"SQLite format 3\0";

/// Returns whether a file is a database.
pub(super) fn is_database(path: &Path) -> bool {
    let mut first = [0; DATABASE.len()];
    // A pipe or a device is not opened: it could wait forever.
    let is_file = path.metadata().is_ok_and(|file| file.is_file());
    is_file && File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok() && first == *DATABASE
}

/// Reads the records of the chosen runs, in the order of the file.
pub(super) fn read(path: &Path, filter: &RunFilter, each: &mut Each<'_>) -> Result<(), CommandError> {
    if filter.is_empty() {
        return each(&RunInfo::default(), &mut records(path)?);
    }
    choice::check(filter)?;
    let chosen: HashSet<_> = choice::chosen(&mut records(path)?, filter)?.into_iter().collect();
    let is_chosen =
        |record: &Result<Record, _>| record.as_ref().map_or(true, |record| chosen.contains(run_of(&record.key)));
    each(&RunInfo::default(), &mut records(path)?.filter(is_chosen))
}

fn records(path: &Path) -> Result<impl Iterator<Item = Result<Record, CommandError>> + use<>, CommandError> {
    let records = FileJournal::read(path).map_err(CommandError::from_error)?;
    Ok(records.map(|record| record.map_err(CommandError::from_error)))
}

/// What is done with the records of a run.
type EachRun<'e> = dyn FnMut(&RunInfo, Vec<Record>) -> Result<(), CommandError> + 'e;

/// The records so far of runs that have not ended, by their root calls, with the number of the run in the file.
type Open = HashMap<String, (usize, Vec<Record>)>;

/// Calls `each` with the records of each run: when it has ended, or else at the end.
pub(super) fn by_run(records: &mut Records<'_>, each: &mut EachRun<'_>) -> Result<(), CommandError> {
    let mut pass_on = |root: &str, records: Vec<Record>| {
        let run = RunInfo { id: None, is_in_chat: is_in_chat(root) };
        each(&run, records.into_iter().map(Record::in_own_journal).collect())
    };
    let (mut open, mut begun): (Open, usize) = (HashMap::new(), 0);
    for record in records {
        let record = record?;
        let (root, is_end) = (run_of(&record.key).to_owned(), record.kind == StepKind::Result);
        let (_, run) = open.entry(root.clone()).or_insert_with(|| {
            begun += 1;
            (begun, Vec::new())
        });
        run.push(record);
        if is_end && let Some((_, run)) = open.remove(&root) {
            pass_on(&root, run)?;
        }
    }
    let mut rest: Vec<_> = open.into_iter().collect();
    rest.sort_unstable_by_key(|(_, (number, _))| *number);
    rest.into_iter().try_for_each(|(root, (_, run))| pass_on(&root, run))
}

#[cfg(test)]
mod tests {
    use llm_do_core::observe::journal::Record;
    use serde_json::json;

    use super::{Records, RunInfo, by_run};
    use crate::CommandError;

    fn record(key: &str, parent: &str, kind: &str) -> Record {
        let time = "2026-01-31T12:00:00Z";
        let record = json!({
            "key": key, "parent": parent, "place": 0, "overlapped": false, "kind": kind, "name": "a", "input": {}, "value": {},
            "time": time,
        });
        serde_json::from_value(record).unwrap()
    }

    #[test]
    fn the_runs_of_a_file_are_apart_and_each_is_as_in_a_journal_of_its_own() {
        let recorded = [
            record("a:0f", "", "run"),
            record("a:0f#1", "", "run"),
            record("a%40chat:0f", "", "run"),
            record("a:0f/b:17", "a:0f", "tool"),
            record("a:0f#1/b:17#2", "a:0f#1", "tool"),
            record("a:0f#1/result", "", "result"),
        ];
        let records: &mut Records<'_> = &mut recorded.into_iter().map(Ok);
        let mut runs = Vec::new();
        let mut each = |run: &RunInfo, records: Vec<Record>| {
            runs.push((run.is_in_chat, records.iter().map(|record| record.key.to_string()).collect::<Vec<_>>()));
            Ok::<_, CommandError>(())
        };
        by_run(records, &mut each).unwrap();
        let second = ["a:0f", "a:0f/b:17#2", "a:0f/result"].map(str::to_owned).to_vec();
        let first = ["a:0f", "a:0f/b:17"].map(str::to_owned).to_vec();
        assert_eq!(runs, [(false, second), (false, first), (true, vec!["a%40chat:0f".to_owned()])]);
    }
}
