//! Limits on the usage of a run.

pub(crate) mod seconds;

use std::time::Duration;

use llm_do_providers::{Money, Unpriced};
use serde::{Deserialize, Serialize};

use super::RunUsage;

/// The maximum usage of a call and everything below it. Unset limits are unlimited.
///
/// Requests and tool calls are counted before they are made, including those in flight, so their limits are never
/// exceeded. The tokens and cost of a request are known only once it is answered. So a limit on tokens or money stops
/// the next request, and requests in flight may exceed it. A call that a limit stops fails the run; the error is not
/// returned to a model.
///
/// A failed request counts, with the tokens that the provider reported before the failure; the provider may charge
/// more. A request that is dropped because its run was cancelled or timed out counts without tokens, even if it was
/// still queued. A request that fails before it is sent does not count: for example when the key is missing or the
/// model does not support the request. A model that retries by itself makes one request; each attempt that returned
/// an unusable answer counts as one more.
///
/// A limit on money needs prices: with one, a model of unknown price is refused, as is a request whose server-side tools
/// or service tier have no known price, unless [`allow_unpriced`](Self::allow_unpriced) exempts such requests.
///
/// As data, `cost` is an amount in dollars, and `wall_time` a text such as `"1h 30m"` or a number of seconds.
///
/// # Examples
///
/// ```
/// # use std::time::Duration;
/// # use llm_do::usage::{Money, RunUsage, Usage};
/// # use llm_do::Limits;
/// let limits = Limits::new().requests(20).cost(Money::from_cents(50)).wall_time(Duration::from_secs(90));
/// let mut used = RunUsage::default();
/// used.model.requests = 18;
/// assert_eq!(limits.request_exceeds(&used, 1), None);
/// let exceeded = limits.request_exceeds(&used, 2).unwrap();
/// assert_eq!(
///     exceeded.to_string(),
///     "`requests` is limited to 20: 18 used, 2 in flight; raise `requests` in the limits",
/// );
/// # let text = r#"{"requests":20,"cost":"0.5","wall_time":"1m 30s"}"#;
/// assert_eq!(serde_json::from_str::<Limits>(r#"{"requests": 20, "cost": 0.5, "wall_time": "90s"}"#)?, limits);
/// # assert_eq!(serde_json::to_string(&limits)?, text);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Limits {
    /// Requests to models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Calls of tools and workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u64>,
    /// Input tokens, including cached ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Output tokens, including reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Input tokens read from providers' caches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Reasoning tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Input and output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// Money.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Money>,
    /// Whether requests of unknown price are allowed although money is limited.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_unpriced: bool,
    /// Wall-clock time since the start of the call.
    #[serde(skip_serializing_if = "Option::is_none", with = "seconds")]
    pub wall_time: Option<Duration>,
}

/// A limit that is reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Exceeded {
    /// One more unit would exceed the limit, or the limit is used up.
    #[error("`{what}` is limited to {limit}: {used}; raise `{what}` in the limits")]
    Reached {
        /// The limit's name: the method of [`Limits`] that sets it.
        what: &'static str,
        /// The limit.
        limit: String,
        /// The usage, as text.
        used: String,
    },

    /// Money is limited, and a model, one of its charges or an earlier request has no known price.
    #[error(
        "`cost` is limited to {limit}, but the price of {unpriced} is unknown; add a price, or set \
         `allow_unpriced` in the limits"
    )]
    Unpriced {
        /// The limit.
        limit: Money,
        /// The item without a known price, as text: a model, charges of it, or earlier requests.
        unpriced: String,
    },
}

impl Limits {
    /// Returns limits with nothing limited.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the number of requests to models. Default: unlimited.
    #[must_use]
    pub fn requests(self, requests: u64) -> Self {
        Self { requests: Some(requests), ..self }
    }

    /// Limits the number of calls of tools and workers. Default: unlimited.
    #[must_use]
    pub fn tool_calls(self, calls: u64) -> Self {
        Self { tool_calls: Some(calls), ..self }
    }

