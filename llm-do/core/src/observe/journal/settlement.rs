//! Settlements by people of calls with unknown outcomes, recorded beside the step that the call began.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::record::check_depth;
use super::{JournalError, Record, StepKind, StepSpec};

/// The settlement of a call whose outcome was unknown. As JSON: `{"result": ..}` or `"not_done"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(crate = "::schemars")]
#[non_exhaustive]
pub enum Settlement {
    /// The call has happened, with this result: it does not run again.
    Result(Value),
    /// The call has not happened: it runs, once the rules approve it like a first call.
    NotDone,
}

/// A call that began, and whose outcome would be unknown if its run were resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(crate = "::schemars")]
#[doc(hidden)]
pub struct UnknownCall {
    /// The key of its step, by which it is settled.
    pub step: String,
    /// The registered name of the tool.
    pub tool: String,
    /// The time at which it last began.
    #[schemars(with = "Option<String>")]
    pub began: Option<Timestamp>,
    /// The settlement, if any.
    pub settled: Option<Settlement>,
}

/// The name of the part of a call that records that it began, before the number of the attempt.
const BEGUN: &str = "begun";
/// The name of the part of a call that records the settlement of an attempt, before its number.
const SETTLED: &str = "settled";

/// Returns the step that records that an attempt of a call or an effect begins.
pub(crate) fn begun_step(call: &StepSpec, attempt: u32) -> StepSpec {
    match attempt {
        0 => call.within(StepKind::Begun, BEGUN),
        attempt => call.within(StepKind::Begun, &format!("{BEGUN}:{attempt}")),
    }
}

impl Settlement {
    /// Returns the step that records the settlement of an attempt of a call.
    pub(crate) fn step(call: &StepSpec, attempt: u32) -> StepSpec {
        call.within(StepKind::Begun, &format!("{SETTLED}:{attempt}"))
    }

    /// Returns the keys of the calls that have happened according to a person.
    #[doc(hidden)]
    #[cfg(feature = "serve")]
    pub fn happened(records: &[Record]) -> HashSet<&str> {
        let settled = records.iter().filter(|record| part(record).is_some_and(|part| part.starts_with(SETTLED)));
        settled.filter(|record| record.value.get("result").is_some()).map(Record::call).collect()
    }

    /// Returns the record of the settlement for the records of the run, and the keys of the answers that it replaces.
    ///
    /// # Errors
    ///
    /// Returns an error if the call did not begin, or was already settled.
    pub(super) fn record(&self, records: &[Record], call: &str) -> Result<(Record, Vec<Arc<str>>), JournalError> {
        let fault = |message: &str| JournalError::InvalidValue {
            step: format!("the call `{call}`"),
            message: message.to_owned(),
        };
        let begun =
            records.iter().filter(|record| record.call() == call).filter_map(|record| Some((attempt(record)?, record)));
        let Some((attempt, begun)) = begun.max_by_key(|(attempt, _)| *attempt) else {
            return Err(fault(
                "no call of this key began in the run; `runs show ID` lists the keys of unknown outcomes",
            ));
        };
        let key: Arc<str> = format!("{call}/{SETTLED}:{attempt}").into();
        if records.iter().any(|record| record.key == key) {
            return Err(fault("it is settled already"));
        }
        let step =
            StepSpec::new(Arc::clone(&begun.parent), begun.place, begun.kind, Arc::clone(&begun.name), Value::Null);
        let value = json!(self);
        check_depth(&step, &value)?;
        let later = records.iter().filter(|record| record.kind == StepKind::Approval && record.call() == call);
        let used_up = later.filter(|record| record.time > begun.time).map(|record| Arc::clone(&record.key));
        Ok((Record { key, value, time: Timestamp::now(), ..begun.clone() }, used_up.collect()))
    }
}

impl UnknownCall {
    /// Lists the calls that began and have no kept result, in the order in which they began. `is_kept` returns whether
    /// the result of the call with a key is recorded, and not retried.
    ///
    /// A call that has made steps, and did not fail by itself, is replayed through them.
    pub(crate) fn list(records: &[Record], is_kept: impl Fn(&str) -> bool) -> Vec<Self> {
        let values: HashMap<&str, &Value> = records.iter().map(|record| (&*record.key, &record.value)).collect();
        let with_steps = calls_with_steps(records);
        let is_followed = |call: &str, attempt: u32| {
            with_steps.contains(call) && !values.contains_key(&*format!("{call}/failed:{attempt}"))
        };
        let last = last_attempts(records);
        let begun = records.iter().filter_map(|record| Some((record.call(), attempt(record)?, record)));
        let unknown = begun.filter(|(call, attempt, _)| {
            last.get(call) == Some(attempt) && !is_kept(call) && !is_followed(call, *attempt)
        });
        let calls = unknown.map(|(call, attempt, record)| Self {
            step: call.to_owned(),
            tool: record.name.to_string(),
            began: record.value.get("began").and_then(|began| serde_json::from_value(began.clone()).ok()),
            settled: values
                .get(&*format!("{call}/{SETTLED}:{attempt}"))
                .and_then(|value| Settlement::deserialize(*value).ok()),
        });
        calls.collect()
    }
}

/// Returns the name of the recorded part of a call that began.
fn part(record: &Record) -> Option<&str> {
    record.key.strip_prefix(record.call())?.strip_prefix('/').filter(|_| record.kind == StepKind::Begun)
}

/// Returns the number of the attempt that began with this record.
fn attempt(record: &Record) -> Option<u32> {
    let part = part(record)?.strip_prefix(BEGUN)?;
    if part.is_empty() { Some(0) } else { part.strip_prefix(':')?.parse().ok() }
}

/// Returns the calls that began, each with the number of its last attempt.
fn last_attempts(records: &[Record]) -> HashMap<&str, u32> {
    let mut last = HashMap::new();
    for (call, attempt) in records.iter().filter_map(|record| Some((record.call(), attempt(record)?))) {
        let known = last.entry(call).or_insert(attempt);
        *known = attempt.max(*known);
    }
    last
}

/// Returns the keys of the calls in which steps are recorded.
fn calls_with_steps(records: &[Record]) -> HashSet<&str> {
    let mut calls = HashSet::new();
    for record in records {
        let mut key = Some(&*record.parent);
        // Each call around a listed call is listed too.
        while let Some(call) = key.filter(|call| calls.insert(*call)) {
            key = call.rsplit_once('/').map(|(outer, _)| outer);
        }
    }
    calls
}
