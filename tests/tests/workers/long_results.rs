//! A result that is too long for a model: it gets the beginning and the end, and reads the rest.

use llm_do::event::EventKind;
use llm_do::journal::MemoryJournal;
use llm_do::model::{ContextWindow, Profile};
use llm_do::prelude::*;
use llm_do::runtime::FunctionTool;
use llm_do::testing::{RecordedRequest, Recorder, ScriptedModel};
use llm_do::worker::WorkerSpec;
use llm_do::{Effect, Value, json};

/// Return numbered lines of 10 bytes.
#[tool(effect = read_only, inline)]
fn numbered(lines: usize) -> String {
    use std::fmt::Write;
    (0..lines).fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "line {line:04}");
        text
    })
}

/// Return numbered lines, of which models see little.
#[tool(effect = read_only, inline, max_result = 2_000)]
fn numbered_briefly(lines: usize) -> String {
    numbered(lines)
}

/// Fail at length.
#[tool(effect = read_only, inline)]
fn fail_at_length() -> Result<String> {
    Err(format!("first {} last", "x".repeat(100_000)).into())
}

/// Return a part of something else.
#[tool(name = "result_read", effect = read_only, inline)]
fn read_something_else() -> u32 {
    7
}

/// Read lines.
#[worker(toolsets = [numbered, numbered_briefly, fail_at_length], max_result = 3_000)]
async fn line_reader(input: String) -> String;

/// Read lines, with a tool that has the name of another.
#[worker(toolsets = [numbered, read_something_else], max_result = 3_000)]
async fn own_reader(input: String) -> String;

/// Read lines without a bound of its own.
#[worker(toolsets = [numbered])]
async fn unbounded_reader(input: String) -> String;

/// Counts the bytes that a function gets.
#[entry(toolsets = [numbered])]
async fn count_bytes(ctx: &CallContext<count_bytes>) -> Result<usize> {
    Ok(ctx.call(numbered { lines: 500_000 }).await?.len())
}

fn ask() -> line_reader {
    line_reader { input: "Read.".into() }
}

fn names(request: &RecordedRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| &*tool.name).collect()
}

/// Returns the requests of a run of `line_reader` with this script.
async fn requests(script: ScriptedModel) -> Vec<RecordedRequest> {
    Runtime::builder().force_model(script.clone()).build().unwrap().run(ask()).await.unwrap();
    script.requests()
}

/// Returns the handle in a shortened result.
fn handle(text: &str) -> String {
    let (_, rest) = text.split_once("handle `").unwrap();
    rest.split('`').next().unwrap().to_owned()
}

/// Returns the handle of `numbered` with these lines.
async fn handle_of(lines: usize) -> String {
    let script = ScriptedModel::new().call("numbered", json!({ "lines": lines })).text("done");
    handle(&requests(script).await[1].last_text())
}

#[tokio::test]
async fn a_long_result_is_its_beginning_and_its_end_and_the_tools_appear_after_it() {
    let script = ScriptedModel::new()
        .call("numbered", json!({ "lines": 300 }))
        .call("numbered", json!({ "lines": 301 }))
        .text("done");
    let asked = requests(script).await;
    assert_eq!(asked[1].last_text(), numbered(300));
    let short = asked[2].last_text();
    assert!(short.len() <= 3_000, "{}", short.len());
    assert!(short.starts_with("line 0000\n") && short.ends_with("line 0300\n"), "{short}");
    assert!(
        short.contains("\n\n[the middle of this result is left out: 330 of 3010 bytes, from byte 2010 on; read it"),
        "{short}"
    );
    let own = ["numbered", "numbered_briefly", "fail_at_length"];
    assert_eq!((names(&asked[0]), names(&asked[1])), (own.to_vec(), own.to_vec()));
    assert_eq!(names(&asked[2]), [&own[..], &["result_read", "result_search"]].concat());
}

