//! What a request may ask of a model.

use serde::{Deserialize, Serialize};

/// Settings of a request; what is `None` is left to the provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Settings {
    /// Randomness: 0 for the likeliest answer, up to 2 with most providers.
    pub temperature: Option<f64>,
    /// The share of probability from which tokens are drawn, from 0 to 1.
    pub top_p: Option<f64>,
    /// At most this many output tokens, reasoning included.
    pub max_tokens: Option<u32>,
    /// A seed, for providers that can repeat an answer.
    pub seed: Option<u64>,
    /// Texts before which the model stops.
    pub stop: Vec<String>,
}

impl Settings {
    /// Returns settings that leave everything to the provider.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns these settings, and those of `base` where these leave a choice to the provider.
    ///
    /// # Examples
    ///
    /// ```
    /// # use llm_do_providers::Settings;
    /// let base = Settings::new().temperature(1.0).seed(7);
    /// assert_eq!(Settings::new().temperature(0.2).over(&base), Settings::new().temperature(0.2).seed(7));
    /// ```
    #[must_use]
    pub fn over(self, base: &Self) -> Self {
        Self {
            temperature: self.temperature.or(base.temperature),
            top_p: self.top_p.or(base.top_p),
            max_tokens: self.max_tokens.or(base.max_tokens),
            seed: self.seed.or(base.seed),
            stop: if self.stop.is_empty() { base.stop.clone() } else { self.stop },
        }
    }

    /// Sets the randomness, from 0 up to 2 with most providers. Default: the provider's.
    #[must_use]
    pub fn temperature(self, temperature: f64) -> Self {
        Self { temperature: Some(temperature), ..self }
    }

    /// Draws tokens from this share of probability, from 0 to 1. Default: the provider's.
    #[must_use]
    pub fn top_p(self, share: f64) -> Self {
        Self { top_p: Some(share), ..self }
    }

    /// Allows at most this many output tokens, reasoning included. Default: the provider's.
    #[must_use]
    pub fn max_tokens(self, tokens: u32) -> Self {
        Self { max_tokens: Some(tokens), ..self }
    }

    /// Sets the seed, for providers that can repeat an answer. Default: none.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// Stops the model before this text, too. Default: nowhere.
    #[must_use]
    pub fn stop(mut self, text: impl Into<String>) -> Self {
        self.stop.push(text.into());
        self
    }
}
