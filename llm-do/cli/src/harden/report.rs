//! `harden --report`: ranks workers by the possible savings of hardening, and checks how often they disagree with code.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use llm_do_core::app::harden::{Ranking, WorkerUsage};
use llm_do_core::observe::event::ItemKind;
use llm_do_core::session::runtime::RuntimeBuilder;
use serde_json::json;

use crate::args::HardenOptions;
use crate::recorded::{Records, RunInfo};
use crate::trust::Trust;
use crate::{CommandError, print, print_json, project, recorded};

/// Prints a row for each worker; fails if a worker disagrees with its tool more often than `--fail-over` allows.
pub(super) fn report(
    builder: RuntimeBuilder,
    options: &HardenOptions,
    runs_projects: bool,
) -> Result<(), CommandError> {
    let mut settings = options.items.settings().read(options.items.project.as_deref())?;
    // Nothing runs, since only the names of workers are needed.
    let (mut builder, _) = options.items.add_to(builder, &mut settings, runs_projects, Trust::Show)?;
    let prices = builder.price_table().clone();
    let registry = project::collect(&mut builder)?;
    let workers = registry.iter().filter(|item| item.kind() == ItemKind::Worker).map(|item| item.name().to_owned());
    let mut ranking = Ranking::new(workers.collect::<Vec<_>>()).gate(options.gate.gate());
    recorded::for_each(&options.journal, &options.runs, &mut |_: &RunInfo, records: &mut Records<'_>| {
        recorded::read_all(records, |records| ranking.add(records, &prices))
    })?;
    for path in &options.events {
        let fault = |error| CommandError::Usage(format!("cannot read {}: {error}", path.display()));
        open(path).and_then(|events| ranking.add_events(events)).map_err(fault)?;
    }
    let workers = ranking.workers();
    if options.json {
        workers.iter().try_for_each(|worker| print_json(&json!(worker).to_string()))?;
    } else {
        print(&table(&workers))?;
    }
    let Some(limit) = options.fail_over else { return Ok(()) };
    let is_over = |worker: &&WorkerUsage| worker.drift().is_some_and(|drift| drift > limit);
    let faults: Vec<_> = workers.iter().filter(is_over).map(|worker| fault(worker, limit)).collect();
    if faults.is_empty() { Ok(()) } else { Err(CommandError::Error(faults.join("\n"))) }
}

fn open(path: &Path) -> std::io::Result<BufReader<File>> {
    File::open(path).map(BufReader::new)
}

fn fault(worker: &WorkerUsage, limit: f64) -> String {
    let WorkerUsage { name, compared, disagreed, .. } = worker;
    format!("`{name}` disagrees with code in {disagreed} of {compared} comparisons, a share of more than {limit}")
}

/// Returns the workers as aligned columns.
fn table(workers: &[WorkerUsage]) -> String {
    let header = ["worker", "calls", "by code", "requests", "tokens", "cost", "saved", "could save", "disagree"]
        .map(str::to_owned);
    let row = |worker: &WorkerUsage| {
        let share = (worker.by_code * 100).checked_div(worker.calls).unwrap_or_default();
        let disagree =
            if worker.compared == 0 { "-".to_owned() } else { format!("{} of {}", worker.disagreed, worker.compared) };
        [
            worker.name.to_string(),
            worker.calls.to_string(),
            format!("{} ({share} %)", worker.by_code),
            worker.usage.requests.to_string(),
            worker.usage.total_tokens().to_string(),
            worker.cost.to_string(),
            worker.saved.to_string(),
            could_save(worker),
            disagree,
        ]
    };
    aligned(&std::iter::once(header).chain(workers.iter().map(row)).collect::<Vec<_>>())
}

/// Returns what hardening would save, with the share of calls.
fn could_save(worker: &WorkerUsage) -> String {
    if worker.possible > 0.0 {
        format!("{} ({:.0} %)", worker.could_save, worker.possible * 100.0)
    } else {
        "-".to_owned()
    }
}

/// Aligns columns.
pub(super) fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<_> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}
