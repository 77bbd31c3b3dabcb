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
    let shown = json!({ "kind": "guarantee", "tool": "rules", "holds": true, "bound": 0.019, "comparisons": 240, "disagreements": 1 });
    log.event(root, shown);
    log.event(root, json!({ "kind": "drifted", "worker": "judge", "disagree": 3, "of": 20 }));
    let Some(page) = Page::open(&log.text()) else { return };
    let text = details(&page, 0);
    let guarantee = "The guarantee of rules holds: 1 of 240 comparisons disagree, at most 1.9 %";
    for expected in
        ["rules left the answer to the model: too long", guarantee, "judge disagreed in 3 of 20 comparisons"]
    {
        assert!(text.contains(expected), "`{expected}` is not in {text}");
    }
    assert!(!page.run("document.body.innerText").as_str().unwrap().contains("not read"));
}

#[test]
fn an_edit_that_a_rule_refuses_shows_its_arguments_and_the_rule() {
    let mut log = Log::default();
    log.root();
    let (asked, edited) = (json!({ "to": "Ann" }), json!({ "to": "everybody" }));
    log.event(
        TOOL,
        json!({ "kind": "approval_asked", "summary": "act", "arguments": asked, "position": 1, "total": 1 }),
    );
    log.event(
        TOOL,
        json!({ "kind": "edit_refused", "arguments": edited, "rule": "policy_tool", "reason": "they would mind" }),
    );
    log.event(TOOL, json!({ "kind": "edit_refused", "arguments": { "to": 3 }, "reason": "expected a string" }));
    let Some(page) = Page::open(&log.text()) else { return };
    let text = details(&page, 1);
    for expected in [
        "Edit refused by a rule: they would mind",
        "Rule: policy tool",
        "-   \"to\": \"Ann\"",
        "+   \"to\": \"everybody\"",
        "Edit refused: expected a string",
        "Waiting for a decision",
    ] {
        assert!(text.contains(expected), "`{expected}` is not in {text}");
    }
    assert!(!page.run("document.body.innerText").as_str().unwrap().contains("not read"));
}

#[test]
fn a_replay_is_not_drawn_again_and_does_not_extend_its_call() {
    let (root, other) = ((0, None, "review_all"), (2, Some(0), "act"));
    let asked = json!({ "kind": "approval_asked", "summary": "act", "arguments": {}, "position": 1, "total": 1 });
    let decided = |rule: &str, is_replayed: bool| {
        json!({
            "kind": "approval_decided", "approved": true, "by": "approver", "rule": rule, "scope": "call",
            "replayed": is_replayed,
        })
    };
    let finished = |is_replayed: bool| json!({ "kind": "call_finished", "result": "done", "elapsed_ms": 100, "replayed": is_replayed });
    let mut log = Log::default();
    log.root();
    log.event(TOOL, asked.clone());
    log.event(TOOL, decided("effect", false));
    log.event(TOOL, started(&json!({})));
    log.event(TOOL, finished(false));
    log.event(other, asked.clone());
    log.resume(200);
    log.root();
    log.event(TOOL, decided("journal", true));
    log.event(TOOL, started(&json!({})));
    log.event(TOOL, finished(true));
    log.event(other, asked);
    log.event(other, decided("effect", false));
    log.event(other, started(&json!({})));
    log.event(other, finished(false));
    log.event(root, finished(false));
    let Some(page) = Page::open(&log.text()) else { return };
    assert_eq!(page.names(), ["review_all", "act", "act"]);
    let durations = page.run(
        "[...document.querySelectorAll('.row')].sort((a, b) => a.dataset.index - b.dataset.index)\
                              .map(row => row.querySelector('.cell-duration').textContent)",
    );
    assert_eq!((&durations[1], &durations[2]), (&json!("300 ms"), &json!("20.8 s")), "{durations}");
    let text = details(&page, 1);
    assert_eq!(text.matches("Approved").count(), 1, "{text}");
    assert!(text.contains("100 ms") && !text.contains("from the journal"), "{text}");
    let text = details(&page, 2);
    assert_eq!((text.matches("Approved").count(), text.matches("Waiting for a decision").count()), (1, 0), "{text}");
    assert!(details(&page, 0).contains("20.7 s"), "it waited: {}", details(&page, 0));
}
