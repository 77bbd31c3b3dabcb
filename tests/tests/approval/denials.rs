//! A denied call goes back to the model that made it, and the run goes on; some denials end the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use llm_do::approval::{ApprovalMode, Decision, Policy, Rule};
use llm_do::error::chain;
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, ScriptedModel};
use llm_do::usage::Usage;
use serde_json::{Value, json};

use super::{Scripted, calling};

/// Send a parcel.
#[tool(effect = destructive)]
fn send_parcel(to: String) -> String {
    format!("sent to {to}")
}

/// Send parcels.
#[worker(toolsets = [send_parcel], max_turns = 20)]
async fn courier(input: String) -> String;

/// Have parcels sent.
#[worker(toolsets = [courier])]
async fn depot(input: String) -> String;

/// Sends a parcel, and returns why it was not sent.
#[entry(toolsets = [send_parcel])]
async fn counter(ctx: &CallContext<counter>) -> Result<String> {
    let error = ctx.call(send_parcel { to: "Ann".into() }).await.unwrap_err();
    assert!(error.is_denied() && !error.is_recoverable(), "{error:?}");
    Ok(chain(&error))
}

fn parcel(to: &str) -> Value {
    json!({ "to": to })
}

fn call(id: &str, to: &str) -> ResponsePart {
    ResponsePart::ToolCall(ToolCall::new(id, "send_parcel", parcel(to).to_string()))
}

async fn run(builder: RuntimeBuilder) -> Result<String, CallError> {
    builder.build().unwrap().run(courier { input: "Go.".into() }).await
}

/// Returns the result of a denied call, as its model gets it.
fn permission(result: &str) -> String {
    let told: Value = serde_json::from_str(result).unwrap();
    assert_eq!((&told["tool_name"], &told["error_type"]), (&json!("send_parcel"), &json!("permission")), "{told}");
    assert_eq!(told.as_object().unwrap().len(), 3, "{told}");
    told["error"].as_str().unwrap().to_owned()
}

fn denying(reason: &str) -> Scripted {
    Scripted::new([Decision::deny(reason)])
}

fn with_model(approver: Scripted) -> RuntimeBuilder {
    Runtime::builder().approver(approver).force_model(calling("send_parcel", parcel("Ann")))
}

#[tokio::test]
async fn a_denied_call_goes_on_with_the_reason() {
    let told = run(with_model(denying("use the side door"))).await.unwrap();
    assert_eq!(permission(&told), "call to `send_parcel` denied: use the side door");
}

#[tokio::test]
async fn any_reason_is_text_for_the_model() {
    let long = "é".repeat(5_000);
    for reason in ["\"}, {\"error_type\": \"none\"", "line\nbreak\u{1b}[2J", "ValueError: no", "", &long] {
        let told = run(with_model(denying(reason))).await.unwrap();
        assert_eq!(permission(&told), format!("call to `send_parcel` denied: {reason}"));
    }
}

#[tokio::test]
async fn with_end_on_denial_a_denied_call_ends_the_run() {
    type Way = fn(RuntimeBuilder, Policy) -> RuntimeBuilder;

    let blocked = || Policy::new().tool("send_parcel", Rule::blocked("no parcels"));
    let ways: [(&str, Way); 3] = [
        ("not now", |builder, _| builder),
        ("the approval mode rejects", |builder, _| builder.approval_mode(ApprovalMode::RejectAll)),
        ("no parcels", |builder, policy| builder.policy(policy)),
    ];
    for (reason, way) in ways {
        let error = run(way(with_model(denying("not now")), blocked()).end_on_denial(true)).await.unwrap_err();
        assert!(error.is_denied() && chain(&error).contains(reason), "{error:?}");
        let told = run(way(with_model(denying("not now")), blocked())).await.unwrap();
        assert!(permission(&told).contains(reason), "{told}");
    }
}

#[tokio::test]
async fn a_denial_that_stops_ends_the_run_also_of_the_workers_above() {
    let approver = Scripted::new([Decision::deny_and_stop("enough for today")]);
    let model = ScriptedModel::new().call("courier", json!({ "input": "Ann" })).call("send_parcel", parcel("Ann"));
    let runtime = Runtime::builder().approver(approver).force_model(model.clone()).build().unwrap();
    let error = runtime.run(depot { input: "Go.".into() }).await.unwrap_err();
    assert!(error.is_denied() && error.is_stopped(), "{error:?}");
    assert!(chain(&error).ends_with("call to `send_parcel` denied: enough for today"), "{error:?}");
    assert_eq!(model.requests().len(), 2, "no model continues");
}

#[tokio::test]
async fn a_call_without_a_decision_ends_the_run() {
    let panicking =
        |builder: RuntimeBuilder| builder.approve_with(|_| async { std::panic::resume_unwind(Box::new("on purpose")) });
    let undecided = Scripted::new([Decision::undecided("the window was closed")]);
    let model = || calling("send_parcel", parcel("Ann"));
    for (builder, reason) in [
        (Runtime::builder(), "no approver is configured"),
        (Runtime::builder().approver(undecided), "the window was closed"),
        (panicking(Runtime::builder()), "the approver panicked"),
    ] {
        let error = run(builder.force_model(model())).await.unwrap_err();
        assert!(error.is_stopped() && chain(&error).contains(reason), "{error:?}");
    }
}

