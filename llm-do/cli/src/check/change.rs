//! `check --replay` with `--model`, `--prompt` or `--candidate`: replays recorded runs up to their first differences.

use std::fs::read_to_string;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use llm_do_core::app::harden::Agreement;
use llm_do_core::app::replay::{ChangeReplay, ChangeReport, ReplayedChange};
use llm_do_core::declare::tool::Effect;
use llm_do_core::observe::event::ItemKind;
use llm_do_core::observe::journal::{Record, StepKind};
use llm_do_core::plane::approval::ApprovalMode;
use llm_do_core::plane::function_tool::Acts;
use llm_do_core::plane::guard::FunctionGuard;
use llm_do_core::plane::registry::Registry;
use llm_do_core::session::runtime::RuntimeBuilder;
use serde_json::json;
use tokio::runtime::Runtime as Tokio;
use tokio::task::JoinSet;

use super::super::args::{ChangeOptions, CheckOptions};
use super::super::project::collect;
use super::super::recorded::{RunInfo, for_each_run};
use super::super::setup::async_runtime;
use super::super::{CommandError, print, print_json};

/// The default number of concurrent runs.
const CONCURRENCY: usize = 4;

/// The replays in flight, and what those found that have ended.
struct Replays {
    replay: ChangeReplay,
    /// The worker and the candidate in its place.
    pair: Option<(String, String)>,
    tokio: Tokio,
    in_flight: JoinSet<(u64, Vec<ReplayedChange>)>,
    concurrency: usize,
    report: ChangeReport,
    /// The number of runs so far.
    begun: u64,
}

/// Prints what the change does to the recorded runs; fails if one differs or fails.
pub(super) fn replay(builder: RuntimeBuilder, source: &Path, options: &CheckOptions) -> Result<(), CommandError> {
    let mut replays = Replays::new(builder, options)?;
    for_each_run(&[PathBuf::from(source)], &options.runs, |run, records| replays.begin(run, records))?;
    let report = replays.finish()?;
    if report.replayed == 0 && report.left_out == 0 && options.runs.is_empty() {
        return Err(CommandError::Error(format!("the journal {} has nothing to replay", source.display())));
    }
    if options.change.json { print_json(&json!(report).to_string()) } else { print(&report.to_string()) }?;
    end(&report)
}

/// Returns the error of a replay with differences, failures, or without its end.
fn end(report: &ChangeReport) -> Result<(), CommandError> {
    let (different, failed, stopped) = (report.different(), report.failed, report.stopped);
    let (what, all) = (report.what, report.replayed);
    if different + failed > 0 {
        return Err(CommandError::Error(format!("{different} of {all} {what}s differ, and {failed} failed")));
    }
    if stopped > 0 {
        return Err(CommandError::Error(format!(
            "the budget is spent: {stopped} of {all} {what}s did not reach their end"
        )));
    }
    Ok(())
}

impl Replays {
    fn new(mut builder: RuntimeBuilder, options: &CheckOptions) -> Result<Self, CommandError> {
        let change = &options.change;
        let registry = collect(&mut builder)?;
        let prices = builder.price_table().clone();
        if options.model.is_some() {
            let workers = registry.iter().filter(|item| item.kind() == ItemKind::Worker);
            let workers: Vec<_> = workers.map(|item| item.name().to_owned()).collect();
            builder = builder.override_models_of(&workers);
        }
        if let Some(path) = &change.prompt {
            builder = with_prompt(builder, worker(&registry, change)?, path)?;
        }
        let pair = change.candidate.as_ref().map(|name| pair(&registry, change, name)).transpose()?;
        let builder = builder.without_journal_and_shadows().approval_mode(ApprovalMode::ApproveAll);
        let runtime = builder.build_on(registry).map_err(CommandError::from_error)?;
        let agreement = change.ignore.iter().fold(Agreement::new(), |agreement, pointer| agreement.ignore(pointer));
        let agreement = Some(agreement).filter(|_| !change.calls_only);
        Ok(Self {
            replay: ChangeReplay::new(runtime, prices).agreement(agreement).budget(change.budget),
            report: ChangeReport::of(if pair.is_some() { "call" } else { "run" }),
            pair,
            tokio: async_runtime()?,
            in_flight: JoinSet::new(),
            concurrency: change.concurrency.map_or(CONCURRENCY, NonZeroUsize::get),
            begun: 0,
        })
    }

