//! Fields that a type reads but does not serialize are shown to the approver, and distinguish calls.

use std::collections::BTreeSet;

use llm_do::approval::{Decision, Policy, Rule};
use llm_do::event::EventKind;
use llm_do::prelude::*;
use llm_do::testing::Recorder;
use llm_do::{Value, json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::Scripted;

/// A transfer of money.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Transfer {
    amount: u32,
    #[serde(default, skip_serializing)]
    to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(default, serialize_with = "mask")]
    pin: String,
}

fn mask<S: Serializer>(_: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("***")
}

/// Transfer money.
#[tool(effect = destructive)]
fn transfer(transfers: Vec<Transfer>) -> String {
    transfers.into_iter().map(|transfer| transfer.to + &transfer.pin).collect()
}

/// Makes these calls, one after the other.
#[entry]
async fn transfers(ctx: &CallContext, calls: Vec<Value>) -> Result<Vec<Value>> {
    let mut results = Vec::new();
    for call in calls {
        results.push(ctx.call_tool("transfer", json!({ "transfers": [call] })).await?);
    }
    Ok(results)
}

/// Makes a typed call.
#[entry(toolsets = [transfer])]
async fn typed(ctx: &CallContext<typed>) -> Result<String> {
    let one = Transfer { amount: 1, to: "ann".into(), note: None, pin: String::new() };
    Ok(ctx.call(transfer { transfers: vec![one] }).await?)
}

async fn asked(calls: Vec<Value>) -> Vec<llm_do::approval::ApprovalRequest> {
    let approver = Scripted::new([Decision::approve_for_session()]);
    let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
    runtime.run(transfers { calls }).await.unwrap();
    approver.asked()
}

#[tokio::test]
async fn a_field_that_is_not_serialized_is_shown_and_distinguishes_calls() {
    let to = |name: &str| json!({ "amount": 1, "to": name, "pin": "***" });
    let asked = asked(vec![to("ann"), to("bob"), to("ann")]).await;
    let shown: Vec<_> = asked.iter().map(|request| &request.arguments["transfers"][0]["to"]).collect();
    assert_eq!(shown, ["ann", "bob"]);
    assert!(asked[0].summary().contains("ann") && asked[0].details().contains("ann"));
    assert!(asked[0].given.is_none(), "the arguments contain everything");
}

#[tokio::test]
async fn a_value_that_serializes_differently_distinguishes_calls_and_is_in_the_details() {
    let pin = |pin: &str| json!({ "amount": 1, "to": "ann", "pin": pin });
    let asked = asked(vec![pin("1234"), pin("9999"), pin("1234")]).await;
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].arguments["transfers"][0]["pin"], "***");
    assert_eq!(asked[0].given, Some(json!({ "transfers": [pin("1234")] })));
    assert!(asked[0].details().contains("1234"));
}

#[tokio::test]
async fn an_absent_option_and_another_spelling_of_a_number_make_equal_calls() {
    let calls = vec![
        json!({ "amount": 1, "to": "ann", "pin": "***" }),
        json!({ "amount": 1.0, "to": "ann", "note": null, "pin": "***" }),
    ];
    assert_eq!(asked(calls).await.len(), 1);
}

#[tokio::test]
async fn a_typed_call_that_would_lose_a_field_is_refused() {
    let approver = Scripted::approving();
    let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
    let error = llm_do::error::chain(&runtime.run(typed {}).await.unwrap_err());
    assert!(error.contains("`to` is skipped when it is serialized"), "{error}");
    assert!(approver.asked().is_empty());
    let root = transfer { transfers: Vec::new() };
    assert!(llm_do::error::chain(&runtime.run(root).await.unwrap_err()).contains("`to` is skipped"));
}

#[tokio::test]
async fn an_approvers_value_runs_as_given_and_not_as_serialized() {
    let call = |pin: &str| json!({ "amount": 1, "to": "ann", "pin": pin });
    let approver = Scripted::new([Decision::approve_with(json!({ "transfers": [call("9999")] }))]);
    let runtime = Runtime::builder().approver(approver).build().unwrap();
    let results = runtime.run(transfers { calls: vec![call("1234")] }).await.unwrap();
    assert_eq!(results, ["ann9999"]);
}

#[tokio::test]
async fn an_approvers_own_value_that_is_what_was_shown_runs_in_the_place_of_what_was_given() {
    let call = |pin: &str| json!({ "amount": 1, "to": "ann", "pin": pin });
    let approver = Scripted::new([Decision::approve_with(json!({ "transfers": [call("***")] }))]);
    let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
    let results = runtime.run(transfers { calls: vec![call("1234")] }).await.unwrap();
    assert_eq!(approver.asked()[0].arguments["transfers"][0]["pin"], "***");
    assert_eq!(results, ["ann***"]);
}

/// A payment, of which only the amount is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
struct Payment {
    amount: u32,
    #[serde(default, skip_serializing)]
    account: String,
}

/// Pay all together.
#[tool(effect = destructive)]
fn pay_all(payments: BTreeSet<Payment>) -> usize {
    payments.len()
}

/// Pays by name.
#[entry]
async fn pay_by_name(ctx: &CallContext, payments: Value) -> Result<Value> {
    Ok(ctx.call_tool("pay_all", json!({ "payments": payments })).await?)
}

