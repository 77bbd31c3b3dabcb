//! The one server-side tool of chat completions: the web search of the models made for it.

use super::PROVIDER;
use crate::error::{ErrorKind, ProviderError};
use crate::server_side::{ServerSideTool, WebSearch};

/// The models that search; their dated versions have a suffix behind a hyphen.
const MODELS: [&str; 3] = ["gpt-4o-search-preview", "gpt-4o-mini-search-preview", "gpt-5-search-api"];

const TOOLS: &[ServerSideTool] = &[ServerSideTool::WEB_SEARCH];

/// Returns the tools that OpenAI runs for `model`.
pub(super) fn tools(model: &str) -> &'static [ServerSideTool] {
    // Routers put the maker's name in front.
    let name = model.rsplit('/').next().unwrap_or(model);
    let is_of = |base: &&str| name.strip_prefix(*base).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    if MODELS.iter().any(is_of) { TOOLS } else { &[] }
}

/// Refuses what chat completions have no words for, before it is asked for in part.
pub(super) fn check(provider: &str, model: &str, tools: &[ServerSideTool]) -> Result<(), ProviderError> {
    let searches = provider == PROVIDER;
    let refused = |text: String| Err(ProviderError::new(provider, ErrorKind::InvalidRequest, text));
    for tool in tools {
        match tool {
            ServerSideTool::WebSearch(search) if searches && *search == WebSearch::new() => {}
            ServerSideTool::WebSearch(_) if searches => {
                return refused(format!(
                    "`{model}` searches the web over chat completions, which know neither `max_uses`, \
                     `allowed_domains` nor `blocked_domains` of `web_search`; leave them out"
                ));
            }
            other => return refused(format!("`{model}` has no `{other}` over chat completions; leave it out")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{TOOLS, tools};

    #[test]
    fn only_the_models_made_for_it_search_the_web() {
        for model in ["gpt-4o-search-preview", "gpt-5-search-api-2025-10-14", "openai/gpt-4o-mini-search-preview"] {
            assert_eq!(tools(model), TOOLS, "{model}");
        }
        for model in ["gpt-4o", "gpt-5", "my-gpt-5-search-api", "gpt-5-search-apis"] {
            assert_eq!(tools(model), [], "{model}");
        }
    }
}