    /// Allows no further request once `tokens` input tokens are used. Default: unlimited.
    #[must_use]
    pub fn input_tokens(self, tokens: u64) -> Self {
        Self { input_tokens: Some(tokens), ..self }
    }

    /// Allows no further request once `tokens` output tokens are used. Default: unlimited.
    #[must_use]
    pub fn output_tokens(self, tokens: u64) -> Self {
        Self { output_tokens: Some(tokens), ..self }
    }

    /// Allows no further request once `tokens` cached tokens are read. Default: unlimited.
    #[must_use]
    pub fn cached_tokens(self, tokens: u64) -> Self {
        Self { cached_tokens: Some(tokens), ..self }
    }

    /// Allows no further request once `tokens` reasoning tokens are used. Default: unlimited.
    #[must_use]
    pub fn reasoning_tokens(self, tokens: u64) -> Self {
        Self { reasoning_tokens: Some(tokens), ..self }
    }

    /// Allows no further request once `tokens` input and output tokens are used. Default: unlimited.
    #[must_use]
    pub fn total_tokens(self, tokens: u64) -> Self {
        Self { total_tokens: Some(tokens), ..self }
    }

    /// Allows no further request once `cost` is spent, and no request of unknown price. Default: unlimited.
    #[must_use]
    pub fn cost(self, cost: Money) -> Self {
        Self { cost: Some(cost), ..self }
    }

    /// Allows requests of unknown price although money is limited. Default: false.
    #[must_use]
    pub fn allow_unpriced(self, allow: bool) -> Self {
        Self { allow_unpriced: allow, ..self }
    }

    /// Limits the wall-clock time from the start of the call. Default: unlimited.
    ///
    /// The time is paused while the call, or a call below it, waits for a person: for an approval or an answer. In a
    /// service, it is the time in which a process has the run: it continues when the run is resumed, and is paused
    /// while the run is suspended. Other programs set it with [`Start::time_spent`](crate::session::runtime::Start::time_spent).
    #[must_use]
    pub fn wall_time(self, time: Duration) -> Self {
        Self { wall_time: Some(time), ..self }
    }

    /// Returns limits that forbid everything that either of the two forbids.
    pub(crate) fn lowest(&self, other: &Self) -> Self {
        let allows = |limits: &Self| limits.cost.is_none() || limits.allow_unpriced;
        Self {
            requests: lower(self.requests, other.requests),
            tool_calls: lower(self.tool_calls, other.tool_calls),
            input_tokens: lower(self.input_tokens, other.input_tokens),
            output_tokens: lower(self.output_tokens, other.output_tokens),
            cached_tokens: lower(self.cached_tokens, other.cached_tokens),
            reasoning_tokens: lower(self.reasoning_tokens, other.reasoning_tokens),
            total_tokens: lower(self.total_tokens, other.total_tokens),
            cost: lower(self.cost, other.cost),
            allow_unpriced: allows(self) && allows(other),
            wall_time: lower(self.wall_time, other.wall_time),
        }
    }

    /// Returns the limit that forbids one more request to a model, given the usage and the number of requests in
    /// flight.
    #[must_use]
    pub fn request_exceeds(&self, used: &RunUsage, in_flight: u64) -> Option<Exceeded> {
        let model = &used.model;
        one_more("requests", self.requests, model.requests, in_flight)
            .or_else(|| reached("input_tokens", self.input_tokens, model.input_tokens))
            .or_else(|| reached("output_tokens", self.output_tokens, model.output_tokens))
            .or_else(|| reached("cached_tokens", self.cached_tokens, model.cached_tokens))
            .or_else(|| reached("reasoning_tokens", self.reasoning_tokens, model.reasoning_tokens))
            .or_else(|| reached("total_tokens", self.total_tokens, model.total_tokens()))
            .or_else(|| self.cost_exceeds(used))
    }

    /// Returns the limit that forbids one more tool call, given the usage and the number of calls in flight.
    #[must_use]
    pub fn tool_call_exceeds(&self, used: &RunUsage, in_flight: u64) -> Option<Exceeded> {
        one_more("tool_calls", self.tool_calls, used.tool_calls, in_flight)
    }

