//! Snapshots of MCP servers: what is read and written, and all faults.
#![cfg(feature = "mcp")]

use expect_test::{Expect, expect};
use llm_do_worker_file::Snapshot;
use serde_json::{Value, json};

fn tool(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object", "properties": { "b": {}, "a": {} } } })
}

fn check_faults(text: &str, expected: &Expect) {
    let error = text.parse::<Snapshot>().expect_err("a fault");
    expected.assert_eq(&(error.faults().join("\n") + "\n"));
}

#[test]
fn what_is_written_is_read_again() {
    let full = json!({
        "name": "full",
        "title": "Full",
        "description": "Has every key.",
        "inputSchema": { "type": "object" },
        "outputSchema": { "type": "array" },
        "annotations": { "readOnlyHint": true },
    });
    let snapshot = Snapshot::new("demo", [full, tool("empty")]).expect("a valid snapshot");
    assert_eq!(snapshot.to_string().parse(), Ok(snapshot));
}

#[test]
fn tools_are_sorted_and_the_properties_of_schemas_are_not() {
    let written = Snapshot::new("demo", [tool("b"), tool("a")]).expect("a valid snapshot").to_string();
    assert_eq!(written, Snapshot::new("demo", [tool("a"), tool("b")]).expect("a valid snapshot").to_string());
    let places = ["\"a\",", "\"b\": {}", "\"a\": {}", "\"b\","].map(|text| written.find(text).expect("its place"));
    assert!(places.is_sorted(), "{written}");
}

#[test]
fn what_else_a_server_lists_is_left_out() {
    let mut listed = tool("a");
    listed["icons"] = json!([]);
    listed["title"] = Value::Null;
    let plain = Snapshot::new("demo", [tool("a")]).expect("a valid snapshot");
    assert_eq!(Snapshot::new("demo", [listed]).expect("a valid snapshot"), plain);
}

#[test]
fn an_unknown_version_is_the_only_fault() {
    check_faults(
        r#"{ "version": 2, "servers": [] }"#,
        &expect![[r"
            `version`: unsupported version 2: expected 1; take the snapshot again with `mcp snapshot`
        "]],
    );
}

#[test]
fn all_faults_are_reported_together() {
    let text = json!({
        "sever": "demo",
        "tools": [
            7,
            { "title": "No name" },
            { "name": "no_schema", "outputSchemas": {} },
            { "name": "list", "inputSchema": { "type": "array" }, "title": 1, "annotations": [] },
            { "name": "a_b", "inputSchema": { "type": "object" } },
            { "name": "a_b", "inputSchema": { "type": "object" } },
            {
                "name": "bad",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "a": 1,
                        "b": { "type": "text", "enum": 1 },
                        "c": { "$ref": "#/$defs/None" },
                        "d": { "anyOf": {} },
                    },
                    "required": "a",
                },
                "outputSchema": { "items": 1 },
            },
        ],
    });
    check_faults(
        &text.to_string(),
        &expect![[r#"
            missing `version`: expected 1
            missing `server`: expected the name of the server
            `tools/0`: expected a tool as an object
            `tools/1`: missing `name`: expected the name of the tool as a string
            the tool `no_schema`: missing `inputSchema`: expected the JSON schema of the arguments
            the tool `no_schema`: unknown key `outputSchemas`; did you mean `outputSchema`?
            keys: `name`, `title`, `description`, `inputSchema`, `outputSchema`, `annotations`
            the tool `list`: `title`: expected a string
            the tool `list`: `inputSchema`: expected `"type": "object"`, since arguments have names
            the tool `list`: `annotations`: expected an object
            the tool `bad`: `inputSchema/properties/a`: expected a JSON schema: an object or a boolean
            the tool `bad`: `inputSchema/properties/b/type`: expected one of `array`, `boolean`, `integer`, `null`, `number`, `object`, `string`, or a list of them, found "text"
            the tool `bad`: `inputSchema/properties/b/enum`: expected a list of values
            the tool `bad`: `inputSchema/properties/c/$ref`: unknown definition `#/$defs/None`
            the tool `bad`: `inputSchema/properties/d/anyOf`: expected a list of schemas
            the tool `bad`: `inputSchema/required`: expected a list of names
            the tool `bad`: `outputSchema/items`: expected a JSON schema: an object or a boolean
            unknown key `sever`; did you mean `server`?
            keys: `version`, `server`, `tools`
            the tool `a_b` is listed twice; remove one
        "#]],
    );
}

#[test]
fn text_that_is_not_json_is_a_fault_with_its_place() {
    check_faults(
        "{\n  \"version\": 1,\n}",
        &expect![[r"
        invalid JSON: trailing comma at line 3 column 1
    "]],
    );
    check_faults(
        "[]",
        &expect![[r"
        expected a JSON object with `version`, `server` and `tools`
    "]],
    );
}
