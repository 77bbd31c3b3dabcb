//! What a model can do.

use crate::server_side::ServerSideTool;

/// What a model can do, so that a worker asks for nothing that the model cannot follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// Whether [`Request::tools`](crate::Request::tools) are known to it, so that it may call them. Default: true. A worker with tools is
    /// refused by a model without, and a worker's output is then asked for in its instructions, unless the model has native output.
    pub tools: bool,
    /// Whether [`Request::output`](crate::Request::output) is honoured: the answer's text is JSON of that schema. Default: false, and a
    /// worker's output is then asked for as the arguments of an output tool.
    pub native_output: bool,
    /// Whether native output and [`Request::tools`](crate::Request::tools) can be asked for in one request. Default: false.
    pub native_output_with_tools: bool,
    /// Which [`Request::server_side_tools`](crate::Request::server_side_tools) its provider runs; what is set of them here says nothing. Default: none.
    pub server_side_tools: &'static [ServerSideTool],
}

impl Default for Profile {
    fn default() -> Self {
        Self::NONE
    }
}

impl Profile {
    /// A model that only writes text and calls tools.
    pub const NONE: Self =
        Self { tools: true, native_output: false, native_output_with_tools: false, server_side_tools: &[] };
    /// A model that only writes text.
    pub const TEXT: Self = Self::NONE.without_tools();
    /// A model that follows an output schema, also while it may call tools.
    pub const NATIVE_OUTPUT: Self = Self { native_output: true, native_output_with_tools: true, ..Self::NONE };

    /// Says which tools the provider runs. Default: none.
    #[must_use]
    pub const fn with_server_side_tools(self, tools: &'static [ServerSideTool]) -> Self {
        Self { server_side_tools: tools, ..self }
    }

    /// Says that it calls no tools. Default: it does.
    #[must_use]
    pub const fn without_tools(self) -> Self {
        Self { tools: false, native_output_with_tools: false, ..self }
    }

    /// Returns what a model can do that is one or the other.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        let is_same = self.server_side_tools == other.server_side_tools;
        Self {
            tools: self.tools && other.tools,
            native_output: self.native_output && other.native_output,
            native_output_with_tools: self.native_output_with_tools && other.native_output_with_tools,
            // No list of what both have can be made, as it is there for ever.
            server_side_tools: if is_same { self.server_side_tools } else { &[] },
        }
    }

    /// Returns whether the provider runs `tool`, whatever is set of it.
    #[must_use]
    pub fn runs(&self, tool: &ServerSideTool) -> bool {
        self.server_side_tools.iter().any(|known| known.is_same(tool))
    }
}
