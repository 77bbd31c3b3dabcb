//! A worker with many tools finds them by searching.

use llm_do::History;
use llm_do::json;
use llm_do::model::{Message, Profile};
use llm_do::prelude::*;
use llm_do::testing::{Recorder, ScriptedModel};

/// Convert a temperature from Celsius to Fahrenheit.
#[tool(effect = read_only)]
fn to_fahrenheit(degrees: f64) -> f64 {
    degrees * 1.8 + 32.0
}

/// Count the letters of a word.
#[tool(effect = read_only)]
fn count_letters(word: &str) -> usize {
    word.chars().count()
}

/// Send an email.
#[tool(effect = destructive)]
fn send_email(text: String) -> String {
    format!("sent {text}")
}

/// Answer questions.
#[worker(toolsets = [to_fahrenheit, count_letters, send_email])]
async fn toolbox(input: String) -> String;

fn runtime(script: &ScriptedModel, max_tools: usize) -> Runtime {
    Runtime::builder().max_tools(max_tools).force_model(script.clone()).build().unwrap()
}

fn ask() -> toolbox {
    toolbox { input: "How warm is 20 °C?".into() }
}

/// Returns the names of the tools in each request.
fn tools(script: &ScriptedModel) -> Vec<Vec<String>> {
    let names =
        |request: &llm_do::testing::RecordedRequest| request.tools.iter().map(|tool| tool.name.to_string()).collect();
    script.requests().iter().map(names).collect()
}

#[tokio::test]
async fn a_loaded_tool_is_appended_to_the_tools_of_each_later_request() {
    let script = ScriptedModel::new()
        .call("search_tools", json!({ "query": "celsius temperature" }))
        .call("load_tool", json!({ "name": "to_fahrenheit" }))
        .call("to_fahrenheit", json!({ "degrees": 20.0 }))
        .call("load_tool", json!({ "name": "count_letters" }))
        .text("68 °F");
    assert_eq!(runtime(&script, 2).run(ask()).await.unwrap(), "68 °F");
    let first = ["search_tools", "load_tool"];
    let loaded = ["search_tools", "load_tool", "to_fahrenheit"];
    let both = ["search_tools", "load_tool", "to_fahrenheit", "count_letters"];
    assert_eq!(tools(&script), [&first[..], &first[..], &loaded[..], &loaded[..], &both[..]]);
    let requests = script.requests();
    assert!(
        requests[1].last_text().starts_with("- to_fahrenheit: Convert a temperature"),
        "{}",
        requests[1].last_text()
    );
    assert!(!requests[1].last_text().contains("send_email"), "{}", requests[1].last_text());
    assert_eq!(requests[3].last_text(), "68.0");
}

#[tokio::test]
async fn a_worker_within_the_limit_has_all_its_tools() {
    let script = ScriptedModel::new().text("Warm.");
    runtime(&script, 3).run(ask()).await.unwrap();
    assert_eq!(tools(&script), [["to_fahrenheit", "count_letters", "send_email"]]);
}

#[tokio::test]
async fn a_search_is_progress_and_not_a_call() {
    let (script, recorder) =
        (ScriptedModel::new().call("search_tools", json!({ "query": "mail" })).text("No."), Recorder::new());
    let builder = Runtime::builder().max_tools(0).force_model(script).sink(recorder.clone());
    builder.build().unwrap().run(ask()).await.unwrap();
    let kinds = recorder.kinds();
    let progress = kinds.iter().filter(|kind| matches!(kind, llm_do::event::EventKind::Progress { .. })).count();
    let calls = kinds.iter().filter(|kind| matches!(kind, llm_do::event::EventKind::CallStarted { .. })).count();
    assert_eq!((progress, calls), (1, 1));
}

#[tokio::test]
async fn a_tool_that_needs_approval_still_needs_it_when_it_was_loaded() {
    let script = ScriptedModel::new()
        .call("load_tool", json!({ "name": "send_email" }))
        .call("send_email", json!({ "text": "hi" }))
        .text("unreached");
    let error = runtime(&script, 0).run(ask()).await.unwrap_err();
    assert!(error.is_denied(), "{error}");
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_that_the_model_reads() {
    let script = ScriptedModel::new()
        .call("load_tool", json!({ "name": "to_kelvin" }))
        .call("search_tools", json!({ "wrong": 1 }))
        .text("No.");
    runtime(&script, 0).run(ask()).await.unwrap();
    let requests = script.requests();
    assert_eq!(requests[1].last_text(), "unknown tool `to_kelvin`; find tools with `search_tools`");
    assert!(
        requests[2].last_text().starts_with("invalid arguments for `search_tools`: "),
        "{}",
        requests[2].last_text()
    );
}

#[tokio::test]
async fn a_query_that_is_too_large_is_refused_with_its_size() {
    let query = "letters ".repeat(100_000);
    let script = ScriptedModel::new().call("search_tools", json!({ "query": query })).text("No.");
    runtime(&script, 0).run(ask()).await.unwrap();
    let refused = "`query` has 800000 bytes; the maximum is 2000: write a few words";
    assert_eq!(script.requests()[1].last_text(), refused);
}

#[tokio::test]
async fn tools_that_were_loaded_stay_loaded_in_the_conversation() {
    let script =
        ScriptedModel::new().call("load_tool", json!({ "name": "count_letters" })).text("Ready.").text("Still.");
    let runtime = runtime(&script, 0);
    let start = runtime.start(ask());
    let handle = start.handle();
    start.await.unwrap();
    let history: History = handle.history();
    assert!(matches!(history.messages()[0], Message::User { .. }));
    runtime.start(ask()).history(history).await.unwrap();
    assert_eq!(tools(&script)[2], ["search_tools", "load_tool", "count_letters"]);
}

#[tokio::test]
async fn a_provider_that_searches_tools_gets_all_of_them_in_the_same_order_in_each_request() {
    let script = ScriptedModel::new().call("to_fahrenheit", json!({ "degrees": 20.0 })).text("68 °F");
    let script = script.profile(Profile::BASIC.with_tool_search(true));
    assert_eq!(runtime(&script, 2).run(ask()).await.unwrap(), "68 °F");
    assert_eq!(tools(&script), [Vec::<String>::new(), Vec::new()]);
    for request in script.requests() {
        let deferred: Vec<_> = request.deferred_tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(deferred, ["to_fahrenheit", "count_letters", "send_email"]);
    }
    let few = ScriptedModel::new().text("Hm.").profile(Profile::BASIC.with_tool_search(true));
    runtime(&few, 3).run(ask()).await.unwrap();
    assert!(few.requests()[0].deferred_tools.is_empty(), "they fit into each request");
}
