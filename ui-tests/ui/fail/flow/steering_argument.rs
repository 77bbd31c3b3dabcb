//! An argument that steers does not accept untrusted text, and only what carries no text is taken out without a reason.

#![allow(unused)]

use llm_do::flow::Untrusted;
use llm_do::{CallContext, Result, entry, tool};

/// Read the sender.
#[tool(effect = read_only)]
fn sender() -> Untrusted<String> {
    Untrusted::new("ann".into())
}

/// Send a mail.
#[tool(effect = destructive)]
fn send(to: String, text: Untrusted<String>) {}

/// Answers.
#[entry(toolsets = [sender, send])]
async fn answer(ctx: &CallContext<Self>) -> Result<()> {
    let to = ctx.call(sender {}).await?;
    ctx.call(send { to, text: Untrusted::new("Thanks".into()) }).await
}

/// Answers in another way.
#[entry(toolsets = [sender, send])]
async fn answer_bounded(ctx: &CallContext<Self>) -> Result<()> {
    let to = ctx.call(sender {}).await?.into_bounded();
    ctx.call(send { to, text: Untrusted::new("Thanks".into()) }).await
}

fn main() {}
