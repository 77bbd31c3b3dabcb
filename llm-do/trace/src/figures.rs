//! Requests, tokens and cost.

use std::ops::{AddAssign, Sub};

use llm_do_providers::{Money, Unpriced};
use serde::Serialize;

use llm_do_core::base::usage::{Cost, RunUsage};

/// The usage of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Figures {
    pub(crate) requests: u64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) cached_tokens: u64,
    pub(crate) reasoning_tokens: u64,
    pub(crate) cost: Cost,
}

impl From<&RunUsage> for Figures {
    fn from(used: &RunUsage) -> Self {
        Self {
            requests: used.model.requests,
            input_tokens: used.model.input_tokens,
            output_tokens: used.model.output_tokens,
            cached_tokens: used.model.cached_tokens,
            reasoning_tokens: used.model.reasoning_tokens,
            cost: used.cost,
        }
    }
}

impl AddAssign for Figures {
    fn add_assign(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        self.cost += other.cost;
    }
}

impl Sub for Figures {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(other.requests),
            input_tokens: self.input_tokens.saturating_sub(other.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(other.output_tokens),
            cached_tokens: self.cached_tokens.saturating_sub(other.cached_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_sub(other.reasoning_tokens),
            cost: difference(self.cost, other.cost),
        }
    }
}

fn difference(left: Cost, right: Cost) -> Cost {
    let known = left.known.picodollars().saturating_sub(right.known.picodollars());
    let unpriced_requests = left.unpriced_requests.saturating_sub(right.unpriced_requests);
    let unpriced = if unpriced_requests > 0 { left.unpriced } else { Unpriced::default() };
    Cost::new(Money::from_picodollars(known), unpriced_requests, unpriced)
}
