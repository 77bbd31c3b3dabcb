//! The entry of `fixtures/hardening/entry.rs` over a tool; `workers/hardening_worker.rs` has the same over a worker.

use llm_do::prelude::*;

include!("../../fixtures/hardening/entry.rs");

/// Extract the person that a note is about.
#[tool(effect = read_only)]
async fn extract(note: String) -> Person {
    let (name, rest) = note.split_once(" is ").unwrap_or_default();
    Person { name: name.to_owned(), age: rest.trim_end_matches('.').parse().unwrap_or(0) }
}

#[tokio::test]
async fn the_same_entry_calls_a_tool_of_the_same_name_and_signature() {
    let runtime = Runtime::builder().build().unwrap();
    let person = runtime.run(intake { note: "Ann is 30.".into() }).await.unwrap();
    assert_eq!(person, Person { name: "Ann".into(), age: 30 });
}
