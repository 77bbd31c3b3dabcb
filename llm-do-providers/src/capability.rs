//! What models support, by name.

// Each row of `capabilities.json` has its source and the day when it was read. Only one row applies to a model: rows
// are not merged.

#[cfg_attr(not(feature = "anthropic"), allow(dead_code, reason = "rows are checked with any set of features"))]
mod anthropic;
mod file;
#[cfg_attr(not(feature = "gemini"), allow(dead_code, reason = "rows are checked with any set of features"))]
mod gemini;
#[cfg_attr(not(feature = "openai"), allow(dead_code, reason = "rows are checked with any set of features"))]
mod openai;
mod table;
mod version;
mod window;

use std::sync::LazyLock;

use serde::de::{Deserialize, Deserializer, Error};

#[cfg(feature = "anthropic")]
pub(crate) use self::anthropic::{AnthropicCapabilities, AnthropicThinking, Sampling, ThinkingOff};
#[cfg(feature = "gemini")]
pub(crate) use self::gemini::{GeminiCapabilities, GeminiThinking};
#[cfg(feature = "openai")]
pub(crate) use self::openai::{OpenAiCapabilities, ToolsInChat};
pub use self::table::{CapabilityEntry, CapabilityTable, CapabilityTableError};
pub use self::window::WindowEntry;
use crate::model::Profile;
use crate::server_side::ServerSideTool;

/// Whether the answers of a model follow an output schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NativeOutput {
    Never,
    /// Only in requests without tools.
    WithoutTools,
    WithTools,
}

impl NativeOutput {
    fn profile(self) -> Profile {
        match self {
            Self::Never => Profile::BASIC,
            Self::WithoutTools => Profile { native_output_with_tools: false, ..Profile::NATIVE_OUTPUT },
            Self::WithTools => Profile::NATIVE_OUTPUT,
        }
    }
}

/// Reads a list of names of server-side tools.
fn server_side_tools<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static [ServerSideTool], D::Error> {
    /// All sets of tools; the bits of the index are the tools of the set. A profile needs a `&'static` set.
    static SETS: LazyLock<Vec<Vec<ServerSideTool>>> =
        LazyLock::new(|| (0..1 << ServerSideTool::ALL.len()).map(set).collect());
    let mut bits = 0;
    for name in Vec::<String>::deserialize(deserializer)? {
        let position = ServerSideTool::ALL.iter().position(|tool| tool.name() == name);
        bits |= 1 << position.ok_or_else(|| Error::custom(unknown_tool(&name)))?;
    }
    Ok(&SETS[bits])
}

fn set(bits: usize) -> Vec<ServerSideTool> {
    let tools = ServerSideTool::ALL.iter().enumerate();
    tools.filter(|(position, _)| bits >> position & 1 == 1).map(|(_, tool)| tool.clone()).collect()
}

fn unknown_tool(name: &str) -> String {
    let known: Vec<_> = ServerSideTool::ALL.iter().map(|tool| format!("`{tool}`")).collect();
    format!("unknown server-side tool `{name}`; expected one of {}", known.join(", "))
}
