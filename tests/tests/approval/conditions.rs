//! Rules for calls whose arguments match a JSON Schema.

use llm_do::approval::{ApprovalMode, Policy, Rule, RuleSource};
use llm_do::prelude::*;
use llm_do::runtime::{FunctionTool, RuntimeBuilder};
use llm_do::testing::Recorder;
use llm_do::{Effect, Runtime, Value, json};

use super::{Scripted, decisions};

/// Refund money.
#[tool(effect = destructive)]
fn refund_money(to: String, #[arg(default = 20_000)] cents: u32, note: Option<String>) {
    let _ = (to, cents, note);
}

/// Calls a tool by its name.
#[entry]
async fn refunds(ctx: &CallContext, tool: String, arguments: Value) -> Result<Value> {
    Ok(ctx.call_tool(&tool, arguments).await?)
}

/// What a policy decides about a call: `runs`, `asks` or `blocked`, with the source of the rule.
async fn decided(builder: RuntimeBuilder, tool: &str, arguments: &Value) -> (&'static str, RuleSource) {
    let (approver, recorder) = (Scripted::approving(), Recorder::new());
    let runtime = builder.approver(approver.clone()).sink(recorder.clone()).build().unwrap();
    let result = runtime.run(refunds { tool: tool.to_owned(), arguments: arguments.clone() }).await;
    let [(_, _, source)] = decisions(&recorder, tool).try_into().unwrap();
    let decision = match result {
        Err(error) => {
            assert!(error.is_blocked(), "{error}");
            "blocked"
        }
        Ok(_) if approver.asked().is_empty() => "runs",
        Ok(_) => "asks",
    };
    (decision, source)
}

async fn refunded(policy: &Policy, arguments: &Value) -> (&'static str, RuleSource) {
    decided(Runtime::builder().policy(policy.clone()), "refund_money", arguments).await
}

/// A condition on an amount that is greater than this.
fn over(cents: u32) -> Value {
    json!({ "properties": { "cents": { "exclusiveMinimum": cents } } })
}

#[tokio::test]
async fn the_strictest_rule_whose_condition_holds_applies_before_that_of_the_tool() {
    let policy = Policy::new()
        .tool("refund_money", Rule::PreApproved)
        .when("refund_money", over(1_000_000), Rule::blocked("too much"))
        .when("refund_money", over(10), Rule::PreApproved)
        .when("refund_money", over(10_000), Rule::Ask);
    for (cents, expected) in [
        (5, ("runs", RuleSource::PolicyTool)),
        (10_000, ("runs", RuleSource::PolicyCondition)),
        (10_001, ("asks", RuleSource::PolicyCondition)),
        (2_000_000, ("blocked", RuleSource::PolicyCondition)),
    ] {
        assert_eq!(refunded(&policy, &json!({ "to": "a", "cents": cents })).await, expected, "{cents}");
    }
}

#[tokio::test]
async fn a_condition_sees_the_defaults_of_arguments() {
    let policy = Policy::new().tool("refund_money", Rule::PreApproved).when("refund_money", over(10_000), Rule::Ask);
    assert_eq!(refunded(&policy, &json!({ "to": "a" })).await.0, "asks");
    let approved = json!({ "properties": { "cents": { "maximum": 10_000 } } });
    let policy = Policy::new().when("refund_money", approved, Rule::PreApproved);
    assert_eq!(refunded(&policy, &json!({ "to": "a" })).await, ("asks", RuleSource::Effect));
    assert_eq!(refunded(&policy, &json!({ "to": "a", "cents": 7 })).await.0, "runs");
}