#[tokio::test]
async fn a_result_is_read_in_parts_and_searched() {
    let handle = handle_of(900).await;
    let read = |from: usize| json!({ "handle": handle, "from": from });
    let script = ScriptedModel::new()
        .call("numbered", json!({ "lines": 900 }))
        .call("result_read", read(0))
        .call("result_read", read(2_680))
        .call("result_search", json!({ "handle": handle, "text": "LINE 0777" }))
        .call("result_search", json!({ "handle": handle, "text": "line 0777", "from": 7_771 }))
        .text("done");
    let asked = requests(script).await;
    let whole = numbered(900);
    assert_eq!(
        asked[2].last_text(),
        format!("{}\n\n[bytes 0 to 2680 of 9000; go on with `from`: 2680]", &whole[..2_680])
    );
    assert!(asked[3].last_text().starts_with(&whole[2_680..5_360]), "{}", asked[3].last_text());
    let found = asked[4].last_text();
    assert!(found.starts_with("byte 7770: line 0767 "), "{found}");
    assert!(found.contains(" line 0776 line 0777 line 0778 "), "{found}");
    assert!(found.ends_with("\n[no more until the end, byte 9000]"), "{found}");
    assert_eq!(asked[5].last_text(), "not found from byte 7771 on, of 9000");
}

#[tokio::test]
async fn the_lower_bound_of_the_tool_and_of_the_worker_applies() {
    let script = ScriptedModel::new().call("numbered_briefly", json!({ "lines": 900 })).text("done");
    let short = requests(script).await[1].last_text();
    assert!((1_600..=2_000).contains(&short.len()), "{}", short.len());
    let script = ScriptedModel::new().call("long_value", json!({})).text("done");
    let value = FunctionTool::new(
        "long_value",
        "Return a text.",
        json!({ "type": "object" }),
        Effect::ReadOnly,
        |_, _| async { Ok(Value::String("y".repeat(9_000))) },
    );
    let worker = WorkerSpec::new("value_reader", "Read.").toolsets(["long_value"]).max_result(4_000);
    let builder = Runtime::builder().tool(value.max_result(5_000)).worker(worker).force_model(script.clone());
    builder.build().unwrap().run_named("value_reader", json!({ "input": "Read." })).await.unwrap();
    let short = script.requests()[1].last_text();
    assert!((3_600..=4_000).contains(&short.len()), "{}", short.len());
}

#[tokio::test]
async fn without_a_bound_of_the_worker_that_of_the_runtime_applies() {
    let lengths = |max: Option<u64>| async move {
        let script = ScriptedModel::new().call("numbered", json!({ "lines": 9_000 })).text("done");
        let builder = Runtime::builder().force_model(script.clone());
        let builder = if let Some(max) = max { builder.max_result(max) } else { builder };
        builder.build().unwrap().run(unbounded_reader { input: "Read.".into() }).await.unwrap();
        script.requests()[1].last_text().len()
    };
    assert!((65_000..=65_536).contains(&lengths(None).await));
    assert!((9_600..=10_000).contains(&lengths(Some(10_000)).await));
    assert_eq!(lengths(Some(u64::MAX)).await, 90_000);
}

#[tokio::test]
async fn a_model_with_a_small_window_gets_an_eighth_of_it() {
    let profile = Profile::BASIC.with_window(ContextWindow::new(8_000).max_input_tokens(6_000));
    let script = ScriptedModel::new().profile(profile).call("numbered", json!({ "lines": 900 })).text("done");
    let builder = Runtime::builder().force_model(script.clone());
    builder.build().unwrap().run(unbounded_reader { input: "Read.".into() }).await.unwrap();
    let length = script.requests()[1].last_text().len();
    assert!((2_700..=3_000).contains(&length), "{length}");
}

#[tokio::test]
async fn a_long_error_is_shortened_too() {
    let script = ScriptedModel::new().call("fail_at_length", json!({})).text("done");
    let short = requests(script).await[1].last_text();
    assert!(short.len() <= 3_000 && short.contains("first x") && short.contains("x last"), "{short}");
}

#[tokio::test]
async fn a_function_gets_a_result_as_a_whole() {
    let runtime = Runtime::builder().max_result(1_024).build().unwrap();
    assert_eq!(runtime.run(count_bytes {}).await.unwrap(), numbered(500_000).len());
}

#[tokio::test]
async fn what_cannot_be_read_is_an_error_that_the_model_reads() {
    let script = ScriptedModel::new()
        .call("numbered", json!({ "lines": 900 }))
        .call("result_read", json!({ "handle": "0000000000000000" }))
        .call("numbered", json!({ "lines": 1 }))
        .call("result_search", json!({ "handle": 3 }))
        .text("done");
    let asked = requests(script).await;
    assert!(asked[2].last_text().starts_with("no result `0000000000000000` is kept here"), "{}", asked[2].last_text());
    assert!(asked[4].last_text().starts_with("invalid arguments for `result_search`: "), "{}", asked[4].last_text());
}

