//! Recorded runs again with another model or prompt, and recorded calls of a worker again with a tool in its place.

mod report;

use std::sync::{Arc, Mutex};

use llm_do_providers::{Money, PriceTable, Usage};
use serde::Deserialize;
use serde_json::Value;

use self::report::ChangeOutcome;
pub use self::report::{ChangeExample, ChangeReport};
use crate::base::agreement::Agreement;
use crate::base::error::{CallError, chain};
use crate::base::mutex::IgnorePoison;
use crate::base::usage::Cost;
use crate::declare::tool::Effect;
use crate::observe::event::ItemKind;
use crate::observe::journal::{ChangedReplay, Record, ReplayRules, StepKind, is_in_chat};
use crate::session::runtime::Runtime;

/// Replays recorded runs with a change, each up to its first difference.
///
/// Tools do not run: calls return their recorded results as long as they agree. Clones share the budget.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct ChangeReplay {
    runtime: Runtime,
    prices: PriceTable,
    agreement: Option<Agreement>,
    budget: Option<Money>,
    spent: Arc<Mutex<Cost>>,
}

/// What the replay of one run, or of one call, found.
#[derive(Debug)]
#[doc(hidden)]
pub struct ReplayedChange {
    run: Option<String>,
    outcome: ChangeOutcome,
    same: u64,
    requests: u64,
    cost: Cost,
    recorded_cost: Cost,
}

/// The requests that a replay made.
#[derive(Debug, Default)]
struct Requests {
    number: u64,
    cost: Cost,
}

impl ChangeReplay {
    /// Creates a replay in a runtime, which has the change, no journal, and approves all calls.
    #[must_use]
    pub fn new(runtime: Runtime, prices: PriceTable) -> Self {
        Self { runtime, prices, agreement: Some(Agreement::new()), budget: None, spent: Arc::default() }
    }

    /// Sets how results are compared; `None` compares the calls alone.
    #[must_use]
    pub fn agreement(mut self, agreement: Option<Agreement>) -> Self {
        self.agreement = agreement;
        self
    }

    /// Makes no further request once the requests have cost this; those in flight are finished.
    #[must_use]
    pub fn budget(mut self, budget: Option<Money>) -> Self {
        self.budget = budget;
        self
    }

    /// Replays the run in these records; `None` without a run that has ended.
    pub async fn run(&self, run: Option<String>, records: &[Record]) -> Option<ReplayedChange> {
        let begun = records.iter().find(|record| record.kind == StepKind::Run)?;
        let end = records.iter().find(|record| record.kind == StepKind::Result)?;
        let (name, input) = (Arc::clone(&begun.name), (*begun.input).clone());
        let registry = self.runtime.registry();
        let again = registry.iter().filter(|item| item.kind() != ItemKind::Tool);
        let again: Vec<_> = again.map(|item| item.name().to_owned()).collect();
        let requests = Arc::default();
        let rules = self.rules(&requests, move |name| again.iter().any(|own| own == name), |_| false);
        let replay = ChangedReplay::of_run(records, rules)?;
        let recorded_cost = super::cost(records, &self.prices);
        let (outcome, same) = self.replay(&replay, &name, input, is_result(end)).await;
        let Requests { number, cost } = take(&requests);
        Some(ReplayedChange { run, outcome, same, requests: number, cost, recorded_cost })
    }

    /// Replays each finished call of `worker` in these records with `candidate` in its place.
    pub async fn calls(
        &self,
        run: Option<String>,
        records: &[Record],
        (worker, candidate): (&str, &str),
    ) -> Vec<ReplayedChange> {
        let is_call = |record: &&Record| {
            let is_end = match record.kind {
                StepKind::Call => true,
                StepKind::Result => !is_in_chat(&record.key),
                _ => false,
            };
            is_end && &*record.name == worker && !record.is_in_thread() && is_result(record)
        };
        let calls: Vec<_> = records.iter().filter(is_call).cloned().collect();
        let mut replayed = Vec::new();
        for call in &calls {
            replayed.push(self.call(run.clone(), records, call, candidate).await);
        }
        replayed
    }

    /// Replays one call of a worker with a candidate in its place, which may omit calls that only read.
    async fn call(&self, run: Option<String>, records: &[Record], call: &Record, candidate: &str) -> ReplayedChange {
        let requests = Arc::default();
        let (own, runtime) = (candidate.to_owned(), self.runtime.clone());
        let may_omit =
            move |name: &str| runtime.registry().get(name).is_some_and(|item| item.effect() == Effect::ReadOnly);
        let rules = self.rules(&requests, move |name| name == own, may_omit);
        let replay = ChangedReplay::of_call(records, call, rules);
        let recorded_cost = super::cost(records.iter().filter(|record| *record.parent == *call.call()), &self.prices);
        let (outcome, same) = self.replay(&replay, candidate, (*call.input).clone(), true).await;
        let Requests { number, cost } = take(&requests);
        ReplayedChange { run, outcome, same, requests: number, cost, recorded_cost }
    }

    /// Runs an item in a replay; returns what was found, and how many calls are the same.
    async fn replay(&self, replay: &ChangedReplay, name: &str, input: Value, has_result: bool) -> (ChangeOutcome, u64) {
        let result = self.runtime.start_named(name, input).journal(replay.clone()).await;
        let found = replay.take();
        let outcome = match (result, found.difference) {
            (Err(error), _) if error.is_unsure() => ChangeOutcome::Unsure,
            (_, Some(difference)) => ChangeOutcome::Differs(difference),
            _ if found.is_stopped => ChangeOutcome::Stopped,
            // A run that failed before may fail again.
            (Err(error), None) if has_result || is_of_model(&error) => ChangeOutcome::Failed(chain(&error)),
            _ => ChangeOutcome::Same,
        };
        (outcome, found.same)
    }

    fn rules(
        &self,
        requests: &Arc<Mutex<Requests>>,
        runs_again: impl Fn(&str) -> bool + Send + Sync + 'static,
        may_omit: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> ReplayRules {
        let (agreement, budget, spent) = (self.agreement.clone(), self.budget, Arc::clone(&self.spent));
        let (prices, total, requests) = (self.prices.clone(), Arc::clone(&self.spent), Arc::clone(requests));
        ReplayRules {
            runs_again: Box::new(runs_again),
            agrees: Box::new(move |recorded, now| {
                agreement.as_ref().is_none_or(|agreement| agreement.holds(recorded, now))
            }),
            may_ask: Box::new(move || budget.is_none_or(|budget| spent.lock().ignore_poison().known < budget)),
            may_omit: Box::new(may_omit),
            asked: Box::new(move |model, usage| {
                let usage = Usage::deserialize(usage).unwrap_or_default();
                let cost = Cost::of_charge(prices.charge(model, &usage));
                *total.lock().ignore_poison() += cost;
                let mut requests = requests.lock().ignore_poison();
                requests.number += 1;
                requests.cost += cost;
            }),
        }
    }
}

/// Returns whether the record of a call has a result, and not a failure.
fn is_result(record: &Record) -> bool {
    record.value.get("result").is_some()
}

/// Returns whether a request failed, so that nothing is known about the run.
fn is_of_model(error: &CallError) -> bool {
    matches!(error.innermost(), CallError::Model { .. })
}

fn take(requests: &Mutex<Requests>) -> Requests {
    std::mem::take(&mut requests.lock().ignore_poison())
}
