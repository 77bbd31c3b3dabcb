//! The usage of an application's workers, and the savings of code: by worker, from journals and event logs.

mod possible;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, BufRead};
use std::path::PathBuf;
use std::sync::Arc;

use llm_do_providers::Money;
use llm_do_providers::{PriceTable, Usage};
use serde::{Deserialize, Serialize};

use self::possible::Latest;
use super::Gate;
use crate::base::usage::Cost;
use crate::observe::event::{Event, EventKind, Outcome};
use crate::observe::journal::{FileJournal, JournalError, Record, StepKind};
use crate::plane::dispatch::recorded_outcome;

/// The usage of each worker of an application, and how often code answered in its place; shows which worker to harden
/// next.
///
/// Calls, requests, tokens and costs are from journals. Disagreements are from event logs, which contain those of
/// [shadows](https://docs.rs/llm-do/latest/llm_do/harden/index.html#shadows).
///
/// # Examples
///
/// ```no_run
/// use llm_do::harden::Ranking;
/// use llm_do::usage::PriceTable;
///
/// let mut ranking = Ranking::new(["extract", "classify"]);
/// ranking.add_file("run.jsonl", &PriceTable::builtin())?;
/// for worker in ranking.workers() {
///     println!("{}: {} of {} calls by code, saved {}", worker.name, worker.by_code, worker.calls, worker.saved);
/// }
/// # Ok::<_, llm_do::journal::JournalError>(())
/// ```
#[derive(Debug, Default)]
pub struct Ranking {
    workers: BTreeMap<Arc<str>, WorkerUsage>,
    /// The names of the workers, in place of which code may answer.
    given: BTreeSet<Arc<str>>,
    latest: BTreeMap<Arc<str>, Latest>,
    gate: Gate,
}

/// The usage of the calls of a worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WorkerUsage {
    /// The registered name.
    pub name: Arc<str>,
    /// The number of finished calls, including those that code answered.
    pub calls: u64,
    /// The number of calls that code answered, without a request to the worker's model.
    pub by_code: u64,
    /// The requests of the calls, without those of nested calls, and their tokens.
    pub usage: Usage,
    /// The cost of these requests.
    pub cost: Cost,
    /// The estimated cost of the calls that code answered, at the mean cost of the other calls.
    pub saved: Money,
    /// The estimated share of the calls that the worker answered, which code could answer at the bound of the gate.
    pub possible: f64,
    /// The estimated cost of these calls: what hardening would have saved.
    pub could_save: Money,
    /// The number of comparisons by a shadow.
    pub compared: u64,
    /// The number of disagreements.
    pub disagreed: u64,
}

impl WorkerUsage {
    /// Returns the share of disagreements among the comparisons; `None` without comparisons.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of calls are small")]
    pub fn drift(&self) -> Option<f64> {
        (self.compared > 0).then(|| self.disagreed as f64 / self.compared as f64)
    }
}

/// The requests of one call.
#[derive(Default)]
struct Asked {
    usage: Usage,
    cost: Cost,
}

