//! How much a model reads and writes.

use serde::{Deserialize, Serialize};

/// The numbers of tokens that one request to a model may have.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers as model; }
/// use llm_do::model::{CapabilityTable, ContextWindow, Profile};
///
/// let table = CapabilityTable::builtin();
/// assert_eq!(table.window("anthropic:claude-haiku-4-5").unwrap().window.tokens, 200_000);
///
/// let own = Profile::BASIC.with_window(ContextWindow::new(8_192).max_output_tokens(1_024));
/// assert_eq!(own.window.unwrap().for_input(), 8_192);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ContextWindow {
    /// The number of tokens of a request and its answer together.
    #[serde(rename = "context_window")]
    pub tokens: u32,
    /// The number of tokens of a request, if it is lower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_input_tokens: Option<u32>,
    /// The number of tokens of an answer, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
}

impl ContextWindow {
    /// Returns a window of this number of tokens.
    #[must_use]
    pub const fn new(tokens: u32) -> Self {
        Self { tokens, max_input_tokens: None, max_output_tokens: None }
    }

    /// Sets the number of tokens of a request. Default: that of the window.
    #[must_use]
    pub const fn max_input_tokens(self, tokens: u32) -> Self {
        Self { max_input_tokens: Some(tokens), ..self }
    }

    /// Sets the number of tokens of an answer. Default: unknown.
    #[must_use]
    pub const fn max_output_tokens(self, tokens: u32) -> Self {
        Self { max_output_tokens: Some(tokens), ..self }
    }

    /// Returns how many tokens a request may have.
    #[must_use]
    pub fn for_input(&self) -> u32 {
        self.max_input_tokens.map_or(self.tokens, |tokens| tokens.min(self.tokens))
    }

    /// Returns the window that a request fits into if it fits into both.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        if other.for_input() < self.for_input() { other } else { self }
    }
}
