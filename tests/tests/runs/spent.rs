//! The cost of runs by the models that answered, and limits on money.

use std::future::pending;

use llm_do::event::EventKind;
use llm_do::journal::MemoryJournal;
use llm_do::model::{ErrorKind, FallbackModel, ProviderError, Request, Response};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, Recorder, ScriptedModel};
use llm_do::usage::{Cost, Money, Price, PriceTable, Usage};
use llm_do::{Limits, Model, async_trait, json};

/// Think about it.
#[worker(toolsets = [look_again], max_turns = 9)]
async fn thinker(question: String) -> String;

/// Look again.
#[tool(effect = read_only, inline)]
fn look_again() -> String {
    "nothing new".into()
}

/// Calls the thinker until it answers or a limit is reached.
#[entry(toolsets = [thinker])]
async fn insist(ctx: &CallContext<insist>) -> Result<String> {
    for _ in 0..100 {
        match ctx.call(thinker { question: "what?".into() }).await {
            Err(CallError::Model { .. }) => {}
            other => return Ok(other?),
        }
    }
    Err("nothing stops it".into())
}

/// Think about it, in half a minute.
#[worker(timeout = "30s")]
async fn hurried(question: String) -> String;

/// Calls the worker with a timeout of half a minute until it answers or a limit is reached.
#[entry(toolsets = [hurried])]
async fn hurry(ctx: &CallContext<hurry>) -> Result<String> {
    for _ in 0..100 {
        match ctx.call(hurried { question: "what?".into() }).await {
            Err(CallError::Timeout { .. }) => {}
            other => return Ok(other?),
        }
    }
    Err("nothing stops it".into())
}

/// A model that never answers.
#[derive(Debug)]
struct Silent;

#[async_trait]
impl Model for Silent {
    fn name(&self) -> &'static str {
        "a:a"
    }

    async fn request(&self, _: Request<'_>) -> Result<Response, ProviderError> {
        pending().await
    }
}

/// Calls the thinker once, and ignores a failure.
#[tool(effect = read_only, toolsets = [thinker])]
async fn try_once(ctx: &CallContext<try_once>) -> String {
    ctx.call(thinker { question: "what?".into() }).await.unwrap_or_else(|_| "none".into())
}

/// Tries once.
#[entry(toolsets = [try_once])]
async fn make_do(ctx: &CallContext<make_do>) -> Result<String> {
    Ok(ctx.call(try_once {}).await?)
}

/// A model with a price that fails with `error`.
fn failing(error: fn() -> ProviderError) -> FunctionModel {
    FunctionModel::new(move |_| Err(error())).named("fails")
}

/// Returns a failure after a thousand input tokens and a thousand output tokens.
fn broken_off() -> ProviderError {
    let error = ProviderError::new("a", ErrorKind::Transport, "it broke off").with_status(200);
    error.with_partial_response(Response::new("a", Vec::new(), Usage::of_request(1_000, 1_000)))
}

/// A model with a price: each request uses a thousand tokens in and out, and the first `calls` requests call a tool.
fn priced(name: &str, calls: usize) -> ScriptedModel {
    let script = ScriptedModel::new().named(name).usage(Usage::of_request(1_000, 1_000));
    (0..calls).fold(script, |script, _| script.call("look_again", json!({}))).text("done").repeat_last()
}

fn cents(cents: u32) -> Money {
    Money::from_cents(cents.into())
}

/// Returns prices: a request to `a:a` or to a failing model costs 2 cents, one to `b:b` 20 cents.
fn prices() -> PriceTable {
    let of = |dollars| Price::per_million(Money::from_dollars(dollars), Money::from_dollars(dollars));
    let table = PriceTable::builtin().with("a:a", of(10)).unwrap().with("b:b", of(100)).unwrap();
    table.with("function:fails", of(10)).unwrap()
}

/// The result of a run, its cost, and its models.
async fn run(
    model: impl Model + 'static,
    configure: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder,
) -> (Result<String, CallError>, Cost, Vec<String>) {
    let builder = configure(Runtime::builder().prices(prices()).force_model(model));
    let runtime = builder.build().unwrap();
    let run = runtime.start(thinker { question: "what?".into() });
    let handle = run.handle();
    let result = run.await;
    let models = handle.usage_tree().models.keys().map(ToString::to_string).collect();
    (result, handle.usage().cost, models)
}

fn known(money: Money) -> Cost {
    Cost::of_request(Some(money))
}

#[tokio::test]
async fn a_run_costs_what_its_requests_cost() {
    let (result, cost, _) = run(priced("a:a", 2), |builder| builder).await;
    assert_eq!((result.unwrap().as_str(), cost), ("done", known(cents(6))));
}

#[tokio::test]
async fn the_cost_is_that_of_the_model_that_answered() {
    let down = FunctionModel::new(|_| Err(ProviderError::new("down", ErrorKind::Overloaded, "it is overloaded")));
    for streaming in [false, true] {
        let model = FallbackModel::new(down.clone()).or(priced("b:b", 0));
        let (result, cost, models) = run(model, |builder| builder.streaming(streaming)).await;
        assert_eq!((result.unwrap().as_str(), cost), ("done", known(cents(20))));
        assert_eq!(models, ["b:b"]);
    }
}

