//! What is linked, as tools of an MCP server.
