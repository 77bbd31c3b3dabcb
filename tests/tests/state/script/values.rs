//! Values cross exactly, or not at all.

use llm_do::script::ScriptTool;
use llm_do::{Value, json};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::script::{builder, run_body, text_of};

/// Any JSON value of a moderate size, with whole numbers of 64 bits and all finite floats.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |float| float.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

#[test]
fn every_json_value_crosses_to_a_script_to_a_tool_and_back() {
    let text = "from typing import Any\ndef main(value: Any) -> Any:\n    \"\"\"\n    ---\n    toolsets: [echo]\n    ---\n    Pass on.\n    \"\"\"\n    \
                return [value, echo(value)]\n";
    let runtime = builder().0.tool(ScriptTool::parse("main", text).unwrap()).build().unwrap();
    let tokio = tokio::runtime::Runtime::new().unwrap();
    let mut runner = TestRunner::new(Config { cases: 200, ..Config::default() });
    runner
        .run(&value(), |value| {
            let result = tokio.block_on(runtime.run_named("main", json!({ "value": value }))).unwrap();
            // As text, so that `1` and `1.0` differ.
            prop_assert_eq!(result.to_string(), json!([value, value]).to_string());
            Ok(())
        })
        .unwrap();
}

#[tokio::test]
async fn what_json_cannot_express_is_refused_with_its_place() {
    let cases = [
        (
            "    return {'a': [1, {2}]}",
            "the result[\"a\"][1]: a set has no form in JSON; write `sorted(..)` or `list(..)`",
        ),
        ("    return [b'x']", "the result[0]: a value of bytes has no form in JSON"),
        ("    return {'x': float('inf')}", "the result[\"x\"]: the float inf has no form in JSON"),
        ("    return 2 ** 64", "the result: an integer of 65 bits does not fit into 64"),
        ("    return -(2 ** 63) - 1", "an integer of 64 bits does not fit into 64"),
        ("    return {1: 2}", "the result: a key of type int has no form in JSON; write `str(key)`"),
        ("    return echo(float('nan'))", "the argument `value` of echo(): the float nan has no form in JSON"),
        (
            "    from datetime import date\n    return date(2026, 1, 2)",
            "the result: a date has no form in JSON; write `.isoformat()`",
        ),
        ("    return len", "has no form in JSON; return plain data"),
        ("    x: list[Any] = []\n    x.append(x)\n    return x", "has no form in JSON"),
    ];
    for (body, expected) in cases {
        let text = text_of(&run_body(body).await.unwrap_err());
        assert!(text.contains(expected), "{body}: {text}");
    }
}

#[tokio::test]
async fn numbers_at_the_borders_cross() {
    let body = "    return [2 ** 64 - 1, -(2 ** 63), 1.0, 1e308, -0.0, 5e-324]";
    let result = run_body(body).await.unwrap();
    assert_eq!(result.to_string(), "[18446744073709551615,-9223372036854775808,1.0,1e+308,-0.0,5e-324]");
}