#[tokio::test]
async fn a_rule_for_exactly_the_arguments_comes_before_a_condition_unless_that_blocks() {
    let call = json!({ "to": "a", "cents": 20_000 });
    let exact = || Policy::new().call("refund_money", call.clone(), Rule::PreApproved);
    let asks = exact().when("refund_money", over(10_000), Rule::Ask);
    assert_eq!(refunded(&asks, &call).await, ("runs", RuleSource::PolicyCall));
    assert_eq!(refunded(&asks, &json!({ "to": "b", "cents": 20_000 })).await.0, "asks");
    let blocks = exact().when("refund_money", over(10_000), Rule::blocked("too much"));
    assert_eq!(refunded(&blocks, &call).await, ("blocked", RuleSource::PolicyCondition));
}

#[tokio::test]
async fn a_block_by_condition_holds_in_every_mode() {
    let policy = Policy::new().when("refund_money", over(10_000), Rule::blocked("too much"));
    let builder = Runtime::builder().policy(policy).approval_mode(ApprovalMode::ApproveAll);
    let decision = decided(builder, "refund_money", &json!({ "to": "a" })).await;
    assert_eq!(decision, ("blocked", RuleSource::PolicyCondition));
}

#[tokio::test]
async fn the_function_of_a_policy_cannot_lift_a_block_for_some_arguments() {
    let call = json!({ "to": "a" });
    let approves = |policy: Policy| policy.decide_with(|_| Some(Rule::PreApproved));
    let by_condition = Policy::new().when("refund_money", over(10_000), Rule::blocked("too much"));
    assert_eq!(refunded(&approves(by_condition), &call).await, ("blocked", RuleSource::PolicyCondition));
    let exact = Policy::new().call("refund_money", call.clone(), Rule::blocked("not to a"));
    assert_eq!(refunded(&approves(exact), &call).await, ("blocked", RuleSource::PolicyCall));
    let asks = Policy::new().when("refund_money", over(10_000), Rule::Ask);
    assert_eq!(refunded(&approves(asks), &call).await, ("runs", RuleSource::Function));
}

/// A tool with a schema of its own, as those of servers have: no argument is required, and further ones are not mentioned.
fn send_money() -> FunctionTool {
    let schema = json!({
        "type": "object",
        "properties": { "to": { "type": "string" }, "cents": { "type": "integer" }, "days": { "type": "integer", "default": 30 } },
    });
    FunctionTool::new("send_money", "Send money.", schema, Effect::Destructive, |_, _: Value| async { Ok("done") })
}

async fn sent(policy: Policy, arguments: &Value) -> &'static str {
    decided(Runtime::builder().only(["refunds"]).tool(send_money()).policy(policy), "send_money", arguments).await.0
}

#[tokio::test]
async fn an_approval_by_condition_holds_only_for_calls_with_each_argument_that_it_names() {
    let small = json!({ "properties": { "cents": { "maximum": 100 } } });
    let approves = || Policy::new().when("send_money", small.clone(), Rule::PreApproved);
    assert_eq!(sent(approves(), &json!({ "cents": 7 })).await, "runs");
    assert_eq!(sent(approves(), &json!({ "cents": 700 })).await, "asks");
    assert_eq!(sent(approves(), &json!({})).await, "asks");
    // A rule that is stricter holds for calls without the argument, as the schema does.
    let blocks = Policy::new().when("send_money", small.clone(), Rule::blocked("too little"));
    assert_eq!(sent(blocks, &json!({})).await, "blocked");
}

#[tokio::test]
async fn a_condition_sees_the_defaults_in_a_schema_of_its_own() {
    let soon = json!({ "properties": { "days": { "maximum": 40 } } });
    let policy = || Policy::new().when("send_money", soon.clone(), Rule::PreApproved);
    assert_eq!(sent(policy(), &json!({})).await, "runs");
    assert_eq!(sent(policy(), &json!({ "days": 50 })).await, "asks");
}

