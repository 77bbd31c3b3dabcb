//! The usage of a call and the calls below it.

mod cost;
mod limits;
mod recorder;
mod tree;

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::sync::atomic::{AtomicU64, Ordering};

use llm_do_providers::Usage;
use serde::{Deserialize, Serialize};

pub use self::cost::Cost;
pub(crate) use self::limits::seconds;
pub use self::limits::{Exceeded, Limits};
pub(crate) use self::recorder::UsageRecorder;
pub use self::tree::{ModelUsage, UsageTree};
use crate::base::mutex::LazyMutex;

/// The usage of a call and all calls below it.
///
/// `Display` writes one line, with the cost if there is any or if it is unknown: `2 tool calls, 3 requests, 1200
/// tokens in, 300 out, $0.0048`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunUsage {
    /// Calls of tools and workers that ran, without the call itself.
    pub tool_calls: u64,
    /// Requests to models, and their tokens.
    #[serde(flatten)]
    pub model: Usage,
    /// The cost of the requests.
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
            // "unknown" alone would not state that the cost is unknown.
            cost if cost.known.is_zero() && cost.unpriced.is_empty() => write!(f, ", {cost} cost"),
            cost if cost.known.is_zero() => write!(f, ", cost {cost}"),
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

/// The usage meter of one call.
///
/// A unit of a limit is reserved and checked in one step before it is used, so of two concurrent calls exactly one gets
/// the last unit.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    tool_calls: AtomicU64,
    /// Tool calls that ran or are reserved.
    claimed_calls: AtomicU64,
    /// Requests to models; most calls make none.
    models: LazyMutex<Requests>,
}

#[derive(Debug, Default)]
struct Requests {
    used: RunUsage,
    in_flight: u64,
}

impl Meter {
    /// Reserves a request to a model, unless that would exceed `limits`. If this request repeats one in flight, `lost`
    /// is the usage of its broken answers.
    pub(crate) fn reserve_request(&self, limits: Option<&Limits>, lost: Option<&RunUsage>) -> Result<(), Exceeded> {
        let mut models = self.models.get_or_default();
        let exceeded = limits.and_then(|limits| match lost {
            Some(lost) => limits.request_exceeds(&(models.used + *lost), models.in_flight),
            None => limits.request_exceeds(&models.used, models.in_flight),
        });
        exceeded.map_or(Ok(()), Err)?;
        models.in_flight += 1;
        Ok(())
    }

    /// Returns the limit that one more request would exceed.
    pub(crate) fn request_exceeds(&self, limits: &Limits) -> Option<Exceeded> {
        let models = self.models.get().map(|models| (models.used, models.in_flight));
        let (used, in_flight) = models.unwrap_or_default();
        limits.request_exceeds(&used, in_flight)
    }

    /// Releases a reserved request that was not made.
    pub(crate) fn release_request(&self) {
        let mut models = self.models.get_or_default();
        models.in_flight = models.in_flight.saturating_sub(1);
    }

    /// Replaces a reservation with the usage of the request.
    pub(crate) fn finish_request(&self, used: &ModelUsage) {
        let mut models = self.models.get_or_default();
        models.in_flight = models.in_flight.saturating_sub(1);
        models.used.model += used.usage;
        models.used.cost += used.cost;
    }

    /// Reserves a tool call, unless that would exceed `limits`.
    pub(crate) fn reserve_tool_call(&self, limits: Option<&Limits>) -> Result<(), Exceeded> {
        let Some(limits) = limits else {
            self.claimed_calls.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        };
        let mut claimed = self.claimed_calls.load(Ordering::Relaxed);
        loop {
            let made = self.tool_calls.load(Ordering::Relaxed).min(claimed);
            let used = RunUsage { tool_calls: made, ..RunUsage::default() };
            if let Some(exceeded) = limits.tool_call_exceeds(&used, claimed - made) {
                return Err(exceeded);
            }
            let order = Ordering::Relaxed;
            match self.claimed_calls.compare_exchange_weak(claimed, claimed + 1, order, order) {
                Ok(_) => return Ok(()),
                Err(now) => claimed = now,
            }
        }
    }

    /// Releases a reserved tool call that did not run.
    pub(crate) fn release_tool_call(&self) {
        self.claimed_calls.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts a reserved tool call as run.
    pub(crate) fn make_tool_call(&self) {
        self.tool_calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds usage from another meter.
    pub(crate) fn add(&self, used: RunUsage) {
        self.claimed_calls.fetch_add(used.tool_calls, Ordering::Relaxed);
        self.tool_calls.fetch_add(used.tool_calls, Ordering::Relaxed);
        self.models.get_or_default().used += RunUsage { tool_calls: 0, ..used };
    }

    /// Returns the usage so far, without reservations.
    pub(crate) fn used(&self) -> RunUsage {
        let models = self.models.get().map(|models| models.used).unwrap_or_default();
        RunUsage { tool_calls: self.tool_calls.load(Ordering::Relaxed), ..models }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::{Limits, Meter, RunUsage, Usage};

    /// Returns how many of eight threads get one of three units.
    fn winners(take: impl Fn(&Meter) -> bool + Sync) -> usize {
        let (meter, start) = (Meter::default(), Barrier::new(8));
        let race = || {
            start.wait();
            take(&meter)
        };
        std::thread::scope(|scope| {
            let racers: Vec<_> = (0..8).map(|_| scope.spawn(race)).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).filter(|won| *won).count()
        })
    }

    #[test]
    fn concurrent_calls_never_reserve_more_units_than_the_limit() {
        let limits = Limits::new().tool_calls(3).requests(3);
        for _ in 0..100 {
            assert_eq!(winners(|meter| meter.reserve_tool_call(Some(&limits)).is_ok()), 3);
            assert_eq!(winners(|meter| meter.reserve_request(Some(&limits), None).is_ok()), 3);
        }
    }

    #[test]
    fn what_a_request_in_flight_has_lost_counts_for_its_repeat() {
        let (meter, limits) = (Meter::default(), Limits::new().total_tokens(10));
        let lost = |tokens| RunUsage { model: Usage::of_request(tokens, 0), ..RunUsage::default() };
        meter.reserve_request(Some(&limits), Some(&lost(0))).unwrap();
        meter.reserve_request(Some(&limits), Some(&lost(9))).unwrap();
        meter.reserve_request(Some(&limits), Some(&lost(10))).unwrap_err();
        assert_eq!(meter.used(), RunUsage::default());
    }

    #[test]
    fn a_released_unit_can_be_reserved_again_and_does_not_count_as_used() {
        let (meter, limits) = (Meter::default(), Limits::new().tool_calls(1).requests(1));
        for _ in 0..2 {
            meter.reserve_tool_call(Some(&limits)).unwrap();
            let reserve = || meter.reserve_request(Some(&limits), None);
            reserve().unwrap();
            assert!(meter.reserve_tool_call(Some(&limits)).is_err() && reserve().is_err());
            assert_eq!(meter.used(), RunUsage::default());
            meter.release_tool_call();
            meter.release_request();
        }
    }
}
