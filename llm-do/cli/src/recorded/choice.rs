//! Chooses runs by their records, where nothing else describes them.

use std::collections::HashMap;

use jiff::Timestamp;
use llm_do_core::observe::journal::{Record, StepKind, run_of};

use super::Records;
use crate::CommandError;
use crate::args::RunFilter;

/// A run, as its records describe it.
struct Described {
    id: String,
    entry: String,
    began: Timestamp,
    state: &'static str,
}

/// Fails if the filter has a condition that only a service knows.
pub(super) fn check(filter: &RunFilter) -> Result<(), CommandError> {
    let unknown = [("--tenant", &filter.tenant), ("--app-version", &filter.app_version)];
    match unknown.iter().find(|(_, given)| given.is_some()) {
        Some((option, _)) => {
            let text = format!("{option}: only the runs of a service have it; this journal is not from one");
            Err(CommandError::Usage(text))
        }
        None => Ok(()),
    }
}

/// Returns the root calls of the chosen runs.
pub(super) fn chosen(records: &mut Records<'_>, filter: &RunFilter) -> Result<Vec<String>, CommandError> {
    let mut runs: HashMap<String, Described> = HashMap::new();
    for record in records {
        let record = record?;
        match record.kind {
            StepKind::Run => drop(runs.insert(record.key.to_string(), Described::begun(&record))),
            StepKind::Result => {
                if let Some(run) = runs.get_mut(run_of(&record.key)) {
                    run.state = if record.value.get("result").is_some() { "succeeded" } else { "failed" };
                }
            }
            _ => {}
        }
    }
    Ok(runs.into_iter().filter(|(_, run)| run.is_chosen(filter)).map(|(key, _)| key).collect())
}

impl Described {
    fn begun(record: &Record) -> Self {
        let id = record.value.as_str().unwrap_or_default().to_owned();
        Self { id, entry: record.name.to_string(), began: record.time, state: "running" }
    }

    fn is_chosen(&self, filter: &RunFilter) -> bool {
        let is_one_of = |names: &[String], name: &str| names.is_empty() || names.iter().any(|given| given == name);
        is_one_of(&filter.run, &self.id)
            && is_one_of(&filter.state, self.state)
            && filter.entry.as_ref().is_none_or(|entry| *entry == self.entry)
            && filter.since.is_none_or(|since| self.began >= since)
            && filter.until.is_none_or(|until| self.began < until)
    }
}