    /// Returns the limit that forbids any request to `model`, whose price is unknown.
    #[must_use]
    pub fn unpriced_exceeds(&self, model: &str) -> Option<Exceeded> {
        self.unpriced(|| format!("the model `{model}`"))
    }

    /// Returns the limit that forbids a request to `model` that may have these charges, whose prices are unknown.
    #[must_use]
    pub fn charges_exceed(&self, model: &str, charges: Unpriced) -> Option<Exceeded> {
        let charges = Some(charges).filter(|charges| !charges.is_empty())?;
        self.unpriced(|| format!("{} with the model `{model}`", quoted(charges)))
    }

    /// Returns the time limit if `elapsed` has reached it.
    #[must_use]
    pub fn time_exceeds(&self, elapsed: Duration) -> Option<Exceeded> {
        let limit = self.wall_time.filter(|limit| elapsed >= *limit)?;
        let used = format!("{} elapsed", seconds::text(elapsed));
        Some(Exceeded::Reached { what: "wall_time", limit: seconds::text(limit), used })
    }

    fn cost_exceeds(&self, used: &RunUsage) -> Option<Exceeded> {
        let limit = self.cost?;
        if used.cost.known >= limit {
            let used = format!("{} used", used.cost.known);
            return Some(Exceeded::Reached { what: "cost", limit: limit.to_string(), used });
        }
        let requests = used.cost.unpriced_requests;
        let made = || {
            let made =
                if requests == 1 { "an earlier request".to_owned() } else { format!("{requests} earlier requests") };
            match used.cost.unpriced {
                charges if charges.is_empty() => made,
                charges => format!("{} of {made}", quoted(charges)),
            }
        };
        (requests > 0).then(|| self.unpriced(made)).flatten()
    }

    fn unpriced(&self, unpriced: impl FnOnce() -> String) -> Option<Exceeded> {
        let limit = self.cost.filter(|_| !self.allow_unpriced)?;
        Some(Exceeded::Unpriced { limit, unpriced: unpriced() })
    }
}

/// Returns the names of charges, each in backticks.
fn quoted(charges: Unpriced) -> String {
    charges.names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the lower of two limits; `None` means unlimited.
fn lower<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    one.into_iter().chain(other).min()
}

/// Returns the limit if one more unit, besides those in flight, would exceed it.
fn one_more(what: &'static str, limit: Option<u64>, used: u64, in_flight: u64) -> Option<Exceeded> {
    let limit = limit.filter(|limit| used.saturating_add(in_flight) >= *limit)?;
    let used = match in_flight {
        0 => format!("{used} used"),
        _ => format!("{used} used, {in_flight} in flight"),
    };
    Some(Exceeded::Reached { what, limit: limit.to_string(), used })
}

