//! The approver is not asked about a call that a limit refuses; of two calls that race for the last unit, one runs.

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

/// Mines at each of these places, and returns the result of each call.
#[entry(toolsets = [mine])]
async fn mines(ctx: &CallContext<mines>, places: Vec<String>) -> Result<Vec<String>> {
    let mut results = Vec::new();
    for place in places {
        results.push(ctx.call(mine { place }).await.unwrap_or_else(|error| llm_do::error::chain(&error)));
    }
    Ok(results)
}

/// Mines at two places concurrently, and returns both results.
#[entry(toolsets = [mine])]
async fn mines_together(ctx: &CallContext<mines_together>) -> Result<Vec<String>> {
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

/// Calls the worker by name, so that the run cannot know it in advance.
#[entry]
async fn thinks_by_name(ctx: &CallContext) -> Result<Value> {
    Ok(ctx.call_tool("think", json!({ "input": "x" })).await?)
}

/// Asks two models concurrently.
#[entry(toolsets = [think])]
async fn thinks_together(ctx: &CallContext<thinks_together>) -> Result<usize> {
    let think = |input: &str| ctx.call(think { input: input.into() });
    let (first, second) = tokio::join!(think("a"), think("b"));
    Ok(usize::from(first.is_ok()) + usize::from(second.is_ok()))
}

#[tokio::test]
async fn the_approver_is_not_asked_about_a_call_beyond_the_limit() {
    let approver = Scripted::approving();
    let limits = Limits::new().tool_calls(1);
    let runtime = Runtime::builder().approver(approver.clone()).limits(limits).build().unwrap();
    let results = runtime.run(mines { places: vec!["a".into(), "b".into()] }).await.unwrap();
    assert_eq!((approver.asked().len(), &*results[0]), (1, "mined a"));
    assert!(results[1].contains("`tool_calls` is limited to 1"), "{results:?}");
}

#[tokio::test]
async fn a_denied_call_releases_its_reservation() {
    let approver = Scripted::new([Decision::deny("no"), Decision::approve()]);
    let limits = Limits::new().tool_calls(1);
    let runtime = Runtime::builder().approver(approver.clone()).limits(limits).build().unwrap();
    let start = runtime.start(mines { places: vec!["a".into(), "b".into()] });
    let handle = start.handle();
    let results = start.await.unwrap();
    assert!(results[0].ends_with("denied: no") && results[1] == "mined b", "{results:?}");
    assert_eq!(handle.usage().tool_calls, 1);
}

#[tokio::test]
async fn of_two_calls_that_race_for_the_last_unit_exactly_one_runs() {
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().approver(approver).limits(Limits::new().tool_calls(1)).build().unwrap();
    let run = tokio::spawn(async move { runtime.run(mines_together {}).await });
    inbox.next().await.unwrap().approve();
    let results = run.await.unwrap().unwrap();
    assert_eq!(results.iter().filter(|result| result.starts_with("mined")).count(), 1, "{results:?}");
    assert_eq!(
        results.iter().filter(|result| result.contains("`tool_calls` is limited to 1")).count(),
        1,
        "{results:?}"
    );
    assert!(inbox.next().await.map(PendingApproval::approve).is_none(), "there was one request");
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
async fn the_approver_is_not_asked_if_the_first_request_would_be_refused() {
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
async fn the_approver_is_not_asked_about_a_worker_without_a_model() {
    let approver = Scripted::approving();
    let error = asking(&approver).build().unwrap().run(thinks_by_name {}).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("no model for the worker `think`"), "{error}");
    assert!(approver.asked().is_empty());
}

#[tokio::test]
async fn of_two_requests_that_race_for_the_last_unit_exactly_one_is_made() {
    for _ in 0..50 {
        let builder = Runtime::builder().force_model(answering()).limits(Limits::new().requests(1));
        assert_eq!(builder.build().unwrap().run(thinks_together {}).await.unwrap(), 1);
    }
}
