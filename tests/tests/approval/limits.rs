//! Nobody is asked about a call that a limit then refuses, and of two that race for the last unit one runs.

use llm_do::approval::{ApprovalInbox, Decision, PendingApproval, Policy, WorkerRule};
use llm_do::model::{Response, ResponsePart};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::FunctionModel;
use llm_do::usage::{Money, Usage};
use llm_do::{Limits, Value, json};

use super::Scripted;

/// Mine at a place.
#[tool(effect = destructive)]
async fn mine(place: String) -> String {
    format!("mined {place}")
}

/// Think.
#[worker]
async fn think(input: String) -> String;

/// Mines at each of these places, and tells how each call ended.
#[entry(toolsets = [mine])]
async fn mines(ctx: &CallContext<mines>, places: Vec<String>) -> Result<Vec<String>> {
    let mut told = Vec::new();
    for place in places {
        told.push(ctx.call(mine { place }).await.unwrap_or_else(|error| llm_do::error::chain(&error)));
    }
    Ok(told)
}

/// Mines at two places at once, and tells how both calls ended.
#[entry(toolsets = [mine])]
async fn mines_at_once(ctx: &CallContext<mines_at_once>) -> Result<Vec<String>> {
    let mine = async |place: &str| {
        let dug = ctx.call(mine { place: place.into() }).await;
        dug.unwrap_or_else(|error| llm_do::error::chain(&error))
    };
    let (first, second) = tokio::join!(mine("a"), mine("b"));
    Ok(vec![first, second])
}

/// Thinks twice.
#[entry(toolsets = [think])]
async fn thinks(ctx: &CallContext<thinks>) -> Result<String> {
    ctx.call(think { input: "once".into() }).await?;
    Ok(ctx.call(think { input: "twice".into() }).await?)
}

/// Thinks without saying before that it will, so that nobody knows when the run begins.
#[entry]
async fn thinks_by_name(ctx: &CallContext) -> Result<Value> {
    Ok(ctx.call_tool("think", json!({ "input": "x" })).await?)
}

/// Asks two models at once.
#[entry(toolsets = [think])]
async fn thinks_at_once(ctx: &CallContext<thinks_at_once>) -> Result<usize> {
    let think = |input: &str| ctx.call(think { input: input.into() });
    let (first, second) = tokio::join!(think("a"), think("b"));
    Ok(usize::from(first.is_ok()) + usize::from(second.is_ok()))
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_beyond_the_limit() {
    let approver = Scripted::approving();
    let limits = Limits::new().tool_calls(1);
    let runtime = Runtime::builder().approver(approver.clone()).limits(limits).build().unwrap();
    let told = runtime.run(mines { places: vec!["a".into(), "b".into()] }).await.unwrap();
    assert_eq!((approver.asked().len(), &*told[0]), (1, "mined a"));
    assert!(told[1].contains("`tool_calls` is limited to 1"), "{told:?}");
}

#[tokio::test]
async fn a_call_that_is_denied_gives_its_unit_back() {
    let approver = Scripted::new([Decision::deny("no"), Decision::approve()]);
    let limits = Limits::new().tool_calls(1);
    let runtime = Runtime::builder().approver(approver.clone()).limits(limits).build().unwrap();
    let start = runtime.start(mines { places: vec!["a".into(), "b".into()] });
    let handle = start.handle();
    let told = start.await.unwrap();
    assert!(told[0].ends_with("denied: no") && told[1] == "mined b", "{told:?}");
    assert_eq!(handle.usage().tool_calls, 1);
}

#[tokio::test]
async fn of_two_calls_that_race_for_the_last_unit_exactly_one_runs() {
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().approver(approver).limits(Limits::new().tool_calls(1)).build().unwrap();
    let run = tokio::spawn(async move { runtime.run(mines_at_once {}).await });
    inbox.next().await.unwrap().approve();
    let told = run.await.unwrap().unwrap();
    assert_eq!(told.iter().filter(|told| told.starts_with("mined")).count(), 1, "{told:?}");
    assert_eq!(told.iter().filter(|told| told.contains("`tool_calls` is limited to 1")).count(), 1, "{told:?}");
    assert!(inbox.next().await.map(PendingApproval::approve).is_none(), "there was one question");
}

/// A model whose answers take two tokens.
fn answering() -> FunctionModel {
    FunctionModel::new(|_| {
        let parts = vec![ResponsePart::Text { text: "x".into() }];
        Ok(Response::new("test", parts, Usage::of_request(1, 1)))
    })
}

fn asking(approver: &Scripted) -> RuntimeBuilder {
    let policy = Policy::new().workers(WorkerRule::new().calls(true));
    Runtime::builder().policy(policy).approver(approver.clone())
}

#[tokio::test]
async fn nobody_is_asked_about_a_worker_whose_first_request_would_be_refused() {
    for (limits, asked) in [
        (Limits::new().requests(1), 1),
        (Limits::new().total_tokens(1), 1),
        (Limits::new().cost(Money::from_cents(0)), 0),
    ] {
        let approver = Scripted::approving();
        let builder = asking(&approver).force_model(answering()).limits(limits.clone());
        let error = llm_do::error::chain(&builder.build().unwrap().run(thinks {}).await.unwrap_err());
        assert!(error.contains("is limited to"), "{error}");
        assert_eq!(approver.asked().len(), asked, "{limits:?}");
    }
}

#[tokio::test]
async fn nobody_is_asked_about_a_worker_that_has_no_model() {
    let approver = Scripted::approving();
    let error = asking(&approver).build().unwrap().run(thinks_by_name {}).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("no model for the worker `think`"), "{error}");
    assert!(approver.asked().is_empty());
}

#[tokio::test]
async fn of_two_requests_that_race_for_the_last_unit_exactly_one_is_made() {
    for _ in 0..50 {
        let builder = Runtime::builder().force_model(answering()).limits(Limits::new().requests(1));
        assert_eq!(builder.build().unwrap().run(thinks_at_once {}).await.unwrap(), 1);
    }
}