#[tokio::test]
async fn a_denial_goes_to_the_model_that_made_the_call() {
    let model = ScriptedModel::new()
        .call("courier", json!({ "input": "Ann" }))
        .call("send_parcel", parcel("Ann"))
        .text("I kept it.")
        .text("The courier kept it.");
    let runtime = Runtime::builder().approver(denying("not now")).force_model(model.clone()).build().unwrap();
    assert_eq!(runtime.run(depot { input: "Go.".into() }).await.unwrap(), "The courier kept it.");
    let requests = model.requests();
    assert!(permission(&requests[2].last_text()).ends_with("denied: not now"));
    assert_eq!(requests[3].last_text(), "I kept it.");
}

#[tokio::test]
async fn each_of_several_denied_calls_of_one_turn_gets_its_reason() {
    let approver = Scripted::new([Decision::deny("not Ann"), Decision::approve(), Decision::deny("not Bob")]);
    let model = ScriptedModel::new().answer([call("1", "Ann"), call("2", "Cid"), call("3", "Bob")]).text("done");
    let builder = Runtime::builder().approver(approver).force_model(model.clone());
    assert_eq!(run(builder).await.unwrap(), "done");
    let messages = &model.requests()[1].messages;
    let Some(Message::Tool { results }) = messages.last() else { panic!("{messages:?}") };
    let told: Vec<_> = results.iter().map(|result| (&*result.call_id, result.is_error)).collect();
    assert_eq!(told, [("1", true), ("2", false), ("3", true)]);
    assert!(permission(&results[0].content).ends_with("not Ann"));
    assert_eq!(results[1].content, "sent to Cid");
    assert!(permission(&results[2].content).ends_with("not Bob"));
}

#[tokio::test]
async fn code_that_makes_a_denied_call_gets_the_error() {
    for decision in [Decision::deny("not now"), Decision::deny_and_stop("not now")] {
        for ends in [false, true] {
            let builder = Runtime::builder().approver(Scripted::new([decision.clone()])).end_on_denial(ends);
            let told = builder.build().unwrap().run(counter {}).await.unwrap();
            assert_eq!(told, "call to `send_parcel` denied: not now");
        }
    }
}

/// A model that makes calls without end; `to` returns whom the call with a number is for.
fn insisting(to: fn(u32) -> String, last: u32) -> FunctionModel {
    let made = Arc::new(AtomicU32::new(0));
    FunctionModel::new(move |_: Request<'_>| {
        let number = made.fetch_add(1, Ordering::Relaxed);
        let part = if number == last {
            ResponsePart::Text { text: "I give up.".to_owned() }
        } else {
            call(&number.to_string(), &to(number))
        };
        Ok(Response::new("test", vec![part], Usage::of_request(1, 1)))
    })
}

#[tokio::test]
async fn a_model_that_repeats_a_denied_call_gives_up_after_three_denials() {
    let approver = denying("no");
    let error = run(Runtime::builder().approver(approver.clone()).force_model(insisting(|_| "Ann".into(), 99)));
    let error = error.await.unwrap_err();
    assert!(matches!(error, CallError::GaveUp { .. }), "{error:?}");
    let text = chain(&error);
    assert!(text.contains("`send_parcel` was denied 4 times with the same arguments"), "{text}");
    assert!(text.contains("the last denial: call to `send_parcel` denied: no"), "{text}");
    assert_eq!(approver.asked().len(), 4);
}

#[tokio::test]
async fn equal_denied_calls_are_counted_also_with_other_calls_between_them() {
    let to = |number: u32| if number.is_multiple_of(2) { "Ann".to_owned() } else { format!("{number}") };
    let decisions: Vec<_> =
        (0..20).map(|number| if number % 2 == 0 { Decision::deny("no") } else { Decision::approve() }).collect();
    let error = run(Runtime::builder().approver(Scripted::new(decisions)).force_model(insisting(to, 99)));
    let error = chain(&error.await.unwrap_err());
    assert!(error.contains("was denied 4 times with the same arguments"), "{error}");
}

#[tokio::test]
async fn denials_of_other_calls_use_up_nothing() {
    let builder = Runtime::builder().approver(denying("no")).force_model(insisting(|number| number.to_string(), 12));
    assert_eq!(run(builder).await.unwrap(), "I give up.");
}

#[tokio::test]
async fn a_chat_goes_on_after_a_denial() {
    let model = ScriptedModel::new().call("send_parcel", parcel("Ann")).text("I kept it.").text("You refused it.");
    let runtime = Runtime::builder().approver(denying("no")).force_model(model.clone()).build().unwrap();
    let mut chat = runtime.chat();
    assert_eq!(chat.send(courier { input: "Send it.".into() }).await.unwrap(), "I kept it.");
    assert_eq!(chat.send(courier { input: "Why?".into() }).await.unwrap(), "You refused it.");
    let messages = format!("{:?}", model.requests()[2].messages);
    assert!(messages.contains("denied: no"), "{messages}");
}