#[tokio::test]
async fn reading_is_progress_and_not_a_call() {
    let handle = handle_of(900).await;
    let script = ScriptedModel::new()
        .call("numbered", json!({ "lines": 900 }))
        .call("result_read", json!({ "handle": handle }))
        .text("done");
    let recorder = Recorder::new();
    let builder = Runtime::builder().force_model(script).sink(recorder.clone());
    builder.build().unwrap().run(ask()).await.unwrap();
    let kinds = recorder.kinds();
    let count = |is: fn(&EventKind) -> bool| kinds.iter().filter(|kind| is(kind)).count();
    assert_eq!(count(|kind| matches!(kind, EventKind::Progress { .. })), 1);
    // The worker and `numbered`.
    assert_eq!(count(|kind| matches!(kind, EventKind::CallStarted { .. })), 2);
}

#[tokio::test]
async fn a_chat_reads_what_an_earlier_message_left_and_a_loaded_one_reports_that_it_cannot() {
    let handle = handle_of(900).await;
    let read = || json!({ "handle": handle, "from": 8_990 });
    let script = ScriptedModel::new()
        .call("numbered", json!({ "lines": 900 }))
        .text("done")
        .call("result_read", read())
        .text("done")
        .call("result_read", read())
        .text("done");
    let runtime = Runtime::builder().force_model(script.clone()).build().unwrap();
    let mut chat = runtime.chat();
    chat.send(ask()).await.unwrap();
    chat.send(ask()).await.unwrap();
    let asked = script.requests();
    assert!(names(&asked[2]).contains(&"result_read"), "{:?}", names(&asked[2]));
    assert_eq!(asked[3].last_text(), "line 0899\n\n\n[bytes 8990 to 9000 of 9000; the end]");
    runtime.chat().with_state(chat.state()).send(ask()).await.unwrap();
    let text = script.requests()[5].last_text();
    assert!(text.starts_with(&format!("no result `{handle}` is kept here")), "{text}");
}

#[tokio::test]
async fn a_resumed_run_reads_the_same() {
    let handle = handle_of(900).await;
    let run = |script: ScriptedModel, journal: MemoryJournal| async move {
        Runtime::builder().force_model(script).journal(journal).build().unwrap().run(ask()).await
    };
    let script = || ScriptedModel::new().call("numbered", json!({ "lines": 900 }));
    let journal = MemoryJournal::new();
    // The script ends before the result is read.
    run(script(), journal.clone()).await.unwrap_err();
    let rest = ScriptedModel::new().call("result_read", json!({ "handle": handle, "from": 8_990 })).text("done");
    run(rest.clone(), journal.replayed()).await.unwrap();
    assert!(rest.requests()[1].last_text().starts_with("line 0899\n"), "{}", rest.requests()[1].last_text());
}

#[tokio::test]
async fn a_worker_with_a_tool_of_that_name_gets_no_handle() {
    let script =
        ScriptedModel::new().call("numbered", json!({ "lines": 900 })).call("result_read", json!({})).text("done");
    let runtime = Runtime::builder().force_model(script.clone()).build().unwrap();
    runtime.run(own_reader { input: "Read.".into() }).await.unwrap();
    let asked = script.requests();
    assert!(asked[1].last_text().contains("; call the tool for a smaller part]"), "{}", asked[1].last_text());
    assert_eq!(names(&asked[2]), ["numbered", "result_read"]);
    assert_eq!(asked[2].last_text(), "7");
}

#[tokio::test]
async fn the_tools_follow_those_that_the_model_loaded() {
    let script = ScriptedModel::new()
        .call("numbered", json!({ "lines": 900 }))
        .call("load_tool", json!({ "name": "numbered" }))
        .text("done");
    let runtime = Runtime::builder().max_tools(0).force_model(script.clone()).build().unwrap();
    runtime.run(ask()).await.unwrap();
    let first = ["search_tools", "load_tool"];
    let read = [&first[..], &["result_read", "result_search"]].concat();
    let asked = script.requests();
    assert_eq!(names(&asked[1]), read);
    assert_eq!(names(&asked[2]), [&read[..], &["numbered"]].concat());
}

#[test]
fn a_bound_that_is_too_low_is_refused() {
    let worker = WorkerSpec::new("low_bound", "Read.").max_result(1_023);
    let error = Runtime::builder().worker(worker).build().unwrap_err().to_string();
    assert!(error.contains("`max_result` is 1023, but a shortened result needs at least 1024 bytes"), "{error}");
}
