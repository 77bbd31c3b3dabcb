//! The schemas of a server's tools: read in their draft, and used as far as they can be.

use llm_do::mcp::{McpError, McpServer};
use llm_do::{Runtime, Value, json};

use super::script::{Script, call};

async fn connect_error(server: McpServer) -> McpError {
    server.connect().await.unwrap_err()
}

/// Two references to a schema with two references, and so on.
fn bomb() -> Value {
    let defs = (0..40).map(|n| {
        let next = json!({ "$ref": format!("#/$defs/d{}", n + 1) });
        (format!("d{n}"), json!({ "properties": { "a": next, "b": next } }))
    });
    let mut defs: serde_json::Map<_, _> = defs.collect();
    defs.insert("d40".into(), json!({ "type": "string" }));
    json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/d0" } }, "$defs": defs })
}

#[tokio::test]
async fn a_tool_with_an_unusable_schema_is_left_out_with_a_warning_that_names_it() {
    let deep = (0..200).fold(json!({ "type": "string" }), |schema, _| json!({ "type": "array", "items": schema }));
    let tools = json!([
        { "name": "bomb", "inputSchema": bomb() },
        { "name": "large", "inputSchema": { "type": "object", "description": "x".repeat(300_000) } },
        { "name": "list", "inputSchema": { "type": "array" } },
        { "name": "ok", "inputSchema": { "type": "object" } },
        { "name": "ok", "inputSchema": { "type": "object" } },
    ]);
    let runtime = Script::new(&["only="]).with_tools(&tools).runtime();
    let names: Vec<_> = runtime.registry().iter().map(|item| item.name()).collect();
    assert_eq!(names, ["mcp__s__ok"]);
    let warnings = runtime.warnings().join("\n");
    for name in ["bomb", "large", "list"] {
        assert!(
            warnings.contains(&format!("the tool `{name}` of the MCP server `s` is left out: the schema")),
            "{warnings}"
        );
    }
    assert!(warnings.contains("the MCP server `s` lists the tool `ok` twice; the first one is used"), "{warnings}");
    let tools = json!([{ "name": "deep", "inputSchema": { "type": "object", "properties": { "a": deep } } }]);
    // A message that is nested too deep cannot be read.
    let error = connect_error(Script::new(&["only="]).with_tools(&tools).server()).await;
    assert!(error.to_string().contains("recursion limit exceeded"), "{error}");
}

/// Whether a call is sent to the server: its arguments are valid by the schema.
async fn is_sent(script: &Script, runtime: &Runtime, tool: &str, arguments: Value) -> bool {
    let before = script.received("tools/call").len();
    // The script knows no tool of this name, so that the call fails in any case.
    call(runtime, tool, arguments).await.unwrap_err();
    script.received("tools/call").len() > before
}

#[tokio::test]
async fn a_part_of_a_schema_that_cannot_be_checked_drops_its_check_and_not_the_tool() {
    let tool = |name: &str, part: Value| {
        let properties = json!({ "a": part, "n": { "type": "integer" } });
        json!({ "name": name, "inputSchema": { "type": "object", "properties": properties } })
    };
    let tools = json!([
        tool("remote", json!({ "$ref": "https://example.org/a.json" })),
        tool("backtracks", json!({ "type": "string", "pattern": "(a)\\1" })),
        tool("looks", json!({ "type": "object", "patternProperties": { "^(?!x)": { "type": "string" } }, "additionalProperties": false })),
        tool("untyped", json!({ "type": "any" })),
        tool("required", json!({ "type": "string", "required": true })),
        { "name": "open", "inputSchema": { "properties": { "n": { "type": "integer" } } } },
    ]);
    let script = Script::new(&["only="]).with_tools(&tools).with_file("log");
    let runtime = script.runtime();
    let warnings = runtime.warnings().join("\n");
    for name in ["remote", "backtracks", "looks", "untyped", "required", "open"] {
        assert!(runtime.registry().get(&format!("mcp__s__{name}")).is_some(), "{name}: {warnings}");
        assert!(is_sent(&script, &runtime, name, json!({ "n": 1 })).await, "{name}");
        assert!(!is_sent(&script, &runtime, name, json!({ "n": "x" })).await, "the rest is checked: {name}");
        let expected = format!("the schema of the tool `{name}` of the MCP server `s`: `#/properties/a");
        assert_eq!(warnings.contains(&expected), name != "open", "{name}: {warnings}");
    }
    let parameters = |name: &str| {
        runtime.registry().get(&format!("mcp__s__{name}")).unwrap().parameters()["properties"]["a"].clone()
    };
    assert_eq!(parameters("backtracks"), json!({ "type": "string", "pattern": "(a)\\1" }), "models see the pattern");
    assert_eq!((parameters("untyped"), parameters("required")), (json!({}), json!({ "type": "string" })));
}

#[tokio::test]
async fn a_null_for_an_optional_argument_is_refused_by_its_name_where_the_schema_has_none() {
    let properties = json!({ "date": { "type": "string" }, "note": { "type": ["string", "null"] } });
    let tools = json!([{ "name": "book", "inputSchema": { "type": "object", "properties": properties } }]);
    let script = Script::new(&["only="]).with_tools(&tools).with_file("log");
    let runtime = script.runtime();
    let error = call(&runtime, "book", json!({ "date": null })).await.unwrap_err();
    assert!(error.ends_with("value is not of type \"string\" at `/date`"), "{error}");
    assert_eq!(script.received("tools/call").len(), 0);
    for given in [json!({}), json!({ "note": null })] {
        assert!(is_sent(&script, &runtime, "book", given.clone()).await, "{given}");
        let sent = script.received("tools/call").pop().unwrap();
        assert_eq!(sent["params"]["arguments"], given, "`null` and an absent argument stay what they are");
    }
}

#[tokio::test]
async fn a_schema_of_an_earlier_draft_is_read_as_such() {
    let pair = json!({ "type": "array", "items": [{ "type": "string" }, true], "additionalItems": false });
    let schema = json!({
        "$schema": "http://json-schema.org/draft-04/schema#", "type": "object",
        "properties": { "pair": pair, "n": { "type": "number", "minimum": 0, "exclusiveMinimum": true } },
    });
    let script =
        Script::new(&["only="]).with_tools(&json!([{ "name": "own", "inputSchema": schema }])).with_file("log");
    let runtime = script.runtime();
    assert!(runtime.warnings().is_empty(), "{:?}", runtime.warnings());
    let properties = runtime.registry().get("mcp__s__own").unwrap().parameters()["properties"].clone();
    let pair = json!({ "type": "array", "prefixItems": [{ "type": "string" }, {}], "items": false });
    assert_eq!(properties, json!({ "pair": pair, "n": { "type": "number", "exclusiveMinimum": 0 } }));
    assert!(is_sent(&script, &runtime, "own", json!({ "pair": ["a", 1], "n": 1 })).await);
    for invalid in [json!({ "n": 0 }), json!({ "pair": ["a", 1, 2] })] {
        assert!(!is_sent(&script, &runtime, "own", invalid.clone()).await, "{invalid}");
    }
}
