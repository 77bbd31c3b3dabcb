//! Accumulates the usage of an answer.

use std::ops::Add;

use serde_json::{Map, Value};

use crate::anthropic::wire::Tokens;
use crate::lenient::LenientCount;
use crate::usage::{ServiceTier, Usage};

/// The latest value of each count: later values include earlier ones.
#[derive(Debug, Default)]
pub(super) struct UsageCounts {
    input: LenientCount,
    cache_write: LenientCount,
    cache_read: LenientCount,
    output: LenientCount,
    thinking: LenientCount,
    /// Uses of server-side tools: all of them, searches, code runs, and uses with an unknown charge.
    server_side: u64,
    searches: u64,
    code_runs: u64,
    other_tools: u64,
    /// Whether the answer names the container in which its code ran.
    has_container: bool,
    tier: ServiceTier,
    /// Whether the speed or the region has its own price.
    is_special: bool,
    /// The usage of samplings that the other counts do not include.
    beside: Usage,
}

impl UsageCounts {
    /// Returns counts of zero, of an answer to a request for the tier `tier`.
    pub(super) fn at_tier(tier: ServiceTier) -> Self {
        Self { tier, ..Self::default() }
    }

    /// Records whether the answer has a container, which is charged by time.
    pub(super) fn take_container(&mut self, container: Option<&Value>) {
        self.has_container |= container.is_some_and(Value::is_object);
    }

    /// Updates the counts that are present.
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
            self.take_tools(requests);
        }
        self.tier.report(tokens.service_tier.as_deref());
        self.is_special |= tokens.speed.as_deref() == Some("fast") || tokens.inference_geo.as_deref() == Some("us");
    }

    /// Updates the uses of tools, which only grow. By <https://platform.claude.com/docs/en/about-claude/pricing> (read
    /// 2026-11-28), a search is charged by use and code by time; fetching pages and searching tools cost their tokens
    /// only.
    fn take_tools(&mut self, requests: &Map<String, Value>) {
        let [mut all, mut searches, mut code_runs, mut other] = [0_u64; 4];
        for (name, uses) in requests {
            let uses = LenientCount::from_value(uses).count();
            all = all.saturating_add(uses);
            let kind = match name.strip_suffix("_requests").unwrap_or(name) {
                "web_search" => &mut searches,
                "code_execution" => &mut code_runs,
                "web_fetch" | "tool_search" => continue,
                _ => &mut other,
            };
            *kind = kind.saturating_add(uses);
        }
        self.server_side = self.server_side.max(all);
        self.searches = self.searches.max(searches);
        self.code_runs = self.code_runs.max(code_runs);
        self.other_tools = self.other_tools.max(other);
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
            web_searches: self.searches,
            containers: u64::from(self.has_container || self.code_runs > 0),
            other_charged_tools: self.other_tools,
            ..Usage::of_request(input, self.output.count())
        };
        let tier = match self.tier {
            ServiceTier::Standard | ServiceTier::Batch if self.is_special => ServiceTier::Other,
            tier => tier,
        };
        own.at_tier(tier) + self.beside
    }
}

/// Whether the counts of the request exclude this sampling, by
/// <https://platform.claude.com/docs/en/build-with-claude/compaction-threshold> and
/// <https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool> (read 2026-11-22).
fn is_beside(iteration: &Value) -> bool {
    matches!(iteration["type"].as_str(), Some("compaction" | "advisor_message"))
}

/// Returns the usage of one sampling, which does not count as a request.
fn sampled(iteration: &Value) -> Usage {
    let count = |key: &str| LenientCount::from_value(&iteration[key]).count();
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
