//! The words for an effect, an output mode or a server-side tool, in files and in attributes.

use crate::did_you_mean;

/// All server-side tools, for a fault.
pub const SERVER_SIDE_TOOLS: &str = "expected `web_search`, `web_fetch`, `code_execution`, `image_generation` or \
     `programmatic_tool_calling`";

/// The kind of a server-side tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are those of `llm_do::model::ServerSideTool`")]
pub enum ServerSideKind {
    WebSearch,
    WebFetch,
    CodeExecution,
    ImageGeneration,
    ProgrammaticToolCalling,
}

impl ServerSideKind {
    const ALL: [Self; 5] =
        [Self::WebSearch, Self::WebFetch, Self::CodeExecution, Self::ImageGeneration, Self::ProgrammaticToolCalling];

    /// Returns its name in files and attributes.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::WebSearch => "web_search",
            Self::WebFetch => "web_fetch",
            Self::CodeExecution => "code_execution",
            Self::ImageGeneration => "image_generation",
            Self::ProgrammaticToolCalling => "programmatic_tool_calling",
        }
    }

    /// Returns whether it runs code that a model wrote, so that its effect is unknown; calls of all other kinds are
    /// read-only.
    #[must_use]
    pub fn runs_code(self) -> bool {
        match self {
            Self::CodeExecution | Self::ProgrammaticToolCalling => true,
            Self::WebSearch | Self::WebFetch | Self::ImageGeneration => false,
        }
    }

    /// Returns the kind with this name.
    ///
    /// # Errors
    ///
    /// Returns the list of known names.
    pub fn named(word: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.word() == word).ok_or_else(|| {
            let hint = did_you_mean(word, Self::ALL.into_iter().map(Self::word));
            format!("unknown server-side tool `{word}`{hint}\n{SERVER_SIDE_TOOLS}")
        })
    }
}

/// The words of the key `effect`, in the order of what a call may do.
pub(crate) const EFFECTS: [&str; 3] = ["read_only", "idempotent", "destructive"];

/// A value of the key `output`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are those of `llm_do::worker::OutputMode`")]
pub enum OutputMode {
    Auto,
    Native,
    Tool,
    Prompted,
}

impl OutputMode {
    const ALL: [Self; 4] = [Self::Auto, Self::Native, Self::Tool, Self::Prompted];
    /// All modes, for a fault.
    pub const EXPECTED: &str = "expected `auto`, `native`, `tool` or `prompted`";

    /// Returns its name in files and attributes.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Native => "native",
            Self::Tool => "tool",
            Self::Prompted => "prompted",
        }
    }

    /// Returns the mode of that name.
    ///
    /// # Errors
    ///
    /// Returns the modes that exist.
    pub fn named(word: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|mode| mode.word() == word).ok_or_else(|| {
            let hint = did_you_mean(word, Self::ALL.into_iter().map(Self::word));
            format!("unknown output mode `{word}`{hint}\n{}", Self::EXPECTED)
        })
    }
}
