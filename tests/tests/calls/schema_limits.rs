//! Untrusted schemas and deeply nested values neither hang nor overflow the stack.

use llm_do::error::chain;
use llm_do::journal::MemoryJournal;
use llm_do::prelude::*;
use llm_do::testing::TestModel;
use llm_do::worker::WorkerSpec;
use llm_do::{Value, json};

/// Say what comes.
#[tool(effect = read_only)]
fn repeat(value: Value) -> Value {
    value
}

fn worker(schema: Value) -> WorkerSpec {
    WorkerSpec::new("total", "Sum up.").input_schema(schema)
}

/// Builds a runtime with a worker of this input schema.
fn built(schema: Value) -> Result<Runtime, String> {
    let builder = Runtime::builder().worker(worker(schema)).force_model(TestModel::new().text("done"));
    builder.build().map_err(|error| error.to_string())
}

/// Returns why this schema is refused as an input schema; asserts that it is refused as an output schema too.
fn refusal(schema: &Value) -> String {
    let error = built(schema.clone()).map(drop).unwrap_err();
    let spec = WorkerSpec::new("total", "Sum up.").output_schema(schema.clone());
    let output = Runtime::builder().worker(spec).build().map(drop).unwrap_err().to_string();
    assert!(output.contains("`output_schema` "), "{output}");
    error
}

/// A schema with `levels` definitions, each with `times` references to the next.
fn levels(levels: usize, times: usize) -> Value {
    let next = |level| vec![json!({ "$ref": format!("#/$defs/d{}", level + 1) }); times];
    let mut definitions = json!({});
    for level in 0..levels {
        definitions[format!("d{level}")] = json!({ "allOf": next(level) });
    }
    definitions[format!("d{levels}")] = json!({ "type": "object" });
    json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": definitions })
}

/// Lists nested `depth` levels deep.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| Value::Array(vec![inner]))
}

#[test]
fn a_schema_whose_references_multiply_is_refused() {
    for depth in [15, 26, 40, 500] {
        let error = refusal(&levels(depth, 2));
        assert!(error.contains("100000 schemas after references are expanded") || depth > 15, "{error}");
        assert!(error.contains("after references are expanded"), "{error}");
    }
}

#[test]
fn a_long_chain_of_references_is_refused() {
    // It also exceeds the size limit.
    assert!(refusal(&levels(10_000, 1)).contains("more than the limit of 262144"));
    assert!(refusal(&levels(1_000, 1)).contains("nested deeper than 128 schemas"));
}

#[test]
fn a_schema_that_is_nested_too_deep_is_refused() {
    for depth in [65, 127, 100_000] {
        let mut schema = json!({ "type": "object" });
        for _ in 0..depth {
            let inner = std::mem::take(&mut schema);
            schema["not"] = inner;
        }
        let error = built(schema).unwrap_err();
        assert!(error.contains("`input_schema` is nested deeper than"), "{error}");
    }
}

#[test]
fn a_schema_with_a_reference_cycle_is_refused() {
    for schema in [
        json!({ "type": "object", "$ref": "#" }),
        json!({ "type": "object", "$ref": "#/$defs/a", "$defs": { "a": { "anyOf": [{ "$ref": "#/$defs/a" }] } } }),
    ] {
        assert!(refusal(&schema).contains("a cycle of references without a property or an item in between"));
    }
}

#[test]
fn a_schema_with_invalid_references_is_refused() {
    for reference in ["#/$defs/b", "#missing", "https://example.com/schema"] {
        let error = refusal(&json!({ "type": "object", "$ref": reference, "$defs": { "a": { "$anchor": "anchor" } } }));
        assert!(error.contains(&format!("the target of `$ref: {reference}` is not in the schema")), "{error}");
    }
    assert!(refusal(&json!({ "type": "object", "$dynamicRef": "#a" })).contains("`$dynamicRef` is not supported"));
}

#[test]
fn a_reference_to_an_anchor_is_one_to_its_place() {
    let word = json!({ "$anchor": "word", "type": "string" });
    let schema = json!({ "type": "object", "properties": { "a": { "$ref": "#word" } }, "$defs": { "w": word } });
    assert_eq!(built(schema).map(drop), Ok(()));
}

#[test]
fn a_schema_that_is_too_large_is_refused() {
    let schema = json!({ "type": "object", "description": "x".repeat(300_000) });
    assert!(refusal(&schema).contains("more than the limit of 262144"));
    let patterns = vec![json!({ "pattern": "a" }); 201];
    assert!(refusal(&json!({ "type": "object", "anyOf": patterns })).contains("201 patterns"));
}

