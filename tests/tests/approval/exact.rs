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

#[tokio::test]
async fn for_a_tool_with_a_schema_of_its_own_null_equals_an_absent_argument() {
    let schema = json!({
        "type": "object",
        "properties": { "what": { "type": "string" }, "note": { "type": ["string", "null"] } },
        "required": ["what"],
        "additionalProperties": false,
    });
    for (blocked, given) in [
        (json!({ "what": "a", "note": null }), json!({ "what": "a" })),
        (json!({ "what": "a" }), json!({ "what": "a", "note": null })),
    ] {
        let tool =
            FunctionTool::new("order_thing", "Order.", schema.clone(), Effect::Destructive, |_, _: Value| async {
                Ok("ordered")
            });
        let policy = Policy::new().call("order_thing", blocked, Rule::blocked("no"));
        let builder = Runtime::builder().only(["orders"]).tool(tool).policy(policy).approver(Scripted::approving());
        let error = builder.build().unwrap().run(orders { arguments: given }).await.unwrap_err();
        assert!(error.is_blocked(), "{error}");
    }
}
