//! Scripts that abstain.

use llm_do::prelude::*;
use llm_do::script::ScriptTool;
use llm_do::{CallError, json};

const AGE: &str = r#"
def age(note: str) -> int:
    """Return the age of the person in a note."""
    words = note.split()
    if not words[-1].isdigit():
        raise Unsure(f"{words[-1]} is not a number: it is a word")
    return int(words[-1])
"#;

/// Runs a script that may call `age`.
async fn run(name: &str, script: &str, note: &str) -> Result<llm_do::Value, CallError> {
    let tools = [ScriptTool::parse("age", AGE).unwrap(), ScriptTool::parse(name, script).unwrap()];
    let tools = tools.into_iter().skip(usize::from(name == "age"));
    let builder = tools.fold(crate::own_builder().state(super::Log::default()), llm_do::runtime::RuntimeBuilder::tool);
    builder.build().unwrap().run_named(name, json!({ "note": note })).await
}

#[tokio::test]
async fn a_script_abstains_with_the_reason_that_it_gives() {
    assert_eq!(run("age", AGE, "Ann is 30").await.unwrap(), 30);
    let error = run("age", AGE, "Ann is young").await.unwrap_err();
    assert_eq!(error.to_string(), "`age` is unsure: young is not a number: it is a word");
    assert!(error.is_unsure());
}

const TWICE: &str = r#"
def twice(note: str) -> int:
    """
    ---
    toolsets: [age]
    ---
    Return twice the age.
    """
    return 2 * age(note=note)
"#;

#[tokio::test]
async fn a_script_that_calls_one_that_abstains_abstains_too_unless_it_catches_the_exception() {
    assert_eq!(run("twice", TWICE, "Ann is 30").await.unwrap(), 60);
    let error = run("twice", TWICE, "Ann is young").await.unwrap_err();
    assert_eq!(error.to_string(), "`twice` is unsure: young is not a number: it is a word");

    let body =
        "    try:\n        return age(note=note)\n    except Exception as error:\n        return len(str(error))";
    let catching = TWICE.replace("    return 2 * age(note=note)", body);
    let text = "Unsure: young is not a number: it is a word";
    assert_eq!(run("twice", &catching, "Ann is young").await.unwrap(), text.len());
}

#[tokio::test]
async fn another_failure_is_not_an_abstention() {
    let failing = AGE.replace("raise Unsure(", "raise ValueError(");
    let error = run("age", &failing, "Ann is young").await.unwrap_err();
    assert!(!error.is_unsure(), "{error:?}");
}

#[test]
fn raising_the_name_without_a_reason_is_found_before_it_runs() {
    let script = AGE.replace("raise Unsure(f\"{words[-1]} is not a number: it is a word\")", "raise Unsure");
    let tool = ScriptTool::parse("age", &script).unwrap();
    let error = crate::own_builder().state(super::Log::default()).tool(tool).build().unwrap_err().to_string();
    assert!(error.contains("age.py:6"), "{error}");
}
