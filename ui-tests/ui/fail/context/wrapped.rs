//! A context in a wrapper is no context, and no argument either.

#![allow(unused)]

use std::sync::Arc;

use llm_do::{CallContext, State, ToolContext, tool};

/// Ping.
#[tool]
async fn ping(
    shared: Arc<CallContext>,
    borrowed: &Arc<CallContext>,
    maybe: Option<State<u8>>,
    boxed: Box<dyn ToolContext>,
    twice: &&CallContext,
) {
}

fn main() {}
