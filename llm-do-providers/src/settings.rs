//! Settings of requests.

mod headers;
mod thinking;
#[cfg(any(feature = "http", feature = "local"))]
mod warnings;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::headers::ExtraHeaders;
pub use self::thinking::ThinkingLevel;
#[cfg(any(feature = "http", feature = "local"))]
pub(crate) use self::warnings::Warnings;

/// Settings of a request; `None` uses the provider's default.
///
/// Not every model and server accepts each setting; see the documentation of the model. A setting that is not
/// accepted is left out, or sent as the nearest value, and the response has a warning about it:
/// [`Response::warnings`](crate::Response::warnings).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Settings {
    /// The sampling temperature: 0 for the most likely answer, up to 2 with most providers.
    pub temperature: Option<f64>,
    /// Nucleus sampling: the cumulative probability of the candidate tokens, from 0 to 1.
    pub top_p: Option<f64>,
    /// The maximum number of output tokens, including reasoning.
    pub max_tokens: Option<u32>,
    /// The seed, for providers that support reproducible answers.
    pub seed: Option<u64>,
    /// Stop sequences: the model stops before them.
    pub stop: Vec<String>,
    /// The penalty for tokens that occurred before: from -2 to 2 with most providers.
    pub presence_penalty: Option<f64>,
    /// The penalty for tokens by how often they occurred before: from -2 to 2 with most providers.
    pub frequency_penalty: Option<f64>,
    /// How much the model thinks before it answers.
    pub thinking: Option<ThinkingLevel>,
    /// Whether the model may request several tool calls in one answer.
    pub parallel_tool_calls: Option<bool>,
    /// Whether to set cache breakpoints in the conversation, for providers that need them.
    pub cache_prompt: Option<bool>,
    /// The provider's service tier, which trades speed for price, such as `flex` or `priority`.
    pub service_tier: Option<String>,
    /// Whether requests go to the provider's batch API, whose answers cost half and arrive within a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<bool>,
    /// From how many input tokens on the provider itself summarizes the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact_at: Option<u32>,
    /// The timeout of a request; for a stream, the maximum time between two chunks. Seconds in JSON.
    #[serde(with = "seconds")]
    pub timeout: Option<Duration>,
    /// Additional fields of the request body, which override fields of the same name.
    pub extra_body: Map<String, Value>,
    /// Additional request headers. They may hold secrets, and are not serialized.
    #[serde(skip)]
    pub extra_headers: ExtraHeaders,
}

impl Settings {
    /// Creates settings with the provider's defaults only.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns these settings, with those of `base` where these are unset.
    ///
    /// # Examples
    ///
    /// ```
    /// # mod llm_do { pub use llm_do_providers::Settings; }
    /// use llm_do::Settings;
    /// let base = Settings::new().temperature(1.0).seed(7);
    /// assert_eq!(Settings::new().temperature(0.2).over(&base), Settings::new().temperature(0.2).seed(7));
    /// ```
    #[must_use]
    pub fn over(self, base: &Self) -> Self {
        let mut extra_body = base.extra_body.clone();
        extra_body.extend(self.extra_body);
        Self {
            temperature: self.temperature.or(base.temperature),
            top_p: self.top_p.or(base.top_p),
            max_tokens: self.max_tokens.or(base.max_tokens),
            seed: self.seed.or(base.seed),
            stop: if self.stop.is_empty() { base.stop.clone() } else { self.stop },
            presence_penalty: self.presence_penalty.or(base.presence_penalty),
            frequency_penalty: self.frequency_penalty.or(base.frequency_penalty),
            thinking: self.thinking.or(base.thinking),
            parallel_tool_calls: self.parallel_tool_calls.or(base.parallel_tool_calls),
            cache_prompt: self.cache_prompt.or(base.cache_prompt),
            service_tier: self.service_tier.or_else(|| base.service_tier.clone()),
            batch: self.batch.or(base.batch),
            compact_at: self.compact_at.or(base.compact_at),
            timeout: self.timeout.or(base.timeout),
            extra_body,
            extra_headers: self.extra_headers.over(&base.extra_headers),
        }
    }

