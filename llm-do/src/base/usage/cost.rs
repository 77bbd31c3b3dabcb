//! The cost of requests, as far as prices are known.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use llm_do_providers::Money;
use serde::{Deserialize, Serialize};

/// What requests cost: the known amount, and the number of requests whose price is unknown.
///
/// A request of unknown price never counts as free.
///
/// # Examples
///
/// ```
/// # use llm_do::usage::{Cost, Money};
/// let cost = Cost::of_request(Some(Money::from_cents(1))) + Cost::of_request(None) + Cost::of_request(None);
/// assert_eq!(cost.to_string(), "$0.01 and 2 requests of unknown price");
/// assert_eq!(Cost::of_request(None).to_string(), "unknown");
/// assert_eq!(Cost::default().to_string(), "$0.00");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cost {
    /// The cost of the requests with a known price.
    pub known: Money,
    /// Requests whose price is unknown.
    pub unpriced_requests: u64,
}

impl Cost {
    /// Returns the cost of one request; `None` if it is unknown.
    #[must_use]
    pub fn of_request(cost: Option<Money>) -> Self {
        Self { known: cost.unwrap_or_default(), unpriced_requests: u64::from(cost.is_none()) }
    }

    /// Returns whether the cost is known to be zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.known.is_zero() && self.unpriced_requests == 0
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.known, self.unpriced_requests) {
            (known, 0) => known.fmt(f),
            (Money::ZERO, _) => f.pad("unknown"),
            (known, 1) => f.pad(&format!("{known} and 1 request of unknown price")),
            (known, requests) => f.pad(&format!("{known} and {requests} requests of unknown price")),
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.known += other.known;
        self.unpriced_requests = self.unpriced_requests.saturating_add(other.unpriced_requests);
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), Add::add)
    }
}
