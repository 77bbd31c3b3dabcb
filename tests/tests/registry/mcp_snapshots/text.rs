//! The text of a snapshot.

use llm_do::mcp::Snapshot;

const TEXT: &str = include_str!("tracker.mcp.json");

#[test]
fn a_snapshot_is_written_as_it_was_read() {
    let snapshot: Snapshot = TEXT.parse().unwrap();
    assert_eq!(snapshot.server(), "tracker");
    assert_eq!(snapshot.tools().iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["create_issue", "delete issue"]);
    assert_eq!(snapshot.to_string(), TEXT);
}

#[test]
fn a_misspelled_key_is_a_fault_with_a_suggestion() {
    let error = TEXT.replace("\"outputSchema\"", "\"outputScheme\"").parse::<Snapshot>().unwrap_err();
    assert!(error.faults()[0].contains("unknown key `outputScheme`; did you mean `outputSchema`?"), "{error}");
}
