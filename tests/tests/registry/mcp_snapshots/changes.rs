//! Which changes of a server break typed calls.

use llm_do::mcp::{Changes, Snapshot};
use llm_do::{Value, json};

fn snapshot(schema: &Value, output: Option<Value>) -> Snapshot {
    let mut tool = json!({ "name": "t", "inputSchema": schema });
    if let Some(output) = output {
        tool["outputSchema"] = output;
    }
    Snapshot::new("s", [tool]).unwrap()
}

/// Compares two schemas of the argument `a`.
fn of_argument(old: Value, new: Value) -> Changes {
    let schema = |argument| json!({ "type": "object", "properties": { "a": argument } });
    Changes::between(&snapshot(&schema(old), None), &snapshot(&schema(new), None))
}

/// Compares two schemas of the result.
fn of_result(old: Value, new: Value) -> Changes {
    let empty = || json!({ "type": "object" });
    Changes::between(&snapshot(&empty(), Some(old)), &snapshot(&empty(), Some(new)))
}

#[track_caller]
fn breaks(changes: &Changes, error: &str) {
    assert_eq!(changes.errors(), [format!("the tool `t`: {error}")]);
}

#[track_caller]
fn is_fine(changes: &Changes) {
    assert_eq!(changes.errors(), [""; 0]);
    assert_eq!(changes.notes().len(), 1, "{changes}");
}

#[test]
fn an_argument_that_accepts_less_breaks_calls() {
    let string = || json!({ "type": "string" });
    let cases = [
        (json!({ "type": "number" }), json!({ "type": "integer" }), ": the type was `number` and is `integer`"),
        (json!({ "type": ["string", "null"] }), string(), ": the type was `null`, `string` and is `string`"),
        (json!({}), string(), ": the type was any and is `string`"),
        (string(), json!({ "type": "string", "enum": ["x"] }), ": only `\"x\"` is accepted now"),
        (json!({ "enum": ["x", "y"] }), json!({ "enum": ["x"] }), ": the value `\"y\"` was removed"),
        (string(), json!({ "type": "string", "maxLength": 3 }), ": `maxLength` is 3 and was not set"),
        (
            json!({ "type": "integer", "minimum": 1 }),
            json!({ "type": "integer", "minimum": 2 }),
            ": `minimum` was 1 and is 2",
        ),
        (
            json!({ "type": "integer", "minimum": 1 }),
            json!({ "type": "integer", "exclusiveMinimum": 1 }),
            ": `minimum` was 1 and is not set",
        ),
        (
            json!({ "type": "integer" }),
            json!({ "type": "integer", "multipleOf": 2 }),
            ": `multipleOf` is 2 and was not set",
        ),
        (string(), json!({ "type": "string", "pattern": "^x" }), ": `pattern` is new"),
        (
            json!({ "type": "array", "items": { "type": "number" } }),
            json!({ "type": "array", "items": { "type": "integer" } }),
            "[]`: the type was `number` and is `integer`",
        ),
        (
            json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }),
            string(),
            ": some values are not accepted any longer (`anyOf` changed)",
        ),
        (
            json!({ "type": "object", "additionalProperties": { "type": "number" } }),
            json!({ "type": "object", "additionalProperties": { "type": "integer" } }),
            ".*`: the type was `number` and is `integer`",
        ),
    ];
    for (old, new, error) in cases {
        let place = if error.starts_with(':') { "the argument `a`" } else { "the argument `a" };
        breaks(&of_argument(old, new), &format!("{place}{error}"));
    }
}

#[test]
fn an_argument_that_accepts_more_is_a_note() {
    let string = || json!({ "type": "string" });
    let cases = [
        (json!({ "type": "integer" }), json!({ "type": "number" })),
        (string(), json!({ "type": ["string", "null"] })),
        (string(), json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })),
        (string(), json!({ "oneOf": [{ "type": "string" }, { "type": "null" }] })),
        (string(), json!({})),
        (string(), json!({ "type": "string", "description": "New." })),
        (json!({ "enum": ["x"] }), json!({ "type": "string", "enum": ["y", "x"] })),
        (json!({ "type": "integer", "minimum": 2 }), json!({ "type": "integer", "minimum": 1, "maxLength": 1 })),
        (json!({ "type": "integer", "multipleOf": 4 }), json!({ "type": "integer", "multipleOf": 2 })),
        (json!({ "type": "string", "pattern": "^x" }), string()),
    ];
    for (old, new) in cases {
        is_fine(&of_argument(old, new));
    }
}

