//! What a request used.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// The tokens of one request, or the sum of several.
///
/// A provider that does not report a figure leaves it 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Requests to a model, answered or failed.
    pub requests: u64,
    /// Tokens read, those from and into the cache included.
    pub input_tokens: u64,
    /// Tokens written, reasoning included.
    pub output_tokens: u64,
    /// Tokens read from the provider's prompt cache.
    pub cached_tokens: u64,
    /// Tokens read and put into the provider's prompt cache, where that is charged.
    #[serde(default)]
    pub cache_write_tokens: u64,
    /// Tokens that the model thought before it answered.
    pub reasoning_tokens: u64,
    /// Input tokens of audio, cached ones included, where the provider counts them apart.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub audio_tokens: u64,
    /// Tokens of audio read from the provider's prompt cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_audio_tokens: u64,
    /// Uses of tools that the provider ran, which it charges for beside the tokens.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub server_side_tools: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(figure: &u64) -> bool {
    *figure == 0
}

impl Usage {
    /// Returns the usage of one request that read `input` tokens and wrote `output` tokens.
    #[must_use]
    pub fn of_request(input: u64, output: u64) -> Self {
        Self { requests: 1, input_tokens: input, output_tokens: output, ..Self::default() }
    }

    /// Returns all tokens, read and written.
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
