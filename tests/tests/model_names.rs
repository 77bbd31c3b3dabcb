//! Names of models that no provider could build: found when the runtime is built, all at once.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use llm_do::prelude::*;
use llm_do::runtime::BuildError;
use llm_do::testing::TestModel;
use llm_do::worker::WorkerSpec;

/// Answer, on a model whose provider is misspelt.
#[worker(model = "opnai:gpt-5")]
async fn misspelt(input: String) -> String;

/// Answer, on a model of a provider that nobody links.
#[worker(model = "azure:gpt-5")]
async fn elsewhere(input: String) -> String;

/// Answer, on a model that is there.
#[worker(model = "test:any")]
async fn sound(input: String) -> String;

/// Add two numbers.
#[tool(effect = read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

const MISSPELT: &str = "the worker `misspelt` (tests/tests/model_names.rs:10): unknown provider `opnai` of the model \
                        `opnai:gpt-5`; did you mean `openai`?; this program has ";

fn faults(error: BuildError) -> Vec<String> {
    match error {
        BuildError::Models(faults) => faults,
        other => panic!("{other}"),
    }
}

#[test]
fn every_model_of_a_worker_that_no_provider_builds_is_told_when_the_runtime_is_built() {
    let error = Runtime::builder().build().unwrap_err();
    assert!(error.to_string().starts_with("unusable models:\n  the worker `elsewhere`"), "{error}");
    let faults = faults(error);
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(
        faults[0].contains("(tests/tests/model_names.rs:14): unknown provider `azure` of the model `azure:gpt-5`;")
    );
    assert!(faults[1].starts_with(MISSPELT), "{faults:?}");
}

#[test]
fn the_runtimes_model_workers_of_the_program_and_worker_files_are_told_in_the_same_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("written.worker");
    std::fs::write(&path, "---\nname: written\nmodel: olama:qwen3\n---\nAnswer.\n").unwrap();
    let given = WorkerSpec::new("given", "Answer.").model("gpt-5");
    let here = line!() + 1;
    let builder = Runtime::builder().worker(given);
    let error = builder.worker_dir(folder.path()).model("gorq:x").build().unwrap_err();
    let faults = faults(error);
    assert_eq!(faults.len(), 5, "{faults:?}");
    let expected = "`model` of the runtime: unknown provider `gorq` of the model `gorq:x`; did you mean `groq`?";
    assert!(faults[0].starts_with(expected), "{faults:?}");
    let expected =
        format!("the worker `given` (tests/tests/model_names.rs:{here}): `gpt-5` is not a model's name; write");
    assert!(faults[2].starts_with(&expected), "{faults:?}");
    let expected = format!("the worker `written` ({}): unknown provider `olama`", path.display());
    assert!(faults[4].starts_with(&expected), "{faults:?}");
}

#[test]
fn the_default_model_is_judged_where_it_is_used() {
    let faults = faults(Runtime::builder().default_model("local").build().unwrap_err());
    assert!(faults[0].starts_with("the default model: `local` is not a model's name;"), "{faults:?}");
    let faults = self::faults(Runtime::builder().default_model("local").model("test:a").build().unwrap_err());
    assert_eq!(faults.len(), 2, "{faults:?}");
}

#[tokio::test]
async fn a_forced_model_needs_no_name() {
    let runtime = Runtime::builder().model("nowhere").force_model(TestModel::new().text("Hello!")).build().unwrap();
    assert_eq!(runtime.run(misspelt { input: "Ann".into() }).await.unwrap(), "Hello!");
    assert_eq!(runtime.run(add { a: 1, b: 2 }).await.unwrap(), 3);
}

#[test]
fn check_tells_a_model_that_no_provider_builds() {
    let payload = std::panic::catch_unwind(|| llm_do::check!()).unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    assert!(text.starts_with("invalid linked items (2):\n"), "{text}");
    assert!(text.contains(MISSPELT), "{text}");
    llm_do::check!(Runtime::builder().force_model(TestModel::new()));
}

#[test]
fn a_worker_file_tells_the_line_of_a_malformed_model() {
    let error = "---\nname: a\nmodel: gpt-5\n---\nAnswer.".parse::<WorkerSpec>().unwrap_err();
    let expected = "line 3: invalid model name `gpt-5`: expected `provider:model`, such as `openai:gpt-5`";
    assert_eq!(error.faults(), [expected]);
}
