//! `check --replay --policy`: decides about recorded calls by a policy.

use std::path::{Path, PathBuf};

use llm_do_core::app::replay::PolicyReplay;
use llm_do_core::session::runtime::RuntimeBuilder;
use serde_json::json;

use super::super::args::RunFilter;
use super::super::project::collect;
use super::super::recorded::for_each_run;
use super::super::{CommandError, print, print_json};

/// Prints which recorded calls would have been asked about, blocked or passed; fails if one would be decided differently.
pub(super) fn replay(
    mut builder: RuntimeBuilder,
    source: &Path,
    filter: &RunFilter,
    is_json: bool,
) -> Result<(), CommandError> {
    let registry = collect(&mut builder)?;
    let mut replay = PolicyReplay::on(builder, registry).map_err(CommandError::from_error)?;
    for_each_run(&[PathBuf::from(source)], filter, |run, records| {
        replay.add(run.id.as_deref(), &records);
        Ok(())
    })?;
    let report = replay.report();
    if report.runs == 0 && filter.is_empty() {
        return Err(CommandError::Error(format!("the journal {} has no run", source.display())));
    }
    if is_json { print_json(&json!(report).to_string()) } else { print(&report.to_string()) }?;
    if report.is_same() {
        return Ok(());
    }
    let (changed, calls) = (report.changed_calls(), report.calls);
    Err(CommandError::Error(format!("{changed} of {calls} calls would be decided differently")))
}
