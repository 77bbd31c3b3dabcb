//! What a call used, and everything below it.

mod cost;
mod limits;
mod recorder;
mod tree;

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::sync::atomic::{AtomicU64, Ordering};

use llm_do_providers::{Money, Usage};
use serde::{Deserialize, Serialize};

pub use self::cost::Cost;
pub(crate) use self::limits::seconds;
pub use self::limits::{Exceeded, Limits};
pub(crate) use self::recorder::UsageRecorder;
pub use self::tree::{ModelUsage, UsageTree};
use crate::rare::Rare;

/// What a call and all calls below it used.
///
/// It is shown in a line, with the cost where requests have one or where it is not known:
/// `2 tool calls, 3 requests, 1200 tokens in, 300 out, $0.0048`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunUsage {
    /// Calls of tools and workers that ran, the call itself not counted.
    pub tool_calls: u64,
    /// Requests to models and their tokens.
    #[serde(flatten)]
    pub model: Usage,
    /// What the requests cost.
    #[serde(default)]
    pub cost: Cost,
}

impl fmt::Display for RunUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool_calls, model, cost } = self;
        let Usage { requests, input_tokens, output_tokens, .. } = model;
        write!(f, "{tool_calls} tool calls, {requests} requests, {input_tokens} tokens in, {output_tokens} out")?;
        match cost {
            cost if cost.is_zero() => Ok(()),
            // By itself the word would not say what.
            cost if cost.known.is_zero() => write!(f, ", {cost} cost"),
            cost => write!(f, ", {cost}"),
        }
    }
}

impl AddAssign for RunUsage {
    fn add_assign(&mut self, other: Self) {
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
        self.model += other.model;
        self.cost += other.cost;
    }
}

impl Add for RunUsage {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Sum for RunUsage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), Add::add)
    }
}

/// The meter of one call; its callers' are told as well.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    tool_calls: AtomicU64,
    requests_under_way: AtomicU64,
    /// Of models, which most calls do not use.
    models: Rare<ModelUsage>,
}

impl Meter {
    /// Counts a request as under way.
    pub(crate) fn begin_request(&self) {
        self.requests_under_way.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts it no more: it is answered, or given up.
    pub(crate) fn end_request(&self) {
        self.requests_under_way.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn requests_under_way(&self) -> u64 {
        self.requests_under_way.load(Ordering::Relaxed)
    }

    /// Adds one request to a model, and what it cost, if that is known.
    pub(crate) fn add_request(&self, usage: Usage, cost: Option<Money>) {
        *self.models.get_or_default() += ModelUsage { usage, cost: Cost::of_request(cost) };
    }

    /// Adds one call of a tool.
    pub(crate) fn add_tool_call(&self) {
        self.tool_calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes back one call of a tool, which a limit did not allow.
    pub(crate) fn take_tool_call(&self) {
        self.tool_calls.fetch_sub(1, Ordering::Relaxed);
    }

    /// Adds what was used elsewhere.
    pub(crate) fn add(&self, used: RunUsage) {
        self.tool_calls.fetch_add(used.tool_calls, Ordering::Relaxed);
        *self.models.get_or_default() += ModelUsage { usage: used.model, cost: used.cost };
    }

    /// Returns what was used so far.
    pub(crate) fn used(&self) -> RunUsage {
        let ModelUsage { usage, cost } = self.models.get().map(|models| *models).unwrap_or_default();
        RunUsage { tool_calls: self.tool_calls.load(Ordering::Relaxed), model: usage, cost }
    }
}