/// Returns the limit if it is reached, for quantities that are known only after a request.
fn reached(what: &'static str, limit: Option<u64>, used: u64) -> Option<Exceeded> {
    let limit = limit.filter(|limit| used >= *limit)?;
    Some(Exceeded::Reached { what, limit: limit.to_string(), used: format!("{used} used") })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use llm_do_providers::{Money, Usage};
    use proptest::prelude::*;

    use super::{Exceeded, Limits, RunUsage};
    use crate::base::usage::Cost;

    fn used() -> RunUsage {
        let mut model = Usage::of_request(100, 50);
        (model.cached_tokens, model.reasoning_tokens) = (40, 20);
        RunUsage { tool_calls: 3, model, cost: Cost::of_request(Some(Money::from_cents(10))) }
    }

    fn what(exceeded: Option<Exceeded>) -> Option<&'static str> {
        exceeded.map(|exceeded| match exceeded {
            Exceeded::Reached { what, .. } => what,
            Exceeded::Unpriced { .. } => "unpriced",
        })
    }

    #[test]
    fn nothing_is_limited_by_default() {
        let most = RunUsage { tool_calls: u64::MAX, ..used() };
        assert_eq!(Limits::new().request_exceeds(&most, u64::MAX), None);
        assert_eq!(Limits::new().tool_call_exceeds(&most, u64::MAX), None);
        assert_eq!(Limits::new().time_exceeds(Duration::MAX), None);
        assert_eq!(Limits::new().unpriced_exceeds("openai:x"), None);
    }

    #[test]
    fn a_limit_on_tokens_or_money_is_reached_once_it_is_used_up() {
        type Limit = fn(u64) -> Limits;
        let limits: [(&str, Limit, u64); 6] = [
            ("input_tokens", |limit| Limits::new().input_tokens(limit), 100),
            ("output_tokens", |limit| Limits::new().output_tokens(limit), 50),
            ("cached_tokens", |limit| Limits::new().cached_tokens(limit), 40),
            ("reasoning_tokens", |limit| Limits::new().reasoning_tokens(limit), 20),
            ("total_tokens", |limit| Limits::new().total_tokens(limit), 150),
            ("cost", |limit| Limits::new().cost(Money::from_cents(limit)), 10),
        ];
        for (name, limit, reached) in limits {
            assert_eq!(what(limit(reached).request_exceeds(&used(), 0)), Some(name));
            assert_eq!(limit(reached + 1).request_exceeds(&used(), 9), None, "{name}");
            assert_eq!(limit(reached).tool_call_exceeds(&used(), 0), None, "{name}");
        }
    }

    #[test]
    fn requests_and_tool_calls_in_flight_count() {
        assert_eq!(Limits::new().requests(3).request_exceeds(&used(), 1), None);
        assert_eq!(what(Limits::new().requests(3).request_exceeds(&used(), 2)), Some("requests"));
        assert_eq!(Limits::new().tool_calls(4).tool_call_exceeds(&used(), 0), None);
        assert_eq!(what(Limits::new().tool_calls(4).tool_call_exceeds(&used(), 1)), Some("tool_calls"));
        assert_eq!(what(Limits::new().requests(0).request_exceeds(&RunUsage::default(), 0)), Some("requests"));
    }

    #[test]
    fn a_limit_on_money_refuses_models_of_unknown_price() {
        let limits = Limits::new().cost(Money::from_dollars(1));
        assert_eq!(
            limits.unpriced_exceeds("openai:ours").unwrap().to_string(),
            "`cost` is limited to $1.00, but the price of the model `openai:ours` is unknown; add a price, or \
             set `allow_unpriced` in the limits"
        );
        let unpriced = RunUsage { cost: used().cost + Cost::of_request(None), ..used() };
        assert_eq!(what(limits.request_exceeds(&unpriced, 0)), Some("unpriced"));
        let limits = limits.allow_unpriced(true);
        assert_eq!(limits.unpriced_exceeds("openai:ours"), None);
        assert_eq!(limits.request_exceeds(&unpriced, 0), None);
        assert_eq!(what(limits.cost(Money::from_cents(10)).request_exceeds(&unpriced, 0)), Some("cost"));
    }

    #[test]
    fn the_error_names_the_limit_to_raise() {
        let limits = Limits::new().cost(Money::from_cents(5)).wall_time(Duration::from_secs(90));
        let text = "`cost` is limited to $0.05: $0.10 used; raise `cost` in the limits";
        assert_eq!(limits.request_exceeds(&used(), 0).unwrap().to_string(), text);
        assert_eq!(limits.time_exceeds(Duration::from_secs(89)), None);
        let text = "`wall_time` is limited to 1m 30s: 1m 30s 500ms elapsed; raise `wall_time` in the limits";
        assert_eq!(limits.time_exceeds(Duration::from_millis(90_500)).unwrap().to_string(), text);
    }

    #[test]
    fn a_duration_is_a_text_or_a_number_of_seconds() {
        let of = |json: &str| serde_json::from_str::<Limits>(&format!(r#"{{"wall_time": {json}}}"#));
        for json in ["90", "90.0", "\"90s\"", "\"1m 30s\"", "\"PT1M30S\"", "\"1 minute, 30 seconds\""] {
            assert_eq!(of(json).unwrap(), Limits::new().wall_time(Duration::from_secs(90)), "{json}");
        }
        assert_eq!(of("null").unwrap(), Limits::new());
        let longest = serde_json::to_string(&Limits::new().wall_time(Duration::MAX)).unwrap();
        assert!(serde_json::from_str::<Limits>(&longest).unwrap().wall_time > Some(Duration::from_secs(u64::MAX >> 2)));
        for (json, text) in [
            ("\"soon\"", "invalid duration `soon`: expected numbers with units"),
            ("\"-5s\"", "invalid duration `-5s`: a duration cannot be negative"),
            ("-5", "negative"),
            ("true", "a duration such as"),
        ] {
            let error = of(json).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
        assert!(serde_json::from_str::<Limits>(r#"{"request": 1}"#).unwrap_err().to_string().contains("`requests`"));
    }

    fn limits() -> impl Strategy<Value = Limits> {
        let limit = || prop::option::of(0..4_u64);
        (limit(), limit(), limit(), limit(), limit(), any::<bool>()).prop_map(
            |(requests, tool_calls, input_tokens, cents, seconds, allow_unpriced)| Limits {
                requests,
                tool_calls,
                input_tokens,
                cost: cents.map(Money::from_cents),
                allow_unpriced,
                wall_time: seconds.map(Duration::from_secs),
                ..Limits::new()
            },
        )
    }

    proptest! {
        #[test]
        fn limits_round_trip_through_json(
            requests: Option<u64>, total_tokens: Option<u64>, picodollars: Option<u128>, allow_unpriced: bool,
            wall_time in prop::option::of((0..u64::MAX >> 16, 0..1_000_000_000_u32)),
        ) {
            let cost = picodollars.map(Money::from_picodollars);
            let wall_time = wall_time.map(|(seconds, nanos)| Duration::new(seconds, nanos));
            let limits = Limits { requests, total_tokens, cost, allow_unpriced, wall_time, ..Limits::new() };
            let json = serde_json::to_string(&limits).unwrap();
            prop_assert_eq!(serde_json::from_str::<Limits>(&json).unwrap(), limits, "{}", json);
        }

        #[test]
        fn the_lowest_limits_forbid_what_either_forbids(
            one in limits(), other in limits(), requests in 0..4_u64, tokens in 0..4_u64, cents in 0..4_u64,
            unpriced: bool,
        ) {
            let both = one.lowest(&other);
            let mut model = Usage::of_request(tokens, 0);
            model.requests = requests;
            let mut cost = Cost::of_request(Some(Money::from_cents(cents)));
            cost.unpriced_requests = u64::from(unpriced);
            let used = RunUsage { tool_calls: requests, model, cost };
            let forbids = |limits: &Limits| [
                limits.request_exceeds(&used, 0).is_some(),
                limits.tool_call_exceeds(&used, 0).is_some(),
                limits.time_exceeds(Duration::from_secs(tokens)).is_some(),
                limits.unpriced_exceeds("m").is_some(),
            ];
            let (mine, theirs) = (forbids(&one), forbids(&other));
            let either: Vec<_> = mine.iter().zip(theirs).map(|(mine, theirs)| *mine || theirs).collect();
            prop_assert_eq!(forbids(&both).to_vec(), either);
        }

        #[test]
        fn a_reached_limit_stays_reached_when_more_is_used(
            limit in 0..20_u64, used in 0..20_u64, more in 0..20_u64, in_flight in 0..4_u64,
        ) {
            let limits = Limits::new().requests(limit).total_tokens(limit);
            let of = |requests| RunUsage { model: Usage::of_request(requests, 0), ..RunUsage::default() };
            if limits.request_exceeds(&of(used), in_flight).is_some() {
                prop_assert!(limits.request_exceeds(&of(used + more), in_flight).is_some());
            }
        }
    }
}