    /// Begins to replay a run, once fewer than the maximum are in flight.
    fn begin(&mut self, run: &RunInfo, mut records: Vec<Record>) -> Result<(), CommandError> {
        if self.pair.is_none() && run.is_in_chat {
            self.report.left_out += 1;
            return Ok(());
        }
        if run.is_in_chat {
            // The result of the run depends on earlier messages.
            records.retain(|record| record.kind != StepKind::Result);
        }
        while self.in_flight.len() >= self.concurrency {
            self.end_one()?;
        }
        self.begun += 1;
        let (number, replay, pair, id) = (self.begun, self.replay.clone(), self.pair.clone(), run.id.clone());
        let replayed = async move {
            let found = match &pair {
                Some((worker, candidate)) => replay.calls(id, &records, (worker.as_str(), candidate.as_str())).await,
                None => replay.run(id, &records).await.into_iter().collect(),
            };
            (number, found)
        };
        self.in_flight.spawn_on(replayed, self.tokio.handle());
        Ok(())
    }

    /// Waits for a replay.
    fn end_one(&mut self) -> Result<(), CommandError> {
        let Some(ended) = self.tokio.block_on(self.in_flight.join_next()) else { return Ok(()) };
        let (number, found) = ended.map_err(CommandError::from_error)?;
        if found.is_empty() && self.pair.is_none() {
            self.report.left_out += 1;
        }
        for (place, replayed) in (0..).zip(found) {
            // A run may have many calls, whose examples stay together.
            self.report.add(number * (1 << 20) + place, replayed);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<ChangeReport, CommandError> {
        while !self.in_flight.is_empty() {
            self.end_one()?;
        }
        self.tokio.shutdown_background();
        Ok(self.report)
    }
}

/// Returns the worker whose prompt changes, or in whose place the candidate is.
fn worker<'r>(registry: &'r Registry, change: &ChangeOptions) -> Result<&'r str, CommandError> {
    let workers: Vec<_> = registry.iter().filter(|item| item.kind() == ItemKind::Worker).collect();
    let fault = match (&change.worker, workers.as_slice()) {
        (Some(name), _) => match workers.iter().find(|item| item.name() == name) {
            Some(item) => return Ok(item.name()),
            None => format!("unknown worker `{name}`: {}", registry.hint(name, None)),
        },
        (None, [only]) => return Ok(only.name()),
        (None, _) => "give --worker, the worker whose prompt changes".to_owned(),
    };
    Err(CommandError::Usage(fault))
}

/// Returns the builder with other instructions of a worker.
fn with_prompt(builder: RuntimeBuilder, worker: &str, path: &Path) -> Result<RuntimeBuilder, CommandError> {
    let fault = |error| CommandError::Usage(format!("cannot read {}: {error}", path.display()));
    let (text, worker) = (read_to_string(path).map_err(fault)?, worker.to_owned());
    let text = text.trim_end().to_owned();
    let guard = FunctionGuard::new("prompt").before_request(move |request| {
        if request.worker() == worker {
            request.set_instructions(text.as_str());
        }
        Ok(())
    });
    Ok(builder.guard(guard))
}

/// Returns the worker and the candidate; fails if the body of the candidate may change something.
fn pair(registry: &Registry, change: &ChangeOptions, candidate: &str) -> Result<(String, String), CommandError> {
    let unknown = || CommandError::Usage(format!("unknown tool `{candidate}`: {}", registry.hint(candidate, None)));
    let item = registry.get(candidate).ok_or_else(unknown)?;
    let is_safe = item.effect() == Effect::ReadOnly || item.acts() == Acts::InCalls || item.kind() != ItemKind::Tool;
    if !is_safe {
        let text = format!("`{candidate}` is not `effect = read_only`, and its body runs, so it may change something");
        return Err(CommandError::Usage(text));
    }
    Ok((worker(registry, change)?.to_owned(), candidate.to_owned()))
}
