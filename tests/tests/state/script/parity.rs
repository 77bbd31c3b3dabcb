//! The same calls by a script, by Rust code and by a worker's model have the same events, approvals, usage and records.

use llm_do::approval::ApprovalMode;
use llm_do::event::EventKind;
use llm_do::journal::{MemoryJournal, StepKind};
use llm_do::prelude::*;
use llm_do::script::ScriptTool;
use llm_do::testing::{Recorder, ScriptedModel};
use llm_do::{Value, json};

use crate::script::{Log, erase, fail, read_note, save, search};

const SCRIPT: &str = r#"
def by_script(input: str) -> str:
    """
    ---
    toolsets: [search, read_note, save, erase, fail]
    ---
    Do it.
    """
    search(word="o", limit=2)
    read_note(id=2)
    save(id=1, text="a")
    try:
        fail(words="no")
    except RuntimeError:
        pass
    erase(id=1)
    return "done"
"#;

/// Does it in Rust.
#[entry(toolsets = [search, read_note, save, erase, fail])]
async fn by_rust(ctx: &CallContext<by_rust>, input: String) -> Result<String> {
    let _ = input;
    ctx.call(search { word: "o".into(), limit: 2 }).await?;
    ctx.call(read_note { id: 2 }).await?;
    ctx.call(save { id: 1, text: "a".into() }).await?;
    // The error is handled.
    drop(ctx.call(fail { words: "no".into() }).await);
    ctx.call(erase { id: 1 }).await?;
    Ok("done".to_owned())
}

/// Does it by a model.
#[worker(toolsets = [search, read_note, save, erase, fail])]
async fn by_model(input: String) -> String;

fn model() -> ScriptedModel {
    ScriptedModel::new()
        .call("search", json!({ "word": "o", "limit": 2 }))
        .call("read_note", json!({ "id": 2 }))
        .call("save", json!({ "id": 1, "text": "a" }))
        .call("fail", json!({ "words": "no" }))
        .call("erase", json!({ "id": 1 }))
        .text("done")
}

/// What a run leaves behind: the events of the calls, the records of the calls, and the number of tool calls.
type Trace = (Vec<Value>, Vec<Value>, u64);

async fn trace(item: &str, mode: ApprovalMode) -> Trace {
    let (recorder, journal) = (Recorder::new(), MemoryJournal::new());
    let runtime = crate::own_builder()
        .state(Log::default())
        .approval_mode(mode)
        .sink(recorder.clone())
        .journal(journal.clone())
        .force_model(model())
        .tool(ScriptTool::parse("by_script", SCRIPT).unwrap())
        .build()
        .unwrap();
    drop(runtime.run_named(item, json!({ "input": "go" })).await);
    let tools = ["search", "read_note", "save", "erase", "fail"];
    let events = recorder.events().into_iter().filter(|event| tools.contains(&&*event.name)).map(|event| {
        let mut kind = serde_json::to_value(&event.kind).unwrap();
        let fields = kind.as_object_mut().unwrap();
        for field in ["by", "elapsed_ms", "position", "total"] {
            fields.remove(field);
        }
        json!([&*event.name, kind])
    });
    let records = journal.records().into_iter().filter(|record| tools.contains(&&*record.name));
    let records = records.map(|record| {
        // When a call began differs.
        let value = Some(&record.value).filter(|_| record.kind != StepKind::Begun);
        json!([record.name, record.kind, record.input, value])
    });
    let calls = recorder.kinds().into_iter().filter_map(|kind| match kind {
        EventKind::Usage { used } => Some(used.tool_calls),
        _ => None,
    });
    (events.collect(), records.collect(), calls.last().unwrap())
}

#[tokio::test]
async fn calls_by_a_script_and_by_rust_leave_the_same_behind() {
    for mode in [ApprovalMode::ApproveAll, ApprovalMode::RejectAll] {
        let (script, rust) = (trace("by_script", mode).await, trace("by_rust", mode).await);
        assert_eq!(script, rust);
        assert!(!script.0.is_empty());
    }
}

#[tokio::test]
async fn calls_by_a_script_and_by_a_model_leave_the_same_behind() {
    let (script, model) =
        (trace("by_script", ApprovalMode::ApproveAll).await, trace("by_model", ApprovalMode::ApproveAll).await);
    assert_eq!(script, model);
}
