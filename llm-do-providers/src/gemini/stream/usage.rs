//! The usage of an answer.

use crate::gemini::wire::Tokens;
use crate::usage::Usage;

/// Returns the usage of one request.
pub(super) fn usage(tokens: &Tokens) -> Usage {
    let read = tokens.prompt_token_count.count();
    let thought = tokens.thoughts_token_count.count();
    Usage {
        audio_tokens: tokens.audio_tokens(),
        cached_audio_tokens: tokens.cached_audio_tokens(),
        cached_tokens: tokens.cached_content_token_count.count(),
        reasoning_tokens: thought,
        ..Usage::of_request(
            read.saturating_add(tokens.tool_use_prompt_token_count.count()),
            tokens.candidates_token_count.count().saturating_add(thought),
        )
    }
}