    /// Sets the sampling temperature, from 0 up to 2 with most providers. Default: the provider's.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        Self { temperature: Some(temperature), ..self }
    }

    /// Sets the cumulative probability of nucleus sampling, from 0 to 1. Default: the provider's.
    #[must_use]
    pub fn top_p(self, probability: f64) -> Self {
        Self { top_p: Some(probability), ..self }
    }

    /// Sets the maximum number of output tokens, including reasoning. Default: the provider's.
    #[must_use]
    pub fn max_tokens(self, tokens: u32) -> Self {
        Self { max_tokens: Some(tokens), ..self }
    }

    /// Sets the seed, for providers that support reproducible answers. Default: none.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// Adds a stop sequence. Default: none.
    #[must_use]
    pub fn stop(mut self, text: impl Into<String>) -> Self {
        self.stop.push(text.into());
        self
    }

    /// Sets the penalty for tokens that occurred before, from -2 to 2 with most providers. Default: the provider's,
    /// mostly 0.
    #[must_use]
    pub fn presence_penalty(self, penalty: f64) -> Self {
        Self { presence_penalty: Some(penalty), ..self }
    }

    /// Sets the penalty for tokens by how often they occurred before, from -2 to 2 with most providers. Default: the
    /// provider's, mostly 0.
    #[must_use]
    pub fn frequency_penalty(self, penalty: f64) -> Self {
        Self { frequency_penalty: Some(penalty), ..self }
    }

    /// Sets how much the model thinks before it answers. Default: the provider's, which may be none.
    #[must_use]
    pub fn thinking(self, level: impl Into<ThinkingLevel>) -> Self {
        Self { thinking: Some(level.into()), ..self }
    }

    /// Sets whether the model may request several tool calls in one answer. Default: the provider's, mostly true.
    #[must_use]
    pub fn parallel_tool_calls(self, allowed: bool) -> Self {
        Self { parallel_tool_calls: Some(allowed), ..self }
    }

    /// Sets cache breakpoints in the conversation, for providers that need them. Default: none.
    ///
    /// Other providers cache automatically or not at all; there it has no effect, and causes no warning. Writing to
    /// the cache may cost more than uncached input, and reading from it less.
    #[must_use]
    pub fn cache_prompt(self, enabled: bool) -> Self {
        Self { cache_prompt: Some(enabled), ..self }
    }

    /// Sets the provider's service tier, which trades speed for price, such as `flex`. Default: the provider's.
    #[must_use]
    pub fn service_tier(self, tier: impl Into<String>) -> Self {
        Self { service_tier: Some(tier.into()), ..self }
    }

    /// Sets whether requests go to the provider's batch API. Default: false.
    ///
    /// Answers cost half, and arrive within a day; see [batches](https://docs.rs/llm-do/latest/llm_do/model/index.html#batches). A
    /// request to a model without such an API is an error.
    #[must_use]
    pub fn batch(self, enabled: bool) -> Self {
        Self { batch: Some(enabled), ..self }
    }

    /// Sets from how many input tokens on the provider itself summarizes the conversation, for providers that can. Default: never.
    ///
    /// The summary is a part of an answer, which only that provider reads; the messages before it stay in the history. It costs
    /// tokens, which the usage includes.
    #[must_use]
    pub fn compact_at(self, tokens: u32) -> Self {
        Self { compact_at: Some(tokens), ..self }
    }

    /// Returns whether requests go to the provider's batch API.
    #[must_use]
    pub fn is_batch(&self) -> bool {
        self.batch == Some(true)
    }

    /// Returns the service tier that decides the price of a request. Not public API. Used by `llm-do`.
    #[doc(hidden)]
    #[must_use]
    pub fn priced_tier(&self) -> Option<&str> {
        if self.is_batch() { Some("batch") } else { self.service_tier.as_deref() }
    }

    /// Sets the timeout of a response, or the maximum time between two chunks of a stream. Default: the model's.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Adds a field to the request body, overriding one of the same name. Default: none.
    #[must_use]
    pub fn extra_body(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra_body.insert(name.into(), value.into());
        self
    }

    /// Adds a request header. Default: none.
    #[must_use]
    pub fn extra_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.extra_headers.insert(name, value);
        self
    }
}

/// Serializes a duration as a number of seconds.
mod seconds {
    use std::time::Duration;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "the signature that serde expects")]
    pub(super) fn serialize<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        time.map(|time| time.as_secs_f64()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        let seconds = Option::<f64>::deserialize(deserializer)?;
        let time = |seconds| Duration::try_from_secs_f64(seconds).map_err(D::Error::custom);
        seconds.map(time).transpose()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::{ExtraHeaders, Settings, ThinkingLevel};

    #[test]
    fn unset_settings_are_taken_from_the_base() {
        let base =
            Settings::new().thinking(ThinkingLevel::Low).extra_body("a", 1).extra_body("b", 1).extra_header("X", "1");
        let own = Settings::new().extra_body("b", 2).extra_header("x", "2").timeout(Duration::from_secs(3));
        let both = own.over(&base);
        assert_eq!(json!(both.extra_body), json!({"a": 1, "b": 2}));
        assert_eq!((both.thinking, both.timeout), (Some(ThinkingLevel::Low), Some(Duration::from_secs(3))));
        assert_eq!(both.extra_headers.iter().collect::<Vec<_>>(), [("x", "2")]);
    }

    #[test]
    fn settings_round_trip_through_json_except_for_headers() {
        let settings =
            Settings::new().thinking(2000).timeout(Duration::from_millis(1500)).extra_header("key", "secret");
        let written = serde_json::to_string(&settings).unwrap();
        assert!(!written.contains("secret") && !format!("{settings:?}").contains("secret"), "{written}");
        let read: Settings = serde_json::from_str(&written).unwrap();
        assert_eq!(read, Settings { extra_headers: ExtraHeaders::default(), ..settings });
    }
}
