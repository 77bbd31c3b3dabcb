//! The usage of the recorded calls of a worker.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use llm_do_providers::{PriceTable, Usage};
use serde::{Deserialize, Serialize};

use crate::base::usage::Cost;
use crate::observe::journal::{Record, StepKind};

/// The usage of the recorded calls of a worker: only its own requests, without those of nested calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RecordedCalls {
    /// The number of calls that requested the worker's model.
    pub calls: u64,
    /// Their requests and tokens.
    pub usage: Usage,
    /// The cost of these requests.
    pub cost: Cost,
    /// The median time of those calls, in milliseconds, from the end of the step before the call; `None` if all of them
    /// overlapped.
    pub milliseconds: Option<f64>,
}

/// A call that requested its model, or made other calls.
#[derive(Debug, Default)]
struct WorkerCall {
    /// Each request: the model's name, and the usage.
    requests: Vec<(Arc<str>, Usage)>,
    time: Option<Duration>,
}

/// Who answered a call that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Its model, or it made no step at all.
    Worker,
    /// Calls that it made, without a request: those of a hybrid, or of a tool that has replaced the worker.
    Code,
}

/// The calls of a worker that requested its model.
#[derive(Debug, Default)]
pub(super) struct WorkerCalls(Vec<WorkerCall>);

impl WorkerCalls {
    /// Returns the sum of the calls.
    pub(super) fn sum(&self, prices: &PriceTable) -> RecordedCalls {
        let mut sum = RecordedCalls::default();
        for call in &self.0 {
            sum.calls += 1;
            for (model, usage) in &call.requests {
                sum.usage += *usage;
                sum.cost += Cost::of_charge(prices.charge(model, usage));
            }
        }
        let mut times: Vec<_> = self.0.iter().filter_map(|call| call.time).collect();
        times.sort_unstable();
        sum.milliseconds = times.get(times.len() / 2).map(|time| time.as_secs_f64() * 1000.0);
        sum
    }
}

/// The state of reading one journal.
#[derive(Default)]
pub(super) struct JournalReader {
    /// The end of the last step.
    last: Option<Timestamp>,
    /// The unfinished calls by key, each with the time before its first step.
    open: HashMap<Arc<str>, (Option<Timestamp>, WorkerCall)>,
}

impl JournalReader {
    /// Records a step.
    pub(super) fn add(&mut self, record: &Record) {
        if matches!(record.kind, StepKind::Model | StepKind::Tool | StepKind::Call) {
            let new = || (self.last, WorkerCall::default());
            let (_, call) = self.open.entry(Arc::clone(&record.parent)).or_insert_with(new);
            if record.kind == StepKind::Model {
                let usage = Usage::deserialize(&record.value["usage"]).unwrap_or_default();
                call.requests.push((Arc::clone(&record.name), usage));
            }
        }
        self.last = Some(record.time);
    }

    /// Ends a call of something else.
    pub(super) fn skip(&mut self, record: &Record) {
        self.open.remove(record.call());
    }

    /// Adds the worker's call that this record ends, if it requested the model; returns who answered.
    pub(super) fn end(&mut self, record: &Record, calls: &mut WorkerCalls) -> By {
        let Some((began, mut call)) = self.open.remove(record.call()) else { return By::Worker };
        if call.requests.is_empty() {
            return By::Code;
        }
        let began = began.filter(|_| !record.overlapped);
        call.time = began.and_then(|began| Duration::try_from(record.time.duration_since(began)).ok());
        calls.0.push(call);
        By::Worker
    }
}
