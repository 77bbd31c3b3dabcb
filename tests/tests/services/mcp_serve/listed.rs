//! What clients see of a tool, a worker and an entry.

use llm_do::Effect;
use llm_do::runtime::FunctionTool;
use llm_do::worker::WorkerSpec;

use super::*;

#[tokio::test]
async fn tools_are_listed_by_name_with_schemas_and_hints_about_their_effect() {
    for era in ERAS {
        let client = connect(serving(|builder| builder), era, User::default()).await;
        let tools = client.list_all_tools().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        assert!(names.is_sorted() && names.contains(&"welcome") && names.contains(&"clean"), "{names:?}");
        let add = tools.iter().find(|tool| tool.name == "add").unwrap();
        let mut expected = json!({
            "name": "add",
            "title": "Add",
            "description": "Add two numbers.",
            "inputSchema": add.schema_as_json_value(),
            "annotations": { "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true },
        });
        // Before 2026-07-28, only objects are structured.
        if era == Era::Rounds {
            expected["outputSchema"] = json!({ "type": "integer", "format": "int64" });
        }
        assert_eq!(serde_json::to_value(add).unwrap(), expected);
        let delete = tools.iter().find(|tool| tool.name == "delete").unwrap();
        assert!(delete.annotations.as_ref().unwrap().is_destructive());
        assert_eq!(delete.output_schema, None, "a text needs none");
    }
}

#[tokio::test]
async fn only_what_is_chosen_is_offered_and_can_be_called() {
    let service = serving(|builder| builder).only(["add", "delete"]).unwrap().read_only();
    let client = connect(service, Era::Rounds, User::default()).await;
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["add"]);
    let error = client.call_tool(call("delete", json!({ "path": "a" }))).await.unwrap_err();
    assert!(error.to_string().contains("unknown tool `delete`"), "{error}");
}

#[tokio::test]
async fn a_worker_has_the_hints_of_its_tools_and_is_offered_as_read_only_if_they_are() {
    let worker = |name: &str, tool: &str| WorkerSpec::new(name, "Do it.").toolsets([tool]);
    let narrowed = worker("planner", "delete").effect(Effect::ReadOnly).effect_reason("it only plans");
    let workers = [worker("adder", "add"), worker("deleter", "delete"), narrowed];
    let serving = || serving(|builder| workers.iter().cloned().fold(builder, RuntimeBuilder::worker));
    let names = ["adder", "clean", "deleter", "planner", "welcome"];
    let client = connect(serving().only(names).unwrap(), Era::Rounds, User::default()).await;
    let tools = client.list_all_tools().await.unwrap();
    let hints = tools.iter().map(|tool| {
        let hints = tool.annotations.as_ref().unwrap();
        (&*tool.name, hints.read_only_hint == Some(true), hints.destructive_hint == Some(true))
    });
    let expected = [
        ("adder", true, false),
        ("clean", false, false),
        ("deleter", false, true),
        ("planner", true, false),
        ("welcome", true, false),
    ];
    assert_eq!(hints.collect::<Vec<_>>(), expected);
    let reading = serving().only(names).unwrap().read_only();
    let client = connect(reading, Era::Rounds, User::default()).await;
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["adder", "planner", "welcome"]);
}

#[test]
fn an_unknown_name_is_an_error_with_a_suggestion() {
    let error = serving(|builder| builder).only(["delte"]).unwrap_err();
    assert_eq!(error.to_string(), "unknown tool, worker, entry or toolset `delte`; did you mean `delete`?");
}

#[tokio::test]
async fn schemas_are_objects_of_draft_2020_12_and_a_tool_that_may_replace_something_does_not_deny_it() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "properties": { "value": true, "pair": { "items": [{ "type": "string" }, true] } },
    });
    let put = FunctionTool::new("put", "Put a value.", schema, Effect::Idempotent, |_, _: Value| async { Ok(1) });
    let client = connect(serving(|builder| builder.tool(put)), Era::Rounds, User::default()).await;
    let tools = client.list_all_tools().await.unwrap();
    let put = tools.iter().find(|tool| tool.name == "put").unwrap();
    let expected = json!({ "value": {}, "pair": { "prefixItems": [{ "type": "string" }, {}] } });
    let sent = put.schema_as_json_value();
    assert_eq!((&sent["properties"], sent.get("$schema")), (&expected, None));
    let hints = put.annotations.as_ref().unwrap();
    assert_eq!((hints.destructive_hint, hints.idempotent_hint), (Some(true), Some(true)));
}

#[tokio::test]
async fn a_client_of_a_version_that_does_not_exist_is_answered_with_one_that_does() {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

    let runtime = llm_do::Runtime::builder().only(["add"]).build().unwrap();
    let (client, server) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(server);
    tokio::spawn(llm_do::mcp::McpService::new(runtime).serve(input, output));
    let (answers, mut requests) = tokio::io::split(client);
    let info = json!({ "name": "client", "version": "1" });
    let params = json!({ "protocolVersion": "2099-01-01", "capabilities": {}, "clientInfo": info });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    requests.write_all(format!("{request}\n").as_bytes()).await.unwrap();
    let answer = BufReader::new(answers).lines().next_line().await.unwrap().unwrap();
    let result = serde_json::from_str::<Value>(&answer).unwrap()["result"].clone();
    assert_eq!(result["protocolVersion"], "2025-11-25");
    let application = json!({ "name": "llm-do-tests", "version": env!("CARGO_PKG_VERSION") });
    assert_eq!(
        [&result["serverInfo"]["name"], &result["serverInfo"]["version"]],
        [&application["name"], &application["version"]]
    );
}
