//! Effects that a policy declares, in place of those of the tools.

use std::sync::Arc;
use std::time::Duration;

use llm_do::approval::{ApprovalMode, Policy, Rule};
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::runtime::FunctionTool;
use llm_do::testing::FunctionModel;
use llm_do::usage::Usage;
use llm_do::worker::WorkerSpec;
use llm_do::{Effect, Runtime, Value, json};
use tokio::sync::Barrier;

use super::Scripted;

/// Look something up.
#[tool]
fn look_for(word: String) -> usize {
    word.len()
}

/// Throw something away.
#[tool(effect = destructive)]
fn throw_away(word: String) -> usize {
    word.len()
}

toolset! {
    /// Words.
    words = [look_for, throw_away];
}

/// Calls a tool by its name.
#[entry]
async fn looks_up(ctx: &CallContext, tool: String) -> Result<Value> {
    Ok(ctx.call_tool(&tool, json!({ "word": "bees" })).await?)
}

/// Returns whether calls of both tools need approval.
async fn asks(policy: Policy) -> [bool; 2] {
    let mut asks = [false; 2];
    for (tool, asks) in ["look_for", "throw_away"].into_iter().zip(&mut asks) {
        let approver = Scripted::approving();
        let runtime = Runtime::builder().policy(policy.clone()).approver(approver.clone()).build().unwrap();
        runtime.run(looks_up { tool: tool.to_owned() }).await.unwrap();
        *asks = !approver.asked().is_empty();
    }
    asks
}

#[tokio::test]
async fn an_effect_of_the_policy_decides_about_approval() {
    assert_eq!(asks(Policy::new()).await, [true, true]);
    assert_eq!(asks(Policy::new().effect("look_for", Effect::ReadOnly)).await, [false, true]);
    let ruled = Policy::new().effect("look_for", Effect::ReadOnly).tool("look_for", Rule::Ask);
    assert_eq!(asks(ruled).await, [true, true], "a rule comes before an effect");
}

#[tokio::test]
async fn the_effect_of_a_toolset_leaves_destructive_tools_destructive_unless_they_are_named() {
    let of_set = Policy::new().effect("words", Effect::ReadOnly);
    assert_eq!(asks(of_set.clone()).await, [false, true]);
    assert_eq!(asks(of_set.clone().effect("throw_away", Effect::ReadOnly)).await, [false, false]);
    assert_eq!(asks(of_set.effect("look_for", Effect::Destructive)).await, [true, true]);
}

#[test]
fn an_approver_and_a_listing_see_the_effect_of_the_policy() {
    let policy = Policy::new().effect("words", Effect::Idempotent);
    let runtime = Runtime::builder().policy(policy).build().unwrap();
    let effect = |name: &str| runtime.registry().get(name).unwrap().effect();
    assert_eq!((effect("look_for"), effect("throw_away")), (Effect::Idempotent, Effect::Destructive));
}

/// Two tools without an effect, each of which waits for the other.
fn meeting() -> [FunctionTool; 2] {
    let barrier = Arc::new(Barrier::new(2));
    ["left", "right"].map(|name| {
        let barrier = Arc::clone(&barrier);
        let meet = move |_: CallContext, _: Value| {
            let barrier = Arc::clone(&barrier);
            async move {
                barrier.wait().await;
                Ok("met")
            }
        };
        FunctionTool::new(name, "Meet.", json!({ "type": "object" }), Effect::Undeclared, meet)
    })
}

#[tokio::test]
async fn tools_that_only_read_by_the_policy_run_concurrently() {
    let model = FunctionModel::new(|request: Request<'_>| {
        let parts = match request.messages.last() {
            Some(Message::Tool { .. }) => vec![ResponsePart::Text { text: "done".to_owned() }],
            _ => {
                ["left", "right"].map(|name| ResponsePart::ToolCall(ToolCall::new(name, name, "{}".to_owned()))).into()
            }
        };
        Ok(Response::new("test", parts, Usage::of_request(1, 1)))
    });
    let policy = Policy::new().effect("left", Effect::ReadOnly).effect("right", Effect::ReadOnly);
    let [left, right] = meeting();
    let runtime = Runtime::builder()
        .only([""; 0])
        .tool(left)
        .tool(right)
        .worker(WorkerSpec::new("both", "Meet.").toolsets(["left", "right"]))
        .policy(policy)
        .approval_mode(ApprovalMode::RejectAll)
        .force_model(model)
        .build()
        .unwrap();
    let met = tokio::time::timeout(Duration::from_secs(20), runtime.run_named("both", json!({ "input": "go" }))).await;
    assert_eq!(met.expect("the calls are concurrent").unwrap(), "done");
}

#[test]
fn an_effect_of_an_unknown_name_or_of_a_worker_is_an_error() {
    let worker = WorkerSpec::new("dreamer", "Dream.");
    let of = |name: &str| {
        let builder = Runtime::builder().worker(worker.clone());
        builder.policy(Policy::new().effect(name, Effect::ReadOnly)).build().unwrap_err().to_string()
    };
    let error = of("lookfor");
    assert!(error.contains("`effects`: unknown tool or toolset `lookfor`; did you mean `look_for`?"), "{error}");
    let error = of("dreamer");
    assert!(error.contains("`effects`: `dreamer` is not a tool, but a worker"), "{error}");
}
