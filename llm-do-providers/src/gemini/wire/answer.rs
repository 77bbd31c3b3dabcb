//! Answers, whole or in pieces: a streamed answer is several of the same type, each with the new content.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::AnswerPart;
use crate::lenient::{LenientCount, Word};

/// A piece. What few pieces have is boxed, and each struct takes at most 128 bytes, since each is moved several times.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gemini) struct Chunk<'a> {
    pub(in crate::gemini) candidates: Option<Vec<Candidate<'a>>>,
    pub(in crate::gemini) prompt_feedback: Option<PromptFeedback>,
    pub(in crate::gemini) usage_metadata: Option<Box<Tokens>>,
    #[serde(borrow)]
    pub(in crate::gemini) model_version: Option<Word<'a>>,
    pub(in crate::gemini) error: Option<Box<Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gemini) struct Candidate<'a> {
    pub(in crate::gemini) index: Option<i64>,
    pub(in crate::gemini) content: Option<Parts>,
    #[serde(borrow)]
    pub(in crate::gemini) finish_reason: Option<Word<'a>>,
    pub(in crate::gemini) grounding_metadata: Option<Box<Map<String, Value>>>,
    pub(in crate::gemini) url_context_metadata: Option<Box<Map<String, Value>>>,
}

#[derive(Debug, Deserialize)]
pub(in crate::gemini) struct Parts {
    pub(in crate::gemini) parts: Option<Vec<AnswerPart>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::gemini) struct PromptFeedback {
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
    /// Takes the newer counts: all of them, where they include the prompt, since a count of zero is left out; otherwise those
    /// that are present.
    pub(in crate::gemini) fn update(&mut self, newer: Self) {
        if newer.prompt_token_count.0.is_some() {
            *self = newer;
            return;
        }
        update(&mut self.prompt_token_count, newer.prompt_token_count);
        update(&mut self.cached_content_token_count, newer.cached_content_token_count);
        update(&mut self.candidates_token_count, newer.candidates_token_count);
        update(&mut self.thoughts_token_count, newer.thoughts_token_count);
        update(&mut self.tool_use_prompt_token_count, newer.tool_use_prompt_token_count);
    }
}

fn update(figure: &mut LenientCount, newer: LenientCount) {
    if newer.0.is_some() {
        *figure = newer;
    }
}
