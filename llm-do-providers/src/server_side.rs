//! Tools that a provider runs on its own servers.

use std::fmt;

use serde_json::{Value, json};

/// A tool that the provider runs on its servers while it answers.
///
/// No single use of it reaches us, so an approval is about the tool for a whole call of a worker: by default, to name it for
/// a worker approves of all that its model does with it, and `Policy::server_side_tools` of `llm-do` sets another rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerSideTool {
    /// Searches the web.
    WebSearch(WebSearch),
    /// Reads pages that the conversation names.
    WebFetch,
    /// Runs code in the provider's sandbox.
    CodeExecution,
    /// Makes images.
    ImageGeneration,
}

impl ServerSideTool {
    /// A search of the web, with nothing set.
    pub const WEB_SEARCH: Self = Self::WebSearch(WebSearch::NEW);

    /// Every tool, with nothing set. Not public API: for checks of names.
    #[doc(hidden)]
    pub const ALL: &[Self] = &[Self::WEB_SEARCH, Self::WebFetch, Self::CodeExecution, Self::ImageGeneration];

    /// Returns the name in `server_side_tools` of a worker, such as `web_search`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::WebSearch(_) => "web_search",
            Self::WebFetch => "web_fetch",
            Self::CodeExecution => "code_execution",
            Self::ImageGeneration => "image_generation",
        }
    }

    /// Returns its options as JSON: an object of those that are set.
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

    /// Returns whether `other` is the same tool, whatever is set of either.
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

/// What a search of the web may do; what is `None` is left to the provider.
///
/// A provider that cannot keep to what is set refuses the request, rather than to search elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebSearch {
    /// How many searches one answer may make.
    pub max_uses: Option<u32>,
    /// The only domains to search.
    pub allowed_domains: Option<Vec<String>>,
    /// Domains to leave out.
    pub blocked_domains: Option<Vec<String>>,
}

impl WebSearch {
    /// A constant of its own, since a call in a constant expression is no value to borrow for ever.
    const NEW: Self = Self { max_uses: None, allowed_domains: None, blocked_domains: None };

    /// Returns a search with nothing set.
    #[must_use]
    pub const fn new() -> Self {
        Self::NEW
    }

    /// Allows at most this many searches in one answer. Default: the provider's.
    #[must_use]
    pub fn max_uses(self, uses: u32) -> Self {
        Self { max_uses: Some(uses), ..self }
    }

    /// Searches these domains only. Default: all.
    #[must_use]
    pub fn allowed_domains(self, domains: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { allowed_domains: Some(domains.into_iter().map(Into::into).collect()), ..self }
    }

    /// Searches none of these domains. Default: all are searched.
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
