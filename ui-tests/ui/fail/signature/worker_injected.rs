//! A model cannot use what is injected.

#![allow(unused)]

use llm_do::{CallContext, State, worker};

/// Judge.
#[worker]
async fn judge(ctx: &CallContext, text: String, state: State<u8>) -> u8;


fn main() {}
