//! Features of models.

use super::window::ContextWindow;
use crate::server_side::ServerSideTool;

/// The features of a model, so that a worker requests nothing unsupported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a feature of its own")]
pub struct Profile {
    /// Whether it supports [`Request::tools`](crate::Request::tools). Default: true. A model without them rejects a
    /// worker with tools, and a worker's output is requested in its instructions, unless the model has native output.
    pub tools: bool,
    /// Whether it supports [`Request::output`](crate::Request::output): the answer's text is JSON that matches the
    /// schema. Default: false; a worker's output is then requested as the arguments of an output tool.
    pub native_output: bool,
    /// Whether one request may have both native output and [`Request::tools`](crate::Request::tools). Default: false.
    pub native_output_with_tools: bool,
    /// The supported [`Request::server_side_tools`](crate::Request::server_side_tools), regardless of their options.
    /// Default: none.
    pub server_side_tools: &'static [ServerSideTool],
    /// Whether its provider searches [`Request::deferred_tools`](crate::Request::deferred_tools). Default: false; a worker
    /// with many tools then gets tools that search them.
    pub tool_search: bool,
    /// Whether arguments of tool calls may be almost JSON, and are mended where they can mean one thing. Default: false, for a
    /// server that checks them; arguments that are invalid are then returned to the model.
    pub mend_arguments: bool,
    /// How many tokens a request may have. Default: unknown; a worker's history then grows until the provider refuses it.
    pub window: Option<ContextWindow>,
}

impl Default for Profile {
    fn default() -> Self {
        Self::BASIC
    }
}

impl Profile {
    /// A model with text and tool calls only.
    pub const BASIC: Self = Self {
        tools: true,
        native_output: false,
        native_output_with_tools: false,
        server_side_tools: &[],
        tool_search: false,
        mend_arguments: false,
        window: None,
    };
    /// A model with text only.
    pub const TEXT: Self = Self::BASIC.without_tools();
    /// A model that follows an output schema, also in requests with tools.
    pub const NATIVE_OUTPUT: Self = Self { native_output: true, native_output_with_tools: true, ..Self::BASIC };

    /// Sets the server-side tools of the provider. Default: none.
    #[must_use]
    pub const fn with_server_side_tools(self, tools: &'static [ServerSideTool]) -> Self {
        Self { server_side_tools: tools, ..self }
    }

    /// Sets whether the provider searches tools. Default: false.
    #[must_use]
    pub const fn with_tool_search(self, tool_search: bool) -> Self {
        Self { tool_search, ..self }
    }

    /// Sets whether arguments of tool calls are mended. Default: false.
    #[must_use]
    pub const fn with_mended_arguments(self, mend_arguments: bool) -> Self {
        Self { mend_arguments, ..self }
    }

    /// Sets how many tokens a request may have. Default: unknown.
    #[must_use]
    pub const fn with_window(self, window: ContextWindow) -> Self {
        Self { window: Some(window), ..self }
    }

    /// Disables tools. Default: enabled.
    #[must_use]
    pub const fn without_tools(self) -> Self {
        Self { tools: false, native_output_with_tools: false, tool_search: false, ..self }
    }

    /// Returns the features that both profiles have.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        let is_same = self.server_side_tools == other.server_side_tools;
        Self {
            tools: self.tools && other.tools,
            native_output: self.native_output && other.native_output,
            native_output_with_tools: self.native_output_with_tools && other.native_output_with_tools,
            // The intersection cannot be built: the list is `'static`.
            server_side_tools: if is_same { self.server_side_tools } else { &[] },
            tool_search: self.tool_search && other.tool_search,
            mend_arguments: self.mend_arguments && other.mend_arguments,
            window: self.window.zip(other.window).map(|(own, other)| own.and(other)),
        }
    }

    /// Returns whether the provider runs `tool`, regardless of its options.
    #[must_use]
    pub fn runs(&self, tool: &ServerSideTool) -> bool {
        self.server_side_tools.iter().any(|known| known.is_same(tool))
    }
}
