//! Tools that a provider runs on its own servers.

use std::fmt;

use serde_json::{Value, json};

/// A tool that the provider runs on its servers while it answers.
///
/// Single uses cannot be intercepted, so an approval is for the tool and a whole call of a worker: by default, naming
/// the tool for a worker approves all of its uses there, and `Policy::server_side_tools` of `llm-do` sets another rule.
/// The tool calls of a program are ordinary calls with their own approvals.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerSideTool {
    /// Searches the web.
    WebSearch(WebSearch),
    /// Fetches web pages that the conversation names.
    WebFetch,
    /// Runs code in the provider's sandbox.
    CodeExecution,
    /// Generates images.
    ImageGeneration,
    /// Lets the model write code that calls the worker's tools: the provider runs the code, and each call runs in this
    /// process.
    ProgrammaticToolCalling,
}

impl ServerSideTool {
    /// A web search with default options.
    pub const WEB_SEARCH: Self = Self::WebSearch(WebSearch::NEW);

    /// Every tool with default options. Not public API: for checks of names.
    #[doc(hidden)]
    pub const ALL: &[Self] =
        &[Self::WEB_SEARCH, Self::WebFetch, Self::CodeExecution, Self::ImageGeneration, Self::ProgrammaticToolCalling];

    /// Returns the name in `server_side_tools` of a worker, such as `web_search`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::WebSearch(_) => "web_search",
            Self::WebFetch => "web_fetch",
            Self::CodeExecution => "code_execution",
            Self::ImageGeneration => "image_generation",
            Self::ProgrammaticToolCalling => "programmatic_tool_calling",
        }
    }

    /// Returns the options that are set as a JSON object.
    #[must_use]
    pub fn options(&self) -> Value {
        let Self::WebSearch(search) = self else { return json!({}) };
        let options = [
            ("max_uses", json!(search.max_uses)),
            ("allowed_domains", json!(search.allowed_domains)),
            ("blocked_domains", json!(search.blocked_domains)),
        ];
        options
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// Returns whether `other` is the same tool, regardless of options.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl fmt::Display for ServerSideTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Options of a web search; `None` uses the provider's default.
///
/// A provider that does not support an option that is set rejects the request instead of ignoring the option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebSearch {
    /// The maximum number of searches per response.
    pub max_uses: Option<u32>,
    /// The only domains to search.
    pub allowed_domains: Option<Vec<String>>,
    /// Domains to exclude.
    pub blocked_domains: Option<Vec<String>>,
}

impl WebSearch {
    /// A named constant, since the result of a call in a constant expression cannot be borrowed as `'static`.
    const NEW: Self = Self { max_uses: None, allowed_domains: None, blocked_domains: None };

    /// Creates a search with default options.
    #[must_use]
    pub const fn new() -> Self {
        Self::NEW
    }

    /// Sets the maximum number of searches per response. Default: the provider's.
    #[must_use]
    pub fn max_uses(self, uses: u32) -> Self {
        Self { max_uses: Some(uses), ..self }
    }

    /// Searches these domains only. Default: all.
    #[must_use]
    pub fn allowed_domains(self, domains: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { allowed_domains: Some(domains.into_iter().map(Into::into).collect()), ..self }
    }

    /// Excludes these domains. Default: none.
    #[must_use]
    pub fn blocked_domains(self, domains: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { blocked_domains: Some(domains.into_iter().map(Into::into).collect()), ..self }
    }
}

impl From<WebSearch> for ServerSideTool {
    fn from(search: WebSearch) -> Self {
        Self::WebSearch(search)
    }
}