#[test]
fn a_condition_that_can_decide_nothing_is_an_error_that_names_it() {
    for (condition, fault) in [
        (json!({ "properties": { "cent": {} } }), "unknown property `cent`; did you mean `cents`?"),
        (json!({ "required": ["sum"] }), "unknown property `sum`"),
        (json!({ "properties": { "cents": { "type": "string" } } }), "`when.properties.cents.type` holds for no value"),
        (json!({ "properties": { "to": { "maximum": 1 } } }), "`when.properties.to.maximum` holds for every value"),
        (json!({ "cents": { "minimum": 1 } }), "`when.cents`: unknown keyword"),
        (json!({ "properties": { "cents": { "minimum": "a" } } }), "is not a JSON Schema"),
        (json!({ "properties": { "to": { "pattern": "(?=a)b" } } }), "matched in linear time"),
        (json!(true), "expected a JSON Schema of the arguments"),
    ] {
        for rule in [Rule::blocked("no"), Rule::Ask, Rule::PreApproved] {
            let policy = Policy::new().when("refund_money", condition.clone(), rule);
            let error = Runtime::builder().policy(policy).build().unwrap_err().to_string();
            let named = "the condition of a rule for `refund_money`: ";
            assert!(error.contains(named) && error.contains(fault), "{condition}: {error}");
        }
    }
    let unknown = Policy::new().when("refund_mony", over(1), Rule::Ask);
    let error = Runtime::builder().policy(unknown).build().unwrap_err().to_string();
    assert!(error.contains("unknown tool `refund_mony`; did you mean `refund_money`?"), "{error}");
}

#[test]
fn an_argument_that_a_schema_does_not_mention_is_a_warning() {
    let misspelled = json!({ "properties": { "cent": { "minimum": 1 } } });
    for policy in [
        Policy::new().when("send_money", misspelled, Rule::Ask),
        Policy::new().call("send_money", json!({ "cent": 1 }), Rule::blocked("no")),
    ] {
        let runtime = Runtime::builder().only(["refunds"]).tool(send_money()).policy(policy).build().unwrap();
        let expected =
            "a rule may match no call: the schema of `send_money` does not declare `cent`; did you mean `cents`?";
        assert_eq!(runtime.warnings(), [expected]);
    }
}

#[tokio::test]
async fn a_condition_survives_json_and_excludes_arguments() {
    let policy = Policy::new().when("refund_money", over(1), Rule::Ask);
    let text = serde_json::to_string(&policy).unwrap();
    let rule = format!(r#"{{"tool":"refund_money","when":{},"rule":"ask"}}"#, over(1));
    assert!(text.contains(&format!(r#""calls":[{rule}]"#)), "{text}");
    let read: Policy = serde_json::from_str(&text).unwrap();
    assert_eq!(refunded(&read, &json!({ "to": "a" })).await, ("asks", RuleSource::PolicyCondition));
    for (call, fault) in [
        (
            json!({ "tool": "t", "arguments": {}, "when": {}, "rule": "ask" }),
            "`arguments` and `when` exclude each other",
        ),
        (json!({ "tool": "t", "rule": "ask" }), "missing `arguments` or `when`"),
    ] {
        let error = serde_json::from_value::<Policy>(json!({ "calls": [call] })).unwrap_err().to_string();
        assert!(error.contains(fault), "{error}");
    }
}

#[tokio::test]
async fn the_word_blocked_alone_is_a_rule() {
    let file = json!({ "tools": { "refund_money": "blocked" } });
    let policy: Policy = serde_json::from_value(file).unwrap();
    assert_eq!(refunded(&policy, &json!({ "to": "a" })).await, ("blocked", RuleSource::PolicyTool));
    for rule in ["block", "Blocked"] {
        let error = serde_json::from_value::<Rule>(json!(rule)).unwrap_err().to_string();
        assert!(error.contains("expected one of `blocked`, `pre_approved`, `ask`"), "{error}");
    }
    let error = serde_json::from_value::<Rule>(json!({ "blocked": { "reason": "no", "until": 3 } })).unwrap_err();
    assert!(error.to_string().contains("unknown field `until`"), "{error}");
}
