//! The one server-side tool of chat completions: the web search of the models made for it.

use super::PROVIDER;
use crate::error::{ErrorKind, ProviderError};
use crate::model::Profile;
use crate::server_side::{ServerSideTool, WebSearch};

/// The models that search; their dated versions have a suffix behind a hyphen.
const MODELS: [&str; 3] = ["gpt-4o-search-preview", "gpt-4o-mini-search-preview", "gpt-5-search-api"];

const TOOLS: &[ServerSideTool] = &[ServerSideTool::WEB_SEARCH];

/// Returns what the server's `model` can do.
pub(super) fn profile(model: &str) -> Profile {
    // Routers put the maker's name in front.
    let name = model.rsplit('/').next().unwrap_or(model);
    let is_of = |base: &&str| name.strip_prefix(*base).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    let tools = if MODELS.iter().any(is_of) { TOOLS } else { &[] };
    Profile::NATIVE_OUTPUT.with_server_side_tools(tools)
}

/// Refuses what chat completions have no words for, before it is asked for in part.
pub(super) fn check(model: &str, tools: &[ServerSideTool]) -> Result<(), ProviderError> {
    let refused = |text: String| Err(ProviderError::new(PROVIDER, ErrorKind::InvalidRequest, text));
    for tool in tools {
        match tool {
            ServerSideTool::WebSearch(search) if *search == WebSearch::new() => {}
            ServerSideTool::WebSearch(_) => {
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
    use super::*;

    #[test]
    fn only_the_models_made_for_it_search_the_web() {
        for model in ["gpt-4o-search-preview", "gpt-5-search-api-2025-10-14", "openai/gpt-4o-mini-search-preview"] {
            assert!(profile(model).runs(&ServerSideTool::WEB_SEARCH), "{model}");
            assert!(!profile(model).runs(&ServerSideTool::WebFetch), "{model}");
        }
        for model in ["gpt-4o", "gpt-5", "my-gpt-5-search-api", "gpt-5-search-apis"] {
            assert_eq!(profile(model), Profile::NATIVE_OUTPUT, "{model}");
        }
    }
}
