//! Services: runs over HTTP, tools over MCP, and runs on the engine Restate. Each module takes only its own items.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "../shared/required.rs"]
mod required;

mod effects;
mod mcp_serve;
#[path = "../state/own_items.rs"]
mod own_items;
// What its tests cost is paid with the feature only: 17 crates, and a server.
#[cfg(feature = "restate")]
mod restate;
mod serve;

use self::own_items::own_builder;
