//! What people settle by hand about calls whose outcome is unknown: a record beside the one that the call began.

#[cfg(any(feature = "cli", feature = "serve"))]
use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::record::check_depth;
use super::{JournalError, Record, StepKind, StepSpec};

/// What a person settled about a call whose outcome was unknown. As JSON: `{"result": ..}` or `"not_done"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(crate = "::schemars")]
#[non_exhaustive]
pub enum Settlement {
    /// It has happened, and this is its result: it does not run again.
    Result(Value),
    /// It has not happened: it runs, once the rules approve it as if it were made for the first time.
    NotDone,
}

/// A call that began, and of which nothing more would be known if its run were resumed.
#[cfg(any(feature = "cli", feature = "serve"))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct UnknownCall {
    /// The key of its step, by which it is settled.
    pub(crate) step: String,
    /// The registered name of the tool.
    pub(crate) tool: String,
    /// When it began last.
    #[schemars(with = "Option<String>")]
    pub(crate) began: Option<Timestamp>,
    /// What was settled about it.
    pub(crate) settled: Option<Settlement>,
}

/// The name of the part of a call that records that it began, before the number of the attempt.
const BEGUN: &str = "begun";

impl Settlement {
    /// Returns the step that records what was settled about an attempt of a call.
    pub(crate) fn step(call: &StepSpec, attempt: u32) -> StepSpec {
        call.within(StepKind::Begun, &format!("settled:{attempt}"))
    }

    /// Returns the record of it, among the records of the run, and the keys of answers that it replaces.
    ///
    /// # Errors
    ///
    /// Returns an error if the call did not begin, or was settled before.
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
        let key: Arc<str> = format!("{call}/settled:{attempt}").into();
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

#[cfg(any(feature = "cli", feature = "serve"))]
impl UnknownCall {
    /// Lists the calls that began and have no result that is kept, in the order in which they began. `is_kept` returns whether the
    /// result of the call of a key is recorded, and not retried.
    ///
    /// A call that has made steps, and has not failed by itself, is followed through them.
    pub(crate) fn list(records: &[Record], is_kept: impl Fn(&str) -> bool) -> Vec<Self> {
        let settled: HashMap<&str, &Value> = records.iter().map(|record| (&*record.key, &record.value)).collect();
        let mut calls: Vec<Self> = Vec::new();
        for (attempt, record) in records.iter().filter_map(|record| Some((attempt(record)?, record))) {
            let step = record.call().to_owned();
            if is_kept(&step) || is_followed(records, &step, attempt) {
                continue;
            }
            let settlement = settled.get(&*format!("{step}/settled:{attempt}"));
            let call = Self {
                tool: record.name.to_string(),
                began: record.value.get("began").and_then(|began| serde_json::from_value(began.clone()).ok()),
                settled: settlement.and_then(|value| Settlement::deserialize(*value).ok()),
                step,
            };
            calls.retain(|earlier| earlier.step != call.step);
            calls.push(call);
        }
        calls
    }
}

/// Returns the number of the attempt whose begin is this record.
fn attempt(record: &Record) -> Option<u32> {
    if record.kind != StepKind::Begun {
        return None;
    }
    let part = record.key.strip_prefix(record.call())?.strip_prefix('/')?.strip_prefix(BEGUN)?;
    if part.is_empty() { Some(0) } else { part.strip_prefix(':')?.parse().ok() }
}

/// Returns whether a call is followed through the steps that it has made.
#[cfg(any(feature = "cli", feature = "serve"))]
fn is_followed(records: &[Record], call: &str, attempt: u32) -> bool {
    let has_failed = records.iter().any(|record| *record.key == *format!("{call}/failed:{attempt}"));
    !has_failed && records.iter().any(|record| is_below(&record.parent, call))
}

/// Returns whether a key is that of a call, or of a step inside of it.
#[cfg(any(feature = "cli", feature = "serve"))]
fn is_below(key: &str, call: &str) -> bool {
    key.strip_prefix(call).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
