//! The usage of an answer.

use crate::openai::wire::Tokens;
use crate::usage::Usage;

/// Returns the usage of one request.
pub(super) fn usage(tokens: Tokens) -> Usage {
    let prompt = tokens.prompt_tokens_details.unwrap_or_default();
    let completion = tokens.completion_tokens_details.unwrap_or_default();
    let mut cached = tokens.prompt_cache_hit_tokens;
    cached.update(tokens.cached_tokens);
    cached.update(prompt.cached_tokens);
    Usage {
        cached_tokens: cached.count(),
        cache_write_tokens: prompt.cache_write_tokens.count(),
        audio_tokens: prompt.audio_tokens.count(),
        reasoning_tokens: completion.reasoning_tokens.count(),
        ..Usage::of_request(tokens.prompt_tokens.count(), tokens.completion_tokens.count())
    }
}