#[test]
fn a_file_with_a_schema_beyond_the_limits_is_refused_at_its_line() {
    let text = format!("---\nname: total\ninput_schema: {}\n---\nSum up.\n", levels(26, 2));
    let error = text.parse::<WorkerSpec>().unwrap_err();
    assert!(error.faults()[0].starts_with("line 3: `input_schema` is nested deeper than"), "{error}");
}

#[test]
fn a_file_whose_aliases_multiply_a_long_text_is_refused() {
    let (long, aliases) = ("x".repeat(20_000), vec!["*a"; 50_000].join(", "));
    let text = format!("---\nname: total\nhints: [&a \"{long}\", {aliases}]\n---\nSum up.\n");
    let error = text.parse::<WorkerSpec>().unwrap_err();
    assert!(error.faults()[0].starts_with("line 3: more than 16777216 bytes of text"), "{}", error.faults()[0]);
}

/// The schema of a linked list that describes each node twice, so that the work doubles with each level.
fn doubled() -> Value {
    let next = json!({ "properties": { "next": { "$ref": "#" } } });
    json!({ "type": "object", "allOf": [next, next] })
}

/// A linked list with `nodes` nodes, the last of which is invalid.
fn list(nodes: usize) -> Value {
    (0..nodes).fold(json!(1), |next, _| json!({ "next": next }))
}

#[tokio::test]
async fn a_recursive_schema_is_accepted_and_enforced() {
    let tree = json!({
        "type": "object",
        "properties": { "children": { "type": "array", "items": { "$ref": "#" } }, "name": { "type": "string" } },
        "required": ["name"],
        "additionalProperties": false,
    });
    let runtime = built(tree).unwrap();
    let mut value = json!({ "name": "leaf" });
    for _ in 0..30 {
        value = json!({ "name": "a", "children": [value, { "name": "b" }] });
    }
    assert_eq!(runtime.run_named("total", value.clone()).await.unwrap(), "done");
    value["children"][0]["children"][0]["name"] = json!(1);
    let error = chain(&runtime.run_named("total", value).await.unwrap_err());
    assert!(error.contains("/children/0/children/0/name"), "{error}");
}

#[tokio::test]
async fn a_value_that_takes_too_much_work_is_invalid() {
    let runtime = built(doubled()).unwrap();
    let error = chain(&runtime.run_named("total", list(4)).await.unwrap_err());
    assert!(error.contains("/next/next"), "{error}");
    for nodes in [30, 60, 120] {
        let error = chain(&runtime.run_named("total", list(nodes)).await.unwrap_err());
        assert!(error.contains("takes too much work"), "{error}");
    }
}

#[tokio::test]
async fn sorting_a_value_of_many_schemas_does_not_hang() {
    let items = json!({ "allOf": vec![json!({}); 20_000] });
    let sets = json!({ "type": "array", "uniqueItems": true, "items": items });
    let runtime = built(json!({ "type": "object", "properties": { "all": sets } })).unwrap();
    let all: Vec<_> = (0..90).collect();
    // Sorting used to compare every pair of schemas for each item.
    assert_eq!(runtime.run_named("total", json!({ "all": all })).await.unwrap(), "done");
}

fn matching(pattern: &str) -> Value {
    let items = json!({ "type": "string", "pattern": pattern });
    json!({ "type": "object", "properties": { "all": { "type": "array", "items": items } } })
}

#[test]
fn patterns_that_have_to_backtrack_are_refused() {
    for pattern in ["^(?:(a|aa)+)+\\1!$", "(?=a)(.*a){12}x", "(?<!a)b"] {
        let error = built(matching(pattern)).unwrap_err();
        assert!(error.contains("look-around") && error.contains("back-reference"), "{error}");
    }
}

#[tokio::test]
async fn a_pattern_is_matched_in_linear_time() {
    let runtime = built(matching("^(a|aa)+(.*a){12}x$")).unwrap();
    let all = ["a".repeat(100_000)];
    // With backtracking it would take practically forever.
    let error = chain(&runtime.run_named("total", json!({ "all": all })).await.unwrap_err());
    assert!(error.contains("/all/0"), "{error}");
}

#[tokio::test]
async fn arguments_that_are_nested_too_deep_are_refused() {
    let runtime = || Runtime::builder().journal(MemoryJournal::new()).build().unwrap();
    for depth in [128, 100_000] {
        let error = runtime().run_named("repeat", json!({ "value": nested(5) })).await;
        assert_eq!(error.unwrap(), nested(5));
        let mut deep = nested(depth);
        let mut arguments = json!({ "value": null });
        std::mem::swap(&mut arguments["value"], &mut deep);
        let error = chain(&runtime().run_named("repeat", arguments).await.unwrap_err());
        assert!(error.contains("nested deeper than 128 levels"), "{error}");
    }
}
