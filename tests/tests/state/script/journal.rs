//! Scripts in journals: killed after every record and resumed, and changed in between.

use std::fs;

use llm_do::approval::{ApprovalMode, Decision};
use llm_do::journal::{FileJournal, MemoryJournal, StepKind};
use llm_do::prelude::*;
use llm_do::script::ScriptTool;
use llm_do::{Value, json};

use crate::script::{Log, with_body};

const BODY: &str = r#"
    import asyncio
    saved = []
    for hit in search("o", 2):
        saved.append(hit["title"])
        save(hit["id"], hit["title"])
    try:
        read_note(99)
    except LookupError as error:
        saved.append(str(error))
    print("saved", saved)
    erase(1)
    return [saved, price("pen")]"#;
const ASYNC_BODY: &str = r#"
    import asyncio
    prices = await asyncio.gather(price("a"), price("bb"), price("ccc"))
    saved = await asyncio.gather(save(1, "x"), save(2, str(prices)))
    return [prices, saved, await erase(3)]"#;

fn scripts() -> [String; 2] {
    [
        with_body("def main() -> Any:", &BODY.replace("    import asyncio\n", "")),
        with_body("async def main() -> Any:", ASYNC_BODY),
    ]
}

/// Runs a script with the journal in a file; returns the result and what the tools did.
async fn run(text: &str, path: &std::path::Path) -> (Result<Value, CallError>, Vec<String>) {
    let log = Log::default();
    let builder = crate::own_builder()
        .state(log.clone())
        .approval_mode(ApprovalMode::ApproveAll)
        .on_unknown(llm_do::OnUnknown::Rerun)
        .journal(FileJournal::open(path).unwrap());
    let runtime = builder.tool(ScriptTool::parse("main", text).unwrap()).build().unwrap();
    (runtime.run_named("main", Value::Null).await, log.lines())
}

#[tokio::test]
async fn killed_after_any_record_and_resumed_it_has_the_same_result_and_repeats_nothing() {
    for text in scripts() {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole.jsonl");
        let (result, all) = run(&text, &whole).await;
        let (result, lines) = (result.unwrap(), fs::read_to_string(&whole).unwrap());
        let lines: Vec<_> = lines.split_inclusive('\n').collect();
        assert!(lines.len() > 5, "{lines:?}");
        for kept in 0..=lines.len() {
            let path = folder.path().join(format!("{kept}.jsonl"));
            fs::write(&path, lines[..kept].concat()).unwrap();
            let (resumed, log) = run(&text, &path).await;
            assert_eq!(resumed.unwrap(), result, "killed after {kept} of {} records", lines.len());
            let recorded = lines[..kept].concat();
            for line in log.iter().filter(|line| line.starts_with("erased") || line.starts_with("saved")) {
                let times = all.iter().filter(|done| *done == line).count();
                assert_eq!(times, 1, "{line}");
                let tool = if line.starts_with("erased") { "\"erase\"" } else { "\"save\"" };
                let made =
                    recorded.lines().filter(|line| line.contains(tool) && line.contains("\"kind\":\"tool\"")).count();
                let done = all.iter().filter(|done| done.starts_with(&line[..5])).count();
                assert!(made < done, "{line} was repeated after {kept} records: {recorded}");
            }
        }
    }
}

#[tokio::test]
async fn a_changed_script_under_a_recorded_run_names_both_digests() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, cut) = (folder.path().join("whole.jsonl"), folder.path().join("cut.jsonl"));
    let text = &scripts()[0];
    run(text, &whole).await.0.unwrap();
    let lines = fs::read_to_string(&whole).unwrap();
    let lines: Vec<_> = lines.split_inclusive('\n').collect();
    fs::write(&cut, lines[..4].concat()).unwrap();
    let error = run(&text.replace("price(\"pen\")", "price(\"pencil\")"), &cut).await.0.unwrap_err();
    let message = llm_do::error::chain(&error);
    assert!(message.contains("main.py has changed since the run was recorded: its digest was "), "{message}");
    assert!(message.contains(", and is now "), "{message}");
}

#[tokio::test]
async fn a_finished_run_is_not_run_again() {
    let text = &scripts()[1];
    let journal = MemoryJournal::new();
    let log = Log::default();
    let build = |journal: MemoryJournal| {
        let builder = crate::own_builder()
            .state(log.clone())
            .approval_mode(ApprovalMode::ApproveAll)
            .on_unknown(llm_do::OnUnknown::Rerun)
            .journal(journal);
        builder.tool(ScriptTool::parse("main", text).unwrap()).build().unwrap()
    };
    let first = build(journal.clone()).run_named("main", Value::Null).await.unwrap();
    let done = log.lines();
    let second = build(journal.replayed()).run_named("main", Value::Null).await.unwrap();
    assert_eq!(first, second);
    assert_eq!(first, json!([[1, 2, 3], [true, true], true]));
    assert_eq!(log.lines(), done);
}

#[tokio::test]
async fn a_call_of_a_script_that_may_have_happened_is_asked_about_or_raised_and_not_made_again() {
    let body = "    try:\n        return erase(1)\n    except RuntimeError as error:\n        return str(error)";
    let text = with_body("def main() -> Any:", body);
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let process = |journal: MemoryJournal| {
        let builder = crate::own_builder().state(log.clone()).approval_mode(ApprovalMode::ApproveAll);
        builder.journal(journal).tool(ScriptTool::parse("main", &text).unwrap())
    };
    let whole = process(journal.clone()).build().unwrap();
    assert_eq!(whole.run_named("main", Value::Null).await.unwrap(), true);
    let records = journal.records();
    let is_begun = |record: &llm_do::journal::Record| record.kind == StepKind::Begun && &*record.name == "erase";
    let begun = records.iter().position(is_begun).unwrap();
    let died = || process(MemoryJournal::from_records(records[..=begun].iter().cloned()));
    let attended = died().approve_with(|_| async { Decision::happened(false) }).build().unwrap();
    assert_eq!(attended.run_named("main", Value::Null).await.unwrap(), false, "the result that the person gave");
    let raised = died().build().unwrap().run_named("main", Value::Null).await.unwrap();
    assert!(raised.as_str().is_some_and(|text| text.contains("the outcome of `erase` is unknown")), "{raised}");
    assert_eq!(log.lines(), ["erased 1"]);
}
