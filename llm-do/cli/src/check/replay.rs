//! `check --replay`: runs the code against a recorded run.

use std::collections::HashSet;
use std::path::Path;

use llm_do_core::base::error::chain;
use llm_do_core::base::printable::printable;
use llm_do_core::observe::event::ItemKind;
use llm_do_core::observe::journal::{Checked, FileJournal, Record, ReplayCheck, StepKind, called};
use llm_do_core::plane::approval::ApprovalMode;
use llm_do_core::session::runtime::{Runtime, RuntimeBuilder};
use tokio_util::sync::CancellationToken;

use super::super::run::block_on;
use super::super::{CommandError, print};

/// Replays each run of a journal, and prints the number of equal steps, or reports the first different step.
pub(super) fn replay(mut builder: RuntimeBuilder, path: &Path) -> Result<(), CommandError> {
    let records: Result<Vec<Record>, _> = FileJournal::read(path).and_then(Iterator::collect);
    let records = records.map_err(CommandError::from_error)?;
    let begun: Vec<_> = records.iter().filter(|record| record.kind == StepKind::Run).cloned().collect();
    if begun.is_empty() {
        return Err(CommandError::Error(format!("the journal {} has no run", path.display())));
    }
    // Workers and entries only make calls; other effects of a tool must not be repeated.
    let registry = builder.collect().map_err(CommandError::from_error)?;
    let tools = registry.iter().filter(|item| item.kind() == ItemKind::Tool);
    let tools: HashSet<_> = tools.map(|item| item.name().to_owned()).collect();
    let check = ReplayCheck::new(records, move |name| !tools.contains(name));
    let builder = builder.journal(check.clone()).approval_mode(ApprovalMode::ApproveAll);
    let runtime = builder.build_on(registry).map_err(CommandError::from_error)?;
    block_on(&CancellationToken::new(), async {
        for run in &begun {
            let result = runtime.start_named(&run.name, (*run.input).clone()).await;
            report(&runtime, run, &check.take(), result.err().map(|error| chain(&error)))?;
        }
        Ok(())
    })?
}

/// Reports how a run differs from its records.
fn report(runtime: &Runtime, run: &Record, checked: &Checked, error: Option<String>) -> Result<(), CommandError> {
    if let Some((call, difference)) = &checked.difference {
        let name = if call.is_empty() { run.name.to_string() } else { called(call) };
        let place = runtime.registry().get(&name).map(|item| format!(" at {}", item.location())).unwrap_or_default();
        return Err(CommandError::Error(format!("`{name}`{place}: {}", printable(difference))));
    }
    let steps = format!("{} steps of `{}` are the same", checked.same, run.name);
    match (&checked.next, error) {
        (Some(next), _) => print(&format!("ok: {steps}; the run had not finished, and continues with {next}")),
        (None, Some(error)) if checked.same == 0 => Err(CommandError::Error(error)),
        _ => print(&format!("ok: {steps}")),
    }
}
