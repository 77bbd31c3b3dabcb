//! Snapshots without the feature that reads them.

use super::McpToolset;
use crate::errors::Errors;

/// Adds an error that names the feature.
pub(super) fn tools(toolset: &mut McpToolset, _text: &str, errors: &mut Errors) {
    errors.push(
        &toolset.file,
        "`mcp(..)` needs the feature `mcp-snapshots` of the crate `llm-do`, or `mcp`; add it in Cargo.toml",
    );
}