#[tokio::test]
async fn unserialized_fields_of_set_items_are_shown_with_their_own_item() {
    let approver = Scripted::approving();
    let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
    let payments = json!([{ "account": "b", "amount": 1 }, { "account": "a", "amount": 2 }]);
    runtime.run(pay_by_name { payments: payments.clone() }).await.unwrap();
    let asked = approver.asked().remove(0);
    let given = payments.as_array().unwrap();
    for shown in asked.arguments["payments"].as_array().unwrap() {
        assert!(shown.get("account").is_none() || given.contains(shown), "{shown} was not given");
    }
    assert!(asked.details().contains("account"), "{}", asked.details());
}

/// Look a transfer up.
#[tool(effect = read_only)]
fn look_up(transfer: Transfer) -> String {
    transfer.to
}

#[tokio::test]
async fn a_sink_of_one_run_gets_fields_that_are_not_serialized() {
    let recorder = Recorder::new();
    let arguments = json!({ "transfer": { "amount": 1, "to": "ann", "pin": "***" } });
    let runtime = Runtime::builder().build().unwrap();
    runtime.start_named("look_up", arguments.clone()).sink(recorder.clone()).await.unwrap();
    let started = recorder.kinds().into_iter().find_map(|kind| match kind {
        EventKind::CallStarted { arguments, .. } => Some(arguments.value().into_owned()),
        _ => None,
    });
    assert_eq!(started, Some(arguments));
}

#[tokio::test]
async fn a_policy_function_sees_unserialized_fields_of_set_items() {
    let policy = Policy::new().decide_with(|call| {
        let given = call.given.map(Value::to_string).unwrap_or_default();
        given.contains("swiss").then(|| Rule::blocked("not there"))
    });
    let runtime = Runtime::builder().approver(Scripted::approving()).policy(policy).build().unwrap();
    let payments = json!([{ "account": "swiss", "amount": 1 }, { "account": "a", "amount": 2 }]);
    let error = llm_do::error::chain(&runtime.run(pay_by_name { payments }).await.unwrap_err());
    assert!(error.contains("not there"), "{error}");
    let payments = json!([{ "account": "b", "amount": 1 }, { "account": "a", "amount": 2 }]);
    assert_eq!(runtime.run(pay_by_name { payments }).await.unwrap(), json!(2));
}

/// The given and the edited arguments in the events of a request.
async fn events_of(tool: &str, arguments: Value, edited: Value) -> (Option<Value>, String) {
    let recorder = Recorder::new();
    let approver = Scripted::new([Decision::approve_with(edited)]);
    let runtime = Runtime::builder().approver(approver).sink(recorder.clone()).build().unwrap();
    runtime.run(show_by_name { tool: tool.into(), arguments }).await.unwrap();
    let kinds = recorder.kinds();
    let given = kinds.iter().find_map(|kind| match kind {
        EventKind::ApprovalAsked { given, .. } => Some(given.clone()),
        _ => None,
    });
    let of_tool =
        |kind: &&EventKind| matches!(kind, EventKind::ApprovalAsked { .. } | EventKind::ApprovalDecided { .. });
    (given.unwrap(), format!("{:?}", kinds.iter().filter(of_tool).collect::<Vec<_>>()))
}

/// Makes a call by name.
#[entry]
async fn show_by_name(ctx: &CallContext, tool: String, arguments: Value) -> Result<Value> {
    Ok(ctx.call_tool(&tool, arguments).await?)
}

#[tokio::test]
async fn events_show_given_arguments_and_hide_masked_values() {
    let payments =
        |second: &str| json!({ "payments": [{ "account": "b", "amount": 1 }, { "account": second, "amount": 2 }] });
    let (given, _) = events_of("pay_all", payments("a"), payments("c")).await;
    assert_eq!(given, Some(payments("a")), "in the order in which they were given");
    let pins = |pin: &str| json!({ "transfers": [{ "amount": 1, "to": "ann", "pin": pin }] });
    let (given, events) = events_of("transfer", pins("1234"), pins("9999")).await;
    assert_eq!(given, None, "the arguments contain all but the secret");
    assert!(!events.contains("1234") && !events.contains("9999"), "{events}");
}

#[tokio::test]
async fn a_refused_edit_hides_masked_values() {
    let recorder = Recorder::new();
    let pins = |pin: &str, amount: i64| json!({ "transfers": [{ "amount": amount, "to": "ann", "pin": pin }] });
    let blocked = Policy::new()
        .decide_with(|call| (call.arguments["transfers"][0]["amount"] == 9).then(|| Rule::blocked("too much")));
    for edited in [pins("9999", 9), pins("9999", -1)] {
        let approver = Scripted::new([Decision::approve_with(edited), Decision::approve()]);
        let builder = Runtime::builder().approver(approver.clone()).policy(blocked.clone()).sink(recorder.clone());
        let call = show_by_name { tool: "transfer".into(), arguments: pins("1234", 1) };
        builder.build().unwrap().run(call).await.unwrap();
        let edit = approver.asked()[1].refused_edit.clone().unwrap();
        assert!(!format!("{edit:?}").contains("9999"), "{edit:?}");
    }
    let is_edit = |kind: &&EventKind| matches!(kind, EventKind::EditRefused { .. });
    let edits: Vec<_> = recorder.kinds().iter().filter(is_edit).map(|kind| format!("{kind:?}")).collect();
    assert!(edits.len() == 2 && edits.iter().all(|edit| !edit.contains("9999")), "{edits:?}");
}
