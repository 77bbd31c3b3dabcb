//! The tools of MCP servers, as tools of a runtime.