impl Ranking {
    /// Returns an empty ranking of these workers, by their registered names.
    ///
    /// Other callers of a model are listed too, such as a tool that calls
    /// [`llm_ask`](crate::plane::context::CallContext::llm_ask). Only for these workers, a call without a request
    /// counts as answered by code.
    #[must_use]
    pub fn new(workers: impl IntoIterator<Item: Into<Arc<str>>>) -> Self {
        Self { given: workers.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Sets the gate at whose bound code could answer. Default: that of [`Gate::new`].
    #[must_use]
    pub fn gate(self, gate: Gate) -> Self {
        Self { gate, ..self }
    }

    /// Adds the calls of one journal; `records` starts at its first record.
    pub fn add(&mut self, records: impl IntoIterator<Item = Record>, prices: &PriceTable) {
        let mut journal = JournalRanking::default();
        records.into_iter().for_each(|record| journal.add(&record, prices));
        self.take(journal);
    }

    /// Adds the calls of a journal file, without locking or changing it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`FileJournal::read`], and [`JournalError::Corrupt`] for an invalid line; nothing is added then.
    pub fn add_file(&mut self, path: impl Into<PathBuf>, prices: &PriceTable) -> Result<(), JournalError> {
        let mut journal = JournalRanking::default();
        FileJournal::read(path)?.try_for_each(|record| record.map(|record| journal.add(&record, prices)))?;
        self.take(journal);
        Ok(())
    }

    /// Adds the comparisons of shadows in an event log, as written by [`JsonLines`](crate::observe::event::JsonLines);
    /// lines that are not events of this version are skipped.
    ///
    /// # Errors
    ///
    /// Returns an error if reading fails.
    pub fn add_events(&mut self, events: impl BufRead) -> io::Result<()> {
        for line in events.lines() {
            let Ok(Event { kind: EventKind::Shadowed { worker, agrees, .. }, .. }) = serde_json::from_str(&line?)
            else {
                continue;
            };
            let usage = self.worker(&worker.into());
            usage.compared += 1;
            usage.disagreed += u64::from(!agrees);
        }
        Ok(())
    }

    /// Returns the workers: the one whose hardening would save the most first, then the most expensive, then those with the most tokens.
    ///
    /// What it would save is the cost of its calls, times the share that code could answer at the bound of the [gate](Self::gate). That share is
    /// estimated from the latest 1,000 calls: by the answer to the most similar earlier one, where that is similar enough to pass the gate. A
    /// [hybrid](https://docs.rs/llm-do/latest/llm_do/harden/index.html#hybrids) may answer more.
    #[must_use]
    pub fn workers(&self) -> Vec<WorkerUsage> {
        let mut workers: Vec<_> = self.workers.values().cloned().map(with_saved).collect();
        for worker in &mut workers {
            self.estimate(worker);
        }
        let rank = |worker: &WorkerUsage| {
            (worker.could_save.picodollars(), worker.cost.known.picodollars(), worker.usage.total_tokens())
        };
        workers.sort_by_key(|worker| std::cmp::Reverse(rank(worker)));
        workers
    }

    /// Adds what hardening would save.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share in millionths")]
    fn estimate(&self, worker: &mut WorkerUsage) {
        let latest = self.latest.get(&worker.name).filter(|_| self.given.contains(&worker.name));
        worker.possible = latest.map(|latest| latest.share(&self.gate)).unwrap_or_default();
        let millionths = (worker.possible * 1e6) as u128;
        worker.could_save = Money::from_picodollars(worker.cost.known.picodollars() * millionths / 1_000_000);
    }

    fn worker(&mut self, name: &Arc<str>) -> &mut WorkerUsage {
        let new = || WorkerUsage { name: Arc::clone(name), ..WorkerUsage::default() };
        self.workers.entry(Arc::clone(name)).or_insert_with(new)
    }

    fn take(&mut self, journal: JournalRanking) {
        for (name, counts) in journal.names {
            let is_worker = self.given.contains(&name);
            if !is_worker && counts.asking == 0 {
                continue;
            }
            let worker = self.worker(&name);
            worker.calls += counts.calls;
            worker.by_code += if is_worker { counts.by_code } else { 0 };
            worker.usage += counts.asked.usage;
            worker.cost += counts.asked.cost;
            self.latest.entry(name).or_default().extend(counts.latest);
        }
    }
}

/// Adds the savings of code: the mean cost of a call that requested the model, for each call that did not.
fn with_saved(mut worker: WorkerUsage) -> WorkerUsage {
    let asking = u128::from(worker.calls - worker.by_code);
    let saved = (worker.cost.known.picodollars() * u128::from(worker.by_code)).checked_div(asking);
    worker.saved = Money::from_picodollars(saved.unwrap_or_default());
    worker
}

/// The calls and requests of one journal.
#[derive(Default)]
struct JournalRanking {
    /// What has ended, by the names of what was called.
    names: HashMap<Arc<str>, Counts>,
    /// The requests of the calls that have not ended, by their keys.
    open: HashMap<Arc<str>, Asked>,
}

/// The calls of one name that have ended.
#[derive(Default)]
struct Counts {
    calls: u64,
    /// Those that asked a model.
    asking: u64,
    /// Those that returned a result and did not ask one.
    by_code: u64,
    asked: Asked,
    /// The latest calls that asked one.
    latest: Latest,
}

impl JournalRanking {
    fn add(&mut self, record: &Record, prices: &PriceTable) {
        match record.kind {
            StepKind::Model => {
                let usage = Usage::deserialize(&record.value["usage"]).unwrap_or_default();
                let asked = self.open.entry(Arc::clone(&record.parent)).or_default();
                asked.usage += usage;
                asked.cost += Cost::of_charge(prices.charge(&record.name, &usage));
            }
            // The key of a root call's result is below the key of the run, which is the parent of its requests.
            StepKind::Call | StepKind::Result => self.end(record),
            _ => {}
        }
    }

    /// Adds the call that a record ends: its requests were recorded before.
    fn end(&mut self, record: &Record) {
        let asked = self.open.remove(record.call());
        let counts = self.names.entry(Arc::clone(&record.name)).or_default();
        counts.calls += 1;
        let outcome = recorded_outcome(&record.name, record.value.clone());
        if let Some(Asked { usage, cost }) = asked {
            counts.asking += 1;
            counts.asked.usage += usage;
            counts.asked.cost += cost;
            if let Some(outcome) = &outcome {
                counts.latest.add(&record.input, outcome);
            }
        } else {
            counts.by_code += u64::from(matches!(outcome, Some(Outcome::Result(_))));
        }
    }
}
