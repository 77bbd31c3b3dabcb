//! A worker without a body cannot use injected parameters.

#![allow(unused)]

use llm_do::{CallContext, State, worker};

/// Judge.
#[worker]
async fn judge(ctx: &CallContext, text: String, state: State<u8>) -> u8;


fn main() {}
