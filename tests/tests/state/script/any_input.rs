//! Any source text is read, and any schema becomes a stub: with faults, but without a panic.

use llm_do::approval::ApprovalMode;
use llm_do::prelude::*;
use llm_do::runtime::FunctionTool;
use llm_do::script::ScriptTool;
use llm_do::{Effect, Value, json};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::script::{builder, with_body};

/// A script of the hundred with some of its characters replaced, removed or repeated.
fn mutated() -> impl Strategy<Value = String> {
    let scripts: Vec<_> = include_str!("hundred.txt").split("=== ").skip(1).map(str::to_owned).collect();
    let change = (any::<prop::sample::Index>(), prop_oneof!["[\\PC\n]{0,3}", "[()\\[\\]{}:,.\"'\n #\\\\]{1,4}"]);
    (prop::sample::select(scripts), prop::collection::vec(change, 1..6)).prop_map(|(script, changes)| {
        let body = script.split_once('\n').unwrap().1;
        let mut letters: Vec<char> = with_body("def main() -> Any:", body).chars().collect();
        for (at, text) in changes {
            let at = at.index(letters.len());
            letters.splice(at..=at, text.chars());
        }
        letters.into_iter().collect()
    })
}

/// A schema as tools have them, and stranger ones.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({ "type": "string" })),
        Just(json!({ "type": ["integer", "null"] })),
        Just(json!({ "type": "number", "default": 1.5 })),
        Just(json!({ "enum": ["a", "b'\"\\", null, 3, true] })),
        Just(json!({ "const": "x\n" })),
        Just(json!({ "$ref": "#/$defs/Node" })),
        Just(json!({ "$ref": "#/$defs/missing" })),
        Just(json!(true)),
        Just(json!({})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|items| json!({ "type": "array", "items": items })),
            inner.clone().prop_map(|values| json!({ "type": "object", "additionalProperties": values })),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|of| json!({ "anyOf": of })),
            prop::collection::vec(("[a-z]{1,3}|class|with space|1st|é|\"'", inner), 1..4).prop_map(|fields| {
                let required: Vec<_> = fields.iter().take(1).map(|(name, _)| name.clone()).collect();
                let fields: serde_json::Map<String, Value> = fields.into_iter().collect();
                json!({ "type": "object", "properties": fields, "required": required })
            }),
        ]
    })
}

#[test]
fn any_text_is_read_without_a_panic() {
    let mut runner = TestRunner::new(Config { cases: 150, ..Config::default() });
    runner
        .run(&mutated(), |text| {
            let faults = match ScriptTool::parse("main", &text) {
                Err(faults) => faults.to_string(),
                Ok(tool) => match builder().0.approval_mode(ApprovalMode::ApproveAll).tool(tool).build() {
                    Err(faults) => faults.to_string(),
                    Ok(_) => return Ok(()),
                },
            };
            let is_checked = !faults.contains("panicked") && !faults.contains("its types cannot be checked");
            prop_assert!(is_checked, "{}", faults);
            Ok(())
        })
        .unwrap();
}

#[test]
fn any_schema_becomes_a_stub_without_faults() {
    let script = "def main() -> int:\n    \"\"\"\n    ---\n    toolsets: [given]\n    ---\n    Do it.\n    \"\"\"\n    return 1\n";
    let node = json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/Node" }, "of": { "type": "array", "items": { "$ref": "#/$defs/Node" } } } });
    let mut runner = TestRunner::new(Config { cases: 60, ..Config::default() });
    runner
        .run(&(schema(), schema()), |(parameter, mut output)| {
            let parameters = json!({
                "type": "object", "properties": { "a": parameter, "not a name": {} }, "$defs": { "Node": node.clone() },
            });
            if let Some(output) = output.as_object_mut() {
                output.insert("$defs".to_owned(), json!({ "Node": node.clone() }));
            }
            let given =
                FunctionTool::new("given", "Quote \"\"\" and \\.", parameters, Effect::ReadOnly, |_, _| async {
                    Ok(1)
                });
            let tool = ScriptTool::parse("main", script).unwrap();
            let built = Runtime::builder().only(["search"]).tool(given.output_schema(output)).tool(tool).build();
            // References to nothing are faults of the schema itself.
            if let Err(error) = built {
                prop_assert!(error.to_string().contains("schema of the arguments"), "{}", error);
            }
            Ok(())
        })
        .unwrap();
}
