//! The toolsets that `llm-do` includes, and the tools of MCP servers: what they do, and what they refuse.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "../shared/required.rs"]
mod required;

mod effects;
mod filesystem;
mod http;
mod mcp_client;
mod shell;
