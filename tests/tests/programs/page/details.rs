//! The details of a call.

use serde_json::{Value, json};

use super::Page;
use super::log::Log;

const TOOL: (u64, Option<u64>, &str) = (1, Some(0), "act");

fn started(arguments: &Value) -> Value {
    json!({ "kind": "call_started", "what": "tool", "by": "code", "arguments": arguments })
}

/// Returns the text of the details of a call.
fn details(page: &Page, call: u64) -> String {
    page.go(&format!("#call={call}"));
    page.run("document.getElementById('detail').innerText").as_str().unwrap().to_owned()
}

#[test]
fn an_edited_approval_shows_what_the_person_changed() {
    let mut log = Log::default();
    log.root();
    let (asked, edited) = (json!({ "path": "asked.txt" }), json!({ "path": "edited.txt" }));
    log.event(
        TOOL,
        json!({ "kind": "approval_asked", "summary": "act", "arguments": asked, "position": 1, "total": 1 }),
    );
    log.event(TOOL, json!({ "kind": "approval_decided", "approved": true, "by": "approver", "rule": "effect", "scope": "call", "edited": edited }));
    log.event(TOOL, started(&edited));
    let Some(page) = Page::open(&log.text()) else { return };
    let text = details(&page, 1);
    assert!(text.contains("-   \"path\": \"asked.txt\"") && text.contains("+   \"path\": \"edited.txt\""), "{text}");
}

#[test]
fn long_integers_are_not_rounded_and_hidden_characters_are_seen() {
    let mut log = Log::default();
    log.root();
    log.event(
        TOOL,
        started(&json!({ "id": 1_234_567_890_123_456_789_u64, "text": "a\u{e0041}\u{ad}b\u{2764}\u{fe0f}" })),
    );
    let Some(page) = Page::open(&log.text()) else { return };
    let text = details(&page, 1);
    for expected in ["1234567890123456789", "a\\u{e0041}\\u{ad}b\u{2764}\u{fe0f}"] {
        assert!(text.contains(expected), "`{expected}` is not in {text}");
    }
}

#[test]
fn a_run_that_succeeds_after_it_was_resumed_has_no_error() {
    let mut log = Log::default();
    log.root();
    log.event(TOOL, started(&json!({})));
    let failed = json!({ "kind": "call_finished", "error": "the disk is full", "elapsed_ms": 1 });
    log.event(TOOL, failed.clone());
    log.event((0, None, "review_all"), failed);
    log.event((2, Some(0), "again"), started(&json!({})));
    let done = json!({ "kind": "call_finished", "result": "done", "elapsed_ms": 1 });
    log.event((2, Some(0), "again"), done.clone());
    let Some(running) = Page::open(&log.text()) else { return };
    assert!(details(&running, 0).contains("running"));
    // There is one browser at a time.
    drop(running);
    log.event((0, None, "review_all"), done);
    let page = Page::open(&log.text()).unwrap();
    let text = details(&page, 0);
    assert!(text.contains("done") && !text.contains("the disk is full"), "{text}");
    assert!(details(&page, 1).contains("the disk is full"));
}

#[test]
fn a_hybrid_and_a_drifted_shadow_are_remarks() {
    let mut log = Log::default();
    log.root();
    let root = (0, None, "review_all");
    log.event(root, json!({ "kind": "hybrid", "tool": "rules", "answer": "abstained", "reason": "too long" }));
    log.event(root, json!({ "kind": "drifted", "worker": "judge", "disagree": 3, "of": 20 }));
    let Some(page) = Page::open(&log.text()) else { return };
    let text = details(&page, 0);
    for expected in ["rules left the answer to the model: too long", "judge disagreed in 3 of 20 comparisons"] {
        assert!(text.contains(expected), "`{expected}` is not in {text}");
    }
    assert!(!page.run("document.body.innerText").as_str().unwrap().contains("not read"));
}
