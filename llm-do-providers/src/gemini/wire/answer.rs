//! The JSON of answers. A streamed answer consists of chunks of the same type, each with the new content.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::AnswerPart;
use crate::lenient::{LenientCount, Word, boxed, index, list, object, text};

/// A chunk. Rare fields are boxed, so that each struct has at most 128 bytes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gemini) struct Chunk<'a> {
    #[serde(borrow, default, deserialize_with = "list")]
    pub(in crate::gemini) candidates: Option<Vec<Candidate<'a>>>,
    #[serde(default, deserialize_with = "object")]
    pub(in crate::gemini) prompt_feedback: Option<PromptFeedback>,
    #[serde(default, deserialize_with = "boxed")]
    pub(in crate::gemini) usage_metadata: Option<Box<Tokens>>,
    #[serde(borrow)]
    pub(in crate::gemini) model_version: Option<Word<'a>>,
    pub(in crate::gemini) error: Option<Box<Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gemini) struct Candidate<'a> {
    #[serde(default, deserialize_with = "index")]
    pub(in crate::gemini) index: Option<i64>,
    #[serde(default, deserialize_with = "object")]
    pub(in crate::gemini) content: Option<CandidateContent>,
    #[serde(borrow)]
    pub(in crate::gemini) finish_reason: Option<Word<'a>>,
    #[serde(default, deserialize_with = "boxed")]
    pub(in crate::gemini) grounding_metadata: Option<Box<Map<String, Value>>>,
    #[serde(default, deserialize_with = "boxed")]
    pub(in crate::gemini) url_context_metadata: Option<Box<Map<String, Value>>>,
}

#[derive(Debug, Deserialize)]
pub(in crate::gemini) struct CandidateContent {
    #[serde(default, deserialize_with = "list")]
    pub(in crate::gemini) parts: Option<Vec<AnswerPart>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gemini) struct PromptFeedback {
    #[serde(default, deserialize_with = "text")]
    pub(in crate::gemini) block_reason: Option<String>,
}

/// The usage so far, by <https://ai.google.dev/api/generate-content#UsageMetadata> (read 2026-11-22).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gemini) struct Tokens {
    #[serde(default)]
    pub(in crate::gemini) prompt_token_count: LenientCount,
    #[serde(default)]
    pub(in crate::gemini) cached_content_token_count: LenientCount,
    #[serde(default)]
    pub(in crate::gemini) candidates_token_count: LenientCount,
    #[serde(default)]
    pub(in crate::gemini) thoughts_token_count: LenientCount,
    #[serde(default)]
    pub(in crate::gemini) tool_use_prompt_token_count: LenientCount,
    /// The tokens of each modality, of which only `AUDIO` is counted.
    prompt_tokens_details: Option<Box<Value>>,
    cache_tokens_details: Option<Box<Value>>,
    /// The service tier; `traffic_type` is that of Vertex.
    #[serde(default, deserialize_with = "text")]
    pub(in crate::gemini) service_tier: Option<Box<str>>,
    #[serde(default, deserialize_with = "text")]
    pub(in crate::gemini) traffic_type: Option<Box<str>>,
}

impl Tokens {
    /// Updates the counts with newer ones, which include the older ones; a count of zero may be omitted.
    pub(in crate::gemini) fn update(&mut self, newer: Self) {
        self.prompt_token_count.update(newer.prompt_token_count);
        self.cached_content_token_count.update(newer.cached_content_token_count);
        self.candidates_token_count.update(newer.candidates_token_count);
        self.thoughts_token_count.update(newer.thoughts_token_count);
        self.tool_use_prompt_token_count.update(newer.tool_use_prompt_token_count);
        let counted = |details: Option<Box<Value>>| details.filter(|details| audio(details) > 0);
        self.prompt_tokens_details = counted(newer.prompt_tokens_details).or(self.prompt_tokens_details.take());
        self.cache_tokens_details = counted(newer.cache_tokens_details).or(self.cache_tokens_details.take());
        self.service_tier = newer.service_tier.or(self.service_tier.take());
        self.traffic_type = newer.traffic_type.or(self.traffic_type.take());
    }

    /// Returns the number of audio tokens in the prompt.
    pub(in crate::gemini) fn audio_tokens(&self) -> u64 {
        self.prompt_tokens_details.as_deref().map(audio).unwrap_or_default()
    }

    /// Returns the number of cached audio tokens.
    pub(in crate::gemini) fn cached_audio_tokens(&self) -> u64 {
        self.cache_tokens_details.as_deref().map(audio).unwrap_or_default()
    }
}

fn audio(details: &Value) -> u64 {
    let details = details.as_array().into_iter().flatten().filter(|tokens| tokens["modality"] == "AUDIO");
    details.map(|tokens| LenientCount::from_value(&tokens["tokenCount"]).count()).fold(0, u64::saturating_add)
}
