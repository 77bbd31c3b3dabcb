//! A script may declare a tool with any schemas: with faults, but without a panic.

#![no_main]

use llm_do::json;
use llm_do::prelude::*;
use llm_do::runtime::FunctionTool;
use llm_do::script::ScriptTool;
use llm_do::{Effect, Value};

const SCRIPT: &str = "
def main() -> int:
    \"\"\"
    ---
    toolsets: [given]
    ---
    Do it.
    \"\"\"
    return 1
";

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(schema) = text.parse::<Value>() else { return };
    let arguments = json!({ "type": "object", "properties": { "a": schema.clone() } });
    let given = FunctionTool::new("given", "Quote \"\"\" and \\.", arguments, Effect::ReadOnly, |_, _| async { Ok(1) });
    let script = ScriptTool::parse("main", SCRIPT).expect("the script is valid");
    _ = Runtime::builder().tool(given.output_schema(schema)).tool(script).build();
});
