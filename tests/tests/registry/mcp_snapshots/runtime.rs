//! Typed calls of a server's tools, and what building a runtime checks. Tools as values take the place of a server.

use llm_do::prelude::*;
use llm_do::runtime::{FunctionTool, RuntimeBuilder};
use llm_do::{Effect, Value, json};

toolset! {
    /// An issue tracker.
    pub tracker = mcp("tracker.mcp.json");
}

/// Creates an issue and deletes another.
#[entry(toolsets = [tracker::*])]
async fn replace(ctx: &CallContext<replace>, title: String) -> Result<i64> {
    let state = Some(tracker::CreateIssueState::Open);
    let issue = ctx.call(tracker::create_issue { state, ..tracker::create_issue::new(title) }).await?;
    let deleted: Value = ctx.call(tracker::delete_issue {}).await?;
    assert_eq!(deleted, json!({ "title": "old" }));
    Ok(issue.id)
}

/// Adds, without any server.
#[tool(effect = read_only)]
fn sum_up(a: i64, b: i64) -> i64 {
    a + b
}

/// A builder with the items that declare the toolset.
fn builder() -> RuntimeBuilder {
    Runtime::builder().only(["replace"])
}

fn arguments() -> Value {
    json!({
        "type": "object",
        "properties": {
            "title": { "type": "string" },
            "state": { "type": "string", "enum": ["open", "closed"] },
            "perPage": { "type": "integer" },
        },
        "required": ["title"],
    })
}

/// A tool that returns what it is given as `returned`.
fn tool(name: &str, schema: Value, returned: fn(Value) -> Value) -> FunctionTool {
    FunctionTool::new(name, "", schema, Effect::ReadOnly, move |_, given| async move { Ok(returned(given)) })
}

fn create(schema: Value, returned: fn(Value) -> Value) -> FunctionTool {
    let output = json!({ "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] });
    tool("mcp__tracker__create_issue", schema, returned).output_schema(output)
}

fn delete() -> FunctionTool {
    tool("mcp__tracker__delete_issue_b6f29277", json!({ "type": "object" }), |_| json!({ "title": "old" }))
}

fn faults(builder: RuntimeBuilder) -> Vec<String> {
    let text = builder.build().unwrap_err().to_string();
    let faults = text.lines().skip(1).map(str::trim);
    let without_place = |fault: &str| {
        let change = fault.rsplit_once("differs from the server: ").map_or(fault, |(_, change)| change);
        change.strip_suffix("; take it again with `mcp snapshot`").unwrap_or(change).to_owned()
    };
    faults.map(without_place).collect()
}

#[tokio::test]
async fn a_typed_call_reaches_the_tool_and_returns_its_type() {
    let create = create(arguments(), |given| {
        assert_eq!(given, json!({ "title": "new", "state": "open" }), "absent arguments are left out");
        json!({ "id": 7, "more": "ignored" })
    });
    let runtime = builder().tool(create).tool(delete()).build().unwrap();
    assert_eq!(runtime.run(replace { title: "new".into() }).await.unwrap(), 7);
}

#[tokio::test]
async fn a_result_that_the_snapshot_does_not_allow_is_an_error_of_the_call() {
    let create = create(arguments(), |_| json!({ "id": "seven" }));
    let runtime = builder().tool(create).tool(delete()).build().unwrap();
    let error = runtime.run(replace { title: "new".into() }).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("mcp__tracker__create_issue"), "{error}");
}

#[test]
fn all_differences_that_break_calls_fail_the_build() {
    let mut schema = arguments();
    schema["properties"]["state"]["enum"] = json!(["open"]);
    schema["properties"]["project"] = json!({ "type": "string" });
    schema["required"] = json!(["title", "project"]);
    let faults = faults(builder().tool(create(schema, |given| given)));
    assert_eq!(
        faults,
        [
            "the tool `create_issue`: the argument `project` is new and required",
            "the tool `create_issue`: the argument `state`: the value `\"closed\"` was removed",
            "the tool `delete issue` was removed",
        ]
    );
}

#[test]
fn additions_of_the_server_do_not_fail_the_build() {
    let mut schema = arguments();
    schema["properties"]["state"]["enum"] = json!(["open", "closed", "draft"]);
    schema["properties"]["labels"] = json!({ "type": "array" });
    let new = tool("mcp__tracker__new", json!({ "type": "object" }), |given| given);
    builder().tool(create(schema, |given| given)).tool(delete()).tool(new).build().unwrap();
}

#[test]
fn a_declared_toolset_without_its_server_fails_the_build_with_what_to_add() {
    let faults = faults(builder());
    let [fault] = &faults[..] else { panic!("{faults:?}") };
    assert!(fault.starts_with("`replace` (") && fault.contains("runtime.rs:"), "{fault}");
    assert!(fault.contains("declares `mcp__tracker__create_issue` of the MCP server `tracker`"), "{fault}");
    assert!(fault.ends_with("add the server with `RuntimeBuilder::mcp(..)`"), "{fault}");
}

#[test]
fn a_runtime_without_the_items_that_declare_the_toolset_needs_no_server() {
    Runtime::builder().only(["sum_up"]).build().unwrap();
}

#[test]
fn an_application_can_compare_a_server_itself() {
    let live = llm_do::mcp::Snapshot::new("tracker", []).unwrap();
    let changes = llm_do::mcp::check_snapshots(&live).unwrap_err();
    assert_eq!(changes.errors().len(), 2, "{changes}");
    let other = llm_do::mcp::Snapshot::new("other", []).unwrap();
    assert_eq!(llm_do::mcp::check_snapshots(&other).unwrap().to_string(), "");
}
