//! What runs cost, by the models that answered, and that a limit on money holds them.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use llm_do::prelude::*;
use llm_do::testing::{FunctionModel, ScriptedModel};
use llm_do::{
    Cost, ErrorKind, FallbackModel, Limits, Model, Money, Price, PriceTable, ProviderError, RuntimeBuilder, Usage, json,
};

/// Think about it.
#[worker(toolsets = [look], max_turns = 9)]
async fn thinker(question: String) -> String;

/// Look again.
#[tool(effect = read_only, inline)]
fn look() -> String {
    "nothing new".into()
}

/// A model of a priced provider: a thousand tokens in and out at each request, of which it calls a tool at the first `calls`.
fn priced(name: &str, calls: usize) -> ScriptedModel {
    let script = ScriptedModel::new().named(name).usage(Usage::of_request(1_000, 1_000));
    (0..calls).fold(script, |script, _| script.call("look", json!({}))).text("done").repeat_last()
}

fn cents(cents: u32) -> Money {
    Money::from_cents(cents.into())
}

/// A request to `a:a` costs 2 cents, one to `b:b` 20.
fn prices() -> PriceTable {
    let of = |dollars| Price::per_million(Money::from_dollars(dollars), Money::from_dollars(dollars));
    PriceTable::builtin().with("a:a", of(10)).unwrap().with("b:b", of(100)).unwrap()
}

/// How a run ended, what it cost, and by which models.
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
async fn the_model_that_answered_is_the_one_that_is_paid() {
    let down = FunctionModel::new(|_| Err(ProviderError::new("down", ErrorKind::Overloaded, "it is overloaded")));
    for streaming in [false, true] {
        let model = FallbackModel::new(down.clone()).or(priced("b:b", 0));
        let (result, cost, models) = run(model, |builder| builder.streaming(streaming)).await;
        assert_eq!((result.unwrap().as_str(), cost), ("done", known(cents(20))));
        assert_eq!(models, ["b:b"]);
    }
}

#[tokio::test]
async fn a_limit_on_money_ends_the_run_before_the_request_that_would_pass_it() {
    let model = priced("a:a", 9);
    let (result, cost, _) = run(model.clone(), |builder| builder.limits(Limits::new().cost(cents(4)))).await;
    assert!(result.unwrap_err().to_string().contains("`cost` is limited to"));
    assert_eq!((cost, model.requests().len()), (known(cents(4)), 2));
}

#[tokio::test]
async fn under_a_limit_on_money_a_model_without_a_price_is_not_asked_unless_that_is_allowed() {
    let model = priced("c:c", 0);
    let limits = Limits::new().cost(cents(4));
    let (result, _, _) = run(model.clone(), |builder| builder.limits(limits.clone())).await;
    assert!(result.unwrap_err().to_string().contains("`c:c`"));
    assert_eq!(model.requests().len(), 0);
    let (result, cost, _) = run(model, |builder| builder.limits(limits.allow_unpriced(true))).await;
    assert_eq!((result.unwrap().as_str(), cost), ("done", Cost::of_request(None)));
}
