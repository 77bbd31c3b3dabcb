//! Answers, whole or in pieces: a streamed answer is several of the same type, each with the new content.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::AnswerPart;
use crate::lenient::{LenientCount, Word, boxed, index, list, object, text};

/// A piece. What few pieces have is boxed, and each struct takes at most 128 bytes, since each is moved several times.
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
    pub(in crate::gemini) content: Option<Parts>,
    #[serde(borrow)]
    pub(in crate::gemini) finish_reason: Option<Word<'a>>,
    #[serde(default, deserialize_with = "boxed")]
    pub(in crate::gemini) grounding_metadata: Option<Box<Map<String, Value>>>,
    #[serde(default, deserialize_with = "boxed")]
    pub(in crate::gemini) url_context_metadata: Option<Box<Map<String, Value>>>,
}

#[derive(Debug, Deserialize)]
pub(in crate::gemini) struct Parts {
    #[serde(default, deserialize_with = "list")]
    pub(in crate::gemini) parts: Option<Vec<AnswerPart>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gemini) struct PromptFeedback {
    #[serde(default, deserialize_with = "text")]
    pub(in crate::gemini) block_reason: Option<String>,
}

/// What was used up to now, by <https://ai.google.dev/api/generate-content#UsageMetadata> (read 2026-11-22).
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
    /// The tokens of each modality, such as `AUDIO`.
    pub(in crate::gemini) prompt_tokens_details: Option<Box<Value>>,
    pub(in crate::gemini) cache_tokens_details: Option<Box<Value>>,
}

impl Tokens {
    /// Takes newer counts, which include the older ones; a count of zero may be left out.
    pub(in crate::gemini) fn update(&mut self, newer: Self) {
        self.prompt_token_count.update(newer.prompt_token_count);
        self.cached_content_token_count.update(newer.cached_content_token_count);
        self.candidates_token_count.update(newer.candidates_token_count);
        self.thoughts_token_count.update(newer.thoughts_token_count);
        self.tool_use_prompt_token_count.update(newer.tool_use_prompt_token_count);
        self.prompt_tokens_details = newer.prompt_tokens_details.or(self.prompt_tokens_details.take());
        self.cache_tokens_details = newer.cache_tokens_details.or(self.cache_tokens_details.take());
    }
}
