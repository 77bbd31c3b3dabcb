//! Token usage of requests.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// The token usage of one request, or the sum of several.
///
/// Figures that the provider does not report are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Requests to a model, successful or failed.
    pub requests: u64,
    /// Input tokens, including those read from and written to the cache.
    pub input_tokens: u64,
    /// Output tokens, including reasoning.
    pub output_tokens: u64,
    /// Input tokens read from the provider's prompt cache.
    pub cached_tokens: u64,
    /// Input tokens written to the provider's prompt cache, where that is charged.
    #[serde(default)]
    pub cache_write_tokens: u64,
    /// Reasoning (thinking) tokens.
    pub reasoning_tokens: u64,
    /// Audio input tokens, including cached ones, if the provider counts them separately.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub audio_tokens: u64,
    /// Audio input tokens read from the provider's prompt cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_audio_tokens: u64,
    /// Uses of server-side tools, with and without a charge in addition to tokens.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub server_side_tools: u64,
    /// Web searches that the provider charges in addition to tokens; for Gemini the queries.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub web_searches: u64,
    /// File searches that the provider charges in addition to tokens.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub file_searches: u64,
    /// Containers in which the provider ran code and which it charges by time, each counted once per response that used it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub containers: u64,
    /// Uses of other server-side tools that may have a charge of their own, such as image generation.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub other_charged_tools: u64,
    /// Requests that the provider processed at its `flex` tier.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub flex_requests: u64,
    /// Requests that the provider processed at its `priority` tier.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub priority_requests: u64,
    /// Requests at another tier, speed or region whose price is not the standard one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub other_tier_requests: u64,
    /// Requests that the provider processed in a batch.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub batch_requests: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde expects")]
fn is_zero(figure: &u64) -> bool {
    *figure == 0
}

impl Usage {
    /// Creates the usage of one request with `input` input tokens and `output` output tokens.
    #[must_use]
    pub fn of_request(input: u64, output: u64) -> Self {
        Self { requests: 1, input_tokens: input, output_tokens: output, ..Self::default() }
    }

    /// Returns the usage with all its requests at the tier `tier`.
    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai", test))]
    #[must_use]
    pub(crate) fn at_tier(self, tier: ServiceTier) -> Self {
        let at = |this| if tier == this { self.requests } else { 0 };
        Self {
            flex_requests: at(ServiceTier::Flex),
            priority_requests: at(ServiceTier::Priority),
            other_tier_requests: at(ServiceTier::Other),
            batch_requests: at(ServiceTier::Batch),
            ..self
        }
    }

    /// Returns the sum of input and output tokens.
    #[must_use]
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Returns whether the provider may charge something in addition to tokens.
    pub(crate) fn has_fees(&self) -> bool {
        self.web_searches | self.file_searches | self.containers | self.other_charged_tools > 0
    }
}

impl AddAssign for Usage {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        self.audio_tokens = self.audio_tokens.saturating_add(other.audio_tokens);
        self.cached_audio_tokens = self.cached_audio_tokens.saturating_add(other.cached_audio_tokens);
        self.server_side_tools = self.server_side_tools.saturating_add(other.server_side_tools);
        self.web_searches = self.web_searches.saturating_add(other.web_searches);
        self.file_searches = self.file_searches.saturating_add(other.file_searches);
        self.containers = self.containers.saturating_add(other.containers);
        self.other_charged_tools = self.other_charged_tools.saturating_add(other.other_charged_tools);
        self.flex_requests = self.flex_requests.saturating_add(other.flex_requests);
        self.priority_requests = self.priority_requests.saturating_add(other.priority_requests);
        self.other_tier_requests = self.other_tier_requests.saturating_add(other.other_tier_requests);
        self.batch_requests = self.batch_requests.saturating_add(other.batch_requests);
    }
}

impl Add for Usage {
    type Output = Self;

    #[inline]
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

/// A service tier, as far as its price is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ServiceTier {
    /// The tier with the standard price, or one that the provider has not chosen yet.
    #[default]
    Standard,
    Flex,
    Priority,
    /// The batch API, which Anthropic names as the tier of its answers.
    Batch,
    Other,
}

impl ServiceTier {
    /// Returns the tier that a request asks for.
    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
    pub(crate) fn requested(name: Option<&str>) -> Self {
        name.map_or(Self::Standard, Self::parse)
    }

    /// Takes the tier that an answer names, if it names one.
    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
    pub(crate) fn report(&mut self, name: Option<&str>) {
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            *self = Self::parse(name);
        }
    }

    /// Returns the tier that a request or an answer names.
    pub(crate) fn parse(name: &str) -> Self {
        const PREFIX: &str = "service_tier_";
        const STANDARD: [&str; 6] = ["default", "standard", "auto", "standard_only", "unspecified", "on_demand"];
        const FLEX: [&str; 2] = ["flex", "on_demand_flex"];
        // OpenAI's newer name is `fast`.
        const PRIORITY: [&str; 3] = ["priority", "fast", "on_demand_priority"];
        let name = match name.split_at_checked(PREFIX.len()) {
            Some((start, rest)) if start.eq_ignore_ascii_case(PREFIX) => rest,
            _ => name,
        };
        let is_one_of = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        match name {
            "" => Self::Standard,
            _ if is_one_of(&STANDARD) => Self::Standard,
            _ if is_one_of(&FLEX) => Self::Flex,
            _ if is_one_of(&PRIORITY) => Self::Priority,
            _ if is_one_of(&["batch"]) => Self::Batch,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ServiceTier, Usage};

    #[test]
    fn a_tier_is_known_by_the_names_of_each_provider() {
        for name in ["default", "standard", "auto", "standard_only", "SERVICE_TIER_STANDARD", "ON_DEMAND", ""] {
            assert_eq!(ServiceTier::parse(name), ServiceTier::Standard, "{name}");
        }
        assert_eq!(ServiceTier::parse("SERVICE_TIER_FLEX"), ServiceTier::Flex);
        assert_eq!(ServiceTier::parse("ON_DEMAND_PRIORITY"), ServiceTier::Priority);
        assert_eq!(ServiceTier::parse("batch"), ServiceTier::Batch);
        assert_eq!(ServiceTier::parse("scale"), ServiceTier::Other);
    }

    #[test]
    fn a_sum_counts_the_requests_of_each_tier() {
        let request = Usage::of_request(1, 1);
        let sum = request.at_tier(ServiceTier::Flex) + request + request.at_tier(ServiceTier::Priority);
        assert_eq!((sum.requests, sum.flex_requests, sum.priority_requests, sum.other_tier_requests), (3, 1, 1, 0));
    }
}
