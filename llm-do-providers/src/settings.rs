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
