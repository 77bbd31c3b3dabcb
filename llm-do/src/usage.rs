//! What a call used, and everything below it.

mod cost;
mod limits;
#[cfg_attr(not(test), expect(dead_code, reason = "not yet part of a call"))]
mod recorder;
mod tree;

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::sync::{Arc, Mutex, PoisonError};

use llm_do_providers::Usage;
use serde::{Deserialize, Serialize};

pub use self::cost::Cost;
pub use self::limits::{Exceeded, Limits};
pub use self::tree::{ModelUsage, UsageTree};

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

/// The meter of one call: what is added to it is added to its parents as well.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter(Arc<Node>);

#[derive(Debug, Default)]
struct Node {
    used: Mutex<RunUsage>,
    parent: Option<Meter>,
}

impl Meter {
    /// Returns the meter of a call made by the call of this one.
    pub(crate) fn child(&self) -> Self {
        Self(Arc::new(Node { used: Mutex::default(), parent: Some(self.clone()) }))
    }

    /// Adds one request to a model.
    pub(crate) fn add_request(&self, usage: Usage) {
        self.update(|used| used.model += usage);
    }

    /// Adds one call of a tool.
    pub(crate) fn add_tool_call(&self) {
        self.update(|used| used.tool_calls = used.tool_calls.saturating_add(1));
    }

    /// Returns what was used so far.
    pub(crate) fn used(&self) -> RunUsage {
        *self.0.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, change: impl Fn(&mut RunUsage)) {
        let mut next = Some(self);
        while let Some(Self(node)) = next {
            change(&mut node.used.lock().unwrap_or_else(PoisonError::into_inner));
            next = node.parent.as_ref();
        }
    }
}
