//! Snapshots without the feature that reads them.

use super::McpToolset;
use crate::errors::Errors;

/// Adds an error that names the feature.
pub(super) fn tools(toolset: &mut McpToolset, _text: &str, errors: &mut Errors) {
    errors.push(
        &toolset.file,
        "`mcp(..)` needs the feature `mcp-snapshots` or `mcp` of the crate `llm-do`; add one in Cargo.toml",
    );
}
