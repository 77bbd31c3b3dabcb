//! The parameters of a tool: their schema, decoding and encoding.

use std::borrow::Cow;

use llm_do::approval::ApprovalMode;
use llm_do::error::chain;
use llm_do::prelude::*;
use llm_do::{Registry, Value, json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where to look.
#[data]
struct Range {
    /// The first line.
    from: u32,
    #[serde(default)]
    to: Option<u32>,
}

type Maybe<T> = Option<T>;

/// Search a text.
#[tool(effect = read_only, inline)]
fn find(
    /// What to look for.
    #[arg(example = "needle")]
    words: Cow<'_, str>,
    #[arg(flatten)] range: Range,
    #[arg(default, rename = "type", description = concat!("Of which ", "kind."))] kind: String,
    #[schemars(range(min = 1, max = 9))] limit: Maybe<u8>,
    #[arg(default = vec![1, 2])] weights: Vec<i32>,
) -> Value {
    json!([words, range.from, range.to, kind, limit, weights])
}

/// A part of a text, described by nested structs.
#[data]
struct Part {
    #[serde(flatten)]
    range: Range,
    name: String,
}

/// Cut a part out.
#[tool(effect = read_only, inline)]
fn cut(#[arg(flatten)] part: Part, depth: u32) -> Value {
    json!([part.range.from, part.range.to, part.name, depth])
}

/// Add numbers up.
#[tool(effect = read_only, inline)]
fn add_up(numbers: Vec<u32>) -> u32 {
    numbers.iter().sum()
}

fn parameters() -> Value {
    Registry::collect().unwrap().get("find").unwrap().parameters().clone()
}

async fn call(arguments: Value) -> Result<Value, CallError> {
    call_of("find", arguments).await
}

async fn call_of(tool: &str, arguments: Value) -> Result<Value, CallError> {
    let runtime = Runtime::builder().approval_mode(ApprovalMode::ApproveAll).build().unwrap();
    runtime.run_named(tool, arguments).await
}

#[test]
fn a_schema_has_defaults_examples_descriptions_and_constraints_in_signature_order() {
    let expected = json!({
        "type": "object",
        "properties": {
            "words": { "type": "string", "description": "What to look for.", "examples": ["needle"] },
            "from": { "description": "The first line.", "type": "integer", "format": "uint32", "minimum": 0 },
            "to": { "type": ["integer", "null"], "format": "uint32", "minimum": 0, "default": null },
            "type": { "type": "string", "description": "Of which kind.", "default": "" },
            "limit": { "type": ["integer", "null"], "format": "uint8", "minimum": 1, "maximum": 9 },
            "weights": { "type": "array", "items": { "type": "integer", "format": "int32" }, "default": [1, 2] },
        },
        "additionalProperties": false,
        "required": ["words", "from"],
    });
    let parameters = parameters();
    assert_eq!(parameters, expected);
    let names = |value: &Value| value["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&parameters), names(&expected));
}

#[tokio::test]
async fn fields_of_a_flattened_struct_are_arguments() {
    let result = call(json!({ "words": "a", "from": 2, "to": 5, "limit": 3 })).await.unwrap();
    assert_eq!(result, json!(["a", 2, 5, "", 3, [1, 2]]));
}

#[tokio::test]
async fn a_flattened_struct_may_flatten_another() {
    let result = call_of("cut", json!({ "from": 2, "name": "a", "depth": 1.0 })).await.unwrap();
    assert_eq!(result, json!([2, null, "a", 1]));
    let error = call_of("cut", json!({ "from": 2, "name": "a" })).await.unwrap_err();
    assert!(error.to_string().contains("`depth` is missing"), "{error}");
    let error = serde_json::from_value::<cut>(json!({ "from": 2, "name": "a", "depth": 1, "x": 1 })).err().unwrap();
    assert_eq!(error.to_string(), "unknown field `x`, expected `from`, `to`, `name`, `depth`");
}

#[tokio::test]
async fn of_many_faults_the_first_are_listed_and_the_rest_counted() {
    let error = call_of("add_up", json!({ "numbers": vec!["x"; 1000] })).await.unwrap_err().to_string();
    assert!(error.contains("`/numbers/0`") && error.ends_with("`/numbers/9`; and 990 more"), "{error}");
}

#[tokio::test]
async fn an_option_behind_an_alias_may_be_absent() {
    assert_eq!(call(json!({ "words": "a", "from": 2 })).await.unwrap(), json!(["a", 2, null, "", null, [1, 2]]));
}

#[tokio::test]
async fn an_unknown_argument_is_refused_beside_a_flattened_struct_too() {
    let error = call(json!({ "words": "a", "from": 2, "until": 3 })).await.unwrap_err();
    assert!(error.to_string().contains("until"), "{error}");
}

#[test]
fn arguments_round_trip_through_json() {
    let call = find {
        words: "a".into(),
        range: Range { from: 1, to: None },
        kind: String::new(),
        limit: Some(3),
        weights: vec![],
    };
    let written = serde_json::to_value(&call).unwrap();
    assert_eq!(written, json!({ "words": "a", "from": 1, "to": null, "type": "", "limit": 3, "weights": [] }));
    let read: find = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), written);
}

