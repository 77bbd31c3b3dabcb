//! The cost of requests, as far as prices are known.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use llm_do_providers::{Charge, Money, Unpriced};
use serde::{Deserialize, Serialize};

/// The cost of requests: the known amount, and the number of requests with a charge whose price is unknown.
///
/// A request with an unknown price never counts as free. `Display` names the charges without a price, except those of
/// models.
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
    /// The sum of the charges with a known price.
    pub known: Money,
    /// The number of requests with an unknown price, or with a charge of unknown price.
    pub unpriced_requests: u64,
    /// The charges without a known price of requests to models whose price is known, such as server-side tools.
    #[serde(default, skip_serializing_if = "none")]
    pub unpriced: Unpriced,
}

impl Cost {
    /// Returns the cost of some requests.
    #[doc(hidden)]
    #[must_use]
    pub fn new(known: Money, unpriced_requests: u64, unpriced: Unpriced) -> Self {
        Self { known, unpriced_requests, unpriced }
    }

    /// Returns the cost of one request; `None` if it is unknown.
    #[must_use]
    pub fn of_request(cost: Option<Money>) -> Self {
        let (known, unpriced_requests) = (cost.unwrap_or_default(), u64::from(cost.is_none()));
        Self { known, unpriced_requests, unpriced: Unpriced::default() }
    }

    /// Returns the cost of one request with its charges; `None` if the price of its model is unknown.
    ///
    /// ```
    /// # use llm_do::usage::{Cost, Money, Price, Usage};
    /// let mut usage = Usage::of_request(1_000, 100);
    /// usage.file_searches = 1;
    /// let price = Price::per_million(Money::from_dollars(2), Money::from_dollars(10));
    /// let cost = Cost::of_charge(Some(price.charge(&usage)));
    /// assert_eq!(cost.to_string(), "$0.003 and 1 request of unknown price (unpriced: file_search)");
    /// ```
    #[must_use]
    pub fn of_charge(charge: Option<Charge>) -> Self {
        let Some(Charge { known, unpriced, .. }) = charge else { return Self::of_request(None) };
        Self { known, unpriced_requests: u64::from(!unpriced.is_empty()), unpriced }
    }

    /// Returns whether the cost is known to be zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.known.is_zero() && self.unpriced_requests == 0
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde expects")]
fn none(unpriced: &Unpriced) -> bool {
    unpriced.is_empty()
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = match self.unpriced {
            unpriced if unpriced.is_empty() => String::new(),
            unpriced => format!(" (unpriced: {unpriced})"),
        };
        match (self.known, self.unpriced_requests) {
            (known, 0) => known.fmt(f),
            (Money::ZERO, _) => f.pad(&format!("unknown{names}")),
            (known, 1) => f.pad(&format!("{known} and 1 request of unknown price{names}")),
            (known, requests) => f.pad(&format!("{known} and {requests} requests of unknown price{names}")),
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.known += other.known;
        self.unpriced_requests = self.unpriced_requests.saturating_add(other.unpriced_requests);
        self.unpriced |= other.unpriced;
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
