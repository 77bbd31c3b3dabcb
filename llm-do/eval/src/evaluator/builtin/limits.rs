//! Evaluators of what a run took and called.

use std::collections::BTreeMap;
use std::time::Duration;

use llm_do_core::base::error::Result;
use llm_do_providers::Money;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Arguable, Check, EvaluatorContext, Findings};
use crate::evaluator::Finding;

/// Whether the run took at most this time.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DurationArguments {
    /// Seconds.
    seconds: f64,
}

pub(super) struct MaxDuration(Duration);

impl Arguable for MaxDuration {
    type Arguments = DurationArguments;

    fn new(arguments: DurationArguments) -> std::result::Result<Self, String> {
        Duration::try_from_secs_f64(arguments.seconds).map(Self).map_err(|error| format!("`seconds`: {error}"))
    }
}

impl Check for MaxDuration {
    fn check(&self, context: &EvaluatorContext<'_>) -> Result<Findings> {
        let (took, limit) = (context.duration, self.0);
        Ok(Finding::asserted((took > limit).then(|| format!("it took {took:.3?}, more than {limit:?}"))).into())
    }
}

/// Whether the run cost at most this.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CostArguments {
    /// US dollars, as a number or a text.
    #[schemars(with = "f64")]
    dollars: Value,
}

pub(super) struct MaxCost(Money);

impl Arguable for MaxCost {
    type Arguments = CostArguments;

    fn new(arguments: CostArguments) -> std::result::Result<Self, String> {
        serde_json::from_value(arguments.dollars).map(Self).map_err(|error| format!("`dollars`: {error}"))
    }
}

impl Check for MaxCost {
    fn check(&self, context: &EvaluatorContext<'_>) -> Result<Findings> {
        let cost = context.usage.cost;
        if cost.unpriced_requests > 0 {
            return Err(format!("the cost is {cost}: set the price of the model").into());
        }
        let fault = (cost.known > self.0).then(|| format!("it cost {cost}, more than {}", self.0));
        Ok(Finding::asserted(fault).into())
    }
}

/// Whether the run made at most this many calls of tools and workers.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MaxToolCalls {
    /// The number of calls.
    max_calls: u64,
    /// Whether calls that returned an error count. Default: true.
    #[serde(default = "super::yes")]
    include_failed: bool,
}

impl Check for MaxToolCalls {
    fn check(&self, context: &EvaluatorContext<'_>) -> Result<Findings> {
        let calls = context.calls.iter().filter(|call| self.include_failed || !call.failed).count() as u64;
        let fault = (calls > self.max_calls).then(|| format!("{calls} calls, more than {}", self.max_calls));
        Ok(Finding::asserted(fault).into())
    }
}

/// Whether the run made at most this many requests to models.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MaxModelRequests {
    /// The number of requests.
    max_requests: u64,
}

impl Check for MaxModelRequests {
    fn check(&self, context: &EvaluatorContext<'_>) -> Result<Findings> {
        let (requests, limit) = (context.usage.model.requests, self.max_requests);
        Ok(Finding::asserted((requests > limit).then(|| format!("{requests} requests, more than {limit}"))).into())
    }
}

/// Whether the run called these tools, each as often as it is listed, in any order.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolCorrectness {
    /// The registered names.
    expected_tools: Vec<String>,
    /// Whether other calls are allowed. Default: false.
    #[serde(default)]
    allow_extra: bool,
    /// Whether calls that returned an error count. Default: false.
    #[serde(default)]
    include_failed: bool,
}

impl Check for ToolCorrectness {
    fn check(&self, context: &EvaluatorContext<'_>) -> Result<Findings> {
        let made = context.calls.iter().filter(|call| self.include_failed || !call.failed);
        let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
        self.expected_tools.iter().for_each(|name| *counts.entry(name).or_default() += 1);
        made.for_each(|call| *counts.entry(&call.name).or_default() -= 1);
        let faults: Vec<_> = counts
            .into_iter()
            .filter_map(|(name, count)| match count {
                1.. => Some(format!("`{name}` is missing {count} times")),
                ..=-1 if !self.allow_extra => Some(format!("`{name}` is called {} times too often", -count)),
                _ => None,
            })
            .collect();
        Ok(Finding::asserted((!faults.is_empty()).then(|| faults.join("; "))).into())
    }
}
