//! Accumulates the usage of an answer.

use std::ops::Add;

use serde_json::Value;

use crate::anthropic::wire::Tokens;
use crate::lenient::LenientCount;
use crate::usage::Usage;

/// The latest value of each count: later values include earlier ones.
#[derive(Debug, Default)]
pub(super) struct UsageCounts {
    input: LenientCount,
    cache_write: LenientCount,
    cache_read: LenientCount,
    output: LenientCount,
    thinking: LenientCount,
    server_side: u64,
    /// The usage of samplings that the other counts do not include.
    beside: Usage,
}

impl UsageCounts {
    /// Takes the counts that are present.
    pub(super) fn take(&mut self, tokens: Option<Tokens>) {
        let Some(tokens) = tokens else { return };
        self.input.update(tokens.input_tokens);
        self.cache_write.update(tokens.cache_creation_input_tokens);
        self.cache_read.update(tokens.cache_read_input_tokens);
        self.output.update(tokens.output_tokens);
        self.thinking.update(tokens.output_tokens_details.unwrap_or_default().thinking_tokens);
        if let Some(iterations) = tokens.iterations.as_deref().and_then(Value::as_array).filter(|list| !list.is_empty())
        {
            self.beside =
                iterations.iter().filter(|one| is_beside(one)).map(sampled).fold(Usage::default(), Usage::add);
        }
        if let Some(requests) = tokens.server_tool_use.as_deref().and_then(Value::as_object) {
            let counted = requests.values().map(|uses| LenientCount::of(uses).count()).fold(0, u64::saturating_add);
            self.server_side = self.server_side.max(counted);
        }
    }

    /// Returns the usage: tokens written to or read from the cache are part of the input, unlike in the API.
    pub(super) fn usage(&self) -> Usage {
        let (read, written) = (self.cache_read.count(), self.cache_write.count());
        let input = self.input.count().saturating_add(written).saturating_add(read);
        let own = Usage {
            cached_tokens: read,
            cache_write_tokens: written,
            reasoning_tokens: self.thinking.count(),
            server_side_tools: self.server_side,
            ..Usage::of_request(input, self.output.count())
        };
        own + self.beside
    }
}

/// Whether the counts of the request exclude this sampling, by
/// <https://platform.claude.com/docs/en/build-with-claude/compaction-threshold> and
/// <https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool> (read 2026-11-22).
fn is_beside(iteration: &Value) -> bool {
    matches!(iteration["type"].as_str(), Some("compaction" | "advisor_message"))
}

/// Returns the usage of one sampling, which is not a request of its own.
fn sampled(iteration: &Value) -> Usage {
    let count = |key: &str| LenientCount::of(&iteration[key]).count();
    let (read, written) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
    let input = count("input_tokens").saturating_add(read).saturating_add(written);
    Usage {
        input_tokens: input,
        cached_tokens: read,
        cache_write_tokens: written,
        output_tokens: count("output_tokens"),
        ..Usage::default()
    }
}
