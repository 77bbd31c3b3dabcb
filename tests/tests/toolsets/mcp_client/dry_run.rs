//! Dry runs with tools of servers: only the user's settings make one a tool that reads.

use llm_do::approval::Policy;
use llm_do::{Effect, json};

use super::script::{Script, builder};

/// A tool that its server calls read-only.
fn hinted() -> llm_do::Value {
    json!([{ "name": "hinted", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } }])
}

#[tokio::test]
async fn a_tool_that_only_its_server_calls_read_only_is_planned_and_nothing_is_sent() {
    let script = Script::new(&[]).with_file("log").with_tools(&hinted());
    let runtime = script.runtime();
    for (tool, arguments) in [("hinted", json!({})), ("echo", json!({ "text": "hi" }))] {
        let start = runtime.start_named(&format!("mcp__s__{tool}"), arguments).dry_run();
        let handle = start.handle();
        assert!(start.await.unwrap_err().is_dry_run(), "{tool}");
        assert_eq!(handle.plan().calls.len(), 1, "{tool}");
    }
    assert!(script.received("tools/call").is_empty());
}

#[tokio::test]
async fn a_tool_that_the_user_calls_read_only_runs() {
    let reads = || Policy::new().effect("mcp__s__echo", Effect::ReadOnly);
    for by_policy in [false, true] {
        let script = Script::new(&[]).with_file("log");
        let builder = if by_policy {
            builder(script.server()).policy(reads())
        } else {
            builder(script.server().tool_effect("echo", Effect::ReadOnly))
        };
        let runtime = builder.build().unwrap();
        let start = runtime.start_named("mcp__s__echo", json!({ "text": "hi" })).dry_run();
        assert_eq!(start.await.unwrap(), "hi");
        assert_eq!(script.received("tools/call").len(), 1, "{by_policy}");
    }
}
