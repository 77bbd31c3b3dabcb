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
    /// Uses of server-side tools, which the provider charges in addition to tokens.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub server_side_tools: u64,
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

    /// Returns the sum of input and output tokens.
    #[must_use]
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl AddAssign for Usage {
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
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}
