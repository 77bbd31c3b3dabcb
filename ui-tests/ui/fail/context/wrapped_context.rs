//! A context inside another type is neither injected nor an argument.

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
