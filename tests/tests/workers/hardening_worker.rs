//! The entry of `fixtures/hardening/entry.rs` over a worker; `calls/hardening_tool.rs` has the same over a tool.

use llm_do::prelude::*;
use llm_do::testing::TestModel;
use serde_json::json;

include!("../../fixtures/hardening/entry.rs");

/// Extract the person that a note is about.
#[worker(instructions = "Extract the person.")]
async fn extract(note: String) -> Person;

#[tokio::test]
async fn an_entry_calls_a_worker() {
    let model = TestModel::new().output(json!({ "name": "Ann", "age": 30 }));
    let runtime = Runtime::builder().force_model(model).build().unwrap();
    let person = runtime.run(intake { note: "Ann is 30.".into() }).await.unwrap();
    assert_eq!(person, Person { name: "Ann".into(), age: 30 });
}