#[test]
fn fields_of_nested_objects_are_named_with_their_path() {
    let object = |fields: Value, required: Value| json!({ "type": "array", "items": { "type": "object", "properties": fields, "required": required } });
    let old = object(json!({ "x": {}, "y": {} }), json!(["x"]));
    breaks(&of_argument(old.clone(), object(json!({ "x": {} }), json!(["x"]))), "the argument `a[].y` was removed");
    let required = object(json!({ "x": {}, "y": {} }), json!(["x", "y"]));
    breaks(&of_argument(old.clone(), required), "the argument `a[].y` is required now");
    is_fine(&of_argument(old, object(json!({ "x": {}, "y": {}, "z": { "type": "string" } }), json!(["x"]))));
}

#[test]
fn a_definition_is_compared_where_it_is_used() {
    let schema = |of: &str| {
        let node = json!({ "type": "object", "properties": {
            "value": { "type": of },
            "next": { "$ref": "#/$defs/Node" },
        } });
        json!({ "type": "object", "properties": { "first": { "$ref": "#/$defs/Node" } }, "$defs": { "Node": node } })
    };
    let [old, new] = ["number", "integer"].map(|of| snapshot(&schema(of), None));
    breaks(&Changes::between(&old, &new), "the argument `first.value`: the type was `number` and is `integer`");
    is_fine(&Changes::between(&new, &old));
}

#[test]
fn a_result_that_its_type_does_not_accept_breaks_calls() {
    let object =
        |field: Value, required: Value| json!({ "type": "object", "properties": { "x": field }, "required": required });
    let old = || object(json!({ "enum": ["a", "b"] }), json!(["x"]));
    let more = object(json!({ "enum": ["a", "b", "c"] }), json!(["x"]));
    breaks(&of_result(old(), more), "the field `x` of the result: the value `\"c\"` is new");
    let missing = object(json!({ "enum": ["a"] }), json!([]));
    breaks(&of_result(old(), missing), "the field `x` of the result may be missing now");
    let (string, list) = (json!({ "type": "string" }), json!({ "type": "array" }));
    breaks(&of_result(string, list), "the result: the type was `string` and is `array`");
    is_fine(&of_result(old(), object(json!({ "enum": ["a"] }), json!(["x"]))));
}

#[test]
fn a_new_field_and_a_new_bound_of_a_result_are_notes() {
    let object = |fields: Value| json!({ "type": "object", "properties": fields });
    is_fine(&of_result(
        object(json!({ "x": { "type": "integer" } })),
        object(json!({ "x": { "type": "integer" }, "y": {} })),
    ));
    is_fine(&of_result(json!({ "type": "integer", "minimum": 1 }), json!({ "type": "integer" })));
}

#[test]
fn a_result_without_a_schema_breaks_calls_and_a_new_schema_does_not() {
    let empty = || json!({ "type": "object" });
    let [with, without] = [Some(empty()), None].map(|output| snapshot(&empty(), output));
    breaks(&Changes::between(&with, &without), "the result has no schema any longer");
    is_fine(&Changes::between(&without, &with));
}

#[test]
fn new_tools_and_descriptions_are_notes() {
    let tool = |name: &str, description: &str| json!({ "name": name, "description": description, "inputSchema": { "type": "object" } });
    let old = Snapshot::new("s", [tool("a", "Old.")]).unwrap();
    let new = Snapshot::new("s", [tool("a", "New."), tool("b", "")]).unwrap();
    let changes = Changes::between(&old, &new);
    assert_eq!(changes.to_string(), "note: the tool `a`: the description changed\nnote: the tool `b` is new\n");
    assert_eq!(Changes::between(&new, &old).errors(), ["the tool `b` was removed"]);
}

#[test]
fn schemas_that_refer_to_each_other_many_times_are_compared_in_bounded_time() {
    let schema = |last: &str| {
        let pair = |next: usize| json!({ "$ref": format!("#/$defs/d{next}") });
        let level = |next| json!({ "type": "object", "properties": { "l": pair(next), "r": pair(next) } });
        let mut defs: serde_json::Map<_, _> = (0..40).map(|depth| (format!("d{depth}"), level(depth + 1))).collect();
        defs.insert("d40".into(), json!({ "type": last }));
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": defs })
    };
    let [old, new] = ["number", "integer"].map(|last| snapshot(&schema(last), None));
    assert!(!Changes::between(&old, &new).errors().is_empty());
}
