//! Workers whose `output` or `output_schema` does not match their return types, which the registry rejects.

use llm_do::prelude::*;
use llm_do::runtime::BuildError;

/// What was found.
#[data]
struct Finding {
    score: u8,
    notes: Option<Vec<String>>,
}

/// Judge.
#[worker(file = "misfit.worker")]
async fn judge(input: String) -> Result<Finding>;

type Text = String;

/// Answer.
#[worker(output = native)]
async fn answer(input: String) -> Text;

/// Answer in text.
#[worker(output = prompted)]
async fn prompted_answer(input: String) -> String;

#[test]
fn all_workers_that_do_not_match_their_types_are_reported_together() {
    let error = Runtime::builder().only(["judge", "answer", "prompted_answer"]).build().unwrap_err();
    let BuildError::Registry(error) = error else { panic!("{error}") };
    let [native, schema, prompted] = error.faults() else { panic!("{error}") };
    for fault in [native, prompted] {
        assert!(fault.contains("plain text, which needs no schema") && fault.contains("worker_outputs.rs:"), "{fault}");
    }
    assert!(native.starts_with("`answer` (") && native.contains("`output = native`"), "{native}");
    assert!(prompted.contains("`output = prompted`"), "{prompted}");
    assert!(
        schema.starts_with("`output_schema` (misfit.worker:2) does not match the type `Result<Finding>`"),
        "{schema}"
    );
    for difference in [
        "properties differ: the schema has `remarks`, `score`, the Rust type has `notes`, `score`",
        "required properties differ: the schema has none, the Rust type has `score`",
        "`score` has the type `string`, but the Rust type has `integer`",
    ] {
        assert!(schema.contains(difference), "{schema}");
    }
}
