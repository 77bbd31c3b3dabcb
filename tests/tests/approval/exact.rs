//! Rules for calls with exactly these arguments.

use llm_do::approval::{ApprovalMode, Policy, Rule};
use llm_do::prelude::*;
use llm_do::runtime::FunctionTool;
use llm_do::{Effect, Runtime, Value};
use serde_json::json;

use super::Scripted;

/// Order a thing.
#[tool(effect = destructive)]
fn order_thing(
    what: String,
    #[arg(default = 3)] count: u8,
    note: Option<String>,
    #[arg(default = Some(5))] stars: Option<u8>,
) {
    let _ = (what, count, note, stars);
}

/// Orders by a call by name.
#[entry]
async fn orders(ctx: &CallContext, arguments: Value) -> Result<Value> {
    Ok(ctx.call_tool("order_thing", arguments).await?)
}

/// Returns whether a policy that blocks calls with the arguments `blocked` blocks the call.
async fn is_blocked(blocked: &Value, given: &Value) -> bool {
    let policy = Policy::new().call("order_thing", blocked.clone(), Rule::blocked("no"));
    let runtime = Runtime::builder().policy(policy).approval_mode(ApprovalMode::ApproveAll).build().unwrap();
    match runtime.run(orders { arguments: given.clone() }).await {
        Ok(_) => false,
        Err(error) => {
            assert!(error.is_blocked(), "{error}");
            true
        }
    }
}

#[tokio::test]
async fn a_rule_for_a_call_has_the_defaults_of_the_arguments_that_it_omits() {
    let equal = [
        json!({ "what": "a" }),
        json!({ "what": "a", "count": 3 }),
        json!({ "what": "a", "note": null }),
        json!({ "what": "a", "count": 3, "note": null, "stars": 5 }),
    ];
    for blocked in &equal {
        for given in &equal {
            assert!(is_blocked(blocked, given).await, "{blocked} {given}");
        }
        for given in [
            json!({ "what": "b" }),
            json!({ "what": "a", "count": 2 }),
            json!({ "what": "a", "note": "" }),
            json!({ "what": "a", "stars": null }),
        ] {
            assert!(!is_blocked(blocked, &given).await, "{blocked} {given}");
        }
    }
}

#[test]
fn a_rule_for_a_call_that_no_call_can_match_is_an_error_that_names_it() {
    for (arguments, fault) in [
        (json!({ "what": "a", "colour": "red" }), "colour"),
        (json!({ "what": 4 }), "what"),
        (json!({}), "what"),
        (json!({ "what": "a", "count": 300 }), "count"),
        (json!("a"), "object"),
    ] {
        let policy = Policy::new().call("order_thing", arguments.clone(), Rule::blocked("no"));
        let error = Runtime::builder().policy(policy).build().unwrap_err().to_string();
        let named = format!("no call of `order_thing` can have the arguments {arguments}: ");
        let (_, found) = error.split_once(&named).unwrap_or_else(|| panic!("{error}"));
        assert!(found.contains(fault), "{error}");
    }
}

/// A tool with a schema of its own, as those of servers have.
fn foreign(is_open: bool) -> FunctionTool {
    let schema = json!({
        "type": "object",
        "properties": { "what": { "type": "string" }, "note": { "type": ["string", "null"] } },
        "required": ["what"],
        "additionalProperties": is_open,
    });
    FunctionTool::new("order_thing", "Order.", schema, Effect::Destructive, |_, _: Value| async { Ok("ordered") })
}

/// Calls that tool; returns whether it ran without a question.
async fn runs_unasked(policy: Policy, given: &Value) -> Result<bool, CallError> {
    let approver = Scripted::approving();
    let builder = Runtime::builder().only(["orders"]).tool(foreign(true)).policy(policy).approver(approver.clone());
    builder.build().unwrap().run(orders { arguments: given.clone() }).await?;
    Ok(approver.asked().is_empty())
}

#[tokio::test]
async fn a_block_of_a_call_holds_for_null_and_absent_arguments_of_a_tool_with_a_schema_of_its_own() {
    for (blocked, given) in [
        (json!({ "what": "a", "note": null }), json!({ "what": "a" })),
        (json!({ "what": "a" }), json!({ "what": "a", "note": null })),
    ] {
        let policy = Policy::new().call("order_thing", blocked.clone(), Rule::blocked("no"));
        assert!(runs_unasked(policy, &given).await.unwrap_err().is_blocked(), "{blocked}");
        // An approval of exactly this call does not lift it.
        let policy = Policy::new().call("order_thing", given.clone(), Rule::PreApproved);
        let policy = policy.call("order_thing", blocked.clone(), Rule::blocked("no"));
        assert!(runs_unasked(policy, &given).await.unwrap_err().is_blocked(), "{blocked}");
    }
}

#[tokio::test]
async fn an_approval_of_a_call_of_a_tool_with_a_schema_of_its_own_is_for_equal_arguments_only() {
    let calls = [
        json!({ "what": "a" }),
        json!({ "what": "a", "note": null }),
        json!({ "what": "a", "unlisted": null }),
        json!({ "what": "a", "note": null, "unlisted": null }),
    ];
    for approved in &calls {
        for given in &calls {
            let policy = Policy::new().call("order_thing", approved.clone(), Rule::PreApproved);
            assert_eq!(runs_unasked(policy, given).await.unwrap(), approved == given, "{approved} {given}");
        }
    }
}

#[tokio::test]
async fn an_approval_of_a_call_of_a_function_holds_for_an_option_that_is_null_or_absent() {
    let calls = [json!({ "what": "a" }), json!({ "what": "a", "note": null })];
    for approved in &calls {
        for given in &calls {
            let policy = Policy::new().call("order_thing", approved.clone(), Rule::PreApproved);
            let builder = Runtime::builder().policy(policy).approval_mode(ApprovalMode::RejectAll);
            builder.build().unwrap().run(orders { arguments: given.clone() }).await.unwrap();
        }
    }
}

#[tokio::test]
async fn an_approval_that_no_call_can_match_is_ignored_with_a_warning() {
    let given = json!({ "what": "a" });
    for (tool, arguments, reason) in [
        ("order_thing", json!({ "what": "a", "dropped": 1 }), "no call of `order_thing` can have the arguments {"),
        ("order_thing", json!({}), "no call of `order_thing` can have the arguments {}: "),
        ("order_things", json!({ "what": "a" }), "unknown tool `order_things`; did you mean `order_thing`?"),
    ] {
        let policy = Policy::new().call(tool, arguments, Rule::PreApproved);
        let approver = Scripted::approving();
        let builder = Runtime::builder().only(["orders"]).tool(foreign(false)).policy(policy);
        let runtime = builder.approver(approver.clone()).build().unwrap();
        let [warning] = runtime.warnings() else { panic!("{:?}", runtime.warnings()) };
        assert!(warning.starts_with(&format!("a rule approves nothing, and is ignored: {reason}")), "{warning}");
        runtime.run(orders { arguments: given.clone() }).await.unwrap();
        assert_eq!(approver.asked().len(), 1);
    }
}
