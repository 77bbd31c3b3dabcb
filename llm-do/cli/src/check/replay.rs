//! `check --replay`: runs the code against recorded runs.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use llm_do_core::base::error::chain;
use llm_do_core::base::printable::{printable, printable_line};
use llm_do_core::observe::event::ItemKind;
use llm_do_core::observe::journal::{Checked, Record, ReplayCheck, StepKind, called};
use llm_do_core::plane::approval::ApprovalMode;
use llm_do_core::session::runtime::{Runtime, RuntimeBuilder};

use super::super::args::{IN_FLIGHT, RunFilter};
use super::super::project::collect;
use super::super::recorded::{RunInfo, for_each_run, has_runs_in_flight};
use super::super::setup::async_runtime;
use super::super::{CommandError, print};

/// What the replay of some runs found.
#[derive(Default)]
struct Replayed {
    /// The number of runs whose steps are the same.
    same: usize,
    /// The number of runs that depend on earlier messages of a chat.
    in_chats: usize,
    /// What differs, for each run that differs.
    faults: Vec<String>,
}

/// Replays each chosen run of a journal, and prints how many steps are the same, or reports the first one that differs.
pub(super) fn replay(mut builder: RuntimeBuilder, source: &Path, filter: &RunFilter) -> Result<(), CommandError> {
    // Workers and entries only make calls; what a tool does besides its calls must not be done again.
    let registry = collect(&mut builder)?;
    let tools = registry.iter().filter(|item| item.kind() == ItemKind::Tool);
    let tools: Arc<HashSet<_>> = Arc::new(tools.map(|item| item.name().to_owned()).collect());
    let builder = builder.without_journal_and_shadows().approval_mode(ApprovalMode::ApproveAll);
    let runtime = builder.build_on(registry).map_err(CommandError::from_error)?;
    let (tokio, mut replayed) = (async_runtime()?, Replayed::default());
    let sources = [PathBuf::from(source)];
    for_each_run(&sources, &in_flight(source, filter), |run, records| {
        let Some(begun) = records.iter().find(|record| record.kind == StepKind::Run).cloned() else { return Ok(()) };
        if run.is_in_chat {
            replayed.in_chats += 1;
            return Ok(());
        }
        let tools = Arc::clone(&tools);
        let check = ReplayCheck::new(records, move |name| !tools.contains(name));
        let start = runtime.start_named(&begun.name, (*begun.input).clone()).journal(check.clone());
        let error = tokio.block_on(async { start.await }).err().map(|error| chain(&error));
        replayed.add(run, compared(&runtime, &begun, &check.take(), error))
    })?;
    tokio.shutdown_background();
    replayed.end(source, filter)
}

/// Returns the filter of the runs in flight, if the user chose none and the journal has them.
fn in_flight(source: &Path, filter: &RunFilter) -> RunFilter {
    let is_chosen = !filter.state.is_empty() || !filter.run.is_empty();
    if is_chosen || !has_runs_in_flight(source) {
        return filter.clone();
    }
    RunFilter { state: IN_FLIGHT.map(str::to_owned).to_vec(), ..filter.clone() }
}

impl Replayed {
    /// Notes how a run compares, and prints it.
    fn add(&mut self, run: &RunInfo, compared: Result<String, String>) -> Result<(), CommandError> {
        let named = |text: &str| match &run.id {
            Some(id) => format!("run {}: {text}", printable_line(id)),
            None => text.to_owned(),
        };
        match compared {
            Ok(text) => {
                self.same += 1;
                print(&format!("ok: {}", named(&text)))
            }
            Err(text) => {
                self.faults.push(named(&text));
                Ok(())
            }
        }
    }

    /// Reports the differences, and what was not compared.
    fn end(self, source: &Path, filter: &RunFilter) -> Result<(), CommandError> {
        let Self { same, in_chats, faults } = self;
        if in_chats > 0 {
            print(&format!("not checked, since they continue a chat: {in_chats}"))?;
        }
        match (faults.as_slice(), same) {
            ([], 0) if in_chats == 0 && has_runs_in_flight(source) => {
                print("ok: no such run; by default, those in flight are checked")
            }
            ([], 0) if in_chats == 0 && filter.is_empty() => {
                Err(CommandError::Error(format!("the journal {} has no run", source.display())))
            }
            ([], 0) if in_chats == 0 => print("ok: no such run"),
            ([], _) => Ok(()),
            ([only], 0) => Err(CommandError::Error(only.clone())),
            (several, same) => {
                let (differ, all) = (several.len(), several.len() + same);
                Err(CommandError::Error(format!("{differ} of {all} runs differ:\n{}", several.join("\n"))))
            }
        }
    }
}

/// Returns how a run differs from its records; an error if it differs.
fn compared(runtime: &Runtime, run: &Record, checked: &Checked, error: Option<String>) -> Result<String, String> {
    if let Some((call, difference)) = &checked.difference {
        let name = if call.is_empty() { run.name.to_string() } else { called(call) };
        let place = runtime.registry().get(&name).map(|item| format!(" at {}", item.location())).unwrap_or_default();
        return Err(format!("`{name}`{place}: {}", printable(difference)));
    }
    let steps = format!("{} steps of `{}` are the same", checked.same, run.name);
    match (&checked.next, error) {
        (Some(next), _) => Ok(format!("{steps}; the run had not finished, and continues with {next}")),
        (None, Some(error)) if checked.same == 0 => Err(error),
        _ => Ok(steps),
    }
}
