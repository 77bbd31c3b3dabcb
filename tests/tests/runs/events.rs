//! The one stream of events: a tree of calls.

use std::collections::{BTreeMap, BTreeSet};

use llm_do::approval::ApprovalMode;
use llm_do::event::{EventKind, JsonLines, Outcome, Terminal, Verbosity};
use llm_do::prelude::*;
use llm_do::testing::{Recorder, TestModel};
use serde_json::Value;

/// Read.
#[tool(effect = read_only)]
fn read(path: String) -> String {
    path
}

/// Summarise.
#[worker(toolsets = [read])]
async fn digest(input: String) -> String;

/// Save.
#[tool(effect = idempotent)]
fn save(text: String) -> usize {
    text.len()
}

/// Summarises and saves.
#[entry(toolsets = [digest, save])]
async fn report_all(ctx: &CallContext<report_all>) -> Result<usize> {
    ctx.progress("begun");
    let text = ctx.call(digest { input: "all".into() }).await?;
    Ok(ctx.call(save { text }).await?)
}

async fn run(sink: impl llm_do::event::EventSink + 'static) {
    let builder = Runtime::builder().force_model(TestModel::new()).approval_mode(ApprovalMode::ApproveAll);
    builder.streaming(true).sink(sink).build().unwrap().run(report_all {}).await.unwrap();
}

#[tokio::test]
async fn a_run_is_one_tree_with_the_entry_at_depth_0_and_its_workers_at_1() {
    let recorder = Recorder::new();
    run(recorder.clone()).await;
    let events = recorder.events();
    let calls: BTreeSet<_> =
        events.iter().map(|event| (event.call, event.parent, event.depth, event.name.to_string())).collect();
    let expected =
        [(0, None, 0, "report_all"), (1, Some(0), 1, "digest"), (2, Some(1), 1, "read"), (3, Some(0), 0, "save")];
    assert_eq!(calls, expected.map(|(call, parent, depth, name)| (call, parent, depth, name.to_owned())).into());
    assert_eq!(events.iter().map(|event| &event.run).collect::<BTreeSet<_>>().len(), 1);
    assert!(events.iter().enumerate().all(|(place, event)| event.seq == place as u64));
}

#[tokio::test]
async fn answers_before_a_failure_are_in_the_events() {
    let recorder = Recorder::new();
    let builder = Runtime::builder().force_model(TestModel::new()).approval_mode(ApprovalMode::RejectAll);
    let error =
        builder.end_on_denial(true).sink(recorder.clone()).build().unwrap().run(report_all {}).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("call to `save` denied"), "{error}");
    let events = recorder.events();
    let kinds = |name: &str| events.iter().filter(|event| &*event.name == name).map(|event| &event.kind).collect();
    let answers: Vec<&EventKind> = kinds("digest");
    let answered = |kind: &&&EventKind| matches!(kind, EventKind::ModelResponse { parts, .. } if !parts.is_empty());
    assert_eq!(answers.iter().filter(answered).count(), 2, "{answers:?}");
    let read: Vec<&EventKind> = kinds("read");
    let finished = |kind: &&EventKind| matches!(kind, EventKind::CallFinished { outcome: Outcome::Result(_), .. });
    assert!(read.iter().any(finished), "{read:?}");
}

#[tokio::test]
async fn every_started_call_finishes_and_has_an_approval_decision() {
    let recorder = Recorder::new();
    run(recorder.clone()).await;
    let mut seen: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for event in recorder.events() {
        let word = match event.kind {
            EventKind::ApprovalDecided { .. } => "decided",
            EventKind::CallStarted { .. } => "started",
            EventKind::CallFinished { .. } => "finished",
            _ => continue,
        };
        seen.entry(event.call).or_default().push(word);
    }
    assert!(seen.len() == 4 && seen.values().all(|words| words == &["decided", "started", "finished"]), "{seen:?}");
}

#[tokio::test]
async fn each_event_is_one_json_line_with_its_position_in_the_tree() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    run(JsonLines::create(&path).unwrap()).await;
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for key in ["run", "call", "parent", "seq", "depth", "name", "time", "kind"] {
        assert!(lines.iter().all(|line| line.get(key).is_some()), "{key}");
    }
    let kinds: BTreeSet<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    let expected = [
        "approval_asked",
        "approval_decided",
        "call_finished",
        "call_started",
        "model_delta",
        "model_request",
        "model_response",
        "progress",
        "usage",
    ];
    assert_eq!(kinds, expected.into());
    assert!(lines[0]["time"].as_str().unwrap().ends_with('Z'), "{}", lines[0]);
}

#[tokio::test]
async fn the_terminal_shows_events_by_its_verbosity() {
    let show = |verbosity| async move {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("terminal");
        run(Terminal::new(std::fs::File::create(&path).unwrap(), verbosity)).await;
        std::fs::read_to_string(&path).unwrap()
    };
    assert_eq!(show(Verbosity::Quiet).await, "│ begun\n");
    let calls = show(Verbosity::Calls).await;
    assert!(calls.contains("→ worker digest {\"input\":\"all\"}") && calls.contains("approved save"), "{calls}");
    assert!(show(Verbosity::Stream).await.len() > calls.len());
}

#[tokio::test]
async fn a_tool_cannot_send_control_characters_to_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("terminal");
    let sink = Terminal::new(std::fs::File::create(&path).unwrap(), Verbosity::Calls);
    let runtime = Runtime::builder().sink(sink).build().unwrap();
    runtime.run(read { path: "\u{1b}[2J".into() }).await.unwrap();
    assert!(!std::fs::read_to_string(&path).unwrap().contains('\u{1b}'));
}