#[test]
fn a_call_of_the_required_arguments_has_the_defaults_of_the_optional_ones() {
    // Under an alias, only the compiler knows an `Option`.
    let call = find::new("a".into(), Range { from: 1, to: None }, None);
    assert_eq!((call.kind.as_str(), call.limit, call.weights.as_slice()), ("", None, [1, 2].as_slice()));
    let call = cut { depth: 3, ..cut::new(Part { range: Range { from: 1, to: None }, name: "b".into() }, 2) };
    assert_eq!(call.depth, 3);
}

#[test]
fn a_fault_names_its_argument() {
    let error = |value: Value| serde_json::from_value::<find>(value).err().unwrap().to_string();
    assert_eq!(error(json!({ "from": 1 })), "missing field `words`");
    assert_eq!(error(json!({ "words": "a" })), "missing field `from`");
    assert!(error(json!({ "words": 1, "from": 1 })).starts_with("`words`: invalid type: integer `1`"));
    assert!(
        error(json!({ "words": "a", "from": 1, "x": 1 })).starts_with("unknown field `x`, expected `words`, `from`")
    );
}

#[test]
fn the_function_takes_borrowed_parameters() {
    assert_eq!(find(Cow::Borrowed("b"), Range { from: 1, to: None }, "k".into(), None, vec![])[0], "b");
}

/// A query that omits default values when serialized.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Query {
    text: String,
    /// An absent value is read as 10, but `None` is skipped.
    #[serde(default = "ten", skip_serializing_if = "Option::is_none")]
    limit: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
}

#[expect(clippy::unnecessary_wraps, reason = "a default is of the field's type")]
fn ten() -> Option<u32> {
    Some(10)
}

/// Run queries.
#[tool(effect = read_only)]
fn queries(all: Vec<Query>) -> String {
    format!("{all:?}")
}

/// Run a query whose fields are arguments.
#[tool(effect = read_only)]
fn query(#[arg(flatten)] one: Query) -> String {
    format!("{one:?}")
}

/// Makes a typed call.
#[entry(toolsets = [queries, query])]
async fn querying(ctx: &CallContext<querying>, limit: Option<u32>, is_flat: bool) -> Result<String> {
    let one = Query { text: "a".into(), limit, tags: Vec::new() };
    Ok(if is_flat { ctx.call(query { one }).await? } else { ctx.call(queries { all: vec![one] }).await? })
}

#[tokio::test]
async fn a_typed_call_whose_arguments_change_in_json_is_refused() {
    let runtime = Runtime::builder().build().unwrap();
    for is_flat in [true, false] {
        let error = chain(&runtime.run(querying { limit: None, is_flat }).await.unwrap_err());
        assert!(error.contains("`limit` changes when it is serialized and deserialized"), "{error}");
        for limit in [10, 3] {
            let run = runtime.run(querying { limit: Some(limit), is_flat }).await.unwrap();
            assert!(run.contains(&format!("limit: Some({limit}), tags: []")), "{run}");
        }
    }
    let root = Query { text: "a".into(), limit: None, tags: Vec::new() };
    assert!(runtime.run(queries { all: vec![root] }).await.is_err());
}

/// A day of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Day {
    On { hour: u8 },
    Off { reason: Option<String> },
}

/// Plan days.
#[tool(effect = read_only)]
fn plan(days: std::collections::HashMap<String, Vec<Day>>, #[arg(default = 3)] weeks: u32) -> usize {
    days.len() + weeks as usize
}

#[tokio::test]
async fn a_typed_call_whose_arguments_round_trip_runs() {
    let days = (0..20).map(|day| (day.to_string(), vec![Day::Off { reason: None }, Day::On { hour: day }])).collect();
    let runtime = Runtime::builder().build().unwrap();
    assert_eq!(runtime.run(plan { days, weeks: 3 }).await.unwrap(), 23);
}
