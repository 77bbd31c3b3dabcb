//! Invalid model names are reported together when the runtime is built.

use llm_do::prelude::*;
use llm_do::runtime::{BuildError, RuntimeBuilder};
use llm_do::testing::TestModel;
use llm_do::worker::WorkerSpec;

/// Answer, on a model whose provider is misspelt.
#[worker(model = "opnai:gpt-5")]
async fn misspelt(input: String) -> String;

/// Answer, on a model whose provider is not linked.
#[worker(model = "azure:gpt-5")]
async fn absent(input: String) -> String;

/// Answer, on a valid model.
#[worker(model = "test:any")]
async fn valid(input: String) -> String;

/// Add two numbers.
#[tool(effect = read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

const MISSPELT: &str = "the worker `misspelt` (tests/tests/registry/model_names.rs:9): unknown provider `opnai` of the model \
                        `opnai:gpt-5`; did you mean `openai`?; this program has ";

/// A builder with the items of this module.
fn builder() -> RuntimeBuilder {
    Runtime::builder().only(["misspelt", "absent", "valid", "add"])
}

fn faults(error: BuildError) -> Vec<String> {
    match error {
        BuildError::Models(faults) => faults,
        other => panic!("{other}"),
    }
}

#[test]
fn every_invalid_model_of_a_worker_is_reported_when_the_runtime_is_built() {
    let error = builder().build().unwrap_err();
    assert!(error.to_string().starts_with("unusable models:\n  the worker `absent`"), "{error}");
    let faults = faults(error);
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(
        faults[0]
            .contains("(tests/tests/registry/model_names.rs:13): unknown provider `azure` of the model `azure:gpt-5`;")
    );
    assert!(faults[1].starts_with(MISSPELT), "{faults:?}");
}

#[test]
fn one_error_lists_invalid_models_of_the_runtime_of_workers_and_of_worker_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("written.worker");
    std::fs::write(&path, "---\nname: written\nmodel: olama:qwen3\n---\nAnswer.\n").unwrap();
    let given = WorkerSpec::new("given", "Answer.").model("gpt-5");
    let here = line!() + 1;
    let error = builder().worker(given).worker_dir(folder.path()).model("gorq:x").build().unwrap_err();
    let faults = faults(error);
    assert_eq!(faults.len(), 5, "{faults:?}");
    let expected = "`model` of the runtime: unknown provider `gorq` of the model `gorq:x`; did you mean `groq`?";
    assert!(faults[0].starts_with(expected), "{faults:?}");
    let expected = format!(
        "the worker `given` (tests/tests/registry/model_names.rs:{here}): invalid model name `gpt-5`: expected `provider:model`"
    );
    assert!(faults[2].starts_with(&expected), "{faults:?}");
    let expected = format!("the worker `written` ({}): unknown provider `olama`", path.display());
    assert!(faults[4].starts_with(&expected), "{faults:?}");
}

#[test]
fn the_default_model_is_checked_only_if_it_is_used() {
    let faults = faults(builder().default_model("local").build().unwrap_err());
    assert!(faults[0].starts_with("the default model: invalid model name `local`: expected"), "{faults:?}");
    let faults = self::faults(builder().default_model("local").model("test:a").build().unwrap_err());
    assert_eq!(faults.len(), 2, "{faults:?}");
}

#[tokio::test]
async fn with_a_forced_model_invalid_names_are_ignored() {
    let runtime = builder().model("invalid").force_model(TestModel::new().text("Hello!")).build().unwrap();
    assert_eq!(runtime.run(misspelt { input: "Ann".into() }).await.unwrap(), "Hello!");
    assert_eq!(runtime.run(add { a: 1, b: 2 }).await.unwrap(), 3);
}

#[test]
fn check_reports_an_invalid_model() {
    let payload = std::panic::catch_unwind(|| llm_do::check!(builder())).unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    assert!(text.starts_with("invalid linked items (2):\n"), "{text}");
    assert!(text.contains(MISSPELT), "{text}");
    llm_do::check!(builder().force_model(TestModel::new()));
}

#[test]
fn a_malformed_model_in_a_worker_file_is_reported_with_its_line() {
    let error = "---\nname: a\nmodel: gpt-5\n---\nAnswer.".parse::<WorkerSpec>().unwrap_err();
    let expected = "line 3: invalid model name `gpt-5`: expected `provider:model`, such as `openai:gpt-5`";
    assert_eq!(error.faults(), [expected]);
}