#[tokio::test]
async fn the_cost_of_a_partial_answer_is_that_of_the_model_that_failed_last() {
    let down = FunctionModel::new(|_| Err(ProviderError::new("down", ErrorKind::Overloaded, "it is overloaded")));
    for streaming in [false, true] {
        let model = FallbackModel::new(down.clone()).or(failing(broken_off));
        let (result, cost, models) = run(model, |builder| builder.streaming(streaming)).await;
        assert!(matches!(result, Err(CallError::Model { .. })));
        assert_eq!((cost, models), (known(cents(2)), vec!["function:fails".to_owned()]));
    }
}

#[tokio::test]
async fn a_limit_on_money_fails_the_run_before_the_next_request() {
    let model = priced("a:a", 9);
    let (result, cost, _) = run(model.clone(), |builder| builder.limits(Limits::new().cost(cents(4)))).await;
    assert!(result.unwrap_err().to_string().contains("`cost` is limited to"));
    assert_eq!((cost, model.requests().len()), (known(cents(4)), 2));
}

#[tokio::test]
async fn a_limit_on_money_refuses_a_model_without_a_price_unless_allowed() {
    let model = priced("c:c", 0);
    let limits = Limits::new().cost(cents(4));
    let (result, _, _) = run(model.clone(), |builder| builder.limits(limits.clone())).await;
    assert!(result.unwrap_err().to_string().contains("`c:c`"));
    assert_eq!(model.requests().len(), 0);
    let (result, cost, _) = run(model, |builder| builder.limits(limits.allow_unpriced(true))).await;
    assert_eq!((result.unwrap().as_str(), cost), ("done", Cost::of_request(None)));
}

#[tokio::test]
async fn a_failed_request_counts_with_its_usage() {
    for streaming in [false, true] {
        let builder = Runtime::builder().prices(prices()).force_model(failing(broken_off)).streaming(streaming);
        let recorder = Recorder::new();
        let runtime = builder.sink(recorder.clone()).build().unwrap();
        let run = runtime.start(thinker { question: "what?".into() });
        let handle = run.handle();
        assert!(matches!(run.await, Err(CallError::Model { .. })));
        let used = handle.usage();
        assert_eq!((used.model, used.cost), (Usage::of_request(1_000, 1_000), known(cents(2))));
        assert_eq!(handle.usage_tree().total(), used);
        let told = recorder.events().into_iter().filter_map(|event| match event.kind {
            EventKind::Usage { used } => Some(used),
            _ => None,
        });
        // After the request, and at the end of the run.
        assert_eq!(told.collect::<Vec<_>>(), [used, used]);
    }
}

#[tokio::test]
async fn retries_after_failures_reach_the_limits() {
    let refused = || ProviderError::new("a", ErrorKind::Overloaded, "it is overloaded").with_status(529);
    let lost = || ProviderError::new("a", ErrorKind::Transport, "no connection");
    let errors: [fn() -> ProviderError; 3] = [broken_off, refused, lost];
    for error in errors {
        let limits = Limits::new().requests(20);
        let runtime = Runtime::builder().force_model(failing(error)).limits(limits).build().unwrap();
        let run = runtime.start(insist {});
        let handle = run.handle();
        assert!(llm_do::error::chain(&run.await.unwrap_err()).contains("`requests` is limited to 20"));
        assert_eq!(handle.usage().model.requests, 20);
    }
    let builder = Runtime::builder().prices(prices()).force_model(failing(broken_off));
    let runtime = builder.limits(Limits::new().cost(Money::from_cents(10))).build().unwrap();
    let run = runtime.start(insist {});
    let handle = run.handle();
    assert!(llm_do::error::chain(&run.await.unwrap_err()).contains("`cost` is limited to $0.10"));
    assert_eq!(handle.usage().cost, known(cents(10)));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_request_counts() {
    for streaming in [false, true] {
        let builder = Runtime::builder().prices(prices()).force_model(Silent).streaming(streaming);
        let runtime = builder.limits(Limits::new().requests(3)).build().unwrap();
        let run = runtime.start(hurry {});
        let handle = run.handle();
        assert!(llm_do::error::chain(&run.await.unwrap_err()).contains("`requests` is limited to 3"));
        assert_eq!((handle.usage().model.requests, handle.usage().cost), (3, Cost::default()));
        assert_eq!(handle.usage_tree().total(), handle.usage());
    }
}

#[tokio::test]
async fn a_request_that_was_not_sent_does_not_count() {
    let keyless = || ProviderError::new("a", ErrorKind::Configuration, "no key");
    let unfit = || ProviderError::new("a", ErrorKind::InvalidRequest, "the model takes no sound");
    let errors: [fn() -> ProviderError; 2] = [keyless, unfit];
    for error in errors {
        let runtime = Runtime::builder().force_model(failing(error)).build().unwrap();
        let run = runtime.start(thinker { question: "what?".into() });
        let handle = run.handle();
        assert!(run.await.is_err());
        assert_eq!(handle.usage().model, Usage::default());
    }
}

#[tokio::test]
async fn a_replay_counts_the_usage_of_a_failed_request() {
    let journal = MemoryJournal::new();
    let mut seen = Vec::new();
    for journal in [journal.clone(), journal] {
        let builder = Runtime::builder().prices(prices()).force_model(failing(broken_off));
        let again = if seen.is_empty() { journal } else { journal.replayed() };
        let runtime = builder.journal(again).build().unwrap();
        let run = runtime.start(make_do {});
        let handle = run.handle();
        assert_eq!(run.await.unwrap(), "none");
        seen.push((handle.usage(), handle.usage_tree().total()));
    }
    assert_eq!(seen[0].0.cost, known(cents(2)));
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0].0, seen[0].1);
}
