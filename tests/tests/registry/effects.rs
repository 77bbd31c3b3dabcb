//! Effects that the compiler cannot compare: those of tools that are named by a text.

use llm_do::approval::Policy;
use llm_do::prelude::*;
use llm_do::runtime::{FunctionTool, RuntimeBuilder};
use llm_do::{Effect, json};

/// Count what is there, by tools that the compiler does not know.
#[tool(effect = read_only, toolsets = ["burn_all", "measure_all"])]
async fn count_all(ctx: &CallContext<count_all>) -> Result<u32> {
    Ok(ctx.depth())
}

/// Measure what is there.
#[worker(toolsets = ["burn_all"])]
async fn measure_all(input: String) -> String;

/// A tool that the program adds.
fn burn_all(effect: Effect) -> RuntimeBuilder {
    let schema = json!({ "type": "object" });
    let tool = FunctionTool::new("burn_all", "Burn all.", schema, effect, |_, _| async { Ok("burnt") });
    Runtime::builder().only(["count_all"]).tool(tool)
}

#[test]
fn a_linked_tool_is_compared_with_tools_that_are_known_when_the_runtime_is_built() {
    let runtime = burn_all(Effect::ReadOnly).build().unwrap();
    let effect = |name: &str| runtime.registry().get(name).unwrap().effect();
    assert_eq!((effect("count_all"), effect("measure_all")), (Effect::ReadOnly, Effect::ReadOnly));
    for (stronger, word) in
        [(Effect::Idempotent, "idempotent"), (Effect::Undeclared, "undeclared"), (Effect::Destructive, "destructive")]
    {
        let error = burn_all(stronger).build().unwrap_err().to_string();
        let expected = format!(
            "`count_all` (tests/tests/registry/effects.rs:9) states the effect read_only, but may call `burn_all`, whose effect is \
             {word}; state the stronger effect or none, or remove `burn_all`"
        );
        assert!(error.contains(&expected), "{error}");
        assert!(!error.contains("`measure_all` ("), "it states no effect: {error}");
    }
}

#[test]
fn an_effect_of_the_policy_is_believed_and_compared() {
    let reads = Policy::new().effect("burn_all", Effect::ReadOnly);
    burn_all(Effect::Undeclared).policy(reads).build().unwrap();
    let counts = Policy::new().effect("count_all", Effect::ReadOnly);
    burn_all(Effect::Destructive).policy(counts).build().unwrap();
    let burns = Policy::new().effect("burn_all", Effect::Destructive);
    let error = burn_all(Effect::ReadOnly).policy(burns).build().unwrap_err().to_string();
    assert!(error.contains("but may call `burn_all`, whose effect is destructive"), "{error}");
}
